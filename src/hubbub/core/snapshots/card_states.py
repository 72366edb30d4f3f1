"""Current state of agents and tasks: the contents of their cards, read from the tables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Self
from uuid import UUID

from hubbub.core.snapshots import cards
from hubbub.model.lifecycle import Status
from hubbub.model.log.attention import AgentFacts
from hubbub.model.log.projection import Card
from hubbub.model.records import Task
from hubbub.store.log import projection
from hubbub.store.tx import Tx
from hubbub.store.work import dependencies

_shown_of = attrgetter(*projection.TASK)


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """An agent in this transaction: its facts and its card."""

    stands: AgentFacts
    card: Card

    @classmethod
    def of(cls, tx: Tx, project_id: UUID, name: str, *, lock: bool = False) -> Self | None:
        """Return the agent of that name, locked for a caller that records it; None for an unknown name."""
        row = projection.agent(tx, project_id, name, lock=lock)
        if row is None:
            return None
        work = projection.work_of(tx, project_id, name, cards.FILES)
        asks = bool(projection.asking(tx, project_id, name))
        stands = cards.stands(row, (each["status"] for each in work), asks=asks)
        return cls(stands, cards.agent(row, stands, [each["id"] for each in work]))


def of_task(tx: Tx, task: Task) -> Card:
    """Return the card of a task, read-only."""
    return of_tasks(tx, [task])[0]


def of_tasks(tx: Tx, found: Iterable[Task]) -> list[Card]:
    """Return the cards of tasks, read-only; each holder is looked up once."""
    holders: dict[tuple[UUID, str], KnownAgent | None] = {}
    told = []
    for task in found:
        holder = None
        if task.status is Status.WORKING and task.assignee is not None:
            key = task.project_id, task.assignee
            if key not in holders:
                holders[key] = KnownAgent.of(tx, *key)
            holder = holders[key]
        told.append(of(tx, task, holder))
    return told


def of(tx: Tx, task: Task, holder: KnownAgent | None) -> Card:
    """Make the card of a task whose holder is known."""
    return card(tx, task.project_id, dict(zip(projection.TASK, _shown_of(task), strict=True)), holder)


def card(tx: Tx, project_id: UUID, row: Mapping[str, Any], holder: KnownAgent | None) -> Card:
    """Make the card of a task from its row; the `holder` matters while the task is worked on."""
    needs = dependencies.of_task(tx, row["id"]) if row["gated"] else ()
    is_free = row["status"] in (Status.QUEUED, Status.DELIVERED)
    ready_at = projection.ready_at(tx, row["id"]) if needs and is_free else 0
    return cards.task(
        row,
        needs,
        holder=holder.stands if holder is not None else None,
        ready_at=ready_at,
        paused_until=projection.paused_until(tx, project_id, row["assignee"])
        if is_free and row["assignee"]
        else 0,
        is_for_person=row["status"] == Status.IN_REVIEW and projection.is_for_person(tx, row["id"]),
    )
