"""Short ids: M-9 is a message, T-4 a task, A-3 an artifact; each counted in its project.

A bare number is of the argument's own kind, and the long ids of the other tool sets are accepted everywhere.
"""

import re
from uuid import UUID

from hubbub.core.mail import messages
from hubbub.core.work import artifacts, tasks
from hubbub.model.errors import Invalid, NotFound, existing
from hubbub.model.records import Artifact, Message, Task
from hubbub.store.tx import Tx

_SHORT = re.compile(r"(?:([MTAmta])-?|#)?([0-9]{1,15})", re.ASCII)
MESSAGE, TASK, ARTIFACT = "M", "T", "A"


def short(letter: str, number: int) -> str:
    """Format an id, such as `T-4`."""
    return f"{letter}-{number}"


def task(tx: Tx, project_id: UUID, ref: str, *, lock: bool = False) -> Task:
    """Return the task named by `ref`; `lock` it to change it. Raises `NotFound`, `Invalid` for another thing's id."""
    try:
        return tasks.find(tx, [project_id], _number(tx, project_id, ref, TASK) or ref, lock=lock)
    except NotFound:
        raise NotFound("task", ref) from None  # as the caller wrote it


def message(tx: Tx, project_id: UUID, ref: str) -> Message:
    """Return the message named by `ref`. Raises `NotFound`, `Invalid` for another thing's id."""
    number = _number(tx, project_id, ref, MESSAGE)
    if number is None:
        return messages.find(tx, [project_id], ref)
    return existing(messages.find_by_number(tx, project_id, int(number)), "message", ref)


def artifact(tx: Tx, project_id: UUID, ref: str) -> Artifact:
    """Return the artifact named by `ref`. Raises `NotFound`, `Invalid` for another thing's id."""
    number = _number(tx, project_id, ref, ARTIFACT)
    if number is None:
        return artifacts.find(tx, [project_id], ref)
    return existing(artifacts.find_by_number(tx, project_id, int(number)), "artifact", ref)


def subject(tx: Tx, project_id: UUID, ref: str) -> Task | Message:
    """Return the task or message named by `ref`; a bare number is a message's. Raises `NotFound`."""
    parsed = _SHORT.fullmatch(ref)
    if parsed is not None and (parsed[1] or MESSAGE).upper() == TASK:
        return task(tx, project_id, ref)
    if parsed is not None:
        return message(tx, project_id, ref)
    try:
        return tasks.find(tx, [project_id], ref, by_number=False)
    except NotFound:
        return messages.find(tx, [project_id], ref)


def named(tx: Tx, project_id: UUID, subject_id: UUID | None) -> str | None:
    """Return the short id of the task or message with that id; the long one if it is neither, None for None."""
    if subject_id is None:
        return None
    try:
        found = subject(tx, project_id, str(subject_id))
    except NotFound:
        return str(subject_id)
    return short(TASK if isinstance(found, Task) else MESSAGE, found.number)


def answered(tx: Tx, project_id: UUID, ref: str) -> Task | Message:
    """Return the task or message that is answered. Raises `Invalid` for a bare number, which could be either's."""
    parsed = _SHORT.fullmatch(ref)
    if parsed is not None and parsed[1] is None:
        raise Invalid(
            f"reply_to: {ref!r} could be the message M-{parsed[2]} or the task T-{parsed[2]}: say which"
        )
    return subject(tx, project_id, ref)


def _number(tx: Tx, project_id: UUID, ref: str, letter: str) -> str | None:
    """Return the number of a short id; None for a long one. Raises `Invalid` for another thing's."""
    parsed = _SHORT.fullmatch(ref)
    if parsed is None:
        return None
    kind = (parsed[1] or letter).upper()
    if kind != letter:
        raise Invalid(f"{ref!r} is {_what(tx, project_id, kind, parsed[2])}; give the id of {_A[letter]}")
    return parsed[2]


_A = {MESSAGE: "a message, such as M-9", TASK: "a task, such as T-4", ARTIFACT: "an artifact, such as A-3"}


def _what(tx: Tx, project_id: UUID, kind: str, number: str) -> str:
    """Say what has the short id, and which task it is about."""
    if kind != MESSAGE:
        return "a task" if kind == TASK else "an artifact"
    found = messages.find_by_number(tx, project_id, int(number))
    about = named(tx, project_id, found.in_reply_to) if found is not None else None
    return f"a message about {about}" if about is not None else "a message"
