"""Messages between hubs on a PostgreSQL database: new activities, live news, and signs of presence.

NOTIFY takes a server-wide lock until its transaction ends; inside every transaction it would make them commit
one after the other. So one connection notifies for the whole hub, at most once in some milliseconds. A lost
notification costs a second: the listeners are woken that often in any case. Lost news is lost.

A hub is present while its listening connection holds the lock of its name: however a hub ends, the server releases it.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from uuid import uuid4

import psycopg
from psycopg import Notify

from hubbub.store.engine.listeners import Listeners

CHANNEL = "hubbub_activity"
NEWS = "hubbub_news"
NOTIFY_EVERY = 0.005  # seconds
POLL_EVERY = 1.0  # seconds
PATIENCE = 1.5  # seconds
CONNECT_TIMEOUT = 5  # seconds
PIECE = 7000  # bytes of news in one notification; the server's limit is 8000
MOST_NEWS = 1000  # waiting to be passed on; beyond that the oldest are dropped

HUBS = 0x68756262  # the first half of the hubs' lock numbers; the second is derived from the hub's name
HUBS_PRESENT = f"""SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = {HUBS}
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""
HUB_HAS_ENDED = f"NOT EXISTS ({HUBS_PRESENT} AND objid = (hashtext(hub)::bigint & 4294967295)::oid)"


class Notifier:
    """Two threads: one notifies, the other listens as soon as there is a listener here."""

    def __init__(self, url: str, notify_every: float) -> None:
        self._url, self._notify_every = url, notify_every
        self._name = uuid4().hex  # this hub's signature, to recognise its own notifications
        self._listeners = Listeners()
        self._hearers: list[Callable[[str], None]] = []
        self._news: deque[str] = deque(maxlen=MOST_NEWS)
        self._hub: str | None = None
        self._due = threading.Event()
        self._closing = threading.Event()
        self._speaker: psycopg.Connection | None = None
        self._threads = [self._start(self._speak, "hubbub-notifier")]

    def add(self, wake: Callable[[], None]) -> None:
        """Register `wake`, called soon after a writing transaction ended, in this hub or another."""
        self._listeners.add(wake)
        if len(self._threads) == 1:
            self._threads.append(self._start(self._listen, "hubbub-listener"))

    def add_hearer(self, hear: Callable[[str], None]) -> None:
        """Register `hear`, called with the news of other hubs, once there is a listener here."""
        self._hearers.append(hear)

    def hold(self, hub: str) -> None:
        """Show other hubs that the hub of that name is present, once there is a listener here."""
        self._hub = hub

    def tell(self) -> None:
        """Report the end of a writing transaction: wake the listeners here now, and those of other hubs soon."""
        self._due.set()
        self._listeners.wake()

    def pass_on(self, news: str) -> None:
        """Send news to the other hubs soon."""
        self._news.append(news)
        self._due.set()

    def close(self) -> None:
        """Send the last notification, which also ends our own listener."""
        self._closing.set()
        self._due.set()
        for thread in self._threads:
            thread.join(PATIENCE)  # one that is connecting to a dead server ends by itself
        if self._speaker is not None:
            self._speaker.close()

    def _start(self, run: Callable[[], None], name: str) -> threading.Thread:
        thread = threading.Thread(target=run, name=name, daemon=True)
        thread.start()
        return thread

    def _speak(self) -> None:
        while not self._closing.is_set():
            self._due.wait()
            self._due.clear()
            self._notify()
            self._closing.wait(self._notify_every)
        if self._due.is_set():
            self._notify()

    def _notify(self) -> None:
        try:
            if self._speaker is None or self._speaker.closed:
                self._speaker = self._connect()
            self._speaker.execute("SELECT pg_notify(%s, %s)", (CHANNEL, self._name))
            while self._news:
                pieces = list(_pieces(self._name, self._news.popleft()))
                self._speaker.execute(
                    "SELECT pg_notify(%s, piece) FROM unnest(%s::text[]) AS piece", (NEWS, pieces)
                )
        except psycopg.OperationalError:
            self._speaker = None  # the others look by themselves soon; the next notification reconnects

    def _listen(self) -> None:
        while not self._closing.is_set():
            try:
                with self._connect() as db:
                    db.execute(f"LISTEN {CHANNEL}")
                    db.execute(f"LISTEN {NEWS}")
                    self._follow(db)
            except psycopg.OperationalError:
                self._listeners.wake()
                self._closing.wait(POLL_EVERY)

    def _follow(self, db: psycopg.Connection) -> None:
        is_held, assembled = False, _Assembled()
        while not self._closing.is_set():
            is_held = is_held or self._is_held(db)
            heard = list(db.notifies(timeout=POLL_EVERY, stop_after=1))
            others = [each for each in heard if not each.payload.startswith(self._name)]
            if not heard or any(each.channel == CHANNEL for each in others):
                self._listeners.wake()
            for news in assembled.whole(each for each in others if each.channel == NEWS):
                for hear in self._hearers:
                    hear(news)

    def _is_held(self, db: psycopg.Connection) -> bool:
        """Tell whether this connection holds the hub's lock by now; the earlier connection may still have had it."""
        if self._hub is None:
            return False
        row = db.execute("SELECT pg_try_advisory_lock(%s, hashtext(%s))", (HUBS, self._hub)).fetchone()
        return row == (True,)

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(self._url, autocommit=True, connect_timeout=CONNECT_TIMEOUT)


def _pieces(sender: str, news: str) -> Iterator[str]:
    """Cut the news for notifications: `sender number-of-pieces-to-follow piece`, each one different."""
    starts = range(0, len(news), PIECE)
    for left, start in zip(reversed(range(len(starts))), starts, strict=True):
        yield f"{sender} {left} {news[start : start + PIECE]}"


class _Assembled:
    """Assembles news from its pieces. Those of one sender arrive in order, one news after the other."""

    def __init__(self) -> None:
        self._begun: dict[str, str] = {}

    def whole(self, notifications: Iterator[Notify]) -> Iterator[str]:
        for each in notifications:
            sender, left, piece = each.payload.split(" ", 2)
            told = self._begun.pop(sender, "") + piece
            if left == "0":
                yield told
            else:
                self._begun[sender] = told
