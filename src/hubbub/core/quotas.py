"""What a token may use of a hub, so that one agent in a loop does not starve a team.

Calls a second are a bucket that fills again: a burst goes through at once, and a loop gets its share and no more.
Streams are counted while they are open. Both are of one hub, as it is a hub that they wear out. What is stored in a
day is counted where a transaction writes it, at the price of an addition, and added up in the database, for all hubs,
some seconds later. People who have signed in count as themselves, in however many browsers.
"""

import math
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from hubbub.model.errors import TooMany
from hubbub.model.rights import Actor
from hubbub.store import usage as rows
from hubbub.store.tx import Clock, Tx, unix_ms

MIB = 1024 * 1024
DAY = 86_400  # seconds
HOUR = 3_600_000  # milliseconds
STREAM_WAIT = 10  # seconds, before another stream is tried
MOST_OF_BROWSER = 200  # streams that one login holds open; a page needs two
KNOWN = 10_000  # subjects, before those are forgotten that have used nothing of late


class Quota(StrEnum):
    """What there is not enough of."""

    CALLS = "calls"
    STREAMS = "streams"
    STORED = "stored"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a token may; 0 is as much as it likes."""

    rate: int = 0  # calls a second, over a while
    burst: int = 0  # calls at once, after a pause
    streams: int = 0  # streams, and calls that wait, at a time
    stored: int = 0  # bytes in a day


@dataclass(slots=True)
class Use:
    """What one subject has used; `at` and `left` are its bucket, times are Unix milliseconds."""

    at: float
    left: float
    day: int = 0
    stored: int = 0  # on that day, as far as this hub knows
    unsaved: int = 0  # of it, what the database does not know of
    refused: Counter[Quota] = field(default_factory=Counter)
    refused_since: int | None = None
    refused_at: int | None = None


class Quotas:
    """The quotas of one hub, for all threads."""

    def __init__(self, limits: Limits, clock: Clock = unix_ms) -> None:
        self.limits = limits
        self.refused: Counter[Quota] = Counter()
        self._clock = clock
        self._uses: dict[UUID, Use] = {}
        self._lock = threading.Lock()

    def spend(self, actor: Actor) -> None:
        """Count a call. Raises `TooMany` where the calls of the token come too fast."""
        subject = subject_of(actor)
        if not self.limits.rate or subject is None:
            return
        now, burst = time.monotonic(), max(self.limits.burst, 1)
        use = self._use(subject)
        left = min(burst, use.left + (now - use.at) * self.limits.rate)
        use.at, use.left = now, left - 1 if left >= 1 else left
        if left < 1:
            wait = math.ceil((1 - left) / self.limits.rate)
            raise self._refusal(
                use, Quota.CALLS, wait, f"this token makes more than {self.limits.rate:,} calls a second"
            )

    def require_stream(self, actor: Actor, are_open: int) -> None:
        """Raise `TooMany` where the token holds as many streams open as it may."""
        most = MOST_OF_BROWSER if actor.is_browser else self.limits.streams
        subject = subject_of(actor)
        if most and are_open >= most and subject is not None:
            sentence = f"this token holds {most:,} streams open, which are all that it may"
            raise self._refusal(self._use(subject), Quota.STREAMS, STREAM_WAIT, sentence)

    def require_room(self, actor: Actor) -> None:
        """Raise `TooMany` where the token has stored as much today as it may."""
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
        """Count what a call has stored."""
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
        """What each subject has stored today and the database does not know of; it counts as saved from now on."""
        today, taken = self._today(), {}
        with self._lock:
            for subject, use in self._uses.items():
                if use.unsaved and use.day == today:
                    taken[subject], use.unsaved = use.unsaved, 0
        return taken

    def give_back(self, taken: Mapping[UUID, int]) -> None:
        """What was taken could not be saved."""
        with self._lock:
            for subject, stored in taken.items():
                if (use := self._uses.get(subject)) is not None:
                    use.unsaved += stored

    def learn(self, stored: Mapping[UUID, int]) -> None:
        """Take over what the database has of today: other hubs have added to it, or this one before it was started."""
        today = self._today()
        for subject, known in stored.items():
            use = self._use(subject)
            with self._lock:
                use.day, use.stored = today, known + (use.unsaved if use.day == today else 0)

    def of(self, token_id: UUID) -> Use | None:
        """What is known of a token's use at this hub."""
        use = self._uses.get(token_id)
        if use is not None and use.day != self._today():
            use.stored = 0
        return use

    def number_refused(self) -> int:
        """Of how many subjects calls were refused in the last hour."""
        ago = self._clock() - HOUR
        return sum(use.refused_at is not None and use.refused_at > ago for use in list(self._uses.values()))

    def save(self, tx: Tx, taken: Mapping[UUID, int]) -> dict[UUID, int]:
        """Add what was taken to what the database has of today, and return that, for all subjects."""
        today = self._today()
        for subject in sorted(
            taken
        ):  # so that hubs that do so at once wait for each other, not both for ever
            rows.add(tx, subject, today, taken[subject])
        return self.read(tx)

    def read(self, tx: Tx) -> dict[UUID, int]:
        """What the database has of today, by subject."""
        return rows.of_day(tx, self._today())

    def _today(self) -> int:
        return self._clock() // (DAY * 1000)

    def _use(self, subject: UUID) -> Use:
        use = self._uses.get(subject)
        if use is None:
            self._tidy()
            use = self._uses[subject] = Use(time.monotonic(), max(self.limits.burst, 1))
        return use

    def _tidy(self) -> None:
        """Forget who has not called for a day, where there are many: what is kept here of them is over."""
        if len(self._uses) < KNOWN:
            return
        long_ago = time.monotonic() - DAY
        with self._lock:
            self._uses = {
                subject: use for subject, use in self._uses.items() if use.at > long_ago or use.unsaved
            }

    def _refusal(self, use: Use, quota: Quota, wait: int, sentence: str) -> TooMany:
        now = self._clock()
        use.refused[quota] += 1
        self.refused[quota] += 1
        use.refused_since, use.refused_at = use.refused_since or now, now
        return TooMany(max(wait, 1), sentence)


def forget(tx: Tx) -> None:
    """Drop what was stored on days that are over."""
    rows.forget(tx, tx.now // (DAY * 1000) - 1)


def subject_of(actor: Actor) -> UUID | None:
    """Who is counted: a token, or the person who has signed in; None for the hub itself."""
    return actor.user_id if actor.is_browser else actor.token_id
