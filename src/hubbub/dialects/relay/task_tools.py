"""The tools for tasks: creating, claiming, moving, listing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from hubbub.core.actions import task_actions
from hubbub.core.log import activity
from hubbub.core.work import dependencies, permissions, tasks
from hubbub.dialects.call import Call
from hubbub.dialects.dialect import Reply
from hubbub.dialects.relay import task_hooks, vocabulary
from hubbub.dialects.relay.tool_set import (
    DIALECT,
    Id,
    Key,
    Name,
    OptionalId,
    RelayContext,
    addressee,
    enter,
    no,
    require_room,
)
from hubbub.dialects.reply_cache import RowCache
from hubbub.model.errors import HubError, InvalidTransition, NotFound
from hubbub.model.json_chunks import EncodedRows, LazyRows
from hubbub.model.lifecycle import Status
from hubbub.model.people.rights import Right
from hubbub.model.records import Run, Task
from hubbub.model.work.duplicates import OnDuplicate
from hubbub.model.work.permissions import Verb, VerbManner
from hubbub.store.tx import Tx

DEEPEST = 1  # generations of derived tasks
MOST_SIBLINGS = 3
VERBS = {
    vocabulary.TODO: Verb.REOPEN,
    vocabulary.IN_PROGRESS: Verb.START,
    vocabulary.IN_REVIEW: Verb.SUBMIT,
    vocabulary.DONE: Verb.COMPLETE,
}


MANY = 2_000  # tasks of a run; the rows of a longer list are not kept
_ROWS = RowCache()


class Breaker(HubError):
    """A task would be derived too far, or too often."""

    code = "circuit_breaker"


class UnknownNeeds(HubError):
    """A task is to depend on tasks that do not exist."""

    code = "unknown_dependencies"


@DIALECT.tool(short=True)
def create_task(
    tx: Tx,
    call: Call,
    agent_id: Name,
    title: Annotated[str, Field(min_length=1, max_length=256)],
    priority: Literal["critical", "high", "medium", "low"],
    description: Annotated[str, Field(max_length=8192)] | None = None,
    assignee: Name | None = None,
    depends_on: Annotated[list[Annotated[str, Field(max_length=256)]], Field(max_length=32)] | None = None,
    idempotency_key: Key = None,
    parent_task_id: OptionalId = None,
    derived_reason: Annotated[str, Field(max_length=512)] | None = None,
) -> Reply:
    """Create a task. The same idempotency_key gives the task that was made by it first."""
    here = enter(tx, call, agent_id)
    if idempotency_key and (known := tasks.find_by_external_id(tx, here.run, idempotency_key)):
        return {"task_id": str(known.id)}
    to = addressee(tx, here.project, "assignee", assignee) if assignee is not None else None
    needs = _needed(tx, here, depends_on or [])
    parent = _parent(tx, here, parent_task_id) if parent_task_id is not None else None
    if call.site.caps.tasks is not None:
        require_room(tasks.number_in_run(tx, here.run), call.site.caps.tasks, "tasks")
    task = tasks.send(
        tx,
        here.project.id,
        sender=here.name,
        to=to,
        text=description or "",
        title=title,
        priority=vocabulary.PRIORITIES[priority],
        parent=str(parent.id) if parent else None,
        reason=derived_reason,
        needs=needs,
        run=here.run,
        external_id=idempotency_key,
        awaited=True,
        on_duplicate=OnDuplicate.TELL,
    )
    return {"task_id": str(task.id)}


def _needed(tx: Tx, here: RelayContext, refs: list[str]) -> list[Task]:
    """List the named tasks of the run, each once. Raises `UnknownNeeds`."""
    found, unknown = {}, []
    for ref in dict.fromkeys(refs):
        try:
            task = find(tx, here, ref)
            found[task.id] = task
        except NotFound:
            unknown.append(ref)
    if unknown:
        raise UnknownNeeds(f"depends_on contains unknown task IDs: {', '.join(unknown)}")
    return list(found.values())


def _parent(tx: Tx, here: RelayContext, ref: str) -> Task:
    """Return the task to derive another from, if one more may be. Raises `NotFound` and `Breaker`."""
    try:
        parent = find(tx, here, ref, lock=True)
    except NotFound:
        raise NotFound("parent task", ref) from None
    if parent.depth >= DEEPEST:
        raise Breaker("max derived task depth exceeded")
    if tasks.number_of_children(tx, parent) >= MOST_SIBLINGS:
        raise Breaker("max derived siblings exceeded")
    return parent


def find(tx: Tx, here: RelayContext, ref: str, *, lock: bool = False) -> Task:
    """Return the task of the run by its id. Raises `NotFound`."""
    task = tasks.find(tx, [here.project.id], ref, lock=lock, by_number=False)
    if task.run_id != here.run.id:
        raise NotFound("task", ref)
    return task


@DIALECT.tool(short=True)
def update_task(
    tx: Tx,
    call: Call,
    agent_id: Name,
    task_id: Id,
    status: Literal["todo", "in_progress", "in_review", "done"] | None = None,
    assignee: Name | None = None,
) -> Reply:
    """Change a task's status or its assignee. For its assignee, its creator, or anyone while it is unassigned."""
    here = enter(tx, call, agent_id)
    to = addressee(tx, here.project, "assignee", assignee) if assignee is not None else None
    task = find(tx, here, task_id, lock=True)
    if task_hooks.is_about_check(call):
        return task_hooks.checked(tx, call, task, here)
    if not permissions.may(tx, task, VERBS[status or vocabulary.DONE], here.name, VerbManner.ANSWER):
        return no("permission denied")
    if status is None and to is None:
        return no("No valid fields to update")
    if task.is_ended and task.status is not Status.COMPLETED:
        raise InvalidTransition(task.status, "update")
    if status == vocabulary.TODO:
        task = task_actions.reopen(tx, task, by=here.name, manner=VerbManner.ANSWER)
    elif status == vocabulary.IN_PROGRESS:
        task = task_actions.start(tx, task, here.name, leased=None, manner=VerbManner.ANSWER)
    elif status == vocabulary.IN_REVIEW:
        task = task_actions.submit(tx, task, by=here.name, manner=VerbManner.ANSWER)
    answer = task_hooks.done(tx, call, task, here, to) if status == vocabulary.DONE else {}
    task = find(tx, here, task_id, lock=True)
    if to is not None and to != task.assignee:  # the last step, as it ends the caller's hold
        task_actions.reassign(tx, task, to=to, by=here.name, manner=VerbManner.ANSWER)
    return answer


