"""Quotas: limits on a token's use of a hub, so that one looping agent does not starve a team.

Calls per second are a token bucket: a burst goes through at once, and a loop gets its share and no more.
Streams and MCP sessions are counted while they are open, by their keepers. All of these belong to one hub, since they
load that hub. The bytes stored in a day are counted where a transaction writes them, at the price of an addition, and
added up in the database, for all hubs, some seconds later. People who have signed in count once, in however
many browsers.
"""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from uuid import UUID

from hubbub.model.errors import Forbidden, TooMany
from hubbub.model.people.rights import Actor
from hubbub.store.people import storage_usage as rows
from hubbub.store.tx import Clock, Tx, unix_ms

MIB = 1024 * 1024
DAY = 86_400  # seconds
HOUR = 3_600_000  # milliseconds
STREAM_WAIT = 10  # seconds before another stream is tried
WINDOW = 10  # seconds over which the rate of calls is measured
BURST = 20  # seconds' worth of calls at once, for a token with its own rate where the hub has none
NEAR = 0.8  # share of a limit from which people are told
MOST_OF_BROWSER = 200  # streams that one login holds open; a page needs two
KNOWN = 10_000  # subjects; beyond that, those without recent use are forgotten


class Quota(StrEnum):
    """A kind of limited use."""

    CALLS = "calls"
    STREAMS = "streams"
    CONNECTIONS = "connections"
    STORED = "stored"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a token; 0 means no limit."""

    rate: int = 0  # calls a second, over a while
    burst: int = 0  # calls at once, after a pause
    streams: int = 0  # streams, and calls that wait, at a time
    connections: int = 0  # sessions of MCP, at a time
    stored: int = 0  # bytes in a day


@dataclass(slots=True)
class Usage:
    """The use of one subject; `at` and `left` are its bucket, times are Unix milliseconds.

    `came` counts the calls of the present window, `before` those of the previous one.
    """

    at: float
    left: float
    rate: int | None = None  # its token's own
    window: int = 0
    came: int = 0
    before: int = 0
    day: int = 0
    stored: int = 0  # on that day, as far as this hub knows
    unsaved: int = 0  # part of it that is not in the database yet
    refused: Counter[Quota] = field(default_factory=Counter)
    refused_since: int | None = None
    refused_at: int | None = None


@dataclass(frozen=True, slots=True)
class QuotaUse:
    """A token's present use of a quota, and its limit; 0 means no limit."""

    used: float
    most: int

    @property
    def share(self) -> float:
        return self.used / self.most if self.most else 0.0

    @property
    def is_near(self) -> bool:
        """True if the limit is near, or reached."""
        return self.share >= NEAR


Held = Callable[[UUID], int]  # number of things that the token with that id holds open


