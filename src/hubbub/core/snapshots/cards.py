"""Cards: the outside view of each thing in the picture of its project (`model/log/projection.py`).

The same function makes a card when something has happened to the thing and when a snapshot is taken of everything.
So a card holds only facts from the tables, and nothing that changes by time alone. Agents' texts are cut: a card is
for looking at, and the whole text is available elsewhere.

A card shows the thing's standing (`model/log/attention.py`): its `state`, why it may `need` a person, and the verbs
that a person with the right may use.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any
from uuid import UUID

from hubbub.model.fleet.approvals import Approval, ApprovalStatus
from hubbub.model.fleet.nodes import NODE_PREFIX, Machine
from hubbub.model.limits.accounts import Account
from hubbub.model.limits.breakers import Stop, reason
from hubbub.model.limits.budgets import Budget, BudgetLevel
from hubbub.model.log import attention
from hubbub.model.log.attention import AgentFacts, Need, NeedKind
from hubbub.model.log.projection import (
    CARD_SHAPES,
    AccountCardExtras,
    AgentCard,
    ApprovalCardExtras,
    BudgetCardExtras,
    Card,
    CardShape,
    LetterCard,
    MachineCardExtras,
    OverlapCard,
    StopCardExtras,
    TaskCardExtras,
)
from hubbub.model.records import Condition, Delivery, Message, Priority
from hubbub.model.redaction import Redactor
from hubbub.model.work.leases import Lease

TITLE = 200  # characters of a task's title, and of an agent's account of its work
NOTE = 280  # characters of a message
SHOWN = 2000  # characters of the text that a person is asked to allow
LINE = 200  # characters of a name
FILES = 50  # entries of a list
RELEASE_SCOPE = "release-scope"
ANSWERS = ["approve", "deny"]

_PRIORITIES = [each.name.lower() for each in sorted(Priority)]
_FORMS: Mapping[Any, Callable[[Any], Any]] = {
    UUID: str,
    UUID | None: lambda value: str(value) if value else None,
    Priority: _PRIORITIES.__getitem__,
}
_SECRETS = Redactor()  # everybody who may see the project reads its pictures


class CardMaker:
    """Maker of cards for a noun with a record: most of their members are the record's fields, converted for JSON."""

    def __init__(self, face: CardShape, **forms: Callable[[Any], Any]) -> None:
        self._shown = face.shown
        self._blank = dict.fromkeys(face.members)
        self._in_record = attrgetter(*self._shown)
        by_type = {name: _FORMS.get(face.members[name].type) for name in self._shown}
        self._forms = tuple((name, form) for name, form in {**by_type, **forms}.items() if form)

    def of_row(self, row: Mapping[str, Any], beside: Mapping[str, object]) -> Card:
        card: dict[str, Any] = {**self._blank, **row, **beside}
        if len(card) > len(self._blank):  # the row has more columns than the card shows
            card = {name: card[name] for name in self._blank}
        for name, form in self._forms:
            card[name] = form(card[name])
        return card

    def of(self, record: object, beside: Mapping[str, object]) -> Card:
        return self.of_row(dict(zip(self._shown, self._in_record(record), strict=True)), beside)


def short(text: str | None, length: int) -> str | None:
    """Return the first `length` characters of a text."""
    return text if text is None or len(text) <= length else f"{text[: length - 1]}…"


def said(text: str | None) -> str | None:
    """Return the beginning of somebody's words, with secrets removed; None for an empty text."""
    beginning = text.strip()[: 2 * NOTE] if text else ""  # to recognise a secret at the edge
    return short(_SECRETS.text(beginning), NOTE) or None


def _question(text: str) -> str | None:
    """Return the text that a person is asked to allow, with secrets removed."""
    return short(_SECRETS.text(text[: 2 * SHOWN]), SHOWN)


_TASK = CardMaker(CARD_SHAPES["tasks"], title=lambda title: short(title, TITLE))
_MACHINE = CardMaker(CARD_SHAPES["machines"])
_APPROVAL = CardMaker(
    CARD_SHAPES["approvals"],
    shown=_question,
    reason=_question,
    folder=lambda folder: short(folder, LINE),
)
_ACCOUNT = CardMaker(CARD_SHAPES["accounts"])
_BUDGET = CardMaker(CARD_SHAPES["budgets"], label=lambda label: short(label, LINE))
_STOP = CardMaker(CARD_SHAPES["stops"], agents=list)
_LEASE = CardMaker(CARD_SHAPES["leases"], things=list, host=lambda host: short(host, LINE))


def task(
    of: Mapping[str, Any],
    depends_on: Sequence[UUID],
    *,
    holder: AgentFacts | None = None,
    ready_at: int | None = 0,
    paused_until: int = 0,
    is_for_person: bool = False,
) -> Card:
    """Make the card of a task; `of` has the columns of `projection.TASK`, `depends_on` the tasks that it needs.

    The `holder` matters for a task that is worked on, `ready_at` and `paused_until` for one that nobody has
    begun, `is_for_person` for one in review. A snapshot may have thousands of tasks, so this uses the row's own
    columns directly.
    """
    status = of["status"]
    need = attention.need_of_task(
        status,
        updated_at=of["updated_at"],
        ended_at=of["ended_at"],
        ready_at=ready_at,
        holder=holder,
        paused_until=paused_until,
        is_for_person=is_for_person,
    )
    beside = TaskCardExtras(
        state=attention.state_of_task(status, holder),
        need=need.shape() if need is not None else None,
        may=list(attention.allowed_verbs(status)),
        depends_on=list(map(str, depends_on)),
        files=_files(of["files"]),
    )
    return _TASK.of_row(of, beside)


