"""Actions on tasks: one function for each verb, called by every door.

Each one checks the caller's right (the table is in `model.work.permissions`), acts, records it in the log, and tells
those concerned. A door decodes a request, calls one of these, and words the answer itself. Where a door's documented
words allow a verb to more callers, or to fewer, it passes its `manner`, which has rows of its own in that table. In
any manner but plain, an agent with a token of its own takes a free task first, so that it acts as the holder.

Sending is `tasks.send`, which needs no role. `by` is the name that the caller acts by; callers without a name share
one. A holder that has accepted a task is told once of each act of others, with their name and reason.
"""

from collections.abc import Sequence
from datetime import timedelta

from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.core.presence import presences
from hubbub.core.work import completion, duplicates, permissions, proof, tasks, transfers
from hubbub.core.work.completion import EMPTY_REPORT, WorkReport
from hubbub.model.errors import WHO_CLAIMS, Forbidden, InvalidTransition, Lacking, Unavailable
from hubbub.model.lifecycle import HELD, NOT_BEGUN, Event, Status, route
from hubbub.model.people.rights import HUB
from hubbub.model.records import Check, Message, Task
from hubbub.model.timestamps import milliseconds
from hubbub.model.work.permissions import TaskRole, Verb, VerbManner, allowed
from hubbub.store.tx import Tx

PLAIN = VerbManner.PLAIN
TARGETS = {Verb.START: Status.WORKING, Verb.BLOCK: Status.BLOCKED, Verb.SUBMIT: Status.IN_REVIEW}
FROM = {  # where the other manners move a task from anywhere
    PLAIN: {Verb.START: HELD, Verb.BLOCK: HELD - {Status.DELIVERED}, Verb.SUBMIT: HELD},
    VerbManner.OWN: dict.fromkeys(TARGETS, HELD),
}
MOVED = {Status.WORKING: "resumed", Status.BLOCKED: "blocked", Status.IN_REVIEW: "handed in"}
ENDED = {Event.COMPLETE: "completed", Event.FAIL: "gave up", Event.CANCEL: "cancelled"}


def accept(tx: Tx, task: Task, by: str, *, leased: bool = True, manner: VerbManner = PLAIN) -> Task:
    """Accept a task: the caller's own, or a free one, which becomes the caller's. Acknowledges its inbox row.

    A caller that accepts on behalf of the addressee leaves the task with them. `leased` says that the holder has a
    heartbeat, so that the task is freed or delivered again when the holder falls silent. Records `task.accepted`.
    Raises `NotHolder`, `Unavailable` where no agent is named, `Unmet`, `MayNotBegin`, `InvalidTransition`.
    """
    tasks.require_met(tx, task, by)
    return _accept(tx, task, by, leased=leased, manner=manner)


def start(
    tx: Tx,
    task: Task,
    by: str,
    *,
    leased: bool | None = True,
    reason: str | None = None,
    is_read: bool = True,
    manner: VerbManner = PLAIN,
) -> Task:
    """Begin a task, or go on with it; a free task is accepted first. From then on it does not expire.

    `leased` None keeps the present value. Unless it `is_read`, a delivered task stays in the inbox until it is
    acknowledged, as in CommHub. Records `task.started`. Raises the errors of `accept`.
    """
    if manner is not PLAIN or task.status in (Status.BLOCKED, Status.IN_REVIEW):
        if task.status in NOT_BEGUN:
            tasks.require_going(tx, task, by)
        return _move(tx, task, Verb.START, by=by, leased=leased, reason=reason, manner=manner)
    tasks.require_met(tx, task, by)
    if task.assignee is None:
        task = _accept(tx, task, by, leased=bool(leased))
    else:
        permissions.require(tx, task, Verb.START, by)
    changes: dict[str, object] = {"started_at": tx.now, "accepted_at": task.accepted_at or tx.now}
    changes |= {"leased": int(bool(leased)), "door": tx.door}
    started = tasks.step(tx, task, Event.START, changes=changes, actor=by)
    proof.tell_taker(tx, started, before=task)
    duplicates.tell_taker(tx, started, before=task)
    if is_read:
        tasks.acknowledge(tx, started)
    return started


def progress(
    tx: Tx,
    task: Task,
    by: str,
    *,
    output: str | None = None,
    progress: float | None = None,
    note: str | None = None,
) -> Task:
    """Report the progress of the caller's own task, in percent; a `note` stays with the task. Records `task.progress`.

    Raises `NotHolder` if the task is another's, `InvalidTransition` if it has ended.
    """
    permissions.require(tx, task, Verb.PROGRESS, by)
    if task.is_ended:
        raise InvalidTransition(task.status, Verb.PROGRESS)
    presences.progress(tx, task, by, output=output, progress=progress)
    if (note or "").strip():
        tasks.note(tx, task, actor=by, detail={"reason": note})
    return task


