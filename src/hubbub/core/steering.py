"""Steering: what whoever has a say does with work that is in other hands, and who hears of it.

A person has no name among the agents: `by` is then the name of all who have none. Whoever holds a task is told of what
was done to it by others, with who it was and why, so that nobody works on for nothing.
"""

from hubbub.core import agents as names
from hubbub.core import claims, completions, endings, handovers, messages, scopes, tasks
from hubbub.model.approvals import cut, visible
from hubbub.model.errors import Conflict, Forbidden, Invalid, InvalidTransition, NotHolder
from hubbub.model.lifecycle import HELD, Event, Status, advance
from hubbub.model.records import Kind, Message, Project, Task
from hubbub.model.rights import HUB
from hubbub.model.scopes import Scope
from hubbub.store.tx import Tx

TITLE_LENGTH = 80  # of a task's title in a sentence
TOLD = HELD - {Status.DELIVERED}  # whoever has it has said yes


def complete(tx: Tx, task: Task, *, by: str, result: str) -> Task:
    """Complete a task that somebody else has, or nobody; its holder hears of it. Records `task.completed`.

    Raises what `endings.finish` does, and `NotHolder` for an agent whose task it is not.
    """
    _require_say(task, by)
    advance(task.status, Event.COMPLETE)
    kept = result[: completions.RESULT_LENGTH] or None
    ended = endings.finish(tx, task, Event.COMPLETE, by=by, text=result or "done", result=kept)
    tell_holder(tx, task, "completed", by=by, reason=result)
    return ended


def block(tx: Tx, task: Task, *, by: str, reason: str) -> Task:
    """Note that a task cannot go on, and why. Records `task.blocked`. Raises `NotHolder`, `InvalidTransition`."""
    _require_say(task, by)
    if task.status not in TOLD:
        raise InvalidTransition(task.status, "block")
    blocked = handovers.move(tx, task, Status.BLOCKED, by=by, reason=reason)
    tell_holder(tx, task, "blocked", by=by, reason=reason)
    return blocked


def unblock(tx: Tx, task: Task, *, by: str, reason: str | None) -> Task:
    """Let a blocked task go on; its holder is told. Records `task.started`. Raises `NotHolder`, `InvalidTransition`."""
    _require_say(task, by)
    if task.status is not Status.BLOCKED:
        raise InvalidTransition(task.status, "unblock")
    going_on = handovers.move(tx, task, Status.WORKING, by=by, reason=reason)
    tell_holder(tx, task, "unblocked", by=by, reason=reason)
    return going_on


def approve(tx: Tx, task: Task, *, by: str, comment: str | None) -> Task:
    """Accept work that was handed in: its result is what its holder said of it. Records `task.completed`.

    The comment is for the holder; it is the result only where nothing was said of the work.
    Raises `InvalidTransition` for what is not in review, `Forbidden` for whoever did the work.
    """
    _require_reviewer(task, by, "approve")
    said = messages.handed_in(tx, task)
    result = task.result or (said.body if said is not None else None) or comment or "approved"
    kept = result[: completions.RESULT_LENGTH]
    ended = endings.finish(tx, task, Event.COMPLETE, by=by, text=result, result=kept)
    tell_holder(tx, task, "approved", by=by, reason=comment)
    return ended


def request_changes(tx: Tx, task: Task, *, by: str, comment: str) -> Task:
    """Send work that was handed in back to whoever did it, who is told what to change. Records `task.started`.

    Raises as `approve` does.
    """
    _require_reviewer(task, by, "send back")
    again = handovers.move(tx, task, Status.WORKING, by=by, reason=comment)
    tell_holder(tx, task, "asked for changes to", by=by, reason=comment)
    return again


def release(tx: Tx, task: Task, *, by: str, reason: str) -> Task:
    """Take a task from whoever has it, into the open queue, where anyone may claim it. Records `task.released`.

    Raises `NotHolder`, and `InvalidTransition` for what nobody has.
    """
    _require_say(task, by)
    if task.assignee is None:
        raise InvalidTransition(task.status, "release")
    released = handovers.set_free(tx, task, by=by, reason=reason)
    tell_holder(tx, task, "released", by=by, reason=reason)
    return released


def comment(tx: Tx, task: Task, text: str, *, by: str) -> Message | None:
    """Say something about a task to whoever has it, else to who sent it; None where there is nobody to tell.

    Then the log keeps it, as `task.noted`.
    """
    to = other_end(task, by)
    if to is None:
        tasks.note(tx, task, actor=by, detail={"reason": text})
        return None
    return _say(tx, task, text, by=by, to=to)


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
    claims.release(tx, project, presence, why=f"released by {_label(tx, by)}")
    scopes.declare(tx, project, presence, Scope(), by=_label(tx, by))
    what = ", ".join(declared.files) or f"the area {declared.area}"
    text = f"{_label(tx, by)} released what you had declared to work on ({cut(what, 500)}): {reason}"
    messages.send(tx, project.id, sender=by, to=agent, body=text)
    return declared


def tell_holder(tx: Tx, task: Task, deed: str, *, by: str, reason: str | None) -> None:
    """Tell whoever had said yes to the task, as it was, what was done to it by others."""
    if task.assignee is None or task.assignee == by or task.status not in TOLD:
        return
    title = cut(visible(task.title[: 4 * TITLE_LENGTH]), TITLE_LENGTH)
    why = f": {reason}" if reason else ""
    _say(tx, task, f'{_label(tx, by)} {deed} task #{task.number} "{title}"{why}', by=by, to=task.assignee)


def _say(tx: Tx, task: Task, text: str, *, by: str, to: str) -> Message:
    return messages.send(
        tx,
        task.project_id,
        sender=by,
        to=to,
        body=text,
        kind=Kind.REPLY,
        in_reply_to=task.id,
        thread=messages.Thread(run_id=task.run_id),
    )


def _label(tx: Tx, by: str) -> str:
    """Whoever acts, by the name that the log has for them."""
    return tx.actor.label if by == HUB else by


def _require_say(task: Task, by: str) -> None:
    if by not in (task.assignee, HUB):
        raise NotHolder(task.assignee)


def _require_reviewer(task: Task, by: str, deed: str) -> None:
    if task.status is not Status.IN_REVIEW:
        raise InvalidTransition(task.status, deed)
    if by == task.assignee:
        raise Forbidden("whoever did the work does not approve it; somebody else looks at it")
