"""Telling the other hubs on a PostgreSQL database that something happened, and hearing it from them.

NOTIFY takes a lock on the whole server until its transaction ends; inside every transaction it would let them commit
one after the other. So one connection notifies for the whole hub, at most once in some milliseconds. A notification
that is lost costs a second: the listeners are woken that often in any case.
"""

import threading
from collections.abc import Callable
from uuid import uuid4

import psycopg

from hubbub.store.listeners import Listeners

CHANNEL = "hubbub_activity"
NOTIFY_EVERY = 0.005  # seconds
POLL_EVERY = 1.0  # seconds
PATIENCE = 1.5  # seconds
CONNECT_TIMEOUT = 5  # seconds


class Wakeups:
    """Two threads: one that notifies, and, as soon as there is a listener here, one that listens."""

    def __init__(self, url: str, notify_every: float) -> None:
        self._url, self._notify_every = url, notify_every
        self._name = uuid4().hex  # what this hub signs with, to know its own notifications
        self._listeners = Listeners()
        self._due = threading.Event()
        self._closing = threading.Event()
        self._speaker: psycopg.Connection | None = None
        self._threads = [self._start(self._speak, "hubbub-notifier")]

    def add(self, wake: Callable[[], None]) -> None:
        """Have `wake` called soon after a writing transaction ended, in this hub or another."""
        self._listeners.add(wake)
        if len(self._threads) == 1:
            self._threads.append(self._start(self._listen, "hubbub-listener"))

    def tell(self) -> None:
        """A writing transaction has ended: wake the listeners here now, and those of other hubs soon."""
        self._due.set()
        self._listeners.wake()

    def close(self) -> None:
        """Send the last notification, by which the own listener ends too."""
        self._closing.set()
        self._due.set()
        for thread in self._threads:
            thread.join(PATIENCE)  # one that is just trying to reach a server that is gone ends by itself
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
        except psycopg.OperationalError:
            self._speaker = None  # the others look by themselves soon; the next notification connects anew

    def _listen(self) -> None:
        while not self._closing.is_set():
            try:
                with self._connect() as db:
                    db.execute(f"LISTEN {CHANNEL}")
                    self._follow(db)
            except psycopg.OperationalError:
                self._listeners.wake()
                self._closing.wait(POLL_EVERY)

    def _follow(self, db: psycopg.Connection) -> None:
        while not self._closing.is_set():
            heard = [notice.payload for notice in db.notifies(timeout=POLL_EVERY, stop_after=1)]
            if not heard or any(name != self._name for name in heard):
                self._listeners.wake()

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(self._url, autocommit=True, connect_timeout=CONNECT_TIMEOUT)