def agent(row: Mapping[str, Any], stands: AgentFacts, work: Sequence[UUID]) -> AgentCard:
    """Make the card of an agent from a row of `projection.agents`. Its scope is the declared one, while it is there.

    It holds the tasks of its `work`, and works on the first of them.
    """
    name, is_live, need = row["name"], stands.is_live, stands.need
    files = _files(_touched(row)) if is_live else None
    itself = name.removeprefix(NODE_PREFIX) if name.startswith(NODE_PREFIX) else None
    return {
        "name": name,
        "state": stands.state,
        "need": need.shape() if need is not None else None,
        "may": [RELEASE_SCOPE] if is_live and (row["area"] is not None or files) else [],
        "holds": [str(each) for each in work[:FILES]],
        "condition": row["condition"] or Condition.OFFLINE,
        "doing": short(row["doing"], TITLE),
        "live": is_live,
        "end_reason": row["end_reason"],
        "progress": row["progress"],
        "runtime": short(row["runtime"], LINE),
        "model": short(row["model"], LINE),
        "machine": short(row["placed_on"] or itself or row["seen_on"] or row["hostname"], LINE),
        "area": row["area"] if is_live else None,
        "files": files,
        "since": row["since"],
        "ended_at": row["ended_at"],
        "account": row["account"],
    }


def machine(of: Machine) -> Card:
    """Make the card of a machine. It is online from the activity that says so until the one that says it is gone."""
    return _MACHINE.of(of, MachineCardExtras(labels=list(of.labels)))


def approval(of: Approval) -> Card:
    """Make the card of a question that waits for a person, or that expired unanswered."""
    is_open = of.status is ApprovalStatus.PENDING
    ended_at = of.ended_at or of.expires_at
    need = (
        Need(NeedKind.APPROVAL, of.created_at, of.expires_at)
        if is_open
        else Need(NeedKind.EXPIRED, ended_at, ended_at + attention.MISSED_FOR)
    )
    beside = ApprovalCardExtras(
        need=need.shape(),
        may=ANSWERS if is_open else [],
        right=of.right,
        said_node=of.said_node,
        kind=of.kind,
    )
    return _APPROVAL.of(of, beside)


def lease(of: Lease) -> Card:
    """Make the card of a lease, held or waiting."""
    return _LEASE.of(of, {})


def account(of: Account) -> Card:
    """Make the card of an account that agents share, with its pause, and its need if every account is paused."""
    need = Need(NeedKind.PAUSED, of.all_paused_at) if of.all_paused_at is not None else None
    return _ACCOUNT.of(of, AccountCardExtras(need=need.shape() if need is not None else None))


def stop(of: Stop) -> Card:
    """Make the card of agents that a breaker has stopped, which a person may let go on."""
    need = Need(NeedKind.STOPPED, of.stopped_at)
    return _STOP.of(of, StopCardExtras(need=need.shape(), reason=reason(of), may=["lift"]))


def budget(of: Budget) -> Card:
    """Make the card of a budget, which needs a person if little or nothing is left."""
    is_short = of.level is not BudgetLevel.ENOUGH
    need = Need(NeedKind.BUDGET, of.level_at, of.ends_at) if is_short else None
    return _BUDGET.of(of, BudgetCardExtras(need=need.shape() if need is not None else None))


def letter(message: Message, row: Delivery) -> LetterCard:
    """Make the card of a message that waits for a person in the inbox row `row`."""
    return {
        "id": str(row.id),
        "need": Need(NeedKind.LETTER, message.created_at).shape(),
        "message_id": str(message.id),
        "number": message.number,
        "sender": message.sender,
        "author": message.author,
        "recipient": row.recipient,
        "addressee": message.addressee,
        "text": said(message.body) or "",
        "in_reply_to": str(message.in_reply_to) if message.in_reply_to else None,
        "thread": short(message.thread, LINE),
        "intent": message.intent,
        "created_at": message.created_at,
    }


def overlap(agents: Sequence[str], files: Sequence[str], areas: Sequence[str], since: int) -> OverlapCard:
    """Make the card of an overlap between the scopes of two present agents."""
    need = Need(NeedKind.CONFLICT, since).shape()
    return {"agents": list(agents), "files": list(files[:FILES]), "areas": list(areas[:FILES]), "need": need}


def stands(row: Mapping[str, Any], work: Iterable[str], *, asks: bool) -> AgentFacts:
    """Return the facts of an agent from a row of `projection.agents`, with the statuses of its tasks under way."""
    return AgentFacts(
        condition=row["condition"],
        is_live=row["presence_id"] is not None and row["ended_at"] is None,
        end_reason=row["end_reason"],
        since=row["since"] or 0,
        ended_at=row["ended_at"] or 0,
        asks=asks,
        work=frozenset(work),
        paused_until=row["paused_until"] or 0,
    )


def _touched(row: Mapping[str, Any]) -> list[str] | None:
    """List the files that an agent has declared, and those that it holds because it edits them."""
    listed = [*json.loads(row["files"] or "[]"), *json.loads(row["claimed"] or "[]")]
    return list(dict.fromkeys(listed)) if row["files"] or row["claimed"] else None


def _files(files: Sequence[str] | None) -> list[str] | None:
    return list(files[:FILES]) if files is not None else None
