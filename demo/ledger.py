"""The ledger: each run of a command records its begin and its end there, independently of the hub."""

import hashlib
import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from demo.clock import now


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """One run of a command. Without `ended_at` it was killed or still runs; `digest` is that of its output."""

    task: str
    attempt: int
    agent: str
    pid: int
    began_at: int
    ended_at: int | None = None
    exit_code: int | None = None
    digest: str | None = None

    @property
    def is_done(self) -> bool:
        return self.exit_code == 0


class Ledger:
    """A file to which lines are only added, by any number of processes."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def begin(self, *, task: str, attempt: int, agent: str) -> Execution:
        """Write down that this process begins."""
        execution = Execution(task=task, attempt=attempt, agent=agent, pid=os.getpid(), began_at=now())
        self._add(execution)
        return execution

    def end(self, execution: Execution, *, exit_code: int, output: str) -> None:
        """Write down how it ended."""
        self._add(replace(execution, ended_at=now(), exit_code=exit_code, digest=digest(output)))

    def executions(self) -> list[Execution]:
        """Return all runs that began, in that order, whether or not they ended."""
        known: dict[tuple[str, int, int], Execution] = {}
        for line in self.file.read_text("utf-8").splitlines():
            execution = Execution(**json.loads(line))
            known[execution.task, execution.attempt, execution.pid] = execution
        return list(known.values())

    def _add(self, execution: Execution) -> None:
        descriptor = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, f"{json.dumps(asdict(execution))}\n".encode())
        finally:
            os.close(descriptor)


def digest(output: str) -> str:
    """Return the digest of an output, without the blanks around it, which an agent's reply does not have."""
    return hashlib.sha256(output.strip().encode()).hexdigest()[:16]
