"""Completion checks: a task is checked, on the machine of its holder, before it counts as completed.

If several callers want to complete it at once, one does the check and the others wait for its result. A check is a
lease that the checker renews: if the checker dies, another may check.
"""

from datetime import timedelta
from uuid import UUID

from hubbub.core.work import permissions
from hubbub.model.errors import BeingChecked, Conflict, Forbidden, NotFound
from hubbub.model.ids import new_id, parse_id
from hubbub.model.records import Check, Task
from hubbub.model.work.permissions import Verb, VerbManner
from hubbub.store.tx import Tx
from hubbub.store.work import completion_checks

TTL = timedelta(seconds=30)  # renew it well before


def running(tx: Tx, task: Task) -> Check | None:
    """Return the running check of the task; None if there is none."""
    last = completion_checks.latest(tx, task.id)
    return last if last is not None and last.is_running(tx.now) else None


def require_none(tx: Tx, task: Task) -> None:
    """Raise `BeingChecked` during a check: nobody completes the task before the check has ended."""
    if running(tx, task) is not None:
        raise BeingChecked


def begin(tx: Tx, task: Task, *, by: str, manner: VerbManner = VerbManner.PLAIN) -> Check:
    """Begin a check of a locked task, for a caller that may complete it. Records `check.started`.

    Raises the errors of `task_actions.complete`; `BeingChecked` if a check is running already.
    """
    permissions.require(tx, task, Verb.COMPLETE, by, manner)
    require_none(tx, task)
    check = completion_checks.insert(
        tx,
        Check(id=new_id(), task_id=task.id, agent=by, started_at=tx.now, expires_at=tx.now + _milliseconds()),
    )
    tx.record("check.started", project_id=task.project_id, actor=by, agent=task.assignee, task_id=task.id)
    return check


def find(tx: Tx, task: Task, ref: str) -> Check:
    """Return the task's check of that id. Raises `NotFound`."""
    check_id = parse_id(ref)
    check = completion_checks.find(tx, check_id) if check_id else None
    if check is None or check.task_id != task.id:
        raise NotFound("check", ref)
    return check


def own(tx: Tx, task: Task, ref: str, *, by: str) -> Check:
    """Return the task's check of that id, begun by `by`. Raises `NotFound` and `Forbidden`."""
    check = find(tx, task, ref)
    if check.agent != by:
        raise Forbidden(f"the check was begun by {check.agent!r}")
    return check


def renew(tx: Tx, check_id: UUID) -> Check:
    """Renew a running check. Raises `Conflict` if its time ran out, or it has ended."""
    renewed = completion_checks.renew(tx, check_id, tx.now + _milliseconds())
    if renewed is None:
        raise Conflict("the check is not running any more")
    return renewed


def end(tx: Tx, task: Task, check: Check, *, passed: bool | None, output: str | None) -> Check:
    """End a check with its result, None for no result; the consequences are the caller's. Records `check.ended`.

    Raises `Conflict` if its time ran out, or it has ended.
    """
    ended = completion_checks.end(tx, check.id, passed=passed, output=output)
    if ended is None:
        raise Conflict("the check is not running any more")
    tx.record(
        "check.ended",
        project_id=task.project_id,
        actor=check.agent,
        agent=task.assignee,
        task_id=task.id,
        detail={"passed": passed},
    )
    return ended


def _milliseconds() -> int:
    return int(TTL.total_seconds() * 1000)
