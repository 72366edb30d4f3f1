"""The tools for messages."""

from typing import Annotated, Literal

from pydantic import Field

from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.dialects.call import Call
from hubbub.dialects.dialect import EMPTY_IS_NONE, Reply
from hubbub.dialects.golemxv import vocabulary
from hubbub.dialects.golemxv.tool_set import DIALECT, Name, OptionalName, Secret, Slug, Text, act, look
from hubbub.model.errors import Invalid
from hubbub.model.records import Intent, LetterKind
from hubbub.model.timestamps import parse_microseconds
from hubbub.store.tx import Tx


@DIALECT.tool(short=True)
def send_message(
    tx: Tx,
    call: Call,
    to: Name,
    content: Text,
    type: Literal["text", "status", "request"] = "text",  # noqa: A002
    project_slug: Slug | None = None,
    session_token: Secret | None = None,
) -> Reply:
    """Send a message to an agent, or to all of them (to: broadcast)."""
    here = act(tx, call, session_token, project_slug)
    thread = messages.Thread(intent=Intent(type))
    if to == vocabulary.BROADCAST:
        recipients = [name for name in agents.with_inbox(tx, here.project.id) if name != here.name]
        kind = LetterKind.MESSAGE if thread.intent is Intent.STATUS else LetterKind.BROADCAST
        sent, _rows = messages.broadcast(
            tx,
            here.project.id,
            sender=here.name,
            body=content,
            recipients=recipients,
            kind=kind,
            thread=thread,
        )
    elif to == vocabulary.EVERYONE and not agents.is_known(tx, here.project.id, to):
        raise Invalid(f"to: {to!r} is how a broadcast shows; {vocabulary.BROADCAST!r} sends to all agents")
    else:
        sent = messages.send(tx, here.project.id, sender=here.name, to=to, body=content, thread=thread)
    return {"sent": True, "id": sent.number}


@DIALECT.tool(reads=True)
def get_messages(
    tx: Tx,
    call: Call,
    sender: OptionalName = None,
    since: Annotated[str | None, EMPTY_IS_NONE] = None,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    project_slug: Slug | None = None,
) -> Reply:
    """The project's messages, newest first; of one sender, or after a time (ISO 8601), if given."""
    project = look(tx, call, project_slug)
    after = parse_microseconds("since", since) if since is not None else None
    found = messages.history(tx, project.id, sender=sender, after=after, limit=limit)
    return {"messages": [vocabulary.message_row(message) for message in found], "count": len(found)}
