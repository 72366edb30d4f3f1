"""Messages: to one agent, in answer to something, or to everyone who is there."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from hubbub.core.agents import agents
from hubbub.core.snapshots import patches
from hubbub.model.errors import Invalid, NotFound
from hubbub.model.ids import parse_id
from hubbub.model.lifecycle import Status
from hubbub.model.people.rights import HUB
from hubbub.model.records import CHILD, Delivery, Intent, LetterKind, Message, Priority, Task
from hubbub.store import sequence_numbers
from hubbub.store.log import projection
from hubbub.store.mail import messages
from hubbub.store.people import runs
from hubbub.store.tx import Tx

NOUN = "message"
HANDED_IN = "handed in for review"  # the words of a task that is handed in without any

# These need no rule of their own, so they are the store's functions.
of_run = messages.of_run
number_in_run = messages.number_in_run
last_in_thread = messages.last_in_thread
find_by_number = messages.find_by_number
history = messages.history
mail = messages.mail
mail_numbers = messages.mail_numbers
unseen_mail = messages.unseen_mail
thread = messages.thread
about = messages.about
deliveries_of_all = messages.deliveries_of_all
last_told = messages.last_told
note_notified = messages.mark_notified


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """The context of a message: its run, by default the current one; and its sender's notes."""

    run_id: UUID | None = None
    name: str | None = None
    metadata: Mapping[str, str] | None = None
    intent: Intent | None = None


_NO_THREAD = Thread()


def answered_by(message: Message, by: str) -> str:
    """Return the addressee of `by`'s answer to a message. Raises `Invalid` if there is no single one."""
    to = message.sender if message.sender != by else message.recipient
    if to is None or to == by:
        raise Invalid("say who gets it: the message that it answers went to everyone")
    return to


def person_behind(subject: Task | Message | None) -> str | None:
    """Return the person to whom an answer to `hub` about a task or a message is addressed."""
    if isinstance(subject, Message):
        return subject.author or subject.addressee
    return subject.author if subject is not None else None


def send(
    tx: Tx,
    project_id: UUID,
    *,
    sender: str,
    to: str,
    addressee: str | None = None,
    body: str,
    kind: LetterKind = LetterKind.MESSAGE,
    in_reply_to: UUID | None = None,
    outcome: Status | None = None,
    thread: Thread = _NO_THREAD,
    awaited: bool = False,
) -> Message:
    """Put a message into the inbox of `to`; `in_reply_to` is the task or message that a reply answers.

    Its id is also the id of the inbox row. `outcome` says how the answered task ended, or that it is in review. Records
    `message.sent`. Raises `UnknownAgent`, unless the agent is `awaited`; `hub` may always be written to, with a person
    as the `addressee`, and by our own doors also a person.
    """
    if to != HUB and not awaited and not agents.is_known(tx, project_id, to):
        if tx.door not in agents.OWN_DOORS or not agents.is_person(tx, project_id, to):
            raise agents.unknown(tx, project_id, to)
        to, addressee = HUB, to
    message = _insert(
        tx,
        project_id,
        kind=kind,
        sender=sender,
        recipient=to,
        addressee=addressee if to == HUB else None,
        body=body,
        in_reply_to=in_reply_to,
        outcome=outcome,
        thread=thread,
    )
    for_people = kind is LetterKind.MESSAGE and (to == HUB or projection.is_person(tx, project_id, to))
    row = _deliver(tx, message, to, delivery_id=message.id, for_people=for_people)
    _record(tx, "message.sent", message, row)
    return message


def broadcast(
    tx: Tx,
    project_id: UUID,
    *,
    sender: str,
    body: str,
    recipients: Iterable[str],
    kind: LetterKind = LetterKind.BROADCAST,
    in_reply_to: UUID | None = None,
    thread: Thread = _NO_THREAD,
    to_some: bool = False,
) -> tuple[Message, list[Delivery]]:
    """Put one message into the inboxes of all `recipients`; `in_reply_to` is the task or message that it answers.

    A `BROADCAST` is to be acted on, so that workers run their programs for it; a `MESSAGE` is only read. With `to_some`
    it is for these recipients only, and belongs to no run, in which all agents would read it.
    Records `message.sent`, once, and `message.delivered` for each of them.
    """
    message = _insert(
        tx,
        project_id,
        kind=kind,
        sender=sender,
        recipient=None,
        body=body,
        in_reply_to=in_reply_to,
        thread=thread,
        in_run=not to_some,
    )
    _record(tx, "message.sent", message)
    rows = []
    for name in sorted(set(recipients)):
        rows.append(_deliver(tx, message, name, delivery_id=messages.next_id(tx)))
        _record(tx, "message.delivered", message, rows[-1])
    return message, rows


