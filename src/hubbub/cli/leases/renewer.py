"""The process beside a command under a lease: it renews the lease, and gives it back when the command ends.

It is forked before `hubbub with` asks for the lease, so that a death at any moment gives it back, and nothing stands
between the command and its starter: terminal, signals and exit status are its own. It sees every end of the command,
a kill included. If it cannot renew the lease, it ends the command before the hub lets another in.
"""

import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hubbub.clients.hook import http_request
from hubbub.clients.hook.hub_target import Target

PATIENCE = 10.0  # seconds for one answer of the hub
PAUSE = 1.0  # seconds between tries to reach a hub that does not answer
OK, NOT_FOUND = 200, 404
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # goes on while the machine sleeps


def clock() -> float:
    """Return seconds that also pass while the machine sleeps."""
    return time.clock_gettime(_CLOCK)


@dataclass(frozen=True, slots=True)
class Held:
    """A granted lease: its hub, its holder, and its time."""

    target: Target
    agent: str | None
    lease_id: str
    ttl: float
    since: float

    @property
    def path(self) -> str:
        return f"/leases/{self.lease_id}"


class Command:
    """The command, in the process that this one was forked from."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._end = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None

    def has_ended(self, within: float = 0) -> bool:
        """Tell whether the command has ended, or ends within that many seconds."""
        if self._end is not None:
            end = select.poll()  # unlike select, it takes the number of any open file
            end.register(self._end, select.POLLIN)
            return bool(end.poll(max(0, within) * 1000))
        until = clock() + within
        while self._is_there():
            if clock() >= until:
                return False
            time.sleep(min(0.1, max(0, until - clock())))
        return True

    def descriptors(self) -> set[int]:
        """Return the open files by which its end is seen."""
        return set() if self._end is None else {self._end}

    def signal(self, number: int) -> None:
        """Send it a signal; and to its whole group, if it leads one."""
        with suppress(ProcessLookupError, PermissionError):
            if os.getpgid(self._pid) == self._pid:
                os.killpg(self._pid, number)
            else:
                os.kill(self._pid, number)

    def tell(self, sentence: str) -> None:
        """Write a line to its standard error, if that can be opened from here."""
        with suppress(OSError), Path(f"/proc/{self._pid}/fd/2").open("a", encoding="utf-8") as errors:
            errors.write(f"hubbub: {sentence}\n")

    def _is_there(self) -> bool:
        try:
            os.kill(self._pid, 0)
        except ProcessLookupError:
            return False
        return True


class Keeper:
    """The process beside this one, which follows what this one says: it lives before any lease does."""

    def __init__(self, telling: int) -> None:
        self._telling = telling

    def asks(self, lease_id: str) -> None:
        """Say that a lease of this id is about to be asked for: it is given back if this process dies."""
        self._say(f"asks {lease_id}")

    def holds(self, held: Held) -> None:
        """Say that this lease is held, and to be renewed while this process lives, whatever program it becomes."""
        self._say(f"holds {held.lease_id} {held.ttl} {held.since}")

    def leave(self) -> None:
        """Say that there is nothing to keep."""
        self._say("leave")

    def _say(self, line: str) -> None:
        with suppress(OSError):  # somebody has killed it
            os.write(self._telling, f"{line}\n".encode())


def begin(target: Target, agent: str | None) -> Keeper:
    """Start the process that will keep what this one is granted."""
    command = Command(os.getpid())
    told, telling = os.pipe()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        for each in (*command.descriptors(), told):
            os.close(each)
        return Keeper(telling)
    try:
        os.close(telling)
        os.setsid()
        if os.fork() == 0:  # an orphan, which the command does not find among its children
            _let_go(command.descriptors() | {told})
            _follow(told, target, agent, command)
    finally:
        os._exit(0)


def _follow(told: int, target: Target, agent: str | None, command: Command) -> None:
    """Keep the lease that the other process says it holds; if it dies before that, give back what it asked for."""
    asked: list[str] = []
    with os.fdopen(told) as lines:
        for line in lines:
            word, *facts = line.split()
            if word == "asks":
                asked += facts
            elif word == "holds":
                lease_id, ttl, since = facts
                keep(Held(target, agent, lease_id, float(ttl), float(since)), command)
                return
            else:
                return
    for each in reversed(asked):  # the earlier ones were refused, or given back
        _give_back(Held(target, agent, each, 0, 0))


def _give_back(held: Held) -> None:
    """Release a lease that nobody waits for any more; the call that asks for it may still be under way."""
    ends_at = clock() + PATIENCE
    while clock() < ends_at:
        with suppress(OSError):
            if _release(held) != NOT_FOUND:
                return
        time.sleep(PAUSE)


def keep(held: Held, command: Command) -> None:
    """Renew the lease until the command has ended, then give it back; end the command if the lease is lost."""
    renewed_at, lasts = held.since, held.ttl * 5 / 6  # the rest is for the command to end
    pause = held.ttl / 3
    while not command.has_ended(pause):
        sent_at = clock()
        try:
            status = _renew(held)
        except OSError:
            status = 0
        if status == OK:
            renewed_at, pause = sent_at, held.ttl / 3
        elif status == NOT_FOUND or clock() - renewed_at >= lasts:
            _end(command, held.ttl / 12)
            break
        else:
            pause = min(PAUSE, renewed_at + lasts - clock())
    _until_it_works(lambda: _release(held), held.ttl)


def release(held: Held) -> None:
    """Give the lease back; if the hub is out of reach it ends by itself."""
    with suppress(OSError):
        _release(held)


def _renew(held: Held) -> int:
    patience = min(PATIENCE, held.ttl / 3)
    body = {"agent": held.agent} if held.agent is not None else {}
    until = time.monotonic() + patience
    status, _ = http_request.call(held.target, "POST", f"{held.path}/renew", body, until=until)
    return status


def _release(held: Held) -> int:
    until = time.monotonic() + PATIENCE
    query = {"agent": held.agent}
    return http_request.call(held.target, "DELETE", held.path, query=query, until=until)[0]


def _until_it_works(deed: Callable[[], object], seconds: float) -> None:
    ends_at = clock() + seconds
    while clock() < ends_at:
        try:
            deed()
        except OSError:
            time.sleep(PAUSE)
        else:
            return


def _end(command: Command, grace: float) -> None:
    """Ask the command to end, and kill it if it does not."""
    command.tell("the lease is lost, and another may have it; the command is ended")
    command.signal(signal.SIGTERM)
    if not command.has_ended(grace):
        command.signal(signal.SIGKILL)


def _let_go(kept: set[int]) -> None:
    """Release everything of the command's: its terminal, pipes, folder and signals."""
    os.chdir("/")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    highest = os.sysconf("SC_OPEN_MAX")
    lowest = 3
    for each in sorted(kept):
        os.closerange(lowest, each)
        lowest = each + 1
    os.closerange(lowest, highest)
    for each in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)
