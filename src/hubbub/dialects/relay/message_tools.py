"""The tools for messages."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Annotated

from pydantic import Field

from hubbub.core.actions import inbox
from hubbub.core.agents import agents
from hubbub.core.log import activity
from hubbub.core.mail import messages
from hubbub.core.people import access
from hubbub.dialects.call import Call, NotYet
from hubbub.dialects.dialect import NULLABLE, Reply
from hubbub.dialects.relay import vocabulary
from hubbub.dialects.relay.tool_set import (
    DIALECT,
    Key,
    Name,
    RelayContext,
    Text,
    addressee,
    enter,
    require_room,
)
from hubbub.dialects.reply_cache import RowCache
from hubbub.model.json_chunks import EncodedRows, LazyRows
from hubbub.model.people.rights import Right
from hubbub.model.records import Activity, Message
from hubbub.store.tx import Tx

LONGEST_WAIT = 45  # seconds
ENOUGH = 500  # events read before sleeping; after more than that another look is worth it in any case
BEYOND = 2**62  # after the last message that there will ever be

MANY = 2_000  # messages; the rows of a longer list are not kept
_ROWS = RowCache()

Metadata = Annotated[
    dict[Annotated[str, Field(max_length=64)], Annotated[str, Field(max_length=1024)]], Field(max_length=20)
]


@DIALECT.tool(short=True)
def send_message(
    tx: Tx,
    call: Call,
    agent_id: Name,
    content: Text,
    to: Annotated[Name | None, NULLABLE] = None,
    thread_id: Key = None,
    metadata: Metadata | None = None,
) -> Reply:
    """Send a message to an agent, or to everyone if to is null or left out."""
    here = enter(tx, call, agent_id)
    if call.site.caps.messages is not None:
        require_room(messages.number_in_run(tx, here.run), call.site.caps.messages, "messages")
    thread = messages.Thread(run_id=here.run.id, name=thread_id, metadata=metadata)
    if to is None:
        sent = _to_everyone(tx, here, content, thread)
    else:
        name = addressee(tx, here.project, "to", to)
        sent = messages.send(
            tx, here.project.id, sender=here.name, to=name, body=content, thread=thread, awaited=True
        )
    return {"message_id": str(sent.id), "message": vocabulary.message_row(sent, here.run)}


def _to_everyone(tx: Tx, here: RelayContext, content: str, thread: messages.Thread) -> Message:
    """Broadcast a message, also into the inboxes of agents whose tool sets do not read broadcasts otherwise."""
    with_inbox = [name for name in agents.with_inbox(tx, here.project.id) if name != here.name]
    message, _rows = messages.broadcast(
        tx, here.project.id, sender=here.name, body=content, recipients=with_inbox, thread=thread
    )
    return message


@DIALECT.tool(reads=True)
def get_messages(
    tx: Tx,
    call: Call,
    agent_id: Name,
    after_seq: Annotated[int, Field(ge=0)] | None = None,
    wait_seconds: Annotated[float, Field(ge=0, le=LONGEST_WAIT)] = 0,
    after_event: Annotated[int, Field(ge=0)] | None = None,
) -> Reply:
    """Fetch the messages to you and to everyone, in order; with after_seq only those after that seq.

    With wait_seconds it sleeps until there is one, or a task for you, for at most that long. With after_event, the
    last_event that get_all_tasks gave on request, it does not sleep over what has happened since then.
    """
    here = enter(tx, call, agent_id, Right.READ)
    after = min(after_seq or 0, BEYOND)
    found = messages.mail_numbers(tx, here.run, here.name, after=after)
    if not found and wait_seconds and not call.has_waited and not _is_late(tx, here, after_event):
        raise NotYet(here.project.id, timedelta(seconds=wait_seconds), partial(_concerns, here.name))
    if found and access.reads_for_agent(tx):
        unseen = messages.unseen_mail(tx, here.run, here.name, after=after)
        call.then(lambda: call.site.note(partial(inbox.note_read, delivery_ids=unseen)) if unseen else None)
    return {"messages": _rows(tx, here, found)}


def _rows(tx: Tx, here: RelayContext, found: Sequence[int]) -> EncodedRows | LazyRows:
    """Return the rows of messages, by their numbers; a row is reusable, since a message never changes."""

    def since(number: int) -> list[Message]:
        return messages.mail(tx, here.run, here.name, after=number - 1)

    if len(found) > MANY:
        return LazyRows(vocabulary.message_row(message, here.run) for message in since(found[0]))
    return _ROWS.rows(
        (here.run.id, here.run.name),
        found,
        lambda missing: {each.number: vocabulary.message_row(each, here.run) for each in since(missing[0])},
    )


def _is_late(tx: Tx, here: RelayContext, after_event: int | None) -> bool:
    """Tell whether an event has concerned this agent since the one that it knows of."""
    if after_event is None:
        return False
    since = activity.after(tx, here.project.id, min(after_event, BEYOND), limit=ENOUGH)
    return len(since) == ENOUGH or any(_concerns(here.name, each) for each in since)


def _concerns(name: str, event: Activity) -> bool:
    """Tell whether an event is for this agent: to it by another, to everyone, or about a free task."""
    if event.actor == name:
        return False
    is_for_all = event.kind == "message.sent" or event.kind.startswith("task.")
    return event.agent == name or (event.agent is None and is_for_all)


@DIALECT.tool(reads=True)
def broadcast_thinking(tx: Tx, call: Call, agent_id: Name, content: Text) -> Reply:
    """Show what you are about to do to those who watch live. It is kept nowhere."""
    here = enter(tx, call, agent_id)
    thought = {"type": "thought", "run": here.run.name, "agent": here.name, "text": content}
    call.then(lambda: call.site.tell(here.project.id, thought))
    return {}
