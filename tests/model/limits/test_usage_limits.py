"""Programs' output when a limit is reached: samples, each with its source, and clocks."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from hubbub.model.limits.usage_limits import NOTICES, LimitKind, UsageLimit, back_off, read
from tests.support.each_row import each_row

SAMPLES = json.loads((Path(__file__).parents[2] / "data/limits/samples.json").read_text("utf-8"))
UTC = ZoneInfo("UTC")
BERLIN = "You've hit your weekly limit · resets {} (Europe/Berlin)"
HONEST = (
    "",
    "done",
    "I have written the page that says: You've hit your session limit · resets 10:30pm (Europe/Berlin)",
    "The tests of the rate limit pass; try again at 5:42 PM if you like",
    "Error: Cannot find module 'limit'",
    "exit code 1\nFAILED tests/test_quota.py::test_usage_limit_is_reached",
    '{"type":"assistant","message":{"content":[{"type":"text","text":"You\'ve hit your limit · resets 8pm"}]}}',
    '{"type":"item.completed","item":{"type":"agent_message","text":"usage_limit_reached"}}',
    '{"type":"result","subtype":"success","is_error":false,"result":"weekly limit reached is what it prints"}',
)


def ms(text: str | None) -> int | None:
    return round(datetime.fromisoformat(text).timestamp() * 1000) if text else None


def seen(output: str, at: str) -> UsageLimit | None:
    return read(output, now=ms(at) or 0, zone=UTC)


@each_row("sample", SAMPLES)
def test_a_notice_is_understood(sample: dict[str, str | None]) -> None:
    """Each program's notice is understood as its kind of limit and end, even if the program is not known."""
    at, kind = ms(sample["at"]), sample["kind"]
    expected = UsageLimit(LimitKind(kind), ms(sample["until"])) if kind else None
    for program in (sample["program"], None):
        assert read(sample["output"] or "", now=at or 0, zone=UTC, program=program) == expected


def test_each_program_has_samples() -> None:
    """Every program whose notices are known has a sample, with the place where it was seen."""
    assert {each["program"] for each in SAMPLES} == set(NOTICES)
    assert all(each["seen"].startswith("https://") for each in SAMPLES)


@each_row("output", HONEST)
def test_work_that_speaks_of_limits_is_none(output: str) -> None:
    """A program that only speaks of limits, or fails otherwise, has reached none."""
    assert seen(output, "2026-07-19T12:00:00Z") is None


@each_row(
    ["clock", "at", "until"],
    [
        (
            "3:30am",
            "2026-03-29T01:30:00+01:00",
            "2026-03-29T03:30:00+02:00",
        ),  # an hour later, clocks go forward
        ("2:30am", "2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00"),  # which there is not that night
        ("2:30am", "2026-10-25T01:00:00+02:00", "2026-10-25T02:30:00+01:00"),  # which there is twice
        ("1am", "2026-10-25T02:30:00+01:00", "2026-10-26T01:00:00+01:00"),  # tomorrow
        ("12am", "2026-07-01T13:00:00+02:00", "2026-07-02T00:00:00+02:00"),
        ("12pm", "2026-07-01T13:00:00+02:00", "2026-07-02T12:00:00+02:00"),
        ("1pm", "2026-07-01T13:05:00+02:00", None),  # just past: it may well be over
        ("18:30", "2026-07-01T13:00:00+02:00", "2026-07-01T18:30:00+02:00"),
        ("Jan 2, 4am", "2026-12-30T13:00:00+01:00", "2027-01-02T04:00:00+01:00"),
        ("Dec 30, 4am", "2027-01-02T13:00:00+01:00", None),  # long past
        ("Feb 30", "2026-02-27T13:00:00+01:00", None),
        ("25:00", "2026-07-01T13:00:00+02:00", None),
        ("Mar 30, 4am", "2026-01-01T13:00:00+01:00", None),  # no week lasts as long
    ],
)
def test_a_time_of_day_is_the_next_one(clock: str, at: str, until: str | None) -> None:
    """A time of day is the next of its zone, over changes of clocks; what is past or too far is unknown."""
    assert seen(BERLIN.format(clock), at) == UsageLimit(LimitKind.WEEKLY, ms(until))


def test_a_window_is_no_day() -> None:
    """A time of day that a window of some hours cannot last until is not waited for."""
    at = "2026-07-01T13:00:00Z"
    assert seen("5-hour limit reached ∙ resets 11am", at) == UsageLimit(LimitKind.WINDOW, None)
    assert seen("5-hour limit reached ∙ resets 5pm", at) == UsageLimit(
        LimitKind.WINDOW, ms("2026-07-01T17:00:00Z")
    )


def test_an_unknown_zone_names_no_time() -> None:
    """A time in a zone that nobody knows is none, rather than a wrong one."""
    assert seen("5-hour limit reached ∙ resets 5pm (Mars/Base)", "2026-07-01T13:00:00Z") == UsageLimit(
        LimitKind.WINDOW, None
    )


def test_a_time_without_a_zone_is_that_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A time of day without a zone is one of the machine where the program ran."""
    at = ms("2026-07-01T13:00:00Z") or 0
    found = read("5-hour limit reached ∙ resets 5pm", now=at)
    clock = datetime.fromtimestamp(at / 1000).astimezone().replace(hour=17, minute=0)
    later = clock if clock.timestamp() * 1000 > at else clock + timedelta(days=1)
    plausible = later.timestamp() * 1000 - at <= 6 * 3_600_000
    assert found == UsageLimit(LimitKind.WINDOW, round(later.timestamp() * 1000) if plausible else None)


def test_unknown_ends_are_waited_for_longer_each_time() -> None:
    """Without a known end the wait doubles from notice to notice, up to a maximum."""
    waits = [back_off(LimitKind.WINDOW, times) / timedelta(minutes=1) for times in (1, 2, 3, 4, 5, 60)]
    assert waits == [5, 10, 20, 40, 60, 60]
    assert back_off(LimitKind.OVERLOADED, 1) == timedelta(minutes=1)
