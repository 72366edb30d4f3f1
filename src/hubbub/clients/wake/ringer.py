"""The ringer: waits at the hubs for wakes of this machine's clients that have a wake channel, and delivers them.

There is one process a machine, which holds a lock in the folder of configuration. For each install of such a client it
finds the open conversations in its folder, asks the hub for wakes of the newest (so the hub knows whom it can wake, and
relies on no closed client), and gives it the hub's own text. The letter is stored long before: whatever goes wrong
here, it waits in the inbox.
"""

import socket
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from hubbub.clients.hook import wake_poll
from hubbub.clients.hook.hub_target import Target
from hubbub.clients.hook.main import RUNG
from hubbub.clients.install_record import RECORD, BadRecord, Install, read
from hubbub.clients.wake.codex import CodexChannel
from hubbub.clients.wake.wake_channel import OpenConversation, WakeChannel, WakeOutcome, cannot


@dataclass(frozen=True, slots=True)
class RingerTimings:
    """The ringer's waiting times, in seconds."""

    look: float = 2.0  # between two looks for conversations, and for installs
    ask: float = 20.0  # at the hub, in one request
    least_pause: float = 1.0  # while the hub is away
    most_pause: float = 30.0
    refused: float = 300.0  # after the hub has refused the token


def wake_channels(environment: Mapping[str, str]) -> dict[str, WakeChannel]:
    """Return the wake channels of this machine, by the client's name."""
    return {each.client: each for each in (CodexChannel.here(environment),)}


@dataclass(slots=True)
class Ringer:
    """Rings for every install in the record of `config`, until `stopped`."""

    config: Path
    doors: Mapping[str, WakeChannel]
    pace: RingerTimings = field(default_factory=RingerTimings)
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Ring until `stopped` is set, or no client is left; open requests at a hub end with the process."""
        bells: dict[tuple[object, ...], threading.Event] = {}
        stamp: object = None
        while not self.stopped.is_set():
            if (now := _stamp(self.config)) != stamp or not bells:
                stamp = now
                self._follow(bells)
            if not bells:
                return
            self.stopped.wait(self.pace.look)
        for stop in bells.values():
            stop.set()

    def _follow(self, bells: dict[tuple[object, ...], threading.Event]) -> None:
        """Begin to ring for new installs, and stop for removed ones."""
        try:
            installs = read(self.config)
        except BadRecord:
            return  # another program or a person is just writing it: the present rings go on
        wanted = {_identity(each, installs): each for each in installs if each.client in self.doors}
        for gone in bells.keys() - wanted.keys():
            bells.pop(gone).set()
        for identity in wanted.keys() - bells.keys():
            bell = InstallRinger(
                wanted[identity],
                _nested(wanted[identity], installs),
                self.doors[wanted[identity].client],
                self.pace,
            )
            bells[identity] = bell.stopped
            threading.Thread(target=bell.ring, daemon=True).start()


@dataclass(slots=True)
class InstallRinger:
    """Rings for one install; `but` are the folders that belong to other installs of the client."""

    install: Install
    but: Sequence[Path]
    door: WakeChannel
    pace: RingerTimings
    stopped: threading.Event = field(default_factory=threading.Event)
    _there: wake_poll.Waker | None = None
    _pause: float = 0.0

    def ring(self) -> None:
        """Go on until `stopped`."""
        while not self.stopped.is_set():
            began = time.monotonic()
            pause = self._step()
            self.stopped.wait(max(pause, began + self.pace.least_pause - time.monotonic()))
        self._leave()

    def _step(self) -> float:
        """Look, ask and knock once; return the seconds until the next time."""
        room, target = self._room(), self._target()
        if room is None or target is None:
            self._leave()
            return self.pace.look
        waker = self._waker(room)
        if self._there is not None and self._there.instance != waker.instance:
            self._leave()
        self._there = waker
        try:
            wake = wake_poll.ask(target, waker, seconds=self.pace.ask)
            if wake is not None and not self.stopped.is_set():
                outcome = self._knock(room, wake.text)
                wake_poll.tell(target, wake, outcome.result, outcome.said)
        except wake_poll.WakeRefused:
            return self.pace.refused
        except (OSError, ValueError):
            self._pause = min(self.pace.most_pause, max(self.pace.least_pause, self._pause * 2))
            return self._pause
        self._pause = 0.0
        return 0.0

    def _knock(self, asked_for: OpenConversation, text: str) -> WakeOutcome:
        """Knock at the conversation in its present state: it may be in a turn, or closed."""
        now = {each.thread: each for each in self.door.rooms()}
        room = now.get(asked_for.thread)
        return cannot("the conversation was closed") if room is None else self.door.knock(room, text)

    def _room(self) -> OpenConversation | None:
        """Return the last used conversation of those that belong to the install."""
        ours = [each for each in self.door.rooms() if self._is_ours(each)]
        return max(ours, key=lambda room: (room.used_at, room.thread), default=None)

    def _is_ours(self, room: OpenConversation) -> bool:
        place = Path(room.folder).resolve()
        around = self.install.folder is None or place.is_relative_to(Path(self.install.folder).resolve())
        return around and not any(place.is_relative_to(other) for other in self.but)

    def _waker(self, room: OpenConversation) -> wake_poll.Waker:
        return wake_poll.Waker(
            client=self.install.client,
            instance=room.thread,
            method=self.door.method,
            thread=room.thread,
            host=socket.gethostname(),
        )

    def _target(self) -> Target | None:
        token = self.install.token()
        if token is None:
            return None
        return Target(
            url=self.install.url, token=token, agent=self.install.agent, project=self.install.project or None
        )

    def _leave(self) -> None:
        target = self._target() if self._there is not None else None
        if self._there is not None and target is not None:
            with suppress(OSError, ValueError):
                wake_poll.leave(target, self._there)
        self._there = None


def rings_for(config: Path, url: str | None, *, but: str | None = None) -> bool:
    """Tell whether an install needs a ringer: one at the hub at `url`, or at any, except those at the hub `but`."""
    with suppress(BadRecord):
        for each in read(config):
            if each.client in RUNG and url in (None, each.url) and each.url != but:
                return True
    return False


def _identity(install: Install, installs: Sequence[Install]) -> tuple[object, ...]:
    """Return the identity of an install for the ringer, with the folders left to others."""
    own = (install.client, install.folder, install.agent, install.url, install.project, install.token_file)
    return (*own, *_nested(install, installs))


def _nested(install: Install, installs: Sequence[Install]) -> tuple[Path, ...]:
    """Return the folders inside the install's own that belong to other installs of the same client."""
    others = [
        Path(each.folder).resolve()
        for each in installs
        if each.client == install.client and each.folder and each.folder != install.folder
    ]
    if install.folder is None:
        return tuple(sorted(others))
    own = Path(install.folder).resolve()
    return tuple(sorted(each for each in others if each.is_relative_to(own)))


def _stamp(config: Path) -> tuple[int, int] | None:
    """Return a stamp that changes when the record is rewritten."""
    try:
        status = (config / RECORD).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino
