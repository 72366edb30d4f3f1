"""The watched picture, kept in step with the hub from a thread of its own."""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from hubbub.client import Frame, Hub, HubRefused, HubUnreachable
from hubbub.model.log.projection import Projector

PAUSE = 1.0  # seconds between tries to reach an absent hub
REMEMBERED = 500  # activities of the feed


class ConnectionState(StrEnum):
    """The relation of the picture to the hub."""

    CONNECTING = "connecting…"
    LIVE = "live"
    RECONNECTING = "reconnecting…"


@dataclass(slots=True)
class WatchedProject:
    """The known state of the project; `lock` it to read or change it."""

    fold: Projector = field(default_factory=Projector)
    is_known: bool = False  # whether the hub has sent the project's state
    feed: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    connection: ConnectionState = ConnectionState.CONNECTING
    reason: str = ""  # why it is not live
    lock: threading.Lock = field(default_factory=threading.Lock)


class PictureFollower:
    """Follows the hub until it is told to stop, and calls `changed` from its thread after each change."""

    def __init__(self, hub: Hub, changed: Callable[[], None]) -> None:
        self.watched = WatchedProject()
        self._hub, self._changed = hub, changed
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="following the hub")

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop changing anything; the thread itself may still wait for the hub, and ends with the program."""
        self._stopped.set()

    def join(self) -> None:
        """Wait until the thread has ended, after `stop` and with the connection closed."""
        self._thread.join()

    def _run(self) -> None:
        after: str | None = None
        while not self._stopped.is_set():
            try:
                after = after if after is not None else self._begin()
                for frame in self._hub.follow(after=after, patches=True):
                    if self._stopped.is_set():
                        return
                    if frame.data.get("kind") == "reset":  # the hub has forgotten our place
                        break
                    after = frame.id or after
                    self._take(frame)
                after = None
            except HubUnreachable as error:
                self._lost(str(error))
            except HubRefused as error:
                self._lost(str(error))
                after = None

    def _begin(self) -> str:
        """Take a new picture, and return the place in the log from which events go on."""
        snapshot = self._hub.get("/snapshot")
        past = self._hub.get("/activity", limit=200)["activity"]
        watched = self.watched
        with watched.lock:
            watched.fold = Projector.of(snapshot["picture"], snapshot["seen"])
            watched.is_known = True
            watched.feed.clear()
            watched.feed.extend(reversed(past))
            watched.connection, watched.reason = ConnectionState.LIVE, ""
        self._changed()
        return str(snapshot["id"])

    def _take(self, frame: Frame) -> None:
        watched = self.watched
        with watched.lock:
            watched.connection, watched.reason = ConnectionState.LIVE, ""
            activity = frame.data
            watched.fold.apply(int(activity["id"]), activity.pop("patch", None))
            if not watched.feed or activity["id"] > watched.feed[-1]["id"]:
                watched.feed.append(activity)
        self._changed()

    def _lost(self, reason: str) -> None:
        with self.watched.lock:
            self.watched.connection, self.watched.reason = ConnectionState.RECONNECTING, reason
        self._changed()
        self._stopped.wait(PAUSE)
