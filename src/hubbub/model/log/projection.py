"""Pictures: a project at one moment, and how each activity turns the last picture into the next.

A picture maps each noun to its *cards*, by key: the outside view of tasks, agents, machines and so on. An activity may
carry a *patch*: the cards after it, None for one that is gone. A picture and the patches after it give the same picture
as the hub's; nothing else is needed. On PostgreSQL the log is in the order of (tx, seq) while the changes of one thing
go by seq, the activity's id: so an activity never overwrites a card of an activity with a greater id.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Self, TypedDict

from hubbub.model.fields import CARD, Field, Seen, declared, merged, seen
from hubbub.model.fleet.approvals import Approval
from hubbub.model.fleet.nodes import Machine
from hubbub.model.limits.accounts import Account
from hubbub.model.limits.breakers import Stop
from hubbub.model.limits.budgets import Budget
from hubbub.model.people.rights import Right
from hubbub.model.records import Condition, Intent, Task
from hubbub.model.work.leases import Lease

Card = Mapping[str, Any]
Cards = dict[str, Card]
Patch = Mapping[str, Mapping[str, Card | None]]
Projection = Mapping[str, Mapping[str, Card]]


class NeedCard(TypedDict):
    """A need, as cards show it."""

    kind: str
    rank: Annotated[int, Seen(CARD, "a smaller number is more urgent")]
    since: Annotated[int, Seen(CARD, "its beginning; it may lie ahead")]
    until: Annotated[int | None, Seen(CARD, "its end; null: until something happens")]


class TaskCardExtras(TypedDict):
    """Members of a task's card that its record lacks, or shows in another form."""

    state: Annotated[str, Seen(CARD, "the status as people see it", after="status")]
    need: Annotated[NeedCard | None, Seen(CARD, "the reason why a person is needed, and its beginning")]
    may: Annotated[list[str], Seen(CARD, "the verbs that are possible now, for people who may write")]
    depends_on: Annotated[
        list[str], Seen(CARD, "the tasks that must be completed before it may be claimed", after="parent_id")
    ]
    files: Annotated[list[str] | None, Seen(CARD, "the files changed for it; cut", after="attempt")]


class MachineCardExtras(TypedDict):
    labels: Annotated[list[str], Seen(CARD, after="version")]


class ApprovalCardExtras(TypedDict):
    need: Annotated[NeedCard, Seen(CARD, "the reason why a person is needed", after="id")]
    may: Annotated[list[str], Seen(CARD, "the possible answers")]
    right: Annotated[Right, Seen(CARD, "the right needed to answer")]
    said_node: Annotated[
        str | None,
        Seen(
            CARD, "the machine, by the word of a program with a token; null: the machine asked", after="node"
        ),
    ]
    kind: Annotated[str, Seen(CARD, "the subject: one call, or a new rule of the policy", after="tool")]


class AgentCard(TypedDict):
    name: str
    state: Annotated[str, Seen(CARD, "its state as people see it: its condition, unless something says more")]
    need: Annotated[NeedCard | None, Seen(CARD, "the reason why a person is needed, and its beginning")]
    may: Annotated[list[str], Seen(CARD, "the verbs that are possible now, for people who may write")]
    holds: Annotated[list[str], Seen(CARD, "the tasks that it has begun, the current one first")]
    condition: Annotated[Condition, Seen(CARD, "its own report of its state")]
    doing: Annotated[str | None, Seen(CARD, "cut")]
    live: Annotated[bool, Seen(CARD, "true while it is there")]
    end_reason: Annotated[str | None, Seen(CARD, "left, replaced, or silent (it stopped reporting)")]
    progress: Annotated[float | None, Seen(CARD, "percent")]
    runtime: str | None
    model: str | None
    machine: Annotated[str | None, Seen(CARD, "the machine that it runs on, if known")]
    area: Annotated[str | None, Seen(CARD, "the area in which it has declared to work, while it is there")]
    files: Annotated[list[str] | None, Seen(CARD, "the files that it has declared; cut")]
    since: Annotated[int | None, Seen(CARD, "the start of its present condition")]
    ended_at: int | None
    account: Annotated[str | None, Seen(CARD, "the account that it shares with others, if known")]


class BudgetCardExtras(TypedDict):
    need: Annotated[NeedCard | None, Seen(CARD, "the reason why a person is needed, and its beginning")]


