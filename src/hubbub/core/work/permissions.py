"""Permissions on tasks: the callers' roles in a task, the verbs these allow, and messages to its holder.

The functions of `task_actions` call `require` first. After a change to a task that another agent works on, they call
`tell_holder`, so that nobody works in vain, by whichever door the change came.
"""

from hubbub.core.mail import messages
from hubbub.core.work import artifacts, reviews
from hubbub.model.errors import Forbidden, NotHolder, NotYours
from hubbub.model.lifecycle import HELD, Status
from hubbub.model.people.rights import HUB
from hubbub.model.records import LetterKind, Message, Task
from hubbub.model.visible_text import cut, visible
from hubbub.model.work.permissions import CALLED, OPEN_TO, TaskRole, Verb, VerbManner, allowed
from hubbub.store.people import coordinators
from hubbub.store.tx import Tx

TITLE_LENGTH = 80  # of a task's title in a sentence
TOLD = HELD - {Status.DELIVERED}  # the holder has accepted it


def require(tx: Tx, task: Task, verb: Verb, by: str, manner: VerbManner = VerbManner.PLAIN) -> None:
    """Raise an error unless one of `by`'s roles in the task allows the verb, in that manner.

    The error is `NotHolder` for verbs that are mostly the holder's, and `Forbidden` for the rest; both, for verbs on
    one's own task.
    """
    if may(tx, task, verb, by, manner):
        return
    wanted, ended = allowed(verb, manner), task.status if task.is_ended else None
    if manner is VerbManner.OWN:
        raise NotYours(task.assignee, ended)
    if TaskRole.STAND_IN not in wanted:
        raise NotHolder(task.assignee, ended)
    *others, last = (name for part, name in CALLED.items() if part in wanted)
    raise Forbidden(f"only {', '.join(others)} or {last} may {verb} the task")


def may(tx: Tx, task: Task, verb: Verb, by: str, manner: VerbManner = VerbManner.PLAIN) -> bool:
    """Tell whether `by`, the name by which the caller acts, may use that verb on the task, in that manner."""
    door = OPEN_TO.get(manner)
    return (door is None or _has_one_of(tx, task, by, door)) and _has_one_of(
        tx, task, by, allowed(verb, manner)
    )


def _has_one_of(tx: Tx, task: Task, by: str, wanted: frozenset[TaskRole]) -> bool:
    return (
        not wanted.isdisjoint(_at_hand(tx, task, by))
        or (TaskRole.COORDINATOR in wanted and coordinators.holds(tx, task.project_id, by))
        or (TaskRole.REVIEWER in wanted and _is_reviewer(tx, task, by))
    )


def _at_hand(tx: Tx, task: Task, by: str) -> set[TaskRole]:
    """Return the roles that follow from the call and the task alone."""
    if by == HUB:
        return {TaskRole.PERSON}
    found = {TaskRole.STRANGER if tx.actor.agent is not None else TaskRole.STAND_IN}
    if task.assignee is None:
        found.add(TaskRole.TAKER)
    if by == task.assignee:
        found.add(TaskRole.HOLDER)
    if by == task.sender:
        found.add(TaskRole.SENDER)
    return found


def _is_reviewer(tx: Tx, task: Task, by: str) -> bool:
    """Tell whether the holder or the sender has asked `by` for a review; a request by others gives no role."""
    return any(
        review.reviewer == by and review.requester in (task.assignee, task.sender)
        for artifact in artifacts.of_task(tx, task)
        for review in reviews.of_artifact(tx, artifact)
    )


def tell_holder(
    tx: Tx, task: Task, deed: str, *, by: str, reason: str | None = None, unread: bool = False
) -> None:
    """Tell a holder that had accepted the task how others changed it.

    `unread` also tells a holder with the task in the inbox, who may have read it there.
    """
    if task.assignee is None or task.assignee == by or task.status not in (HELD if unread else TOLD):
        return
    title = cut(visible(task.title[: 4 * TITLE_LENGTH]), TITLE_LENGTH)
    why = f": {reason}" if reason else ""
    say(tx, task, f'{label(tx, by)} {deed} T-{task.number} "{title}"{why}', by=by, to=task.assignee)


def say(tx: Tx, task: Task, text: str, *, by: str, to: str, outcome: Status | None = None) -> Message:
    """Send a message about a task; its holder may be an agent that has not come yet."""
    return messages.send(
        tx,
        task.project_id,
        sender=by,
        to=to,
        addressee=task.author,
        body=text,
        kind=LetterKind.REPLY,
        in_reply_to=task.id,
        outcome=outcome,
        thread=messages.Thread(run_id=task.run_id),
        awaited=True,
    )


def label(tx: Tx, by: str) -> str:
    """Return the actor's name in the log."""
    return tx.actor.label if by == HUB else by


def other_end(task: Task, by: str) -> str | None:
    """Return the name that `by` speaks to about a task: its assignee, else its sender."""
    return next((each for each in (task.assignee, task.sender) if each not in (None, by)), None)
