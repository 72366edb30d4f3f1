"""Machines that agents may use: their records, shared views of them, and the heads of their audit logs."""

from dataclasses import dataclass, field
from typing import Annotated
from uuid import UUID

from hubbub.model.fields import CARD, REST, Secret, Seen
from hubbub.model.fleet.calls import NodeInfo

HERE = "localhost"  # the name of a caller's own machine
AT = "@"  # in no machine's name: it stands between an agent and the name that the agent's program gave
NODE_PREFIX = "node:"  # and the machine's name: the agent under which a machine's own work is a task


def board_name(node: str) -> str:
    """Return the name of a machine's agent on the board; `node` may be that name already."""
    return f"{NODE_PREFIX}{node.removeprefix(NODE_PREFIX)}"


def beside(who: str, name: str) -> str:
    """Return the name for a machine that a program beside `who` calls `name`; no machine has such a name."""
    return f"{who}{AT}{name}"


def said_of(who: str, node: str) -> str | None:
    """Return the name that a program beside `who` gave; None if a machine spoke for itself."""
    given = node.removeprefix(beside(who, ""))
    return given if given != node else None


def is_meant(node: str, name: str) -> bool:
    """Tell whether a caller on the machine `node` means that machine by `name`."""
    return name.casefold() in (node.casefold(), HERE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Load of a machine, as it reports it. Memory is in bytes; None if its system does not say."""

    load1: float  # processes that ran or wanted to, on average over the last minute
    cpus: int
    memory_used: int | None = None
    memory_total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine, as it reports itself."""

    id: UUID
    project_id: UUID
    name: Annotated[str, Seen(REST | CARD)]
    machine_id: Annotated[str, Seen(REST, "stays when the name changes")]
    platform: Annotated[str, Seen(REST | CARD)]
    labels: Annotated[tuple[str, ...], Seen(REST)]
    version: Annotated[str, Seen(REST | CARD)]
    sandbox: Annotated[str, Seen(REST | CARD, "the sandbox of its commands: bwrap, landlock or none")]
    runtime: Annotated[str | None, Seen(REST | CARD, "the agent that can be asked there; null: none")] = None
    policy_fault: Annotated[
        str | None,
        Seen(
            REST, "why its policy does not load, so that it denies everything; null: it loads", since="0.2.0"
        ),
    ] = None
    online: Annotated[bool, Seen(CARD, "the last word of the log")] = False  # `is_online` is up to date
    first_seen_at: Annotated[int, Seen(REST | CARD)]
    seen_at: Annotated[int, Seen(REST)]
    expires_at: Annotated[int, Seen(REST, "the time when it goes offline, if it stays silent")]
    token_id: UUID | None = None  # its own key; None where a hub runs on it
    hub: str | None = None  # the process of the hub that holds its link
    load: Load | None = None  # its last report; not recorded, and so in no picture

    @property
    def about(self) -> NodeInfo:
        """Return the machine, as its callers see it."""
        return NodeInfo(
            name=self.name,
            machine_id=self.machine_id,
            platform=self.platform,
            version=self.version,
            sandbox=self.sandbox,
            policy_fault=self.policy_fault,
        )

    def is_online(self, now: int) -> bool:
        return self.expires_at > now


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinCode:
    """A code that lets one machine join a project, once."""

    project_id: UUID
    node: str | None  # the only name that it may take, if one was given
    created_by: str
    created_at: int
    expires_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareLink:
    """A link that shows one machine to anyone who has it."""

    id: Annotated[UUID, Seen(REST)]
    project_id: UUID
    machine_id: UUID  # the id of the `Machine`
    machine: Annotated[str, Seen(REST, "the name of the machine that it shows")]
    hash: Annotated[str, Secret("of the address")] = field(repr=False)
    created_by: Annotated[str, Seen(REST)]
    created_at: Annotated[int, Seen(REST)]
    expires_at: Annotated[int, Seen(REST)]
    revoked_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditHead:
    """Head of a machine's audit log: the number of its last line, and that line's hash."""

    project_id: UUID
    node: str
    seq: int
    hash: str
    is_broken: bool  # it contradicts an earlier one
    kept_at: int
