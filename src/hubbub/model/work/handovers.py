"""Hand-overs: tasks of a paused account that the hub gave to an agent of another one, each of them once."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    task_id: UUID
    project_id: UUID
    taken_from: str
    given_to: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleAgent:
    """An agent that is there and has no task; its account and its program, as far as they are known."""

    name: str
    account: str | None
    runtime: str | None
