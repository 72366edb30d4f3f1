"""A snapshot: the picture of a project, made from its tables in one transaction, and its moment in the log."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from hubbub.core.snapshots import cards, scope_conflicts
from hubbub.model.fleet.approvals import ApprovalStatus
from hubbub.model.json_text import compact
from hubbub.model.log.attention import UNBEGUN_FOR, AgentFacts
from hubbub.model.log.projection import Card
from hubbub.store.fleet import approvals, nodes
from hubbub.store.limits import accounts, breakers, budgets
from hubbub.store.log import activity, projection
from hubbub.store.log.activity import Position
from hubbub.store.mail import messages
from hubbub.store.tx import Row, Tx
from hubbub.store.work import leases

ENDED_TASKS = 1000  # the latest; older ones are history
PENDING = 1000  # questions that wait for an answer
MISSED = 100  # the latest unanswered ones
PIECE = 50  # cards written as JSON at once


@dataclass(frozen=True, slots=True)
class SnapshotMoment:
    """A moment of a project: its `position` in the log, and the activities `seen` after it."""

    position: Position
    seen: frozenset[int]
    at: int


def moment(tx: Tx, project_id: UUID) -> SnapshotMoment:
    """Return the moment of the project that this transaction sees."""
    position = activity.head(tx)
    return SnapshotMoment(position, activity.visible(tx, project_id, position), tx.now)


def nouns(
    tx: Tx, project_id: UUID, *, pressing: bool = False
) -> Iterator[tuple[str, Iterable[tuple[str, Card]]]]:
    """Yield the nouns of the project's picture, each with an iterator of its cards by key.

    `pressing` omits the tasks and agents that cannot need a person now, which are nearly all.
    """
    crew = _crew(tx, project_id)
    yield "tasks", _tasks(tx, project_id, crew, pressing=pressing)
    yield "agents", (each.shown for each in crew.values() if each.stands.need is not None or not pressing)
    yield "machines", ((each.name, cards.machine(each)) for each in nodes.of_project(tx, project_id))
    yield "approvals", _approvals(tx, project_id)
    waiting = messages.for_people(tx, project_id)
    yield "letters", ((str(row.id), cards.letter(of, row)) for of, row in waiting)
    yield "overlaps", scope_conflicts.of_project(tx, project_id).items()
    yield "accounts", ((each.name, cards.account(each)) for each in accounts.of_project(tx, project_id))
    yield "budgets", ((str(each.id), cards.budget(each)) for each in budgets.of_project(tx, project_id))
    yield "stops", ((str(each.id), cards.stop(each)) for each in breakers.of_project(tx, project_id))
    yield "leases", ((str(each.id), cards.lease(each)) for each in leases.of_project(tx, project_id))


class SnapshotText:
    """The JSON of the project's picture, piece by piece; `cards` counts the cards so far.

    A project may have a hundred thousand of them: they never exist all at once, and no piece keeps other threads
    waiting for long.
    """

    def __init__(self, tx: Tx, project_id: UUID) -> None:
        self._nouns = nouns(tx, project_id)
        self.cards = 0

    def __iter__(self) -> Iterator[bytes]:
        for place, (noun, found) in enumerate(self._nouns):
            yield b'%b"%b":{' % (b"," if place else b"{", noun.encode())
            yield from self._cards(iter(found))
            yield b"}"
        yield b"}"

    def _cards(self, found: Iterator[tuple[str, Card]]) -> Iterator[bytes]:
        comma = ""
        while piece := dict(islice(found, PIECE)):
            self.cards += len(piece)
            yield (comma + compact(piece)[1:-1]).encode("utf-8", "surrogatepass")
            comma = ","


@dataclass(frozen=True, slots=True)
class _Hand:
    """An agent, its facts, and its tasks under way."""

    row: Row
    stands: AgentFacts
    held: Sequence[Row]

    @property
    def shown(self) -> tuple[str, Card]:
        """Return its name and its card."""
        return self.row["name"], cards.agent(self.row, self.stands, [each["id"] for each in self.held])


def _crew(tx: Tx, project_id: UUID) -> dict[str, _Hand]:
    """Return all agents, by name."""
    asking = projection.asking(tx, project_id)
    work: defaultdict[str, list[Row]] = defaultdict(list)
    for each in projection.work(tx, project_id):
        work[each["assignee"]].append(each)
    found = {}
    for row in projection.agents(tx, project_id):
        name, held = row["name"], work.get(row["name"], ())
        stands = cards.stands(row, (each["status"] for each in held), asks=name in asking)
        found[name] = _Hand(row, stands, held)
    return found


def _tasks(
    tx: Tx, project_id: UUID, crew: Mapping[str, _Hand], *, pressing: bool
) -> Iterator[tuple[str, Card]]:
    needs, ready = projection.needs(tx, project_id), projection.readiness(tx, project_id)
    for_people = projection.in_review_for_people(tx, project_id)
    found = (
        projection.pressing(tx, project_id, ended=ENDED_TASKS, unbegun=UNBEGUN_FOR)
        if pressing
        else projection.tasks(tx, project_id, ended=ENDED_TASKS)
    )
    for each in found:
        holder = crew.get(each["assignee"])
        card = cards.task(
            each,
            needs.get(each["id"], ()),
            holder=holder.stands if holder is not None else None,
            ready_at=ready.get(each["id"], 0),
            paused_until=(holder.row["account_until"] or 0) if holder is not None else 0,
            is_for_person=each["id"] in for_people,
        )
        yield str(each["id"]), card


def _approvals(tx: Tx, project_id: UUID) -> Iterator[tuple[str, Card]]:
    found = [
        *approvals.search(tx, project_id, status=ApprovalStatus.PENDING, limit=PENDING),
        *approvals.missed(tx, project_id, limit=MISSED),
    ]
    return ((str(each.id), cards.approval(each)) for each in found)
