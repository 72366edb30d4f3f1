"""Steering: what its holder does with a task, and whoever has a say with work that is in other hands.

A person has no name among the agents: `by` is then the name of all who have none. Who may do what is in `model.parts`.
"""

from collections.abc import Sequence

from hubbub.core import agents as names
from hubbub.core import claims, completions, endings, handovers, messages, parts, scopes, tasks
from hubbub.model.errors import Conflict, Forbidden, Invalid, InvalidTransition
from hubbub.model.lifecycle import HELD, Event, Status, advance
from hubbub.model.parts import Verb
from hubbub.model.records import Message, Project, Task
from hubbub.model.scopes import Scope
from hubbub.model.shown import cut
from hubbub.store.tx import Tx

HAS_SAID_YES = HELD - {Status.DELIVERED}


def complete(tx: Tx, task: Task, *, by: str, result: str, files: Sequence[str] | None = None) -> Task:
    """Complete a task; its holder hears of it from others. Records `task.completed`.

    Raises what `endings.finish` does.
    """
    parts.require(tx, task, Verb.COMPLETE, by)
    advance(task.status, Event.COMPLETE)
    kept = result[: completions.RESULT_LENGTH] or None
    text = result or "done"
    return endings.finish(
        tx, task, Event.COMPLETE, by=by, text=text, result=kept, files=files, verb=Verb.COMPLETE
    )


def fail(tx: Tx, task: Task, *, by: str, reason: str) -> Task:
    """Say that a task cannot be done, and why; its holder hears of it from others. Records `task.failed`.

    Raises what `endings.finish` does.
    """
    kept = reason[: completions.RESULT_LENGTH]
    return endings.finish(tx, task, Event.FAIL, by=by, text=reason, result=kept, verb=Verb.FAIL)


def block(tx: Tx, task: Task, *, by: str, reason: str) -> Task:
    """Note that a task cannot go on, and why. Records `task.blocked`. Raises `NotHolder`, `InvalidTransition`."""
    parts.require(tx, task, Verb.BLOCK, by)
    if task.status not in HAS_SAID_YES:
        raise InvalidTransition(task.status, "block")
    return handovers.move(tx, task, Status.BLOCKED, by=by, reason=reason)


def unblock(tx: Tx, task: Task, *, by: str, reason: str | None) -> Task:
    """Let a blocked task go on; its holder is told. Records `task.started`. Raises `NotHolder`, `InvalidTransition`."""
    parts.require(tx, task, Verb.UNBLOCK, by)
    if task.status is not Status.BLOCKED:
        raise InvalidTransition(task.status, "unblock")
    going_on = handovers.bring(tx, task, Status.WORKING, by=by, reason=reason)
    parts.tell_holder(tx, task, "unblocked", by=by, reason=reason)
    return going_on


def approve(tx: Tx, task: Task, *, by: str, comment: str | None) -> Task:
    """Accept work that was handed in: its result is what its holder said of it. Records `task.completed`.

    The comment is for the holder; it is the result only where nothing was said of the work.
    Raises `InvalidTransition` for what is not in review, `Forbidden` for whoever may not, or did the work.
    """
    _require_reviewer(tx, task, by, Verb.APPROVE)
    said = messages.handed_in(tx, task)
    result = task.result or (said.body if said is not None else None) or comment or "approved"
    kept = result[: completions.RESULT_LENGTH]
    told = task.assignee  # by what follows
    ended = endings.end(tx, task, Event.COMPLETE, by=by, text=result, result=kept, told=told)
    parts.tell_holder(tx, task, "approved", by=by, reason=comment)
    return ended


def request_changes(tx: Tx, task: Task, *, by: str, comment: str) -> Task:
    """Send work that was handed in back to whoever did it, who is told what to change. Records `task.started`.

    Raises as `approve` does.
    """
    _require_reviewer(tx, task, by, Verb.REQUEST_CHANGES)
    again = handovers.bring(tx, task, Status.WORKING, by=by, reason=comment)
    parts.tell_holder(tx, task, "asked for changes to", by=by, reason=comment)
    return again


def release(tx: Tx, task: Task, *, by: str, reason: str) -> Task:
    """Take a task from whoever has it, into the open queue, where anyone may claim it. Records `task.released`.

    Raises `NotHolder`, and `InvalidTransition` for what nobody has.
    """
    parts.require(tx, task, Verb.RELEASE, by)
    if task.assignee is None:
        raise InvalidTransition(task.status, "release")
    released = handovers.set_free(tx, task, by=by, reason=reason)
    parts.tell_holder(tx, task, "released", by=by, reason=reason)
    return released


def comment(tx: Tx, task: Task, text: str, *, by: str) -> Message | None:
    """Say something about a task to whoever has it, else to who sent it; None where there is nobody to tell.

    Then the log keeps it, as `task.noted`.
    """
    to = other_end(task, by)
    if to is None:
        tasks.note(tx, task, actor=by, detail={"reason": text})
        return None
    return parts.say(tx, task, text, by=by, to=to)


def other_end(task: Task, by: str) -> str | None:
    """To whom `by` speaks about a task: its assignee, else its sender."""
    return next((each for each in (task.assignee, task.sender) if each not in (None, by)), None)


def answered_by(message: Message, by: str) -> str:
    """To whom `by` speaks in answer to a message. Raises `Invalid` where that is nobody in particular."""
    to = message.sender if message.sender != by else message.recipient
    if to is None or to == by:
        raise Invalid("say to whom it is: the message that it answers was to everyone")
    return to


def release_scope(tx: Tx, project: Project, agent: str, *, by: str, reason: str) -> Scope:
    """Let what an agent has declared to work on, or holds, stand in nobody's way; it is told who did that, and why.

    Returns what it was. Records `agent.scope_change`. Raises `UnknownAgent`, and `Conflict` where there is nothing.
    """
    names.require_known(tx, project.id, agent)
    presence = names.presence(tx, project.id, agent, lock=True)
    declared = Scope(presence.area, presence.files or ()) if presence is not None else Scope()
    if presence is None or not presence.is_live(tx.now) or not declared:
        raise Conflict(f"{agent!r} is not there, or has declared nothing that could be released")
    claims.release(tx, project, presence, why=f"released by {parts.label(tx, by)}")
    scopes.declare(tx, project, presence, Scope(), by=parts.label(tx, by))
    what = ", ".join(declared.files) or f"the area {declared.area}"
    text = f"{parts.label(tx, by)} released what you had declared to work on ({cut(what, 500)}): {reason}"
    messages.send(tx, project.id, sender=by, to=agent, body=text)
    return declared


def _require_reviewer(tx: Tx, task: Task, by: str, verb: Verb) -> None:
    if task.status is not Status.IN_REVIEW:
        raise InvalidTransition(task.status, verb)
    if by == task.assignee:
        raise Forbidden("whoever did the work does not approve it; somebody else looks at it")
    parts.require(tx, task, verb, by)
