"""Conversations that are not about a task: the first message, its answers, and how far everyone has read.

A conversation has the name that its sender gave; without one it is named by its first message. Its title is that name,
unless a program made it of an id; then, as without a name, the first line of its first message. Messages about a task
belong to the task, and are left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from hubbub.model.errors import NotFound
from hubbub.model.ids import parse_id
from hubbub.model.records import Message, Task, title_of
from hubbub.model.visible_text import cut
from hubbub.store.mail import messages
from hubbub.store.tx import Tx
from hubbub.store.work import tasks

TITLE_LENGTH = 120
PAGE = 200  # messages searched at once for their conversations
PAGES = 25  # in one call
DEEPEST = 200  # steps from an answer back to its conversation's first message


@dataclass(frozen=True, slots=True)
class ThreadRoot:
    """The beginning of a conversation: a message, or a name."""

    message: Message | None
    name: str

    @property
    def id(self) -> UUID | None:
        return self.message.id if self.message is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation, and how far its participants have read it."""

    root: ThreadRoot
    title: str
    count: int
    created_at: int
    last: Message
    participants: Sequence[str]
    unread_by: Sequence[str]
    unacked_by: Sequence[str]
    for_people: bool  # something of it waits for a person

    @property
    def name(self) -> str:
        return self.root.name


def listed(
    tx: Tx, project_id: UUID, *, before: int | None = None, limit: int
) -> tuple[list[Conversation], int | None]:
    """List conversations, the last active first, and the number to go on from; None at the end.

    `before` is that number.
    """
    found: list[Conversation] = []
    met: set[str] = set()
    for place, message in enumerate(_looked_through(tx, project_id, before)):
        if len(found) == limit or place == PAGES * PAGE:
            return found, message.number + 1
        root = _root(tx, message)
        if root is None or root.name in met:
            continue
        met.add(root.name)
        newest = messages.size(tx, project_id, root=root.id, name=root.name)[1]
        if before is None or newest < before:  # else it was listed before
            found.append(_conversation(tx, project_id, root))
    return found, None


def find(tx: Tx, project_id: UUID, ref: str) -> Conversation:
    """Return the conversation with that name, or the one of the message with that id. Raises `NotFound`."""
    message_id = parse_id(ref)
    message = messages.find(tx, message_id) if message_id is not None else None
    if message is not None and message.project_id != project_id:
        message = None
    root = _root(tx, message) if message is not None else _named(tx, ref, message_id)
    if root is None or not messages.size(tx, project_id, root=root.id, name=root.name)[0]:
        raise NotFound("conversation", ref)
    return _conversation(tx, project_id, root)


def said(
    tx: Tx, project_id: UUID, conversation: Conversation, *, before: int | None = None, limit: int
) -> list[Message]:
    """List the newest messages of a conversation, oldest first; `before` is the number to go on from."""
    root = conversation.root
    return messages.conversation(tx, project_id, root=root.id, name=root.name, before=before, limit=limit)


def of_task(tx: Tx, task: Task, *, before: int | None = None, limit: int) -> list[Message]:
    """List the newest messages about a task, oldest first: its answers, those under its id, and their answers.

    `before` is the number to go on from.
    """
    name = str(task.id)
    return messages.conversation(tx, task.project_id, root=task.id, name=name, before=before, limit=limit)


def task_of(tx: Tx, message: Message) -> Task | None:
    """Return the task that a message is about; None if it is about none."""
    first = _first(tx, message)
    above = parse_id(first.thread_name) if first is not None and first.thread_name is not None else None
    task = tasks.find(tx, above) if above is not None else None
    return task if task is not None and task.project_id == message.project_id else None


def _named(tx: Tx, name: str, could_be: UUID | None) -> ThreadRoot | None:
    """Return the conversation with that name; None if the name is a task's."""
    return None if could_be is not None and tasks.find(tx, could_be) is not None else ThreadRoot(None, name)


def _looked_through(tx: Tx, project_id: UUID, before: int | None) -> Iterator[Message]:
    """Yield the project's messages below a number, newest first."""
    while page := messages.history(tx, project_id, before=before, limit=PAGE):
        yield from page
        before = page[-1].number


def _root(tx: Tx, message: Message) -> ThreadRoot | None:
    """Return the beginning of a message's conversation; None if it is about a task."""
    first = _first(tx, message)
    if first is None:
        return None
    name = first.thread_name
    return ThreadRoot(first, str(first.id)) if name is None else _named(tx, name, parse_id(name))


def _first(tx: Tx, message: Message) -> Message | None:
    """Return the message to which a chain of answers leads; None if the chain is too long."""
    for _step in range(DEEPEST):
        above = parse_id(message.thread_name) if message.thread_name is not None else None
        parent = messages.find(tx, above) if above is not None else None
        if parent is None or parent.project_id != message.project_id or parent.id == message.id:
            return message
        message = parent
    return None


def _conversation(tx: Tx, project_id: UUID, root: ThreadRoot) -> Conversation:
    count, number, began = messages.size(tx, project_id, root=root.id, name=root.name)
    newest = messages.conversation(tx, project_id, root=root.id, name=root.name, before=number + 1, limit=1)
    rows = messages.parties(tx, project_id, root=root.id, name=root.name)
    return Conversation(
        root=root,
        title=cut(_title(tx, project_id, root), TITLE_LENGTH),
        count=count,
        created_at=began,
        last=newest[0],
        participants=sorted({row["name"] for row in rows}),
        unread_by=sorted({row["inbox"] for row in rows if row["unread"]}),
        unacked_by=sorted({row["inbox"] for row in rows if row["unacked"]}),
        for_people=any(row["for_people"] for row in rows),
    )


def _title(tx: Tx, project_id: UUID, root: ThreadRoot) -> str:
    if root.message is None and parse_id(root.name) is None:
        return root.name
    first = root.message or messages.first_said(tx, project_id, root=root.id, name=root.name)
    return title_of(first.body) or root.name
