"""Records of agents on disk, from which they run again with the machine's process; keys are never stored."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from hubbub.model.fleet.calls import NodeCall, Principal
from hubbub.model.fleet.managed_agents import ManagedAgentStatus
from hubbub.processes import durable_files

FOLDER = "agents"  # of all agents, in the machine's own
NOTE = "note.json"
TOOL = "agent_start"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRecord:
    """One agent: its command and folder, the caller of the order, and the gate's permission."""

    who: Principal
    agent: str
    command: str
    concurrency: int
    folder: str | None  # as it was ordered; None: the default folder of agents
    digest: str  # of the call that was allowed
    status: ManagedAgentStatus = ManagedAgentStatus.RUNNING
    since: int
    restarts: int = 0
    exit_code: int | None = None

    @property
    def project(self) -> str:
        return self.who.project

    @property
    def order(self) -> NodeCall:
        """Return the call that started it."""
        return NodeCall(who=self.who, tool=TOOL, arguments=arguments(self))


def arguments(note: AgentRecord) -> Mapping[str, object]:
    """Return the arguments of the order."""
    given = {"agent": note.agent, "command": note.command, "concurrency": note.concurrency}
    return given if note.folder is None else {**given, "folder": note.folder}


def home(data: Path, project: str, agent: str) -> Path:
    """Return the folder of one agent: its record, its output, and results that its hub does not have yet."""
    whose = hashlib.sha256(f"{project}\n{agent}".encode("utf-8", "surrogatepass")).hexdigest()
    return data / FOLDER / whose[:32]


def write(folder: Path, note: AgentRecord) -> None:
    """Write a note, all at once."""
    durable_files.make_folder(folder, 0o700)
    durable_files.write(folder / NOTE, json.dumps(asdict(note)))


def every(data: Path) -> Iterator[tuple[Path, AgentRecord]]:
    """Yield the records, each with its folder; unreadable ones are left out."""
    for file in sorted((data / FOLDER).glob(f"*/{NOTE}")):
        try:
            told = json.loads(file.read_text("utf-8"))
            who, status = Principal(**told.pop("who")), ManagedAgentStatus(told.pop("status"))
            yield file.parent, AgentRecord(who=who, status=status, **told)
        except (OSError, ValueError, TypeError, KeyError):
            continue


def forget(folder: Path) -> None:
    """Remove a note. The agent's output stays."""
    with suppress(FileNotFoundError):  # not even a folder
        durable_files.remove(folder / NOTE)
