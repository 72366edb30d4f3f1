"""`inbox` and `send`: mail, which is kept until it is acknowledged, and never reported as read before it is."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from itertools import chain
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BeforeValidator, Field, WithJsonSchema

from hubbub.core.actions import inbox as letters
from hubbub.core.agents import agents
from hubbub.core.mail import delivery_forecast, messages, threads
from hubbub.core.people import access
from hubbub.core.presence import wakes
from hubbub.core.transaction import Transactions
from hubbub.core.work import permissions, proof, tasks
from hubbub.dialects.call import Call, NotYet
from hubbub.dialects.dialect import Reply
from hubbub.dialects.hub import short_ids, vocabulary
from hubbub.dialects.hub.mail_notice import continue_after_commit
from hubbub.dialects.hub.tool_set import (
    DIALECT,
    Cursor,
    Key,
    Line,
    Lines,
    Name,
    OwnContext,
    Ref,
    Refs,
    Text,
    act,
    look,
)
from hubbub.model.errors import Invalid, NotFound
from hubbub.model.fleet.calls import ToolResult
from hubbub.model.mail.delivery_status import DeliveryStatus
from hubbub.model.mail.wakes import DeliveryChannels, DeliveryForecast
from hubbub.model.people.rights import EVERYONE, HUB, Actor
from hubbub.model.records import Activity, LetterKind, Message, Priority, Task
from hubbub.model.work.duplicates import OnDuplicate
from hubbub.store.tx import Tx

LONGEST_WAIT = 45  # seconds
ALL = "all"
OWN = DeliveryForecast(
    wake="none", likely_seen=False, note="It is in your own inbox: you see it when you look there."
)
CROWD = frozenset({"all", "broadcast", "everybody", "*"})
MOST_ACKED = 1_000  # letters that "all" means at most

Wait = Annotated[int, Field(ge=0, le=LONGEST_WAIT)]
Limit = Annotated[int, Field(ge=1, le=100), WithJsonSchema({"type": "integer"})]
Acked = Annotated[Refs, BeforeValidator(lambda given: [given] if isinstance(given, str) else given)]
Lasts = Annotated[int, Field(ge=1, le=2_592_000), WithJsonSchema({"type": "integer"})]


@DIALECT.tool(
    looks=lambda given: "ack" not in given and bool({"history", "about"} & given.keys()), short=True
)
def inbox(
    tx: Tx,
    call: Call,
    wait: Wait = 0,
    ack: Acked | None = None,
    limit: Limit = 10,
    history: Literal["sent", "all"] | None = None,
    about: Ref | None = None,
    before: Cursor | None = None,
) -> Reply:
    """Your mail. It comes again until acked.

    ack: ids you have taken, or "all" you have seen. wait: seconds to sleep until something new comes.
    history: what was said before, with its delivery; about: only on this message or task; before: `next` of the last.
    """
    looks_back = history is not None or about is not None
    here = look(tx, call) if looks_back and ack is None else act(tx, call)
    acked = _acknowledge(tx, here, ack) if ack is not None else 0
    if looks_back:
        told = _history(tx, here, mine=history == "sent", about=about, before=before, limit=limit)
        return {**told, **vocabulary.known(acked=acked or None)}
    if wait and not call.has_waited and not letters.unread(tx, here.project.id, here.name):
        if ack is not None:
            continue_after_commit(call, partial(_fetch, call, {"wait": wait, "limit": limit}, acked))
            return {}
        raise NotYet(
            here.project.id, timedelta(seconds=wait), partial(_is_from_other, here.name), agent=here.name
        )
    found = letters.read(tx, here.project.id, here.name, limit)
    if access.reads_for_agent(tx):
        letters.note_seen(tx, found)
    more = letters.pending(tx, here.project.id, here.name) - len(found)
    rows = [
        vocabulary.letter(
            each,
            reply_to=short_ids.named(tx, here.project.id, each.in_reply_to),
            seen_at=each.delivery.seen_at or tx.now,
        )
        for each in found
    ]
    return {"letters": rows, **vocabulary.known(acked=acked or None, more=more or None)}


async def _fetch(
    call: Call, given: Reply, acked: int, transactions: Transactions, actor: Actor, _key: str | None
) -> ToolResult:
    """Commit the acknowledgements, then fetch the mail: so they last, however long the rest takes."""
    answer = await DIALECT.call(transactions, actor, "inbox", given, None, call)
    return answer if answer.is_error else ToolResult({**answer.content, "acked": acked})


def _is_from_other(name: str, event: Activity) -> bool:
    return event.actor != name


def _acknowledge(tx: Tx, here: OwnContext, refs_: Sequence[str]) -> int:
    """Acknowledge letters, and return their number. Raises `NotFound` for an id that is none of the caller's."""
    if ALL in refs_:
        found = letters.read(tx, here.project.id, here.name, MOST_ACKED)
        seen = [str(each.delivery.id) for each in found if each.delivery.seen_at is not None]
        ids = dict(zip(seen, seen, strict=True))
    else:
        ids = {ref: _letter_id(tx, here, ref) for ref in refs_}
    for ref, letter_id in ids.items():
        try:
            letters.ack(tx, here.project.id, here.name, letter_id)
        except NotFound:
            raise NotFound("message of yours", ref) from None  # as the caller wrote it
    return len(ids)


