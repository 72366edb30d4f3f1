"""Cards: what each thing looks like in a picture of its project (`model/log/projection.py`).

A card is made by the same function whether something has just happened to the thing or a snapshot is taken of all of
them. So it holds only what stands in the tables, and nothing that changes by time alone. What agents wrote is cut: a
card is to be looked at, and whoever wants the whole text asks for it.

A card says how the thing stands (`model/log/attention.py`): its `state`, why it may `need` a person, and what a person
who has the right may do to it.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any
from uuid import UUID

from hubbub.model.fleet.accounts import Account
from hubbub.model.fleet.approvals import Approval, ApprovalStatus
from hubbub.model.fleet.nodes import NODE_PREFIX, Machine
from hubbub.model.log import attention
from hubbub.model.log.attention import AgentFacts, Need, NeedKind
from hubbub.model.log.projection import (
    CARD_SHAPES,
    AgentCard,
    ApprovalCardExtras,
    Card,
    CardShape,
    LetterCard,
    MachineCardExtras,
    OverlapCard,
    TaskCardExtras,
)
from hubbub.model.records import Condition, Delivery, Message, Priority
from hubbub.model.redaction import Redactor
from hubbub.model.work.leases import Lease

TITLE = 200  # characters of a task's title, and of what an agent says that it does
NOTE = 280  # characters of what was said
SHOWN = 2000  # characters of what a person is asked to allow
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
_SECRETS = Redactor()  # whoever may look at the project reads its pictures, for as long as the log is kept


class CardMaker:
    """The cards of a noun that has a record: most of their members are the record's fields, in a form for JSON."""

    def __init__(self, face: CardShape, **forms: Callable[[Any], Any]) -> None:
        self._shown = face.shown
        self._blank = dict.fromkeys(face.members)
        self._in_record = attrgetter(*self._shown)
        by_type = {name: _FORMS.get(face.members[name].type) for name in self._shown}
        self._forms = tuple((name, form) for name, form in {**by_type, **forms}.items() if form)

    def of_row(self, row: Mapping[str, Any], beside: Mapping[str, object]) -> Card:
        card: dict[str, Any] = {**self._blank, **row, **beside}
        if len(card) > len(self._blank):  # the row has more than the card shows
            card = {name: card[name] for name in self._blank}
        for name, form in self._forms:
            card[name] = form(card[name])
        return card

    def of(self, record: object, beside: Mapping[str, object]) -> Card:
        return self.of_row(dict(zip(self._shown, self._in_record(record), strict=True)), beside)


def short(text: str | None, length: int) -> str | None:
    """The beginning of a text, of at most so many characters."""
    return text if text is None or len(text) <= length else f"{text[: length - 1]}…"


def said(text: str | None) -> str | None:
    """The beginning of what somebody said, without what looks like a secret; None for nothing."""
    beginning = text.strip()[: 2 * NOTE] if text else ""  # so that a secret at the edge is known for one
    return short(_SECRETS.text(beginning), NOTE) or None


def _question(text: str) -> str | None:
    """What a person is asked to allow, without what looks like a secret."""
    return short(_SECRETS.text(text[: 2 * SHOWN]), SHOWN)


_TASK = CardMaker(CARD_SHAPES["tasks"], title=lambda title: short(title, TITLE))
_MACHINE = CardMaker(CARD_SHAPES["machines"])
_APPROVAL = CardMaker(CARD_SHAPES["approvals"], shown=_question, reason=_question)
_ACCOUNT = CardMaker(CARD_SHAPES["accounts"])
_LEASE = CardMaker(CARD_SHAPES["leases"], things=list, host=lambda host: short(host, LINE))


def task(
    of: Mapping[str, Any],
    depends_on: Sequence[UUID],
    *,
    holder: AgentFacts | None = None,
    ready_at: int | None = 0,
) -> Card:
    """A task, of which `of` has what `projection.TASK` names; `depends_on` is what must be completed before it.

    The `holder` tells how one stands that is worked on, `ready_at` how one does that nobody has taken. There may be
    thousands in a snapshot, so this is made of what stands in the row, without a detour.
    """
    status = of["status"]
    need = attention.need_of_task(
        status, updated_at=of["updated_at"], ended_at=of["ended_at"], ready_at=ready_at, holder=holder
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
    """An agent, as `projection.agents` reads it. Its scope is what it has declared, for as long as it is there.

    It holds the tasks of its `work`, of which it is at the first.
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
    """A machine. It is online from when the log has told so until it tells that the machine is gone."""
    return _MACHINE.of(of, MachineCardExtras(labels=list(of.labels)))


def approval(of: Approval) -> Card:
    """A question that waits for a person, or that nobody has answered in time."""
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
    """Things that somebody holds, or waits for."""
    return _LEASE.of(of, {})


def account(of: Account) -> Card:
    """Card of an account that agents share, with its pause."""
    return _ACCOUNT.of(of, {})


def letter(message: Message, row: Delivery) -> LetterCard:
    """A message that waits for a person in the inbox row `row`."""
    return {
        "id": str(row.id),
        "need": Need(NeedKind.LETTER, message.created_at).shape(),
        "message_id": str(message.id),
        "number": message.number,
        "sender": message.sender,
        "recipient": row.recipient,
        "text": said(message.body) or "",
        "in_reply_to": str(message.in_reply_to) if message.in_reply_to else None,
        "thread": short(message.thread, LINE),
        "intent": message.intent,
        "created_at": message.created_at,
    }


def overlap(agents: Sequence[str], files: Sequence[str], areas: Sequence[str], since: int) -> OverlapCard:
    """What two agents that are there both declare to work on."""
    need = Need(NeedKind.CONFLICT, since).shape()
    return {"agents": list(agents), "files": list(files[:FILES]), "areas": list(areas[:FILES]), "need": need}


def stands(row: Mapping[str, Any], work: Iterable[str], *, asks: bool) -> AgentFacts:
    """Facts of an agent, as `projection.agents` reads them, with the statuses of its tasks under way."""
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
    """What an agent has declared, and what it holds because it edits it."""
    listed = [*json.loads(row["files"] or "[]"), *json.loads(row["claimed"] or "[]")]
    return list(dict.fromkeys(listed)) if row["files"] or row["claimed"] else None


def _files(files: Sequence[str] | None) -> list[str] | None:
    return list(files[:FILES]) if files is not None else None