def block(
    tx: Tx,
    task: Task,
    *,
    by: str,
    reason: str | None = None,
    leased: bool | None = None,
    manner: VerbManner = PLAIN,
) -> Task:
    """Mark a task as blocked, with the reason. Records `task.blocked`. Raises `NotHolder`, `InvalidTransition`."""
    return _move(tx, task, Verb.BLOCK, by=by, leased=leased, reason=reason, manner=manner)


def unblock(tx: Tx, task: Task, *, by: str, reason: str | None) -> Task:
    """Let a blocked task go on; its holder is told. Records `task.started`. Raises `NotHolder`, `InvalidTransition`."""
    permissions.require(tx, task, Verb.UNBLOCK, by)
    if task.status is not Status.BLOCKED:
        raise InvalidTransition(task.status, Verb.UNBLOCK)
    going_on = transfers.move_to(tx, task, Status.WORKING, by=by, reason=reason)
    permissions.tell_holder(tx, task, "unblocked", by=by, reason=reason)
    return going_on


def submit(
    tx: Tx,
    task: Task,
    *,
    by: str,
    result: str | None = None,
    check: Check | None = None,
    manner: VerbManner = PLAIN,
) -> Task:
    """Submit the caller's work for review; its sender is told, with the result. Records `task.submitted`.

    Without a result, an agent of the caller's own documented tool set is not told: its documents know no such message,
    and show the status. An agent that was allowed to complete the task when it began the `check` may still submit it
    now. Raises `NotHolder`, `InvalidTransition`.
    """
    submitted = _move(tx, task, Verb.SUBMIT, by=by, check=check, manner=manner)
    is_news = task.status is not Status.IN_REVIEW and _is_told_of_reviews(tx, submitted)
    if by != submitted.sender and (result or is_news):
        text = result or messages.HANDED_IN
        permissions.say(tx, submitted, text, by=by, to=submitted.sender, outcome=Status.IN_REVIEW)
    elif result:
        comment(tx, submitted, result, by=by)
    return submitted


def _is_told_of_reviews(tx: Tx, task: Task) -> bool:
    """Tell whether the sender of a task is a person, or an agent that speaks another tool set than the caller."""
    if tx.door in agents.OWN_DOORS or agents.is_person(tx, task.project_id, task.sender):
        return True
    sender = agents.presence(tx, task.project_id, task.sender)
    return sender is not None and sender.voices.keys() != {tx.door}


def approve(tx: Tx, task: Task, *, by: str, comment: str | None) -> Task:
    """Approve submitted work: its result is the holder's own. Records `task.completed`.

    The comment goes to the holder; it becomes the result only if the holder gave none. Raises `InvalidTransition` if
    the task is not in review, `Forbidden` to a caller without the right, or who did the work.
    """
    _require_reviewer(tx, task, by, Verb.APPROVE)
    said = messages.handed_in(tx, task)
    result = task.result or (said.body if said is not None else None) or comment or "approved"
    told = task.assignee  # by the message below
    ended = completion.end(tx, task, Event.COMPLETE, by=by, text=result, result=result, told=told)
    permissions.tell_holder(tx, task, "approved", by=by, reason=comment)
    return ended


def request_changes(tx: Tx, task: Task, *, by: str, comment: str) -> Task:
    """Send submitted work back to its holder, who is told what to change. Records `task.started`.

    Raises the errors of `approve`.
    """
    _require_reviewer(tx, task, by, Verb.REQUEST_CHANGES)
    again = transfers.move_to(tx, task, Status.WORKING, by=by, reason=comment)
    permissions.tell_holder(tx, task, "asked for changes to", by=by, reason=comment)
    return again


def _require_reviewer(tx: Tx, task: Task, by: str, verb: Verb) -> None:
    if task.status is not Status.IN_REVIEW:
        raise InvalidTransition(task.status, verb)
    if by == task.assignee:
        raise Forbidden("an agent cannot approve its own work; somebody else must review it")
    permissions.require(tx, task, verb, by)


# ---- ending it


def complete(
    tx: Tx,
    task: Task,
    *,
    by: str,
    result: str,
    files: Sequence[str] | None = None,
    account: WorkReport = EMPTY_REPORT,
    told: str | None = None,
    check: Check | None = None,
    manner: VerbManner = PLAIN,
) -> Task:
    """Complete a task; its sender hears the result, and its holder if somebody else did it. Records `task.completed`.

    The holder's words, with an `account` of the work, are kept whole as a completion report; `files` are those changed
    for it. A name in `told` knows the result already and does not hear it again. An agent that was allowed to complete
    the task when it began the `check` still is. If demanded proof is missing, the task goes to review if the project
    says so, or if it is the review alone. Raises `NotHolder` or `Forbidden`, `InvalidTransition`, `BeingChecked`,
    `Lacking`.
    """
    try:
        return _end(
            tx, task, Event.COMPLETE, by=by, text=result or "done", result=result or None,
            files=files, account=account, told=told, check=check, manner=manner,
        )  # fmt: skip
    except Lacking as missing:
        if by != task.assignee or not proof.goes_to_review(tx, task, missing):
            raise
        said = "" if told == task.sender else result
        lacks = "" if proof.is_review_alone(missing) else str(missing)
        return submit(tx, task, by=by, result="\n\n".join(filter(None, (said, lacks))), manner=manner)