def _letter_id(tx: Tx, here: OwnContext, ref: str) -> str:
    """Return the id of the caller's letter, named by its own id or by that of its task or message."""
    if letters.holds(tx, here.project.id, ref):
        return ref
    subject = short_ids.subject(tx, here.project.id, ref)
    if isinstance(subject, Task):
        return str(subject.id)
    mine = (row.id for row in messages.deliveries(tx, subject) if row.recipient == here.name)
    return str(next(mine, subject.id))


def _history(
    tx: Tx, here: OwnContext, *, mine: bool, about: str | None, before: int | None, limit: int
) -> Reply:
    """Return messages, newest first, or on one subject oldest first; with each letter's progress."""
    if about is not None:
        found = _said_about(tx, here.project.id, about, before, limit)
    else:
        found = messages.history(
            tx, here.project.id, before=before, sender=here.name if mine else None, limit=limit
        )
    rows = messages.deliveries_of_all(tx, found)
    last = min((each.number for each in found), default=None) if len(found) == limit else None
    results = wakes.results(tx, chain.from_iterable(rows.values()))
    said = [
        vocabulary.message(
            each, rows[each.id], results, reply_to=short_ids.named(tx, here.project.id, each.in_reply_to)
        )
        for each in found
    ]
    return {"history": said, **vocabulary.known(next=last)}


def _said_about(tx: Tx, project_id: UUID, ref: str, before: int | None, limit: int) -> list[Message]:
    subject = short_ids.subject(tx, project_id, ref)
    about = subject if isinstance(subject, Task) else threads.task_of(tx, subject)
    if about is not None:
        return threads.of_task(tx, about, before=before, limit=limit)
    conversation = threads.find(tx, project_id, str(subject.id))
    return threads.said(tx, project_id, conversation, before=before, limit=limit)


@DIALECT.tool(short=True)
def send(
    tx: Tx,
    call: Call,
    text: Text,
    to: Name | None = None,
    kind: Literal["message", "task", "reply", "broadcast"] | None = None,
    reply_to: Ref | None = None,
    title: Line | None = None,
    priority: Literal["critical", "high", "medium", "low"] = "medium",
    needs: Refs | None = None,
    area: Name | None = None,
    done_when: Lines | None = None,
    expires_in: Lasts | None = None,
    anyway: bool = False,
    key: Key | None = None,
) -> Reply:
    """Send mail, also to "everyone", or give work: a task without `to` is for whoever claims it; a broadcast, for all.

    reply_to: what you answer; of a task, the one it derives from. needs: tasks to be completed before it.
    done_when: what hooks must see of it: clean, commit, pushed, tests, "ran COMMAND", "within PATH"; artifact, review.
    expires_in: seconds to begin it. anyway: also if another open task is the same job. key: sent once with it.
    Tells how far it got, what wakes the receiver, and whether it will likely see it soon.
    """
    here = act(tx, call)
    _require_no_crowd(tx, here, to)
    meant, ways = _kind(to, kind, reply_to), call.site.news
    if meant is LetterKind.TASK:
        given = _Given(
            title, vocabulary.PRIORITIES[priority], needs or (), area, done_when, expires_in, anyway
        )
        return _task(tx, here, ways, text, to, reply_to, given)
    _require_no_task(
        title=title,
        priority=priority if priority != "medium" else None,
        needs=needs,
        area=area,
        done_when=done_when,
        expires_in=expires_in,
        anyway=anyway or None,
    )
    if not text.strip():
        raise Invalid("text: must say something")
    if meant is LetterKind.BROADCAST or (meant is LetterKind.MESSAGE and to == EVERYONE):
        return _to_everyone(tx, here, ways, text, meant, reply_to)
    if reply_to is not None:
        sent = _answer(tx, here, reply_to, to, text)
    elif to is not None:
        sent = messages.send(tx, here.project.id, sender=here.name, to=to, body=text)
    else:
        raise Invalid("to is missing: say who gets it, or everyone")
    ref = short_ids.short(short_ids.MESSAGE, sent.number)
    return {**_sent(tx, here, ways, ref, sent.recipient), "to": sent.sent_to}


def _kind(to: str | None, kind: str | None, reply_to: str | None) -> LetterKind:
    """Return the kind of letter if it is not given. Raises `Invalid` for contradicting arguments."""
    if kind is None:
        return LetterKind.MESSAGE if to == EVERYONE or reply_to is None else LetterKind.REPLY
    meant = LetterKind(kind)
    if meant is LetterKind.REPLY and reply_to is None:
        raise Invalid("reply_to is missing: say which message or task you answer")
    if meant is LetterKind.BROADCAST and to not in (None, EVERYONE):
        raise Invalid("a broadcast is to everyone: leave `to` out, or send a message")
    return meant


