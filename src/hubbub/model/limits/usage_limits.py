"""Usage limits: notices that agents' programs print when an account is used up, and the time when it goes on.

Each program has its own sentences, which change from version to version. Whether a sentence is a notice depends on the
program; the forms of times are common to all. A time that is not understood counts as none, and the agent backs off.
Nothing here waits, or looks at a clock.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from enum import StrEnum, auto
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hubbub.model.timestamps import EPOCH, milliseconds


class LimitKind(StrEnum):
    """The kind of limit, as far as the program says."""

    WINDOW = auto()  # of a window of some hours
    WEEKLY = auto()  # of a week, or longer
    MODEL = auto()  # of one model; others may still answer
    OVERLOADED = auto()  # too many calls just now, by this account or by all


@dataclass(frozen=True, slots=True)
class UsageLimit:
    """The notice of a limit; `until` is in Unix milliseconds, None if the notice does not say when the limit ends."""

    kind: LimitKind
    until: int | None


class Notice(NamedTuple):
    """A form of sentence by which a program reports a limit."""

    says: re.Pattern[str]
    kind: LimitKind


LAST = 40  # lines of an output that are searched
LONGEST_LINE = 100_000  # characters of a line that is read
DEEPEST = 8  # levels of JSON that are searched
JUST_NOW = timedelta(minutes=15)  # ago: a time of day that is past by less is not meant for tomorrow
LONGEST = {  # a later end is a mistake of a clock, or an old notice
    LimitKind.WINDOW: timedelta(hours=6),
    LimitKind.WEEKLY: timedelta(days=32),  # or of a month
    LimitKind.MODEL: timedelta(days=32),
    LimitKind.OVERLOADED: timedelta(days=1),
}
BACK_OFF = {  # after the first notice without a time; doubled after each further one, up to the second value
    LimitKind.WINDOW: (timedelta(minutes=5), timedelta(hours=1)),
    LimitKind.WEEKLY: (timedelta(minutes=30), timedelta(hours=6)),
    LimitKind.MODEL: (timedelta(minutes=5), timedelta(hours=1)),
    LimitKind.OVERLOADED: (timedelta(minutes=1), timedelta(minutes=15)),
}


def _notice(says: str, kind: LimitKind) -> Notice:
    return Notice(re.compile(says, re.IGNORECASE), kind)


_TOO_MANY = _notice(r"\b429\b.{0,80}rate.?limit|\brate_limit_e(?:rror|xceeded)\b", LimitKind.OVERLOADED)
NOTICES: Mapping[str, Sequence[Notice]] = {
    "claude": (
        _notice(r"^(?:you.ve (?:hit|reached) your )?(?:opus|sonnet|fable)\b.{0,20}limit", LimitKind.MODEL),
        _notice(r"^you.ve (?:hit|reached) your (?:opus|sonnet|fable)\b.{0,20}limit", LimitKind.MODEL),
        _notice(r"^(?:you.ve (?:hit|reached) your )?weekly limit\b", LimitKind.WEEKLY),
        _notice(r"^you.ve (?:hit|reached) your (?:(?:session|5-hour|usage) )?limit\b", LimitKind.WINDOW),
        _notice(r"^(?:5-hour|session) limit reached\b", LimitKind.WINDOW),
        _notice(r"^claude (?:ai )?usage limit reached\b", LimitKind.WINDOW),
        _notice(r"^(?:api error\b.{0,40})?\(?529\b|\boverloaded_error\b", LimitKind.OVERLOADED),
        _notice(r"^api error: repeated 529\b", LimitKind.OVERLOADED),
        _notice(r"^api error: server is temporarily limiting requests\b", LimitKind.OVERLOADED),
        _TOO_MANY,
    ),
    "codex": (
        _notice(r"^\W*(?:error: )?you.ve hit your usage limit\b", LimitKind.WINDOW),
        _notice(r"\busage_limit_reached\b", LimitKind.WINDOW),
        _notice(r"^selected model is at capacity\b", LimitKind.OVERLOADED),
        _TOO_MANY,
    ),
    "gemini": (
        _notice(r"\bexhausted your (?:capacity|daily quota) on this model\b", LimitKind.MODEL),
        _notice(r"\bquota exceeded for quota metric\b.{0,200}per day\b", LimitKind.MODEL),
        _notice(r"\bquota exceeded for quota metric\b", LimitKind.OVERLOADED),
        _notice(r"\bno capacity available for model\b", LimitKind.OVERLOADED),
        _notice(r"\bresource (?:has been )?exhausted\b|\bRESOURCE_EXHAUSTED\b", LimitKind.OVERLOADED),
    ),
    "opencode": (
        _notice(r"^(?:error: )?weekly usage limit reached\b", LimitKind.WEEKLY),
        _notice(r"^(?:error: )?monthly usage limit reached\b", LimitKind.MODEL),
        _notice(r"^(?:error: )?(?:5.hour |the )?usage limit (?:has been )?reached\b", LimitKind.WINDOW),
        _notice(r"\bFreeUsageLimitError\b|^free usage (?:limit|exceeded)\b", LimitKind.WINDOW),
        _notice(r"^(?:error: )?too many requests\b", LimitKind.OVERLOADED),
        _TOO_MANY,
    ),
}
_ANY = sorted(
    (each for some in NOTICES.values() for each in some), key=lambda each: each.kind is LimitKind.OVERLOADED
)
_WINDOWS = {"five_hour": LimitKind.WINDOW, "seven_day": LimitKind.WEEKLY}  # in Claude Code's names
_AT = frozenset({"resetsat", "resets_at"})  # an instant in Unix seconds, or milliseconds
_AFTER = frozenset({"resets_in_seconds", "retry-after", "retrydelay"})  # seconds

_UNIT = r"(?:days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)"
_ONE = re.compile(rf"(\d+(?:\.\d+)?)\s*({_UNIT})(?![a-z])|(\d+(?:\.\d+)?)({_UNIT})(?=\d)", re.IGNORECASE)
_SPAN = re.compile(
    rf"\b(?:in|after)\s+(?:about\s+)?((?:\d+(?:\.\d+)?\s*{_UNIT}[\s,]*(?:and\s+)?)+)", re.IGNORECASE
)
_HEADER = re.compile(r"\bretry.after[\"']?\s*[:=]\s*[\"']?(\d+)", re.IGNORECASE)
_STAMP = re.compile(r"\|(\d{10}(?:\d{3})?)\b")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WHEN = re.compile(
    rf"""\b(?:resets?|again)\s+(?:at\s+|on\s+)?
         (?:(?P<month>{"|".join(_MONTHS)})[a-z]*\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?
            (?:,?\s+(?P<year>\d{{4}}))?(?:,?\s+at\s+|,?\s+)?)?
         (?:(?P<hour>\d{{1,2}})(?::(?P<minute>\d{{2}}))?\s*(?P<half>[ap]\.?m\b)?)?
         \s*(?:\((?P<zone>[\w/+-]+)\))?""",
    re.IGNORECASE | re.VERBOSE,
)


def read(
    output: str, *, now: int, zone: tzinfo | None = None, program: str | None = None
) -> UsageLimit | None:
    """Find the notice of a limit at the end of an output; None if there is none.

    `program` is one of `NOTICES`, None for any. Times of day without a zone are those of `zone`, or of this machine.
    """
    forms = NOTICES[program] if program is not None else _ANY
    found = [
        limit
        for line in output.splitlines()[-LAST:]
        for limit in _in_line(line[:LONGEST_LINE].strip(), forms, now, zone)
    ]
    return max(found, key=lambda each: (each.until is not None, each.until or 0), default=None)


def back_off(kind: LimitKind, times: int) -> timedelta:
    """Return the time to wait after that many notices in a row without a time, counted from 1."""
    first, most = BACK_OFF[kind]
    doubled: int = 2 ** min(max(times, 1) - 1, 16)
    return min(most, first * doubled)


def _in_line(line: str, forms: Sequence[Notice], now: int, zone: tzinfo | None) -> Iterator[UsageLimit]:
    told = _parsed(line)
    if told is None:
        yield from _in_text(line, forms, now, zone)
        return
    if not _is_failure(told):
        return
    window, until = _window(told), _instant(told, now)
    for text in _texts(told, DEEPEST):
        for limit in _in_text(text, forms, now, zone):
            yield limit if until is None else _dated_limit(limit.kind, until, now)
    if window is not None:
        yield _dated_limit(window, until, now)


def _in_text(text: str, forms: Sequence[Notice], now: int, zone: tzinfo | None) -> Iterator[UsageLimit]:
    kind = next((form.kind for form in forms if form.says.search(text)), None)
    if kind is None:
        return
    if (until := _named(text, now)) is not None:
        yield _dated_limit(kind, until, now)
        return
    when = next((each for each in _WHEN.finditer(text) if each["hour"] or each["day"]), None)
    until = _moment(when, now, zone) if when is not None else None
    is_dated = when is not None and when["day"] is not None
    yield _dated_limit(kind, until, now) if is_dated else _plausible(kind, until, now)


def _dated_limit(kind: LimitKind, until: int | None, now: int) -> UsageLimit:
    """Make a limit with a known end, and derive its kind from that: some programs have one sentence for all kinds."""
    is_long = until is not None and until > now + milliseconds(LONGEST[LimitKind.WINDOW])
    return _plausible(LimitKind.WEEKLY if is_long and kind is LimitKind.WINDOW else kind, until, now)


def _plausible(kind: LimitKind, until: int | None, now: int) -> UsageLimit:
    """Make a limit; an end in the past, or too far ahead for its kind, counts as unknown."""
    is_sound = until is not None and now < until <= now + milliseconds(LONGEST[kind])
    return UsageLimit(kind, until if is_sound else None)


def _named(text: str, now: int) -> int | None:
    """Find the instant that a sentence names by a number, or by the time until then."""
    if stamp := _STAMP.search(text):
        return _stamped(int(stamp[1]))
    if header := _HEADER.search(text):
        return now + int(header[1]) * 1000
    if span := _SPAN.search(text):
        return now + milliseconds(_duration(span[1]))
    return None


def _duration(text: str) -> timedelta:
    units = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0}
    found = ((one or other, (unit or same)[0].lower()) for one, unit, other, same in _ONE.findall(text))
    return timedelta(seconds=sum(float(number) * units[unit] for number, unit in found))


def _moment(found: re.Match[str], now: int, zone: tzinfo | None) -> int | None:
    """Find the instant of a date, a time of day, or both; where a clock shows it twice, the later one."""
    try:
        where = ZoneInfo(found["zone"]) if found["zone"] else zone
        here = (EPOCH + timedelta(milliseconds=now)).astimezone(where)
        hour = int(found["hour"] or 0) % 12 + 12 if _is_after_noon(found) else int(found["hour"] or 0)
        hour = 0 if hour == 12 and (found["half"] or "").lower().startswith("a") else hour
        clock = here.replace(
            tzinfo=where, hour=hour, minute=int(found["minute"] or 0), second=0, microsecond=0, fold=1
        )
        return _dated(clock, found) if found["day"] else _next(clock, now)
    except (ZoneInfoNotFoundError, ValueError, OverflowError):
        return None


def _is_after_noon(found: re.Match[str]) -> bool:
    return (found["half"] or "").lower().startswith("p")


def _next(clock: datetime, now: int) -> int:
    """Return the next instant of a time of day; one that is only just past is over."""
    at = _unix(clock)
    return at if at > now - milliseconds(JUST_NOW) else _unix(clock + timedelta(days=1))


def _dated(clock: datetime, found: re.Match[str]) -> int:
    """Return the instant of a date; without a year, the first that is not long past."""
    month, day = _MONTHS.index(found["month"][:3].lower()) + 1, int(found["day"])
    if found["year"]:
        return _unix(clock.replace(year=int(found["year"]), month=month, day=day))
    this = date(clock.year, month, day)
    is_past = this < clock.date() - timedelta(days=180)
    return _unix(clock.replace(year=this.year + is_past, month=month, day=day))


def _unix(clock: datetime) -> int:
    """Return the instant that a clock shows, by this machine if it has no zone. A skipped hour is taken as later."""
    found = clock.timestamp()
    before = clock.replace(fold=0).timestamp()
    return round(max(found, before) * 1000)


def _stamped(number: int) -> int:
    return number if number >= 10**12 else number * 1000


def _parsed(line: str) -> Mapping[str, object] | None:
    if not line.startswith("{"):
        return None
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def _is_failure(told: Mapping[str, object]) -> bool:
    """Tell whether an event reports a failure; in other events a model's own words may mention limits, too."""
    kind = told.get("type")
    return (
        bool(told.get("error"))
        or told.get("is_error") is True
        or told.get("status") == "error"
        or kind in ("error", "turn.failed", "rate_limit_event")
    )