def handed_in(tx: Tx, task: Task) -> Message | None:
    """Return the holder's last words on a task in review: at the submission, else since then.

    Their words in the conversation under the task's id always count.
    """
    if (holder := task.assignee) is None:
        return None
    found = (
        messages.last_answer(tx, task.id, holder, until=task.updated_at, but=HANDED_IN),
        messages.last_in_thread(tx, task.project_id, str(task.id), holder),
    )
    said = max((each for each in found if each is not None), key=lambda each: each.number, default=None)
    return said or messages.last_answer(tx, task.id, holder, until=tx.now, but=HANDED_IN)


def find(tx: Tx, project_ids: Sequence[UUID], ref: str) -> Message:
    """Return the message with that id, or of the inbox row with that id. Raises `NotFound`."""
    message_id = parse_id(ref)
    message = messages.find(tx, message_id) if message_id else None
    if message_id and message is None:
        row = messages.find_delivery(tx, message_id)
        message = messages.find(tx, row.message_id) if row and row.message_id else None
    if message is None or message.project_id not in project_ids:
        raise NotFound("message", ref)
    return message


def follow_last(tx: Tx) -> None:
    """Have the inboxes go on in their order, even if the clock was set back while no hub ran."""
    messages.follow_last(tx)


def deliveries(tx: Tx, message: Message) -> list[Delivery]:
    """Return the message's deliveries, with their progress."""
    return deliveries_of_all(tx, [message])[message.id]


def _insert(
    tx: Tx,
    project_id: UUID,
    *,
    kind: LetterKind,
    sender: str,
    recipient: str | None,
    addressee: str | None = None,
    body: str,
    in_reply_to: UUID | None = None,
    outcome: Status | None = None,
    thread: Thread,
    in_run: bool = True,
) -> Message:
    message = Message(
        id=messages.next_id(tx),
        project_id=project_id,
        number=sequence_numbers.next_number(tx, project_id, NOUN),
        kind=kind,
        sender=sender,
        recipient=recipient,
        addressee=addressee,
        body=body,
        in_reply_to=in_reply_to,
        outcome=outcome,
        created_at=tx.now,
        run_id=thread.run_id or runs.id_of_current(tx, project_id) if in_run else None,
        thread=thread.name,
        metadata=thread.metadata,
        intent=thread.intent,
        author=tx.actor.person_behind(sender),
    )
    messages.insert(tx, message)
    return message


def _deliver(tx: Tx, message: Message, to: str, *, delivery_id: UUID, for_people: bool = False) -> Delivery:
    row = Delivery(
        id=delivery_id,
        project_id=message.project_id,
        recipient=to,
        task_id=None,
        message_id=message.id,
        priority=Priority.MEDIUM,
        stored_at=tx.now,
        for_people=for_people,
    )
    return messages.deliver(tx, row)


def _record(tx: Tx, kind: str, message: Message, row: Delivery | None = None) -> None:
    """Record a message, or one of its inbox rows. A sender without a name is recorded by their token."""
    child = (message.metadata or {}).get(CHILD)
    tx.record(
        kind,
        project_id=message.project_id,
        actor=None if message.sender == HUB else message.sender,
        agent=row.recipient if row else None,
        message_id=message.id,
        detail={
            "kind": message.kind,
            "sender": message.sender,
            "addressee": message.addressee,
            "delivery_id": str(row.id) if row else None,
            "in_reply_to": str(message.in_reply_to) if message.in_reply_to else None,
            "outcome": message.outcome,
            **({"child_id": child} if child is not None else {}),
        },
        patch=patches.letter(message, row) if row is not None and row.for_people else None,
    )
