"""Patches: what a change makes of the picture of its project, looked up in the transaction that made it."""

from collections.abc import Iterable
from operator import attrgetter
from uuid import UUID

from hubbub.core.snapshots import cards
from hubbub.model.approvals import Approval, ApprovalStatus
from hubbub.model.machines import Machine
from hubbub.model.pictures import Card, Patch
from hubbub.model.records import Delivery, Message, Task
from hubbub.store import dependencies, pictures
from hubbub.store.tx import Tx

_shown_of = attrgetter(*pictures.TASK)


def task(tx: Tx, changed: Task) -> Patch:
    """A task is as it is now."""
    needs = dependencies.of_task(tx, changed.id) if changed.gated else ()
    shown = dict(zip(pictures.TASK, _shown_of(changed), strict=True))
    return {"tasks": {str(changed.id): cards.task(shown, needs)}}


def agent(tx: Tx, project_id: UUID, name: str) -> Patch:
    """An agent is as it is now, whatever of it has changed."""
    return agents(tx, project_id, [name])


def agents(tx: Tx, project_id: UUID, names: Iterable[str]) -> Patch:
    """These agents are as they are now."""
    return {"agents": {name: _agent(tx, project_id, name) for name in sorted(names)}}


def approval(changed: Approval) -> Patch:
    """A question is open, or does not wait for an answer any more."""
    is_open = changed.status is ApprovalStatus.PENDING
    return {"approvals": {str(changed.id): cards.approval(changed) if is_open else None}}


def letter(message: Message, row: Delivery) -> Patch:
    """A message waits for a person."""
    return {"letters": {str(row.id): cards.letter(message, row)}}


def machine(now: Machine) -> Patch:
    """A machine is as it is now."""
    return {"machines": {now.name: cards.machine(now)}}


def _agent(tx: Tx, project_id: UUID, name: str) -> Card | None:
    row = pictures.agent(tx, project_id, name)
    return cards.agent(row) if row is not None else None