def fail(
    tx: Tx, task: Task, *, by: str, reason: str, told: str | None = None, manner: VerbManner = PLAIN
) -> Task:
    """Fail a task, with the reason; its sender hears it, and its holder if somebody else did it. Records `task.failed`.

    Raises the errors of `complete`.
    """
    return _end(tx, task, Event.FAIL, by=by, text=reason, result=reason, told=told, manner=manner)


def cancel(
    tx: Tx, task: Task, *, by: str, reason: str | None, told: str | None = None, manner: VerbManner = PLAIN
) -> Task:
    """Cancel a task that is no longer wanted; the reason becomes its result. Records `task.cancelled`.

    Raises the errors of `complete`.
    """
    return _end(
        tx, task, Event.CANCEL, by=by, text=reason or "cancelled", result=reason, told=told, manner=manner
    )


# ---- giving it to others, and reviving it


def release(tx: Tx, task: Task, *, by: str, reason: str) -> Task:
    """Move a task from its holder into the open queue, where any agent may claim it. Records `task.released`.

    Raises `NotHolder`, and `InvalidTransition` for a task without a holder.
    """
    permissions.require(tx, task, Verb.RELEASE, by)
    if task.assignee is None:
        raise InvalidTransition(task.status, Verb.RELEASE)
    released = transfers.set_free(tx, task, by=by, reason=reason)
    permissions.tell_holder(tx, task, "released", by=by, reason=reason)
    return released


def retry(tx: Tx, task: Task, *, by: str, ttl: timedelta | None = None) -> Task:
    """Retry a failed, cancelled or expired task. Records `task.retried`.

    Without a `ttl`, a task that could expire gets the same time again. Raises `Forbidden` and `InvalidTransition`.
    """
    permissions.require(tx, task, Verb.RETRY, by)
    changes = {
        "result": None,
        "expires_at": tx.now + milliseconds(ttl) if ttl else transfers.new_expiry(tx, task),
    }
    to = task.assignee if task.addressed else None
    return transfers.restart(tx, task, Event.RETRY, to=to, by=by, changes=changes)


def reassign(
    tx: Tx, task: Task, *, to: str, by: str, reason: str | None = None, manner: VerbManner = PLAIN
) -> Task:
    """Reassign a task to another agent; its old holder is told, and the old holder's later reports are refused.

    The `reason`, which may hold what the new holder should know, goes to both. The task is delivered to its new holder,
    unfinished, with the same expiry. In a manner other than plain it keeps its status, begun or completed, and stays if
    it is there already, and `to` may be an agent still unknown. Records `task.reassigned`. Raises `Forbidden`,
    `UnknownAgent`, and `InvalidTransition` for a task that has ended.
    """
    takes = to == by and task.assignee is None and not permissions.may(tx, task, Verb.REASSIGN, by)
    if takes and manner is not PLAIN:
        tasks.require_met(tx, task)
        return _accept(tx, task, by, leased=False)
    if manner is PLAIN:
        agents.require_known(tx, task.project_id, to)
    permissions.require(tx, task, Verb.REASSIGN, by, manner)
    if to != task.assignee:
        permissions.tell_holder(tx, task, f"gave {to}", by=by, reason=reason)
    if manner is not PLAIN:
        return task if to == task.assignee else transfers.pass_on(tx, task, to, by=by)
    changes = {"assignee": to, "addressed": 1}
    detail = {"taken_from": task.assignee, **({"reason": reason} if reason else {})}
    given = transfers.restart(tx, task, Event.REASSIGN, to=to, by=by, changes=changes, detail=detail)
    if reason and to != by:
        permissions.say(tx, given, reason, by=by, to=to)
    return given


def reopen(tx: Tx, task: Task, *, by: str, manner: VerbManner = PLAIN) -> Task:
    """Move a task that was begun or completed back to the start; its holder keeps it, and is told.

    The time to begin it starts anew. Records `task.released` or `task.reopened`, or nothing for a task that was not
    begun. Raises `Forbidden`, and `InvalidTransition` for a task that ended otherwise.
    """
    permissions.require(tx, task, Verb.REOPEN, by, manner)
    if task.status in NOT_BEGUN:
        return task
    (event,) = route(task.status, Status.QUEUED)
    changes = {"result": None, "expires_at": transfers.new_expiry(tx, task)}
    detail = {"reason": f"put back by {by}"}
    permissions.tell_holder(tx, task, "put back", by=by)
    return transfers.restart(tx, task, event, to=task.assignee, by=by, changes=changes, detail=detail)