def _texts(value: object, deep: int) -> Iterator[str]:
    """Yield the texts in a piece of JSON, and those within texts that are JSON themselves."""
    if isinstance(value, str):
        inner = _parsed(value.strip())
        yield from [value.strip()] if inner is None or not deep else _texts(inner, deep - 1)
    elif isinstance(value, dict) and deep:
        for each in value.values():
            yield from _texts(each, deep - 1)
    elif isinstance(value, list) and deep:
        for each in value:
            yield from _texts(each, deep - 1)


def _members(value: object, deep: int = DEEPEST) -> Iterator[tuple[str, object]]:
    """Yield every member of every object in a piece of JSON, also of one in a text."""
    if isinstance(value, str):
        value = _parsed(value.strip())
    if isinstance(value, dict) and deep:
        for name, each in value.items():
            yield name.lower(), each
            yield from _members(each, deep - 1)
    elif isinstance(value, list) and deep:
        for each in value:
            yield from _members(each, deep - 1)


def _instant(told: Mapping[str, object], now: int) -> int | None:
    """Find the instant that a piece of JSON names in a member of its own."""
    for name, value in _members(told):
        number = _number(value)
        if number is not None and name in _AT:
            return _stamped(round(number))
        if number is not None and name in _AFTER:
            return now + round(number * 1000)
    return None


def _number(value: object) -> float | None:
    """Read a number, also from a text, with or without the `s` of seconds."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value.removesuffix("s")) if isinstance(value, str) else float(value)
    except ValueError:
        return None
    return number if 0 <= number < 10**14 else None


def _window(told: Mapping[str, object]) -> LimitKind | None:
    """Return the window that Claude Code reports as used up."""
    info = told.get("rate_limit_info")
    if (
        told.get("type") != "rate_limit_event"
        or not isinstance(info, dict)
        or info.get("status") != "rejected"
    ):
        return None
    return _WINDOWS.get(str(info.get("rateLimitType")), LimitKind.MODEL)
