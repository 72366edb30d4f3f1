"""The board: the project's tasks as issues."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

from hubbub.core.actions import task_actions
from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.core.people import access, users
from hubbub.core.work import permissions, proof, task_search, tasks
from hubbub.dialects.call import Call
from hubbub.dialects.cmdop import argument_checks, vocabulary
from hubbub.dialects.cmdop.tool_set import DIALECT, CmdopContext, Id, Name, OptionalName, Text, Title, enter
from hubbub.dialects.dialect import Reply
from hubbub.model.errors import Conflict, InvalidTransition, NotFound
from hubbub.model.fleet.calls import as_json
from hubbub.model.lifecycle import ENDED, Status
from hubbub.model.people.rights import HUB, Right
from hubbub.model.records import Task
from hubbub.model.work.duplicates import OnDuplicate
from hubbub.model.work.permissions import Verb, VerbManner
from hubbub.store.tx import Tx

BOARD = VerbManner.BOARD
MOST = 500  # newest issues that a list has room for
MOVES: Mapping[str, Callable[..., Task]] = {
    vocabulary.IN_PROGRESS: partial(task_actions.start, leased=None),
    vocabulary.BLOCKED: task_actions.block,
    vocabulary.IN_REVIEW: task_actions.submit,
}

ListStatus = Literal[
    "todo", "in_progress", "blocked", "in_review", "done", "failed", "cancelled", "expired", "open", "closed"
]
NewStatus = Literal["todo", "in_progress", "blocked", "in_review", "done", "failed", "cancelled"]


@DIALECT.tool(reads=True, shown=lambda reply: as_json(reply["result"]))
def issue_list(tx: Tx, call: Call, status: ListStatus | None = None, assignee: OptionalName = None) -> Reply:
    """The issues of the board, newest first; in one status, or open or closed, and of one assignee, if given."""
    here = enter(tx, call, Right.READ)
    wanted = vocabulary.statuses(status) if status is not None else ()
    found = task_search.search(tx, [here.project.id], status=wanted, assignee=assignee, limit=MOST)
    return {"result": [vocabulary.issue_row(task, call.site.url) for task in found]}


@DIALECT.tool(reads=True)
def issue_get(tx: Tx, call: Call, id: Id) -> Reply:  # noqa: A002
    """One issue, with its body and the comments on it."""
    here = enter(tx, call, Right.READ)
    task = _find(tx, here, id)
    return vocabulary.issue(task, messages.about(tx, task), task_search.deliveries(tx, task), call.site.url)


@DIALECT.tool(fits=argument_checks.issue)
def issue_create(
    tx: Tx, call: Call, title: Title, body: Text | None = None, assignee: OptionalName = None
) -> Reply:
    """Open an issue, for an agent if you name one, else for any agent to take."""
    here = enter(tx, call)
    task = tasks.send(
        tx,
        here.project.id,
        sender=here.name,
        to=_assignee(tx, here, assignee) if assignee is not None else None,
        text=body or "",
        title=title.strip(),
        awaited=True,
        on_duplicate=OnDuplicate.TELL,
    )
    return {"id": str(task.number), "url": vocabulary.issue_url(task, call.site.url)}


@DIALECT.tool(fits=argument_checks.change)
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
    if assignee is None and status == vocabulary.STATUS[task.status] == vocabulary.IN_PROGRESS:
        permissions.require(tx, task, Verb.START, here.name, BOARD)  # of two that begin it, one has it
    if body is not None:
        task = task_actions.describe(tx, task, body, by=here.name)
    can_hold = here.name != HUB or task.assignee is not None
    moves_first = can_hold and (status == vocabulary.TODO or status in MOVES)
    if moves_first:  # a caller that reassigns it is not its holder afterwards
        task = _moved(tx, here, task, status)
    if assignee is not None and assignee != task.assignee:
        task = task_actions.reassign(tx, task, to=_assignee(tx, here, assignee), by=here.name, manner=BOARD)
    if not moves_first:
        task = _moved(tx, here, task, status)
    return _outcome(tx, task) if status == vocabulary.DONE else {"ok": True}


def _moved(tx: Tx, here: CmdopContext, task: Task, status: str | None) -> Task:
    """Return the task, in that status if one is given."""
    if status is not None and status != vocabulary.STATUS[task.status]:
        _move(tx, here, task, status)
    return _find(tx, here, str(task.id), lock=True)


@DIALECT.tool()
def issue_close(tx: Tx, call: Call, id: Id, reason: Text | None = None) -> Reply:  # noqa: A002
    """Close an issue: it is done. A reason that begins with cancelled, wontfix or duplicate cancels it instead."""
    here = enter(tx, call)
    task = _find(tx, here, id, lock=True)
    if task.is_ended:
        raise Conflict(f"the issue is closed already: it is {vocabulary.STATUS[task.status]}")
    said = (reason or "").strip()
    if said.casefold().startswith(vocabulary.WITHDRAWN):
        closed = task_actions.cancel(tx, task, by=here.name, reason=said, manner=BOARD)
    else:
        closed = task_actions.complete(tx, task, by=here.name, result=said or vocabulary.DONE, manner=BOARD)
    return _outcome(tx, closed)


def _outcome(tx: Tx, task: Task) -> Reply:
    """Return the reply about an issue that was to be closed; one that lacks proof may be in review instead."""
    missing = proof.missing(tx, task)
    if missing is None:
        return {"ok": True}
    return {"ok": False, "status": vocabulary.STATUS[task.status], "reason": missing}


def _find(tx: Tx, here: CmdopContext, ref: str, *, lock: bool = False) -> Task:
    """Return the task with that number or id. Raises `NotFound`."""
    try:
        return tasks.find(tx, [here.project.id], ref, lock=lock)
    except NotFound:
        raise NotFound("issue", ref) from None


def _assignee(tx: Tx, here: CmdopContext, name: str) -> str:
    """Return the name of an agent, which need not have come yet. Raises `Invalid` for an impossible name."""
    if not agents.is_known(tx, here.project.id, name):
        agents.require_nameable(name)
    return name


def _move(tx: Tx, here: CmdopContext, task: Task, word: str) -> None:
    """Move a task to the status with that name in cmdop. Raises `Conflict` if the lifecycle has no way there."""
    try:
        if word == vocabulary.TODO:
            _reopen(tx, here, task)
        elif word in MOVES:
            MOVES[word](tx, task, by=_mover(tx, here, task), manner=BOARD)
        elif word == vocabulary.CANCELLED:
            task_actions.cancel(tx, task, by=here.name, reason=None, manner=BOARD)
        elif word == vocabulary.DONE:
            task_actions.complete(tx, task, by=here.name, result=word, manner=BOARD)
        else:
            task_actions.fail(tx, task, by=here.name, reason=word, manner=BOARD)
    except InvalidTransition as error:
        was = vocabulary.STATUS[Status(error.status)]
        way = "; set it to todo first" if task.status in ENDED else ""
        raise Conflict(f"an issue that is {was} cannot become {word}{way}") from None


def _mover(tx: Tx, here: CmdopContext, task: Task) -> str:
    """Return the name that moves a task: the caller's, or for a free task that of the token's user if it has none."""
    if here.name != HUB or task.assignee is not None:
        return here.name
    return access.speak(tx, here.project.id, users.name_of(tx, tx.actor.user_id))


def _reopen(tx: Tx, here: CmdopContext, task: Task) -> None:
    if task.status in ENDED - {Status.COMPLETED}:
        task_actions.retry(tx, task, by=here.name)
    else:
        task_actions.reopen(tx, task, by=here.name, manner=BOARD)
