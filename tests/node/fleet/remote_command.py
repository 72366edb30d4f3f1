"""A command on a far machine, which counts how often it is begun, and ends when it is let."""

from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

from watchfiles import watch

from tests.node.fleet.process_fleet import LOOK, Fleet, Json, Machine

DONE = {"stdout": "done\n", "stderr": "", "exit_code": 0}
JOURNAL = "orders.db-wal"  # in the machine's own folder: written when an order begins and when it has ended


class Work:
    """The command, and the call by which an agent has it done: always the same one, with the same key."""

    def __init__(self, fleet: Fleet, machine: Machine, pool: ThreadPoolExecutor) -> None:
        self.fleet, self.machine, self._pool = fleet, machine, pool
        self.token = fleet.agent("ada")
        self._begun, self._go, self._over = (machine.pipe(name) for name in ("begun", "go", "over"))
        self.command = "echo x >> count; echo > begun; read word < go; echo $word; echo > over"

    def begin(self) -> "Future[Json]":
        """Make the call, and wait until the command runs."""
        call = self.again()
        self.is_begun()
        return call

    def is_begun(self) -> None:
        self._begun.read_text()

    def again(self) -> "Future[Json]":
        """Make the call, always with the same key."""
        return self.order(self.command, key="k")

    def order(self, command: str, *, key: str) -> "Future[Json]":
        """Have a command done by the machine."""
        call = partial(self.fleet.hub.post, token=self.token, node=self.machine.name, key=key)
        return self._pool.submit(call, "execute_command", {"command": command})

    def finish(self) -> None:
        """Let the command end, and wait until it is about to."""
        self._go.write_text("done\n")
        self._over.read_text()

    def end(self) -> None:
        """Let the command end, and wait until its machine has noted what came of it."""
        file = self.machine.data / JOURNAL
        before = _version(file)
        self.finish()
        for _changes in watch(self.machine.data, rust_timeout=LOOK, yield_on_timeout=True):
            if _version(file) != before:
                return

    @property
    def times(self) -> int:
        """The number of times that it was begun."""
        file = self.machine.work / "count"
        return len(file.read_text().splitlines()) if file.exists() else 0


def _version(file: Path) -> tuple[int, int]:
    found = file.stat()
    return found.st_mtime_ns, found.st_size


def answer(call: "Future[Json]") -> Json:
    found: Json = call.result()["structuredContent"]
    return found
