"""Claiming and completing a task, with the hooks that run before and after on the agent's machine.

The stdio bridge runs them and reports its steps, in the words of `workspace/hook_steps.py`: it *looks* whether a task
may be claimed before it runs the one hook; it *begins* a check before it runs the other, keeps it alive, and reports
that it *passed* or *failed*. Nobody completes the task before that. Over HTTP alone there is nobody to run a hook, and
the reply says so.
"""

from datetime import timedelta

from hubbub.core.actions import task_actions
from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.core.work import completion_checks, proof, tasks
from hubbub.dialects.call import Call, NotYet
from hubbub.dialects.dialect import Reply
from hubbub.dialects.relay import vocabulary
from hubbub.dialects.relay.tool_set import RelayContext, no
from hubbub.model.errors import MayNotBegin, Unmet
from hubbub.model.lifecycle import ENDED, NOT_BEGUN, Status
from hubbub.model.records import Check, Message, Task
from hubbub.model.work.permissions import VerbManner
from hubbub.store.tx import Tx
from hubbub.workspace.hook_steps import CHECK, OUTPUT, STEP, HookStep

NOT_RUN = "not run: hooks run where hubbub mcp relay runs, over stdio"
LOST = ENDED - {Status.COMPLETED}
BUSY = "task is being checked by its after_task hook; try again"
VERDICTS = {HookStep.PASSED: True, HookStep.FAILED: False, HookStep.DROPPED: None}
OUTPUT_LENGTH = 4_000
PATIENCE = timedelta(seconds=45)  # with the hook of another agent that is about to complete the same task


def claim(tx: Tx, call: Call, task: Task, here: RelayContext) -> Reply:
    """Claim the task, or say why it cannot be claimed."""
    reason = _obstacle(tx, task, here.name)
    if reason is not None:
        return unclaimed(reason)
    if call.meta.get(STEP) == HookStep.LOOK:
        return {"claimed": False, "ready": True, "session_id": here.run.name}
    task_actions.start(tx, task, here.name, leased=False)
    return {"claimed": True, **_about_hooks(call)}


def unclaimed(reason: str) -> Reply:
    return {"claimed": False, "reason": reason}


def _obstacle(tx: Tx, task: Task, name: str) -> str | None:
    """Return why `name` cannot claim the task; None if it can."""
    try:
        tasks.require_met(tx, task, name)
    except Unmet as error:
        listed = (_need(need.id, Status(need.status)) for need in error.needs)
        return f"Unmet dependencies: {', '.join(listed)}"
    except MayNotBegin as error:
        return str(error)
    if task.status not in NOT_BEGUN:
        return f"task is {vocabulary.STATUS[task.status]}"
    if task.assignee not in (None, name):
        return f"task is assigned to {task.assignee}"
    return None


def _need(task_id: str, status: Status) -> str:
    """Name a needed task; with its status if it will not be completed without help."""
    return f"{task_id} ({vocabulary.STATUS[status]})" if status in LOST else task_id


def done(tx: Tx, call: Call, task: Task, here: RelayContext, to: str | None) -> Reply:
    """Complete the task, or let the bridge begin to check it; another's check goes first, and holds for both.

    The hook is that of the task's holder at that time: `to`, if it is reassigned in the same call.
    """
    if (waited_for := _waited_for(tx, call, task)) is not None and waited_for.passed is False:
        return hook_failed(waited_for.output)
    if task.is_ended:
        return {}
    if (running := completion_checks.running(tx, task)) is not None:
        return _wait_for(call, task, running)
    if call.meta.get(STEP) == HookStep.BEGIN:
        check = completion_checks.begin(tx, task, by=here.name, manner=VerbManner.ANSWER)
        holder = to or task.assignee or here.name
        return {"check": str(check.id), "holder": holder, "session_id": here.run.name}
    return _complete(tx, task, here.name) or _about_hooks(call)


def is_about_check(call: Call) -> bool:
    """Tell whether the bridge reports on a check that it has begun."""
    return call.meta.get(STEP) in (HookStep.RENEW, HookStep.PASSED, HookStep.FAILED, HookStep.DROPPED)


def checked(tx: Tx, call: Call, task: Task, here: RelayContext) -> Reply:
    """Take the bridge's report on the check; the caller that began it could complete the task, and still can."""
    step = HookStep(str(call.meta[STEP]))
    check = completion_checks.own(tx, task, str(call.meta.get(CHECK)), by=here.name)
    if step is HookStep.RENEW:
        completion_checks.renew(tx, check.id)
        return {}
    output = _output(call)
    completion_checks.end(tx, task, check, passed=VERDICTS[step], output=output)
    if step is HookStep.DROPPED:
        return {}
    if task.is_ended:
        return {} if task.status is Status.COMPLETED else no(f"task is {vocabulary.STATUS[task.status]}")
    if step is HookStep.PASSED:
        return _complete(tx, task, here.name, check)
    task_actions.submit(tx, task, by=here.name, check=check, manner=VerbManner.ANSWER)
    return hook_failed(output)


def _output(call: Call) -> str | None:
    """Return the sentence about a failed hook, in a form that the store can keep."""
    output = str(call.meta.get(OUTPUT, ""))[:OUTPUT_LENGTH]
    return output.encode("utf-8", "replace").decode().replace("\0", "\ufffd") or None


def hook_failed(output: str | None) -> Reply:
    """Return the reply after a failed after-hook; the bridge's report begins with these words."""
    return no(output or "after_task hook failed", hook_failed=True)


def _wait_for(call: Call, task: Task, running: Check) -> Reply:
    """Wait for another's hook to end. It may take longer than a call: the bridge is told to ask again."""
    if call.is_last_try:
        return {"busy": str(running.id)} if STEP in call.meta else no(BUSY)
    call.notes[CHECK] = str(running.id)
    raise NotYet(task.project_id, PATIENCE, lambda activity: activity.task_id == task.id)


def _waited_for(tx: Tx, call: Call, task: Task) -> Check | None:
    """Return the check whose end an earlier try, or an earlier call of the bridge, waited for."""
    ref = call.notes.get(CHECK) or call.meta.get(CHECK)
    return completion_checks.find(tx, task, str(ref)) if ref is not None else None


def _complete(tx: Tx, task: Task, name: str, check: Check | None = None) -> Reply:
    """End the task; its result is the last message of its assignee in its thread.

    Returns the reply about a task that lacks proof and is in review instead; an empty one for a completed task.
    """
    said = messages.last_in_thread(tx, task.project_id, str(task.id), task.assignee or name)
    result = said.body if said is not None else vocabulary.DONE
    told = task.sender if said is not None and _has_read(tx, task, said) else None
    ended = task_actions.complete(
        tx, task, by=name, result=result, told=told, check=check, manner=VerbManner.ANSWER
    )
    missing = proof.missing(tx, ended)
    return no(missing) if missing is not None else {}


def _has_read(tx: Tx, task: Task, said: Message) -> bool:
    """Tell whether the task's sender has the result already, as a message to a Relay agent."""
    if said.recipient != task.sender or task.expires_at is not None:  # Relay's tasks never expire
        return False
    return task.sender not in agents.with_inbox(tx, task.project_id)


def _about_hooks(call: Call) -> Reply:
    """Return a note that no hook was run, for callers without a bridge."""
    return {} if STEP in call.meta else {"hooks": NOT_RUN}
