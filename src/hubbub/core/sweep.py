"""What is overdue: tasks that nobody began in time, agents that have fallen silent, questions nobody answered."""

from hubbub.core import approvals, dispatches, endings, idempotency, joins, outbox, presences, seals
from hubbub.store import agents as agent_rows
from hubbub.store import approvals as approval_rows
from hubbub.store import idempotency as kept_answers
from hubbub.store import tasks as task_rows
from hubbub.store.tx import Tx

BATCH = 100


def is_due(tx: Tx) -> bool:
    """Whether anything is overdue; three looks into indexes, so it may be asked before every call."""
    return task_rows.is_any_overdue(tx)


def settle(tx: Tx) -> None:
    """Expire the tasks and approvals and end the presences whose time has run out by now, all of them."""
    while task_rows.is_any_overdue(tx):
        for task in task_rows.lapsed(tx, BATCH):
            endings.expire(tx, task)
        for presence in agent_rows.lapsed(tx, BATCH):
            presences.lapse(tx, presence)
        for approval in approval_rows.lapsed(tx, BATCH):
            approvals.expire(tx, approval)


def forget(tx: Tx) -> None:
    """Drop what is kept only for a while: answers to keyed writes, what has left the hub, old questions and orders."""
    kept_answers.forget(tx, before=tx.now - int(idempotency.KEEP.total_seconds() * 1000))
    outbox.forget(tx)
    approvals.forget(tx)
    seals.forget(tx)
    joins.forget(tx)
    dispatches.forget(tx)
