"""Hand-over: if a project allows it, a task whose account is paused for long goes to an agent of another account.

The task takes along what is known of it so far, and is handed over once at most. The old holder's late reports are
refused by the epoch, as with any change of hands.
"""

from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

from hubbub.core.agents import agents, last_activity
from hubbub.core.limits import accounts
from hubbub.core.mail import messages
from hubbub.core.work import merge_radar, tasks, transfers
from hubbub.model.errors import Conflict
from hubbub.model.lifecycle import Event
from hubbub.model.limits.accounts import Account
from hubbub.model.people.rights import HUB
from hubbub.model.records import Task
from hubbub.model.timestamps import utc_time
from hubbub.model.visible_text import cut
from hubbub.model.work.handovers import Handover, IdleAgent
from hubbub.store.agents.agents import lock_names
from hubbub.store.mail import messages as letters
from hubbub.store.people import projects
from hubbub.store.tx import Tx
from hubbub.store.work import handovers as rows
from hubbub.store.work import tasks as task_rows

BATCH = 20
MOST = 200  # found by one search
LETTERS = 3  # letters about the task that its new holder gets, newest first
LENGTH = 500  # characters of each of them
MINUTE = 60_000

# These need no rule of their own, so they are the store's functions.
of_task = rows.of_task


def due(tx: Tx) -> list[UUID]:
    """List the tasks whose holder's account is paused for as long as their project says, most urgent first."""
    return rows.due(tx, MOST)


def settle(tx: Tx, due: Sequence[UUID]) -> None:
    """Hand over those of these tasks that another agent can take. Records `task.reassigned` for each."""
    for each in due:
        _hand_over(tx, each)


def _hand_over(tx: Tx, task_id: UUID) -> None:
    """Hand over a task if it still qualifies, and some agent may take it."""
    found = task_rows.find(tx, task_id)
    taker = _taker(tx, found, found.assignee) if found is not None and found.assignee is not None else None
    if found is None or taker is None:
        return
    lock_names(tx, found.project_id, found.assignee, taker)
    task = task_rows.find(tx, task_id, lock=True)
    # The task may have changed between the look and the locks.
    if (
        task is None
        or task.assignee != found.assignee
        or task.is_ended
        or rows.of_task(tx, task_id) is not None
    ):
        return
    if task.assignee is not None and _taker(tx, task, task.assignee, only=taker) is not None:
        _give(tx, task, task.assignee, taker)


def _give(tx: Tx, task: Task, holder: str, taker: str) -> None:
    account = accounts.of_agent(tx, task.project_id, holder)
    until = account.paused_until if account is not None else None
    whose = f"the account {account.name!r} of {holder}" if account is not None else holder
    reason = f"{whose} is paused" + (f" until {utc_time(until)}" if until is not None else "")
    handover = Handover(
        task_id=task.id,
        project_id=task.project_id,
        taken_from=holder,
        given_to=taker,
        reason=reason,
        at=tx.now,
    )
    rows.note(tx, handover)
    state = _state(tx, task, handover)
    changes = {"addressed": 1, "expires_at": transfers.new_expiry(tx, task), "context": _context(task, state)}
    detail = {"taken_from": holder, "reason": reason}
    transfers.restart(tx, task, Event.REASSIGN, to=taker, by=HUB, changes=changes, detail=detail)
    messages.send(tx, task.project_id, sender=HUB, to=taker, body=state, awaited=True)


def _is_long(tx: Tx, account: Account) -> bool:
    """Tell whether the pause lasts for as long as the project says."""
    project = projects.find(tx, account.project_id)
    if project is None or not project.hand_over_after:
        return False
    held_until = account.held_until(tx.now)
    return held_until is not None and held_until >= tx.now + project.hand_over_after * MINUTE


def _taker(tx: Tx, task: Task, holder: str, only: str | None = None) -> str | None:
    """Return an idle agent, or that one, that may begin the task on another account; None if there is none."""
    account = accounts.of_agent(tx, task.project_id, holder)
    if account is None or not _is_long(tx, account):
        return None
    presence = agents.presence(tx, task.project_id, holder)
    runtime = presence.runtime if presence is not None else None
    for each in rows.idle(tx, task.project_id):
        if each.name != holder and only in (None, each.name) and _is_elsewhere(each, account, runtime):
            with suppress(Conflict):  # its own account is paused, or its budget is spent
                tasks.require_met(tx, task, each.name)
                return each.name
    return None


def _is_elsewhere(agent: IdleAgent, account: Account, runtime: str | None) -> bool:
    """Tell whether an agent is known to use another account, or another maker's program."""
    if agent.account is not None:
        return agent.account != account.name
    return None not in (agent.runtime, runtime) and agent.runtime != runtime


def _state(tx: Tx, task: Task, handover: Handover) -> str:
    """Say what is known of the work so far, for the new holder."""
    holder = handover.taken_from
    presence = agents.presence(tx, task.project_id, holder)
    seen = last_activity.of(tx, task.project_id, holder)
    head = merge_radar.newest_head(tx, task.project_id, holder)
    about = f"T-{task.number} ({task.title}) was handed over to you from {holder}: {handover.reason}."
    told = [
        f"{about} What is known of it:",
        f"- reported last: {task.note}" if task.note else None,
        f"- printed last: {seen.last_output}" if seen.last_output else None,
        f"- worked in: {presence.workdir}" if presence is not None and presence.workdir else None,
        f"- branch: {head.branch} of {head.repository}, at {head.head[:12]}" if head is not None else None,
        *(f"- {each.sender} wrote: {cut(each.body, LENGTH)}" for each in letters.about(tx, task)[-LETTERS:]),
    ]
    return "\n".join(each for each in told if each is not None)


def _context(task: Task, state: str) -> str:
    return f"{task.context}\n\n{state}" if task.context else state