def _require_no_task(**of_task: object) -> None:
    """Raise `Invalid` for arguments that only a task has: a message would silently go without them."""
    given = [name for name, value in of_task.items() if value is not None]
    if given:
        are = "is" if len(given) == 1 else "are"
        raise Invalid(f"{', '.join(given)} {are} of a task: say kind='task'")


def _require_no_crowd(tx: Tx, here: OwnContext, to: str | None) -> None:
    """Raise `Invalid` for a word that means everyone elsewhere, and is nobody's name here."""
    if to in CROWD and not agents.is_known(tx, here.project.id, to):
        raise Invalid(f"no agent is called {to!r}; to write to each of them, say to='{EVERYONE}'")


@dataclass(frozen=True, slots=True)
class _Given:
    """The arguments about a task beside its text."""

    title: str | None
    priority: Priority
    needs: Sequence[str]
    area: str | None
    done_when: Sequence[str] | None
    expires_in: int | None
    anyway: bool


def _task(
    tx: Tx,
    here: OwnContext,
    ways: DeliveryChannels,
    text: str,
    to: str | None,
    parent: str | None,
    given: _Given,
) -> Reply:
    if not (given.title or text).strip():
        raise Invalid("text: must say what to do")
    made = tasks.send(
        tx,
        here.project.id,
        sender=here.name,
        to=to,
        text=text,
        title=given.title,
        priority=given.priority,
        ttl=timedelta(seconds=given.expires_in) if given.expires_in is not None else None,
        parent=str(short_ids.task(tx, here.project.id, parent).id) if parent is not None else None,
        needs=[short_ids.task(tx, here.project.id, each) for each in dict.fromkeys(given.needs)],
        area=given.area,
        on_duplicate=OnDuplicate.TELL if given.anyway else OnDuplicate.REFUSE,
    )
    if given.done_when is not None:
        proof.put_contract(tx, made, given.done_when, by=here.name)
    return _sent(
        tx,
        here,
        ways,
        short_ids.short(short_ids.TASK, made.number),
        to,
        is_held_back=not tasks.is_ready(tx, made),
    )


def _answer(tx: Tx, here: OwnContext, ref: str, to: str | None, text: str) -> Message:
    """Answer a message, or comment on a task, to its other end."""
    subject = short_ids.answered(tx, here.project.id, ref)
    if isinstance(subject, Task):
        receiver = to or permissions.other_end(subject, here.name)
    else:
        receiver = to or messages.answered_by(subject, here.name)
    if receiver is None:
        raise Invalid("to is missing: nobody else is involved in that task")
    return messages.send(
        tx,
        here.project.id,
        sender=here.name,
        to=receiver,
        addressee=messages.person_behind(subject),
        body=text,
        kind=LetterKind.REPLY,
        in_reply_to=subject.id,
    )


def _sent(
    tx: Tx, here: OwnContext, ways: DeliveryChannels, ref: str, to: str | None, *, is_held_back: bool = False
) -> Reply:
    """Report a letter's progress so far, and the forecast for its sender."""
    if to is None:
        note = "It is in the open queue, where any agent may claim it."
        return {
            "id": ref,
            "state": str(DeliveryStatus.STORED),
            "wake": "none",
            "likely_seen": False,
            "note": note,
        }
    if is_held_back:
        note = "It is held back until the tasks that it needs are completed."
        return {"id": ref, "to": to, "state": "held", "wake": "none", "likely_seen": False, "note": note}
    is_own = to == here.name != HUB
    expected = OWN if is_own else delivery_forecast.forecast(tx, here.project.id, to, ways)
    return {"id": ref, "to": to, "state": str(DeliveryStatus.STORED), **asdict(expected)}


def _to_everyone(
    tx: Tx, here: OwnContext, ways: DeliveryChannels, text: str, kind: LetterKind, answered: str | None
) -> Reply:
    """Send to every agent that was ever here; count their wakes by kind, and those likely to look soon."""
    receivers = [name for name in agents.with_inbox(tx, here.project.id) if name != here.name]
    subject = short_ids.answered(tx, here.project.id, answered) if answered is not None else None
    sent, rows = messages.broadcast(
        tx,
        here.project.id,
        sender=here.name,
        body=text,
        recipients=receivers,
        kind=kind,
        in_reply_to=subject.id if subject is not None else None,
    )
    expected = [delivery_forecast.forecast(tx, here.project.id, row.recipient, ways) for row in rows]
    return {
        "id": short_ids.short(short_ids.MESSAGE, sent.number),
        "state": str(DeliveryStatus.STORED),
        "receivers": len(rows),
        "wake": dict(Counter(each.wake for each in expected)),
        "likely_seen": sum(each.likely_seen for each in expected),
    }