@DIALECT.tool(short=True)
def claim_task(tx: Tx, call: Call, agent_id: Name, task_id: Id) -> Reply:
    """Claim a task before you begin it; of several who try at once one succeeds.

    It must be todo, unassigned or yours, and what it depends on must be done.
    """
    here = enter(tx, call, agent_id)
    try:
        task = find(tx, here, task_id, lock=True)
    except NotFound:
        return task_hooks.unclaimed("task not found")
    return task_hooks.claim(tx, call, task, here)


@DIALECT.tool(reads=True)
def get_all_tasks(
    tx: Tx,
    call: Call,
    agent_id: Name,
    assignee: Name | None = None,
    status: Literal["todo", "in_progress", "in_review", "done", "failed", "cancelled", "expired"]
    | None = None,
    include_description: bool = False,
    include_last_event: bool = False,
) -> Reply:
    """All tasks of the session, in the order in which they were made; of one assignee, or in one status, if given.

    With include_last_event it tells where the log is, for get_messages to wait on from there.
    """
    here = enter(tx, call, agent_id, Right.READ)
    place = {"last_event": activity.last(tx, here.project.id)} if include_last_event else {}
    statuses = [each for each, word in vocabulary.STATUS.items() if word == status]
    if include_description or tasks.number_in_run(tx, here.run) > MANY:
        found = tasks.each_of_run(tx, here.run, assignee=assignee, statuses=statuses)
        return {"tasks": LazyRows(_rows(tx, here.run, found, include_description)), **place}
    stored = tasks.listed_of_run(tx, here.run, assignee=assignee, statuses=statuses)
    return {"tasks": _listed(tx, here.run, stored), **place}


def _rows(tx: Tx, run: Run, found: Iterable[Task], is_described: bool) -> Iterator[vocabulary.Row]:
    """Yield the rows of a run's tasks, one after the other."""
    needs = dependencies.of_run(tx, run)
    for task in found:
        more = vocabulary.described(task) if is_described else {}
        yield vocabulary.task_row(task, run, needs.get(task.id, ()), more)


def _listed(tx: Tx, run: Run, stored: Sequence[tuple[Any, ...]]) -> EncodedRows:
    """Return the rows of a run's tasks, few of which have changed since last time; their needs never change."""

    def make(missing: Sequence[tuple[Any, ...]]) -> Mapping[tuple[Any, ...], vocabulary.Row]:
        needs = dependencies.of_run(tx, run)
        read = {each: tasks.listed(each) for each in missing}
        return {each: vocabulary.task_row(task, run, needs.get(task.id, ())) for each, task in read.items()}

    return _ROWS.rows((run.id, run.name), stored, make)