def describe(tx: Tx, task: Task, text: str, *, by: str) -> Task:
    """Replace a task's description, signed `edited_by`; its holder is told. Records `task.described`."""
    permissions.require(tx, task, Verb.DESCRIBE, by)
    permissions.tell_holder(tx, task, "changed the text of", by=by, unread=True)
    return tasks.describe(tx, task, text, signed=permissions.label(tx, by), actor=by)


def comment(tx: Tx, task: Task, text: str, *, by: str) -> Message | None:
    """Send a comment on a task to its holder, else to its sender; None if there is neither.

    In that case the log keeps the comment, as `task.noted`.
    """
    to = permissions.other_end(task, by)
    if to is None:
        tasks.note(tx, task, actor=by, detail={"reason": text})
        return None
    return permissions.say(tx, task, text, by=by, to=to)


# ---- helpers


def _accept(tx: Tx, task: Task, by: str, *, leased: bool, manner: VerbManner = PLAIN) -> Task:
    changes: dict[str, object] = {"accepted_at": tx.now, "leased": int(leased), "door": tx.door}
    if task.assignee is None:
        if by == HUB:
            raise Unavailable(f"it is free; {WHO_CLAIMS}")  # a caller without a name cannot hold a task
        changes |= {"assignee": by, "addressed": 0, "epoch": task.epoch + 1}
    else:
        permissions.require(tx, task, Verb.CLAIM, by, manner)
    accepted = tasks.step(tx, task, Event.ACCEPT, changes=changes, actor=by)
    if by == accepted.assignee:
        tasks.acknowledge(tx, accepted)
    proof.tell_taker(tx, accepted, before=task)
    duplicates.tell_taker(tx, accepted, before=task)
    return accepted


def _taken(tx: Tx, task: Task, verb: Verb, by: str, manner: VerbManner, *, leased: bool = False) -> Task:
    """Accept a free task for a caller who is about to change it as its holder; return any other task unchanged.

    A caller that may cancel the task need not take it first, except on a board, where it takes any task that it moves
    and that waits for nothing.
    """
    if manner is PLAIN or task.assignee is not None or TaskRole.TAKER not in allowed(verb, manner):
        return task
    may_take = not permissions.may(tx, task, Verb.CANCEL, by) and permissions.may(tx, task, verb, by, manner)
    if verb in TARGETS and manner is VerbManner.BOARD:
        tasks.require_met(tx, task)
    elif task.is_ended or not may_take:
        return task
    return _accept(tx, task, by, leased=leased)


def _move(
    tx: Tx,
    task: Task,
    verb: Verb,
    *,
    by: str,
    leased: bool | None = None,
    reason: str | None = None,
    check: Check | None = None,
    manner: VerbManner,
) -> Task:
    """Move a task to the verb's status; only the holder's own report sets a heartbeat."""
    target = TARGETS[verb]
    task = _taken(tx, task, verb, by, manner, leased=bool(leased))
    if check is None or check.agent != by:
        permissions.require(tx, task, verb, by, manner)
    if manner is VerbManner.BOARD and task.status is Status.QUEUED:
        tasks.require_met(tx, task)
    if manner in FROM and task.status not in FROM[manner][verb]:
        raise InvalidTransition(task.status, verb)
    leased = leased if by == task.assignee else None
    moved = transfers.move_to(tx, task, target, by=by, leased=leased, reason=reason)
    proof.tell_taker(tx, moved, before=task)
    if target is not task.status:
        permissions.tell_holder(tx, task, MOVED[target], by=by, reason=reason)
    return moved


def _end(
    tx: Tx,
    task: Task,
    event: Event,
    *,
    by: str,
    text: str,
    result: str | None,
    files: Sequence[str] | None = None,
    account: WorkReport = EMPTY_REPORT,
    told: str | None = None,
    check: Check | None = None,
    manner: VerbManner,
) -> Task:
    """End a task for an entitled caller; the holder hears it, unless `told`, or by the reply to the sender."""
    task = _taken(tx, task, Verb(event), by, manner)
    if check is None or check.agent != by:
        permissions.require(tx, task, Verb(event), by, manner)
    if manner is VerbManner.OWN and task.status not in HELD:
        raise InvalidTransition(task.status, event)
    ended = completion.end(
        tx, task, event, by=by, text=text, result=result, told=told, files=files, account=account
    )
    if task.assignee not in (told, task.sender):
        permissions.tell_holder(tx, task, ENDED[event], by=by, reason=result)
    return ended
