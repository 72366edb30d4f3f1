"""Messages: to one agent, in answer to something, or to everyone who is there."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from hubbub.core import agents
from hubbub.core.snapshots import patches
from hubbub.model.errors import NotFound
from hubbub.model.ids import new_id, parse_id
from hubbub.model.lifecycle import Status
from hubbub.model.records import Delivery, Intent, Kind, Message, Priority, Run, Task
from hubbub.model.rights import HUB
from hubbub.store import counters, messages, pictures
from hubbub.store.tx import Tx

NOUN = "message"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """Where a message belongs: to a run, by default the current one; and what its sender notes with it."""

    run_id: UUID | None = None
    name: str | None = None
    metadata: Mapping[str, str] | None = None
    intent: Intent | None = None


_NO_THREAD = Thread()


def send(
    tx: Tx,
    project_id: UUID,
    *,
    sender: str,
    to: str,
    body: str,
    kind: Kind = Kind.MESSAGE,
    in_reply_to: UUID | None = None,
    outcome: Status | None = None,
    thread: Thread = _NO_THREAD,
    awaited: bool = False,
) -> Message:
    """Put a message into the inbox of `to`; `in_reply_to` is the task or message that a reply answers.

    Its id is also the id of the inbox row. `outcome` says how the task that it answers ended. Records `message.sent`.
    Raises `UnknownAgent`, unless the agent is `awaited`; `hub` may always be written to.
    """
    if to != HUB and not awaited:
        agents.require_known(tx, project_id, to)
    message = _insert(
        tx,
        project_id,
        kind=kind,
        sender=sender,
        recipient=to,
        body=body,
        in_reply_to=in_reply_to,
        outcome=outcome,
        thread=thread,
    )
    for_people = kind is Kind.MESSAGE and (to == HUB or pictures.is_person(tx, project_id, to))
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
    thread: Thread = _NO_THREAD,
) -> tuple[Message, list[Delivery]]:
    """Put one message into the inboxes of all `recipients`.

    Records `message.sent`, once, and `message.delivered` for each of them.
    """
    message = _insert(
        tx, project_id, kind=Kind.BROADCAST, sender=sender, recipient=None, body=body, thread=thread
    )
    _record(tx, "message.sent", message)
    rows = []
    for name in sorted(set(recipients)):
        rows.append(_deliver(tx, message, name, delivery_id=new_id()))
        _record(tx, "message.delivered", message, rows[-1])
    return message, rows


def mail(tx: Tx, run: Run, name: str, *, after: int = 0) -> tuple[list[Message], list[UUID]]:
    """What was sent in a run to `name`, or by others to everyone, after the message number `after`, in order.

    And the ids of those of its inbox rows that `name` sees for the first time. Changes nothing.
    """
    return messages.mail(tx, run.id, name, after=after)


def of_run(tx: Tx, run: Run) -> list[Message]:
    """All messages of a run, in order."""
    return messages.of_run(tx, run.id)


def number_in_run(tx: Tx, run: Run) -> int:
    """How many messages the run has."""
    return messages.number_in_run(tx, run.id)


def last_in_thread(tx: Tx, project_id: UUID, thread: str, sender: str) -> Message | None:
    """What `sender` said last in the conversation that was given that name."""
    return messages.last_in_thread(tx, project_id, thread, sender)


def handed_in(tx: Tx, task: Task) -> Message | None:
    """What the holder of a task that is in review said of it last: by the time they handed it in, else since then.

    What they say in the conversation that was given the task's id always counts.
    """
    if (holder := task.assignee) is None:
        return None
    found = (
        messages.last_answer(tx, task.id, holder, until=task.updated_at),
        messages.last_in_thread(tx, task.project_id, str(task.id), holder),
    )
    said = max((each for each in found if each is not None), key=lambda each: each.number, default=None)
    return said or messages.last_answer(tx, task.id, holder, until=tx.now)


def find(tx: Tx, project_ids: Sequence[UUID], ref: str) -> Message:
    """The message of that id, which may also be the id of one of its inbox rows. Raises `NotFound`."""
    message_id = parse_id(ref)
    message = messages.find(tx, message_id) if message_id else None
    if message_id and message is None:
        row = messages.find_delivery(tx, message_id)
        message = messages.find(tx, row.message_id) if row and row.message_id else None
    if message is None or message.project_id not in project_ids:
        raise NotFound("message", ref)
    return message


def find_by_number(tx: Tx, project_id: UUID, number: int) -> Message | None:
    """The message of that number in the project; None if there is none."""
    return messages.find_by_number(tx, project_id, number)


def history(
    tx: Tx,
    project_id: UUID,
    *,
    before: int | None = None,
    sender: str | None = None,
    after: int | None = None,
    limit: int,
) -> list[Message]:
    """The project's messages, newest first; `before` is the number to go on from.

    `sender` narrows them to those of one agent, `after` to those that were sent after that moment, an `exact` one.
    """
    return messages.history(tx, project_id, before=before or 2**62, sender=sender, after=after, limit=limit)


def thread(tx: Tx, subject_id: UUID, limit: int = 200) -> list[Message]:
    """The messages that answer a task or a message, oldest first."""
    return messages.thread(tx, subject_id, limit)


def about(tx: Tx, task: Task, limit: int = 200) -> list[Message]:
    """The newest messages that answer a task or belong to a conversation of its id, oldest first."""
    return messages.about(tx, task.project_id, task.id, limit)


def deliveries_of_all(tx: Tx, found: Sequence[Message]) -> dict[UUID, list[Delivery]]:
    """How far each of the messages got with each of its receivers, by the ids of the messages."""
    return messages.deliveries_of_all(tx, [each.id for each in found])


def deliveries(tx: Tx, message: Message) -> list[Delivery]:
    """How far the message got with each of its receivers."""
    return messages.deliveries_of(tx, message.id)


def last_told(tx: Tx, project_id: UUID, name: str) -> Delivery | None:
    """The newest letter of which `name` has heard; None if it never heard of any."""
    return messages.last_told(tx, project_id, name)


def note_notified(tx: Tx, delivery_ids: Sequence[UUID]) -> None:
    """Note that somebody who follows an inbox was told of these rows."""
    messages.mark_notified(tx, delivery_ids)


def _insert(
    tx: Tx,
    project_id: UUID,
    *,
    kind: Kind,
    sender: str,
    recipient: str | None,
    body: str,
    in_reply_to: UUID | None = None,
    outcome: Status | None = None,
    thread: Thread,
) -> Message:
    return messages.insert(
        tx,
        Message(
            id=new_id(),
            project_id=project_id,
            number=counters.next_number(tx, project_id, NOUN),
            kind=kind,
            sender=sender,
            recipient=recipient,
            body=body,
            in_reply_to=in_reply_to,
            outcome=outcome,
            created_at=tx.now,
            run_id=thread.run_id,
            thread=thread.name,
            metadata=thread.metadata,
            intent=thread.intent,
            author=tx.actor.user_name if sender == HUB else None,
        ),
    )


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
    """Tell the log of a message, or of one of its inbox rows. Who has no name of their own is told by their token."""
    tx.record(
        kind,
        project_id=message.project_id,
        actor=None if message.sender == HUB else message.sender,
        agent=row.recipient if row else None,
        message_id=message.id,
        detail={
            "kind": message.kind,
            "sender": message.sender,
            "delivery_id": str(row.id) if row else None,
            "in_reply_to": str(message.in_reply_to) if message.in_reply_to else None,
            "outcome": message.outcome,
        },
        patch=patches.letter(message, row) if row is not None and row.for_people else None,
    )