class AccountCardExtras(TypedDict):
    need: Annotated[NeedCard | None, Seen(CARD, "why a person is needed, and from when on")]


class StopCardExtras(TypedDict):
    need: Annotated[NeedCard, Seen(CARD, "the reason why a person is needed", after="id")]
    reason: Annotated[str, Seen(CARD, "the reason why they are stopped, in one sentence", after="count")]
    may: Annotated[list[str], Seen(CARD, "the verbs that people may use")]


class LetterCard(TypedDict):
    id: Annotated[str, Seen(CARD, "the id of the inbox row")]
    need: NeedCard
    message_id: str
    number: int
    sender: str
    author: Annotated[str | None, Seen(CARD, "the person, if the sender is `hub`", since="0.2.0")]
    recipient: Annotated[str, Seen(CARD, "`hub`, or a member by their name")]
    addressee: Annotated[
        str | None,
        Seen(CARD, "the person, if the recipient is `hub` and one of the people is meant", since="0.2.0"),
    ]
    text: Annotated[str, Seen(CARD, "cut, without secrets")]
    in_reply_to: Annotated[str | None, Seen(CARD, "a task or a message")]
    thread: str | None
    intent: Intent | None
    created_at: int


class OverlapCard(TypedDict):
    agents: Annotated[list[str], Seen(CARD, "two present agents, sorted")]
    files: Annotated[list[str], Seen(CARD, "the entries that both have declared")]
    areas: list[str]
    need: NeedCard


@dataclass(frozen=True, slots=True)
class CardShape:
    """Members of a noun's cards: those that its record shows, and others `beside` them."""

    record: type | None
    beside: type | None

    @property
    def shown(self) -> tuple[str, ...]:
        """Return the fields of the record that are on the card."""
        return tuple(seen(self.record, CARD)) if self.record else ()

    @property
    def members(self) -> dict[str, Field]:
        """Return all members of the card, in order."""
        own = seen(self.record, CARD) if self.record else {}
        beside = declared(self.beside) if self.beside else {}
        return {name: {**own, **beside}[name] for name in merged(own, beside)}


CARD_SHAPES = {
    "tasks": CardShape(Task, TaskCardExtras),
    "agents": CardShape(None, AgentCard),
    "machines": CardShape(Machine, MachineCardExtras),
    "approvals": CardShape(Approval, ApprovalCardExtras),
    "letters": CardShape(None, LetterCard),
    "overlaps": CardShape(None, OverlapCard),
    "leases": CardShape(Lease, None),
    "accounts": CardShape(Account, AccountCardExtras),
    "budgets": CardShape(Budget, BudgetCardExtras),
    "stops": CardShape(Stop, StopCardExtras),
}
NOUNS = tuple(CARD_SHAPES)


def empty() -> dict[str, Cards]:
    """Return the picture of a project in which nothing has happened."""
    return {noun: {} for noun in NOUNS}


def pair_key(one: str, other: str) -> str:
    """Return the key of a pair of agents: their names, sorted, with a line end between, which no name has."""
    return "\n".join(sorted((one, other)))


@dataclass(slots=True)
class Projector:
    """A picture that follows the log."""

    picture: dict[str, Cards] = field(default_factory=empty)
    seen: frozenset[int] = (
        frozenset()
    )  # activities that come later in the log, and are in the picture already
    _writers: dict[tuple[str, str], int] = field(default_factory=dict)

    @classmethod
    def of(cls, picture: Projection, seen: Iterable[int] = ()) -> Self:
        """Begin with a snapshot or a keyframe, which stays unchanged."""
        return cls({noun: dict(picture.get(noun, {})) for noun in NOUNS}, frozenset(seen))

    def apply(self, activity_id: int, patch: Patch | None) -> None:
        """Apply an activity. Give it those after the picture's place, in the log's order."""
        if patch is None or activity_id in self.seen:
            return
        for noun, cards in patch.items():
            for key, card in cards.items():
                if self._writers.get((noun, key), 0) <= activity_id:
                    self._writers[noun, key] = activity_id
                    self._put(noun, key, card)

    def _put(self, noun: str, key: str, card: Card | None) -> None:
        if card is None:
            self.picture[noun].pop(key, None)
        else:
            self.picture[noun][key] = card
