"""The wait for a wake: a long poll, renewed while the client lives, and one waiter for each client.

Monitors, hooks that end to wake their client, and the ringer all wait like this. The hub decides which waker gets a
wake. Nobody waits here for a client that is gone, and of several waiters of one client, which pile up where each turn
starts another, the newest stays.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress

from hubbub.clients.hook import http_request, mail_pointers
from hubbub.clients.hook import hub_target as targets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hubbub.clients.hook.hub_target import Target

    Bring = Callable[[str], str]  # brings a wake's text to the client; returns one of the words below

WOKEN, QUEUED, CANNOT = "woken", "queued", "cannot"
WAIT = 45  # seconds of one poll
SLACK = 10.0  # more, for the answer to come
LOOK = 0.5  # seconds between two checks for a newer waiter, and for the client
LEAST_PAUSE, MOST_PAUSE = 1.0, 30.0  # seconds while the hub is away
BRIEF = 2.0  # seconds for a report to the hub that nobody waits for
OK = 200
REFUSED = (401, 403, 404)  # the hub's statuses that make another request useless
SHELLS = ("sh", "dash", "bash", "zsh", "ash", "fish")
FOLDER = "waiting"  # in the data folder: a file for each client with a waiter


class Waker:
    """A waker that asks the hub for wakes: its client, the instance, and its way to wake."""

    __slots__ = ("client", "host", "idle", "instance", "method", "thread")

    def __init__(
        self,
        *,
        client: str,
        instance: str,
        method: str,
        idle: bool = True,
        thread: str | None = None,
        host: str | None = None,
    ) -> None:
        self.client = client
        self.instance = instance
        self.method = method
        self.idle = idle
        self.thread = thread
        self.host = host


class Wake:
    """A wake that the hub gave us to bring."""

    __slots__ = ("id", "taken_at", "text")

    def __init__(self, wake_id: str, text: str) -> None:
        self.id = wake_id
        self.text = text
        self.taken_at = time.monotonic()


class WakeRefused(OSError):
    """The hub refuses: this token may not wait here, or the hub knows nothing of wakes."""


def ask(target: Target, waker: Waker, *, seconds: float = WAIT) -> Wake | None:
    """Return the wake to bring, as soon as there is one; None after so many seconds. Raises `OSError`."""
    body = {
        "instance": waker.instance,
        "client": waker.client,
        "method": waker.method,
        "idle": waker.idle,
        "wait": seconds,
        "thread": waker.thread,
        "host": waker.host,
    }
    until = time.monotonic() + seconds + SLACK
    status, answer = http_request.call(target, "POST", f"/agents/{target.agent}/wakes", body, until=until)
    if status in REFUSED:
        raise WakeRefused(str(answer.get("message") or status))
    given = answer.get("wake") if status == OK else None
    if status != OK:
        raise http_request.Unanswered(f"the hub answered {status}")
    if not isinstance(given, dict):
        return None
    wake_id, text = given.get("id"), given.get("text")
    if not isinstance(wake_id, str) or not mail_pointers.is_pointer(text):
        raise http_request.Unanswered("the answer does not point to mail")
    return Wake(wake_id, text)


def tell(target: Target, wake: Wake, result: str, said: str | None = None) -> None:
    """Report the result of a wake to the hub. Raises `OSError`."""
    took = int((time.monotonic() - wake.taken_at) * 1000)
    body = {"result": result, "said": said, "took_ms": took}
    http_request.call(target, "POST", f"/wakes/{wake.id}", body, until=time.monotonic() + SLACK)


def leave(target: Target, waker: Waker) -> None:
    """Tell the hub that the client is gone, which it would notice a little later."""
    path = f"/agents/{target.agent}/wakers/{waker.instance}"
    with suppress(OSError, ValueError):
        http_request.call(target, "DELETE", path, until=time.monotonic() + BRIEF)


def wait(target: Target, waker: Waker, bring: Bring, *, once: bool = False) -> bool:
    """Bring wakes to the client for as long as it lives; `once`: return True after the first.

    An absent hub is waited for. Returns False if the hub refuses. The process ends when a newer waiter of the same
    client is there, or the client is not. Raises `OSError` if the data folder takes no writes.
    """
    _watch(target, waker)
    pause = LEAST_PAUSE
    while True:
        asked_at = time.monotonic()
        try:
            wake = ask(target, waker)
        except WakeRefused:
            return False
        except (OSError, ValueError):
            time.sleep(pause)
            pause = min(MOST_PAUSE, pause * 2)
            continue
        pause = LEAST_PAUSE
        if wake is not None and _brought(target, wake, bring) and once:
            return True
        time.sleep(max(0.0, asked_at + LEAST_PAUSE - time.monotonic()))  # in case answers come at once


def beside(client: str, instance: str, method: str) -> tuple[Target, Waker] | None:
    """Return the hub, and the waker beside a run of the client; None if nothing was installed.

    When a signal ends this process, the hub hears of it at once.
    """
    import signal

    try:
        target = targets.find(client, os.getcwd())
    except (OSError, ValueError, LookupError, TypeError):
        target = None
    if target is None:
        return None
    found, waker = target, Waker(client=client, instance=instance, method=method)

    def end(*_: object) -> None:
        leave(found, waker)
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    return found, waker


def write_line(descriptor: int) -> Bring:
    """Return a function that brings a wake as a line on the descriptor."""

    def bring(text: str) -> str:
        try:
            os.write(descriptor, text.encode() + b"\n")
        except OSError:
            return CANNOT
        return WOKEN

    return bring


def stay() -> None:
    """Do nothing while the client lives: some clients complain about our end."""
    parents = client_processes()
    while client_processes() == parents:
        time.sleep(LOOK)


def _brought(target: Target, wake: Wake, bring: Bring) -> bool:
    result = bring(wake.text)
    with suppress(OSError, ValueError):  # the hub sees it when the agent looks into its inbox
        tell(target, wake, result)
    return result != CANNOT


class WaiterTurn:
    """The claim to be the only waiter of a client: the last writer of the file has it."""

    __slots__ = ("_file", "_mark")

    def __init__(self, folder: str, target: Target, waker: Waker) -> None:
        from hashlib import sha256  # takes a while to import, and only waiters need it

        words = "\0".join((target.url, target.project or "", target.agent, waker.client, waker.instance))
        name = sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        self._file = os.path.join(folder, f"{name}-{waker.method}")
        self._mark = f"{os.getpid()} {os.urandom(8).hex()}"

    def take(self) -> None:
        """Become the newest waiter. Raises `OSError` if the disk takes no writes."""
        os.makedirs(os.path.dirname(self._file), mode=0o700, exist_ok=True)
        partial = f"{self._file}.{self._mark.replace(' ', '-')}"
        with open(partial, "w", encoding="ascii") as new:
            new.write(self._mark)
        os.replace(partial, self._file)

    def is_ours(self) -> bool:
        """Tell whether we are still the newest."""
        try:
            with open(self._file, encoding="ascii") as file:
                return file.read(200) == self._mark
        except FileNotFoundError:
            return False

    def give_back(self) -> None:
        """Remove the file, unless a newer waiter is there."""
        if self.is_ours():
            os.unlink(self._file)


def _watch(target: Target, waker: Waker) -> None:
    """End this process when a newer waiter takes its place, or its client is gone."""
    turn = WaiterTurn(os.path.join(targets.data_folder(), FOLDER), target, waker)
    turn.take()
    parents = client_processes()

    def look() -> None:
        while turn.is_ours():
            if client_processes() != parents:
                leave(target, waker)
                turn.give_back()
                break
            time.sleep(LOOK)
        os._exit(0)

    threading.Thread(target=look, daemon=True).start()


def client_processes() -> tuple[int, ...]:
    """Return the process that started us, and its parent if it is only a shell."""
    parent = os.getppid()
    try:
        with open(f"/proc/{parent}/stat", encoding="utf-8", errors="replace") as file:
            name, _, rest = file.read(1000).partition("(")[2].rpartition(") ")
    except OSError:  # no such folder on this system, or it is gone already
        return (parent,)
    return (parent, int(rest.split()[1])) if name in SHELLS else (parent,)
