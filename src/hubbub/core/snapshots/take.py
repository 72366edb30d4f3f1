"""A snapshot: the picture of a project, made from its tables in one transaction, and its place in the log."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from hubbub.core.snapshots import cards, overlaps
from hubbub.model.approvals import ApprovalStatus
from hubbub.model.pictures import Cards
from hubbub.model.standing import AgentStanding
from hubbub.store import activity, approvals, messages, nodes, pictures
from hubbub.store.activity import Position
from hubbub.store.tx import Row, Tx

ENDED_TASKS = 1000  # the latest; older ones are history
PENDING = 1000  # questions that wait for an answer
MISSED = 100  # the latest that got none in time


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A project at one moment: what happened up to `position` in the log, and the activities `seen` after it."""

    position: Position
    seen: frozenset[int]
    at: int
    picture: dict[str, Cards]


def take(tx: Tx, project_id: UUID) -> Snapshot:
    """The project as it is in this transaction."""
    position = activity.head(tx)
    return Snapshot(
        position=position,
        seen=activity.visible(tx, project_id, position),
        at=tx.now,
        picture=picture(tx, project_id),
    )


def picture(tx: Tx, project_id: UUID) -> dict[str, Cards]:
    """All cards of the project, by noun and key."""
    agents, stands = _agents(tx, project_id)
    return {
        "tasks": _tasks(tx, project_id, stands),
        "agents": agents,
        "machines": {each.name: cards.machine(each) for each in nodes.of_project(tx, project_id)},
        "approvals": _approvals(tx, project_id),
        "letters": {str(row.id): cards.letter(of, row) for of, row in messages.for_people(tx, project_id)},
        "overlaps": overlaps.of_project(tx, project_id),
    }


def _agents(tx: Tx, project_id: UUID) -> tuple[Cards, Mapping[str, AgentStanding]]:
    """All agents, and how each stands."""
    asking = pictures.asking(tx, project_id)
    work: defaultdict[str, list[Row]] = defaultdict(list)
    for each in pictures.work(tx, project_id):
        work[each["assignee"]].append(each)
    found: Cards = {}
    known: dict[str, AgentStanding] = {}
    for row in pictures.agents(tx, project_id):
        name, held = row["name"], work[row["name"]]
        known[name] = cards.stands(row, (each["status"] for each in held), asks=name in asking)
        found[name] = cards.agent(row, known[name], [each["id"] for each in held])
    return found, known


def _tasks(tx: Tx, project_id: UUID, stands: Mapping[str, AgentStanding]) -> Cards:
    needs, ready = pictures.needs(tx, project_id), pictures.readiness(tx, project_id)
    return {
        str(each["id"]): cards.task(
            each,
            needs.get(each["id"], ()),
            holder=stands.get(each["assignee"]),
            ready_at=ready.get(each["id"], 0),
        )
        for each in pictures.tasks(tx, project_id, ended=ENDED_TASKS)
    }


def _approvals(tx: Tx, project_id: UUID) -> Cards:
    found = [
        *approvals.search(tx, project_id, status=ApprovalStatus.PENDING, limit=PENDING),
        *approvals.missed(tx, project_id, limit=MISSED),
    ]
    return {str(each.id): cards.approval(each) for each in found}
