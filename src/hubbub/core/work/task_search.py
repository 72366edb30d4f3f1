"""Search for tasks by what people remember: a number, words, a holder; and rows that belong to a task."""

import re
from collections.abc import Iterable, Sequence
from uuid import UUID

from hubbub.core.agents import agents
from hubbub.model.lifecycle import Status
from hubbub.model.people.rights import HUB
from hubbub.model.records import Delivery, Priority, Task
from hubbub.store import sequence_numbers
from hubbub.store.mail import messages
from hubbub.store.tx import Tx
from hubbub.store.work import tasks

MOST_WORDS = 8  # that are searched for; further ones are ignored
MOST_CHILDREN = 200
_NUMBER = re.compile(r"(?:#|[Tt]-?)?([0-9]{1,18})", re.ASCII)


def is_number(text: str) -> bool:
    """Tell whether a search means the one task with that number."""
    return _meant(text)[1] is not None


def search(
    tx: Tx,
    project_ids: Sequence[UUID],
    text: str = "",
    *,
    status: Iterable[Status] = (),
    assignee: str | None = None,
    sender: str | None = None,
    area: str | None = None,
    priority: Priority | None = None,
    ended_since: int | None = None,
    ended_before: int | None = None,
    before: int | None = None,
    limit: int,
) -> list[Task]:
    """Find tasks of the projects, newest first; `before` is the number to go on from, within one project.

    All words of `text` occur in their titles or descriptions, in any case. A number alone, such as 12, #12 or
    T-12, means the task with that number. The sender may be a person. With a time they ended in it, from `ended_since`
    until before `ended_before`.
    """
    wanted, words, number = tuple(status), *_meant(text)
    found = [
        task
        for project_id in project_ids
        for task in tasks.search(
            tx,
            project_id,
            status=wanted,
            assignee=assignee,
            **_sent_by(tx, project_id, sender),
            area=area,
            priority=priority,
            words=words,
            number=number,
            ended=_between(ended_since, ended_before),
            before=before,
            limit=limit,
        )
    ]
    if len(project_ids) > 1:
        found.sort(key=lambda task: task.id, reverse=True)
    return found[:limit]


def number(
    tx: Tx,
    project_ids: Sequence[UUID],
    text: str = "",
    *,
    status: Iterable[Status] = (),
    assignee: str | None = None,
    sender: str | None = None,
    area: str | None = None,
    priority: Priority | None = None,
    ended_since: int | None = None,
    ended_before: int | None = None,
) -> int:
    """Count the tasks that `search` would find without a limit."""
    wanted, words, meant = tuple(status), *_meant(text)
    columns = {"assignee": assignee, "area": area, "priority": priority, "number": meant}
    return sum(
        tasks.number_found(
            tx,
            project_id,
            status=wanted,
            columns={**columns, **_sent_by(tx, project_id, sender)},
            words=words,
            ended=_between(ended_since, ended_before),
        )
        for project_id in project_ids
    )


def _between(since: int | None, before: int | None) -> tuple[int, int] | None:
    """Return the time in which a task must have ended; None for tasks that may not have ended at all."""
    return None if since is None and before is None else (since or 0, before or sequence_numbers.LAST)


def _sent_by(tx: Tx, project_id: UUID, sender: str | None) -> dict[str, str | None]:
    """Return the columns of the tasks that a sender has sent: an agent, `hub` for all people, or one of them."""
    if sender is not None and agents.is_person(tx, project_id, sender):
        return {"sender": HUB, "author": sender}
    return {"sender": sender}


def _meant(text: str) -> tuple[Sequence[str], int | None]:
    """Return the words to search for, or the number of the meant task."""
    number = _NUMBER.fullmatch(text.strip())
    return (text.split()[:MOST_WORDS], None) if number is None else ((), int(number[1]))


def children(tx: Tx, task: Task) -> list[Task]:
    """List the tasks derived from this one, oldest first, in any status."""
    return tasks.children(tx, task.id, MOST_CHILDREN)


def deliveries(tx: Tx, task: Task) -> list[Delivery]:
    """List the task's inbox rows: the first, if it was delivered when it was created, and the last."""
    found = (messages.find_delivery(tx, each) for each in {task.id, task.delivery_id or task.id})
    return sorted((row for row in found if row is not None), key=lambda row: row.id)
