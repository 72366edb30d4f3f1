"""The single tail of the activity log in this process, and its followers.

The store's wake-up is only a hint; the truth is the log, which is read on from the last place. A reader is a place in
the log, not a queue: it takes new activities when it is ready. They come from a short memory of the latest ones
if that reaches back far enough, else from the store, so that a slow reader costs nobody else anything, and one that
comes back after a day is served by the same code as one that blinked.
"""

import asyncio
import logging
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from uuid import UUID

from hubbub.core.log import activity as log_of
from hubbub.core.log.activity import START, Page, Position
from hubbub.model.errors import StoreUnavailable
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Activity
from hubbub.store.tx import Store, Tx

log = logging.getLogger(__name__)

PAGE = 200  # activities read from the store at once: as many as an event loop reads by itself
REMEMBERED = 500  # activities kept for readers that are a little behind
GATHER = timedelta(milliseconds=3)  # activities within it are read at once, which is cheaper
POLL = timedelta(seconds=1)  # how long a lost hint may delay an activity

Hear = Callable[[Sequence[Activity]], None]


def _place(activity: Activity) -> Position:
    return Position(activity.tx, activity.seq)


class LogReader:
    """A reader's place in the log of some projects; with `agent` only its activities, with `kinds` only those.

    Call `take` until it returns nothing, then wait: `wake` is called once when there is more.
    """

    __slots__ = ("_feed", "_is_idle", "_was_told", "agent", "kinds", "position", "projects", "wake")

    def __init__(
        self,
        feed: "LogTail",
        projects: frozenset[UUID],
        wake: Callable[[], None],
        *,
        agent: str | None,
        after: Position,
        kinds: frozenset[str] | None,
    ) -> None:
        self._feed, self.projects, self.agent, self.kinds = feed, projects, agent, kinds
        self.position, self.wake = after, wake
        self._is_idle = self._was_told = False

    @property
    def keys(self) -> list[Hashable]:
        return [(project_id, self.agent) for project_id in self.projects]

    async def take(self) -> list[Activity]:
        """Return the activities since the last call, in order, at most a page. Raises `StoreUnavailable`."""
        self._is_idle = False
        while True:
            self._was_told = False
            found = self._remembered() if self._feed.remembers(self.position) else await self._stored()
            if found:
                return found
            if not self._was_told:  # while the store was read
                self._is_idle = True
                return []

    def tell(self, before: Position) -> None:
        """Note that there is something after `before`, the first since the reader last found nothing."""
        self._was_told = True
        if self._is_idle:
            self._is_idle = False
            self.position = max(self.position, before)
            self.wake()

    def wants(self, activity: Activity) -> bool:
        is_ours = activity.project_id in self.projects and self.agent in (None, activity.agent)
        return is_ours and (self.kinds is None or activity.kind in self.kinds)

    def _remembered(self) -> list[Activity]:
        found = [each for each in self._feed.after(self.position) if self.wants(each)]
        self.position = max(self.position, self._feed.position)
        return found

    async def _stored(self) -> list[Activity]:
        """Read pages from the store until one holds an activity for this reader."""
        while True:
            page = await self._feed.store.read(SYSTEM, self._page)
            if not page.activities:
                return []
            self.position = page.position
            if found := [each for each in page.activities if self.wants(each)]:
                return found

    def _page(self, tx: Tx) -> Page:
        if len(self.projects) == 1:
            (project_id,) = self.projects
            return log_of.since(tx, project_id, self.position, PAGE, agent=self.agent)
        return log_of.tail(tx, self.position, PAGE)


class LogTail:
    """The tail of the log, for one event loop. Works while `run` runs."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.position = START  # after everything that was passed on
        self._recent: list[Activity] = []
        self._recent_from = START
        self._hear: list[Hear] = []
        self._readings: dict[Hashable, dict[LogReader, None]] = {}
        self._news = asyncio.Event()

    async def start(self) -> None:
        """Begin at the end of the log: earlier activities are history."""
        self.position = self._recent_from = await self.end()
        loop = asyncio.get_running_loop()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop is closed, and nobody follows any more
                loop.call_soon_threadsafe(self._news.set)

        self.store.on_activity(wake)

    async def end(self) -> Position:
        """Return the present end of the log, which may not have been passed on yet."""
        return await self.store.read(SYSTEM, log_of.head)

    async def run(self) -> None:
        """Pass on activities, until cancelled."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL.total_seconds()):
                    await self._news.wait()
                    await asyncio.sleep(GATHER.total_seconds())
            self._news.clear()
            try:
                await self._catch_up()
            except StoreUnavailable as error:
                log.warning("the activity log cannot be read: %s", error)
                await asyncio.sleep(POLL.total_seconds())

    def listen(self, hear: Hear) -> None:
        """Call `hear` with all activities, in order, a page at a time; it must not block."""
        self._hear.append(hear)

    @contextmanager
    def reading(
        self,
        wake: Callable[[], None],
        projects: frozenset[UUID],
        agent: str | None = None,
        after: Position | None = None,
        kinds: frozenset[str] | None = None,
    ) -> Iterator[LogReader]:
        """Open a reader of `projects`, from `after` on, by default from now on; `wake` must not block."""
        place = self.position if after is None else after
        reading = LogReader(self, projects, wake, agent=agent, after=place, kinds=kinds)
        for key in reading.keys:
            self._readings.setdefault(key, {})[reading] = None
        try:
            yield reading
        finally:
            for key in reading.keys:
                del self._readings[key][reading]
                if not self._readings[key]:
                    del self._readings[key]

    def number_of_readings(self, project_id: UUID, agent: str) -> int:
        """Count the readers of the agent's activities alone."""
        return len(self._readings.get((project_id, agent), ()))

    def remembers(self, position: Position) -> bool:
        """Tell whether everything passed on after `position` is still in memory."""
        return position >= self._recent_from

    def after(self, position: Position) -> list[Activity]:
        """Return the remembered activities after `position`."""
        return self._recent[bisect_right(self._recent, position, key=_place) :]

    async def _catch_up(self) -> None:
        is_more = True
        while is_more:
            page = await self.store.read(SYSTEM, self._next)
            is_more = len(page.activities) == PAGE
            before, self.position = self.position, page.position
            self._remember(page.activities)
            for hear in self._hear:
                hear(page.activities)
            for reading, place in self._concerned(page.activities, before).items():
                reading.tell(place)

    def _next(self, tx: Tx) -> Page:
        return log_of.tail(tx, self.position, PAGE)

    def _remember(self, activities: Sequence[Activity]) -> None:
        """Remember activities; past twice the limit, forget down to the limit."""
        self._recent.extend(activities)
        if len(self._recent) > 2 * REMEMBERED:
            forgotten = len(self._recent) - REMEMBERED
            self._recent_from = _place(self._recent[forgotten - 1])
            del self._recent[:forgotten]

    def _concerned(self, activities: Sequence[Activity], before: Position) -> dict[LogReader, Position]:
        """Map each concerned reader to the place before its first of these activities, which begin at `before`."""
        concerned: dict[LogReader, Position] = {}
        for activity in activities:
            for agent in {None, activity.agent}:
                for reading in self._readings.get((activity.project_id, agent), ()):
                    if reading.kinds is None or activity.kind in reading.kinds:
                        concerned.setdefault(reading, before)
            before = _place(activity)
        return concerned
