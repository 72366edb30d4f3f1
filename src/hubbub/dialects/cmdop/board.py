"""The board: the project's tasks as issues."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

from hubbub.core import agents, finding, messages, tasks, verbs
from hubbub.dialects.call import Call
from hubbub.dialects.cmdop import fitting, words
from hubbub.dialects.cmdop.tongue import DIALECT, Here, Id, Name, Text, Title, enter
from hubbub.dialects.dialect import Reply
from hubbub.model.errors import Conflict, InvalidTransition, NotFound
from hubbub.model.lifecycle import ENDED, Status
from hubbub.model.orders import as_json
from hubbub.model.parts import Manner
from hubbub.model.records import Task
from hubbub.model.rights import Right
from hubbub.store.tx import Tx

BOARD = Manner.BOARD
MOST = 500  # issues that a list has room for; the newest
MOVES: Mapping[str, Callable[..., Task]] = {
    words.IN_PROGRESS: partial(verbs.start, leased=None),
    words.BLOCKED: verbs.block,
    words.IN_REVIEW: verbs.submit,
}

ListStatus = Literal[
    "todo", "in_progress", "blocked", "in_review", "done", "failed", "cancelled", "expired", "open", "closed"
]
NewStatus = Literal["todo", "in_progress", "blocked", "in_review", "done", "failed", "cancelled"]


@DIALECT.tool(reads=True, shown=lambda reply: as_json(reply["result"]))
def issue_list(tx: Tx, call: Call, status: ListStatus | None = None, assignee: Name | None = None) -> Reply:
    """The issues of the board, newest first; in one status, or open or closed, and of one assignee, if given."""
    here = enter(tx, call, Right.READ)
    wanted = words.statuses(status) if status is not None else ()
    found = finding.search(tx, [here.project.id], status=wanted, assignee=assignee, limit=MOST)
    return {"result": [words.issue_row(task, call.site.url) for task in found]}


@DIALECT.tool(reads=True)
def issue_get(tx: Tx, call: Call, id: Id) -> Reply:  # noqa: A002
    """One issue, with its body and the comments on it."""
    here = enter(tx, call, Right.READ)
    task = _find(tx, here, id)
    return words.issue(task, messages.about(tx, task), finding.deliveries(tx, task), call.site.url)


@DIALECT.tool(fits=fitting.issue)
def issue_create(
    tx: Tx, call: Call, title: Title, body: Text | None = None, assignee: Name | None = None
) -> Reply:
    """Open an issue, for an agent if you name one, else for whoever takes it."""
    here = enter(tx, call)
    task = tasks.send(
        tx,
        here.project.id,
        sender=here.name,
        to=_assignee(tx, here, assignee) if assignee is not None else None,
        text=body or "",
        title=title.strip(),
        awaited=True,
    )
    return {"id": str(task.number), "url": words.issue_url(task, call.site.url)}


@DIALECT.tool(fits=fitting.change)
def issue_update(
    tx: Tx,
    call: Call,
    id: Id,  # noqa: A002
    body: Text | None = None,
    status: NewStatus | None = None,
    assignee: Name | None = None,
) -> Reply:
    """Change an issue: its body, its status, or whose it is. To take a free one, set its status to in_progress."""
    here = enter(tx, call)
    task = _find(tx, here, id, lock=True)
    if body is not None:
        task = verbs.describe(tx, task, body, by=here.name)
    goes_on = status == words.TODO or status in MOVES
    if goes_on:  # whoever gives it away is not its holder afterwards
        task = _moved(tx, here, task, status)
    if assignee is not None and assignee != task.assignee:
        task = verbs.reassign(tx, task, to=_assignee(tx, here, assignee), by=here.name, manner=BOARD)
    if not goes_on:
        _moved(tx, here, task, status)
    return {"ok": True}


def _moved(tx: Tx, here: Here, task: Task, status: str | None) -> Task:
    """The task, in that status if one is named."""
    if status is not None and status != words.STATUS[task.status]:
        _move(tx, here, task, status)
    return _find(tx, here, str(task.id), lock=True)


@DIALECT.tool()
def issue_close(tx: Tx, call: Call, id: Id, reason: Text | None = None) -> Reply:  # noqa: A002
    """Close an issue: it is done. A reason that begins with cancelled, wontfix or duplicate cancels it instead."""
    here = enter(tx, call)
    task = _find(tx, here, id, lock=True)
    if task.is_ended:
        raise Conflict(f"the issue is closed already: it is {words.STATUS[task.status]}")
    said = (reason or "").strip()
    if said.casefold().startswith(words.WITHDRAWN):
        verbs.cancel(tx, task, by=here.name, reason=said)
    else:
        verbs.complete(tx, task, by=here.name, result=said or words.DONE, manner=BOARD)
    return {"ok": True}


def _find(tx: Tx, here: Here, ref: str, *, lock: bool = False) -> Task:
    """The task of that number, or id. Raises `NotFound`."""
    try:
        return tasks.find(tx, [here.project.id], ref, lock=lock)
    except NotFound:
        raise NotFound("issue", ref) from None


def _assignee(tx: Tx, here: Here, name: str) -> str:
    """The name of an agent, who may be yet to come. Raises `Invalid` for what can be none."""
    if not agents.is_known(tx, here.project.id, name):
        agents.require_nameable(name)
    return name


def _move(tx: Tx, here: Here, task: Task, word: str) -> None:
    """Bring a task to the status that cmdop calls so. Raises `Conflict` if it cannot go there from where it is."""
    try:
        if word == words.TODO:
            _reopen(tx, here, task)
        elif word in MOVES:
            MOVES[word](tx, task, by=here.name, manner=BOARD)
        elif word == words.CANCELLED:
            verbs.cancel(tx, task, by=here.name, reason=None)
        elif word == words.DONE:
            verbs.complete(tx, task, by=here.name, result=word, manner=BOARD)
        else:
            verbs.fail(tx, task, by=here.name, reason=word, manner=BOARD)
    except InvalidTransition as error:
        was = words.STATUS[Status(error.status)]
        way = "; set it to todo first" if task.status in ENDED else ""
        raise Conflict(f"an issue that is {was} cannot become {word}{way}") from None


def _reopen(tx: Tx, here: Here, task: Task) -> None:
    if task.status in ENDED - {Status.COMPLETED}:
        verbs.retry(tx, task, by=here.name)
    else:
        verbs.reopen(tx, task, by=here.name, manner=BOARD)
