"""Agents placed on machines: their programs and statuses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum, auto
from typing import Annotated
from uuid import UUID

from hubbub.model.errors import Invalid
from hubbub.model.fields import REST, Secret, Seen
from hubbub.model.json_fields import number_of, number_or_none, text_of, text_or_none, word_of

MOST_TASKS = 64  # that an agent works on at a time
NO_AGENTS = (
    "agents are placed on machines that have joined the hub or that it runs on; this one serves one client"
)
MOST_LINES = 2_000  # of its output that can be requested


class ManagedAgentStatus(StrEnum):
    """The status of an agent on a machine."""

    STARTING = auto()  # ordered; its machine has not reported yet
    RUNNING = auto()
    RESTARTING = auto()  # it died, and is started again after a pause
    STOPPED = auto()  # because somebody asked for it
    FAILED = auto()  # it dies again and again, or cannot be started


LIVE = frozenset({ManagedAgentStatus.RUNNING, ManagedAgentStatus.RESTARTING})
OVER = frozenset({ManagedAgentStatus.STOPPED, ManagedAgentStatus.FAILED})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessStatus:
    """The status of an agent, as its machine reports it."""

    agent: str
    command: str
    status: ManagedAgentStatus
    since: int  # Unix milliseconds by the machine's clock
    pid: int | None = None
    restarts: int = 0
    exit_code: int | None = None  # of its last end
    last_output: str | None = None  # its last line
    last_output_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedAgent:
    """An agent that runs, or ran, on a machine."""

    project_id: UUID
    agent: Annotated[str, Seen(REST)]
    machine: UUID  # the id of the `Machine`
    node: Annotated[str, Seen(REST, "the machine")]
    command: Annotated[str, Seen(REST)]
    started_by: Annotated[str, Seen(REST)]
    token_id: UUID | None
    status: Annotated[ManagedAgentStatus, Seen(REST)]
    since: Annotated[int, Seen(REST)]
    pid: Annotated[int | None, Seen(REST, "the main process, on its machine")]
    restarts: Annotated[int, Seen(REST)]
    exit_code: Annotated[int | None, Seen(REST, "of its last exit by itself")]
    reported_at: Annotated[int, Seen(REST, "the time of its machine's last report")]


@dataclass(frozen=True, slots=True, kw_only=True)
class LastActivity:
    """The last activity of an agent, apart from its heartbeat."""

    agent: str
    node: str | None = None
    runtime: str | None = None
    last_output: str | None = None
    last_output_at: int | None = None
    last_tool: str | None = None
    last_tool_at: int | None = None


@dataclass(frozen=True, slots=True)
class AgentCredentials:
    """Access to the hub for an agent on a machine. `token` is sent once, and never written down."""

    url: str
    token: Annotated[str, Secret()] = field(repr=False)


def fares_of(given: Mapping[str, object]) -> tuple[ProcessStatus, ...]:
    """Decode the statuses of a machine's agents. Raises `Invalid`."""
    found = given.get("fares", [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise Invalid("fares: must be a list of objects")
    return tuple(_fares(each) for each in found)


def _fares(given: Mapping[str, object]) -> ProcessStatus:
    return ProcessStatus(
        agent=text_of(given, "agent"),
        command=text_of(given, "command"),
        status=word_of(given, "status", ManagedAgentStatus),
        since=number_of(given, "since"),
        pid=number_or_none(given, "pid"),
        restarts=number_of(given, "restarts"),
        exit_code=number_or_none(given, "exit_code"),
        last_output=text_or_none(given, "last_output"),
        last_output_at=number_or_none(given, "last_output_at"),
    )