class Quotas:
    """The quotas of one hub, for all threads."""

    def __init__(self, limits: Limits, clock: Clock = unix_ms) -> None:
        self.limits = limits
        self.refused: Counter[Quota] = Counter()
        self._common = replace(limits, burst=max(limits.burst, 1))
        self._held: dict[Quota, Held] = {}
        self._clock = clock
        self._uses: dict[UUID, Usage] = {}
        self._lock = threading.Lock()

    def spend(self, actor: Actor) -> None:
        """Count a call. Raises `TooMany` if the token's calls come too fast."""
        subject = subject_of(actor)
        if subject is None:
            return
        use, now = self._use(subject, actor.rate), time.monotonic()
        use.rate = actor.rate  # unknown for a subject with only stored bytes so far
        _count(use, now)
        limits = self.limits_of(actor.rate)
        if not limits.rate:
            return
        left = min(limits.burst, use.left + (now - use.at) * limits.rate)
        use.at, use.left = now, left - 1 if left >= 1 else left
        if left < 1:
            wait = math.ceil((1 - left) / limits.rate)
            calls = "1 call" if limits.rate == 1 else f"{limits.rate:,} calls"
            raise self._refusal(use, Quota.CALLS, wait, f"this token makes more than {calls} a second")

    def limits_of(self, rate: int | None) -> Limits:
        """Return the limits of a token: those of the hub, except for a `rate` of its own."""
        common = self._common
        if rate is None:
            return common
        pause = common.burst / common.rate if common.rate else BURST
        return replace(common, rate=rate, burst=max(round(rate * pause), 1))

    def require_rate(self, actor: Actor, rate: int | None) -> None:
        """Raise `Forbidden` if a caller who does not own the hub gives a token a higher rate than the usual one."""
        most = self.limits.rate
        if rate is not None and most and rate > most and not actor.owns_hub:
            raise Forbidden(f"only the owner of the hub may give a token more than {most:,} calls a second")

    def require_stream(self, actor: Actor, are_open: int) -> None:
        """Raise `TooMany` if the token has its full number of streams open."""
        most = MOST_OF_BROWSER if actor.is_browser else self.limits.streams
        subject = subject_of(actor)
        if most and are_open >= most and subject is not None:
            sentence = f"this token holds {most:,} streams open, which are all that it may"
            raise self._refusal(self._use(subject, actor.rate), Quota.STREAMS, STREAM_WAIT, sentence)

    def require_room(self, actor: Actor) -> None:
        """Raise `TooMany` if the token has stored its full amount today."""
        subject = subject_of(actor)
        if not self.limits.stored or subject is None:
            return
        use = self._use(subject)
        if use.day == self._today() and use.stored >= self.limits.stored:
            wait = DAY - self._clock() // 1000 % DAY
            sentence = (
                f"this token has stored {self.limits.stored // MIB:,} MiB today, which is all it may in a day"
            )
            raise self._refusal(use, Quota.STORED, wait, sentence)

    def note(self, actor: Actor, stored: int) -> None:
        """Count the bytes that a call has stored."""
        subject = subject_of(actor)
        if not stored or not self.limits.stored or subject is None:
            return
        use, today = self._use(subject), self._today()
        with self._lock:
            if use.day != today:
                use.day, use.stored, use.unsaved = today, 0, 0
            use.stored += stored
            use.unsaved += stored

    def take_unsaved(self) -> dict[UUID, int]:
        """Take the bytes of today, by subject, that the database does not have; they count as saved from now on."""
        today, taken = self._today(), {}
        with self._lock:
            for subject, use in self._uses.items():
                if use.unsaved and use.day == today:
                    taken[subject], use.unsaved = use.unsaved, 0
        return taken

    def give_back(self, taken: Mapping[UUID, int]) -> None:
        """Count bytes as unsaved again that could not be saved."""
        with self._lock:
            for subject, stored in taken.items():
                if (use := self._uses.get(subject)) is not None:
                    use.unsaved += stored

    def learn(self, stored: Mapping[UUID, int]) -> None:
        """Take over today's numbers from the database: other hubs have added to them, or this one before its start."""
        today = self._today()
        for subject, known in stored.items():
            use = self._use(subject)
            with self._lock:
                use.day, use.stored = today, known + (use.unsaved if use.day == today else 0)

    def refusal(self, actor: Actor, quota: Quota, wait: int, sentence: str) -> TooMany:
        """Make a refusal for a keeper of open things, counted like all others."""
        subject = subject_of(actor)
        if subject is None:
            return TooMany(wait, sentence)
        return self._refusal(self._use(subject, actor.rate), quota, wait, sentence)

    def hold(self, quota: Quota, held: Held) -> None:
        """Learn from the keepers how many things a token holds open."""
        self._held[quota] = held

    def of(self, token_id: UUID) -> Usage | None:
        """Return the use of a token at this hub, as far as it is known."""
        use = self._uses.get(token_id)
        if use is not None and use.day != self._today():
            use.stored = 0
        return use

    def measures(self, token_id: UUID) -> dict[Quota, QuotaUse]:
        """Measure the token's use of each quota, beside its limit."""
        use = self.of(token_id)
        limits = self.limits_of(use.rate if use is not None else None)
        used = {quota: float(held(token_id)) for quota, held in self._held.items()}
        if use is not None:
            used |= {Quota.CALLS: _pace(use, time.monotonic()), Quota.STORED: use.stored}
        most = {
            Quota.CALLS: limits.rate,
            Quota.STREAMS: limits.streams,
            Quota.CONNECTIONS: limits.connections,
            Quota.STORED: limits.stored,
        }
        return {quota: QuotaUse(used.get(quota, 0), most[quota]) for quota in Quota}

    def shares(self) -> dict[Quota, list[float]]:
        """List for each quota the shares of their limits that tokens with calls since the start use now."""
        all_of_them = [self.measures(subject) for subject in list(self._uses)]
        return {quota: [each[quota].share for each in all_of_them] for quota in Quota}

    def number_refused(self) -> int:
        """Count the subjects whose calls were refused in the last hour."""
        ago = self._clock() - HOUR
        return sum(use.refused_at is not None and use.refused_at > ago for use in list(self._uses.values()))

    def save(self, tx: Tx, taken: Mapping[UUID, int]) -> dict[UUID, int]:
        """Add the taken bytes to today's numbers in the database, and return these, for all subjects."""
        today = self._today()
        for subject in sorted(taken):  # in one order, so that hubs which do so at once do not deadlock
            rows.add(tx, subject, today, taken[subject])
        return self.read(tx)

    def read(self, tx: Tx) -> dict[UUID, int]:
        """Return today's numbers from the database, by subject."""
        return rows.of_day(tx, self._today())

    def _today(self) -> int:
        return self._clock() // (DAY * 1000)

    def _use(self, subject: UUID, rate: int | None = None) -> Usage:
        use = self._uses.get(subject)
        if use is None:
            self._tidy()
            use = self._uses[subject] = Usage(time.monotonic(), self.limits_of(rate).burst, rate)
        return use

    def _tidy(self) -> None:
        """Forget subjects without a call for a day, if there are many: their numbers here are over."""
        if len(self._uses) < KNOWN:
            return
        long_ago = time.monotonic() - DAY
        with self._lock:
            self._uses = {
                subject: use for subject, use in self._uses.items() if use.at > long_ago or use.unsaved
            }

    def _refusal(self, use: Usage, quota: Quota, wait: int, sentence: str) -> TooMany:
        now = self._clock()
        use.refused[quota] += 1
        self.refused[quota] += 1
        use.refused_since, use.refused_at = use.refused_since or now, now
        return TooMany(max(wait, 1), sentence)


def forget(tx: Tx) -> None:
    """Drop the numbers of past days."""
    rows.forget(tx, tx.now // (DAY * 1000) - 1)


def subject_of(actor: Actor) -> UUID | None:
    """Return the subject that a call counts for: a token, or a person signed in; None for the hub itself."""
    return actor.user_id if actor.is_browser else actor.lent_from or actor.token_id


def _count(use: Usage, now: float) -> None:
    """Count a call in the present window."""
    window = int(now // WINDOW)
    came, use.before = _recent(use, window)
    use.window, use.came = window, came + 1


def _pace(use: Usage, now: float) -> float:
    """Return the recent calls per second: the present window, and the recent part of the one before."""
    came, before = _recent(use, int(now // WINDOW))
    return (came + before * (1 - now % WINDOW / WINDOW)) / WINDOW


def _recent(use: Usage, window: int) -> tuple[int, int]:
    """Return the calls of a window, the present or the next one, and of the one before it."""
    if window == use.window:
        return use.came, use.before
    return 0, use.came if window == use.window + 1 else 0
