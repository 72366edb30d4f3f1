"""Patches: the effect of a change on the picture of its project, computed in the transaction that makes it.

An agent's standing depends on its tasks and questions, and theirs depends on the agent. So changing one also records
the changes of the others, under the lock of the agent's name, which `projection.agent` takes: the later of two
transactions sees the result of the other.
"""

from collections.abc import Iterable
from uuid import UUID

from hubbub.core.snapshots import card_states, cards
from hubbub.core.snapshots.card_states import KnownAgent
from hubbub.model.fleet.approvals import Approval, ApprovalStatus
from hubbub.model.fleet.nodes import Machine
from hubbub.model.lifecycle import UNDER_WAY, Status
from hubbub.model.log.projection import Card, Patch
from hubbub.model.records import Delivery, Message, Task
from hubbub.store.fleet import approvals
from hubbub.store.log import projection
from hubbub.store.tx import Tx
from hubbub.store.work import dependencies


def task(tx: Tx, changed: Task, before: Task | None = None) -> Patch:
    """Return the patch for a changed task, its holders now and before, and the tasks that wait for it."""
    names = sorted(_concerned(changed, before))
    agents = {name: KnownAgent.of(tx, changed.project_id, name, lock=True) for name in names}
    found = {str(changed.id): card_states.of(tx, changed, agents.get(changed.assignee or ""))}
    if (changed.status is Status.COMPLETED) is not (before is not None and before.status is Status.COMPLETED):
        found |= _waiting_for(tx, changed)
    if before is not None and _hold(before) == _hold(changed):
        return {"tasks": found}
    known = {name: each.card for name, each in agents.items() if each is not None}
    return {"tasks": found, "agents": known} if known else {"tasks": found}


def agent(tx: Tx, project_id: UUID, name: str) -> Patch:
    """Return the patch for an agent, after a change that does not affect its tasks."""
    return agents(tx, project_id, [name])


def agents(tx: Tx, project_id: UUID, names: Iterable[str]) -> Patch:
    """Return the patch for several agents, like `agent`."""
    found = {name: KnownAgent.of(tx, project_id, name, lock=True) for name in sorted(names)}
    return {"agents": {name: each.card if each is not None else None for name, each in found.items()}}


def at_work(tx: Tx, project_id: UUID, name: str) -> Patch:
    """Return the patch for an agent and the task that it works on."""
    found = KnownAgent.of(tx, project_id, name, lock=True)
    rows = projection.worked_on(tx, project_id, name)
    told: Patch = {"agents": {name: found.card if found is not None else None}}
    tasks = {str(each["id"]): card_states.card(tx, project_id, each, found) for each in rows}
    return {**told, "tasks": tasks} if tasks else told


def paused(tx: Tx, project_id: UUID, name: str) -> Patch:
    """Return the patch for an agent, the task that it works on and those that it is to begin: a pause moves them."""
    told = at_work(tx, project_id, name)
    waiting = {
        str(each["id"]): card_states.card(tx, project_id, each, None)
        for each in projection.to_begin(tx, project_id, name)
    }
    return {**told, "tasks": {**told.get("tasks", {}), **waiting}} if waiting else told


def progress(tx: Tx, task: Task, name: str) -> Patch:
    """Return the patch for an agent and the task that it has reported on."""
    found = KnownAgent.of(tx, task.project_id, name, lock=True)
    told = card_states.of(tx, task, found)
    return {"agents": {name: found.card if found is not None else None}, "tasks": {str(task.id): told}}


def approval(tx: Tx, changed: Approval) -> Patch:
    """Return the patch for a question that was asked or closed; its asker waits or goes on."""
    told = at_work(tx, changed.project_id, changed.who)  # first, for its lock
    found: dict[str, Card | None] = {str(changed.id): None}
    if changed.status is ApprovalStatus.PENDING:
        found |= {str(each): None for each in approvals.missed_before(tx, changed)}
    if changed.status is ApprovalStatus.PENDING or approvals.is_missed(tx, changed):
        found[str(changed.id)] = cards.approval(changed)
    return {"approvals": found, **told}


def letter(message: Message, row: Delivery) -> Patch:
    """Return the patch for a message that waits for a person."""
    return {"letters": {str(row.id): cards.letter(message, row)}}


def machine(now: Machine) -> Patch:
    """Return the patch for a machine."""
    return {"machines": {now.name: cards.machine(now)}}


def _concerned(changed: Task, before: Task | None) -> set[str]:
    """Return the agents that a task's change affects, or on which its state depends."""
    held = [each for each in (changed, before) if each is not None and each.status in UNDER_WAY]
    return {each.assignee for each in held if each.assignee is not None}


def _hold(task: Task) -> tuple[object, ...]:
    """Return the facts of a task on which its holder's state depends."""
    is_held = task.status in UNDER_WAY
    return (task.status, task.assignee, task.started_at) if is_held else (is_held,)


def _waiting_for(tx: Tx, changed: Task) -> dict[str, Card]:
    """Return the cards of the free tasks that need this one.

    The end of their last need frees them: the later of two transactions sees the other's end.
    """
    rows = (projection.not_taken(tx, each) for each in dependencies.waiting_for(tx, changed.id))
    return {
        str(each["id"]): card_states.card(tx, changed.project_id, each, None)
        for each in rows
        if each is not None
    }
