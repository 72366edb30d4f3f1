"""Breakers: a project's rules that stop agents which repeat themselves, and the agents that were stopped."""

from dataclasses import dataclass, fields
from enum import StrEnum, auto
from typing import Annotated
from uuid import UUID

from hubbub.model.fields import CARD, REST, Seen

LARGEST = 1_000_000


class LoopKind(StrEnum):
    """A way of repeating oneself."""

    ANSWERING = auto()
    REPEATING = auto()
    NESTING = auto()
    MULTIPLYING = auto()
    RETRYING = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerRules:
    """Limits of repetition in one project; 0: none. The defaults are far above what honest work needs."""

    answering: Annotated[
        int,
        Seen(REST, "messages that two agents send each other in turn, while none of their tasks changes"),
    ] = 40
    repeating: Annotated[int, Seen(REST, "times that an agent makes the same tool call in a row")] = 30
    nesting: Annotated[
        int, Seen(REST, "generations of tasks, each made by an agent at work on the one before")
    ] = 12
    multiplying: Annotated[int, Seen(REST, "descendants of one task in that way, in all")] = 300
    retrying: Annotated[int, Seen(REST, "times that agents retry one task")] = 12

    def most(self, kind: LoopKind) -> int:
        """Return the limit for one kind of loop."""
        return int(getattr(self, kind))


RULES = tuple(each.name for each in fields(BreakerRules))


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """Agents in a loop, as the log shows it."""

    project_id: UUID
    kind: LoopKind
    agents: tuple[str, ...]
    count: int
    task_id: UUID | None = None
    refs: tuple[str, ...] = ()  # ids of the tasks or messages that show it


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Agents that a breaker has stopped, until a person lets them go on."""

    id: Annotated[UUID, Seen(REST | CARD)]
    project_id: UUID
    kind: Annotated[LoopKind, Seen(REST | CARD, "the rule that they broke")]
    agents: Annotated[tuple[str, ...], Seen(REST | CARD, "the agents that are stopped")]
    count: Annotated[int, Seen(REST | CARD, "the number of repetitions")]
    task_id: Annotated[UUID | None, Seen(REST | CARD, "the task with which it began, if any")] = None
    refs: Annotated[tuple[str, ...], Seen(REST, "ids of the last tasks or messages that show it")] = ()
    stopped_at: Annotated[int, Seen(REST | CARD)]


REASONS = {
    LoopKind.ANSWERING: "{who} answered each other {count} times in a row while none of their tasks changed",
    LoopKind.REPEATING: "{who} made the same tool call {count} times in a row",
    LoopKind.NESTING: "tasks created tasks that created tasks, {count} levels deep, most recently by {who}",
    LoopKind.MULTIPLYING: "one task led to {count} tasks, most recently by {who}",
    LoopKind.RETRYING: "one task was retried {count} times, most recently for {who}",
}


def reason(stop: Stop) -> str:
    """Return why the agents are stopped, in one sentence without its full stop."""
    return REASONS[stop.kind].format(who=" and ".join(stop.agents), count=stop.count)
