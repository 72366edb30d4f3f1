"""Expiry: tasks not begun in time, unanswered questions, and agents and machines that fell silent."""

from hubbub.core.agents import connections, file_claims
from hubbub.core.cost import meter
from hubbub.core.fleet import approvals, audit_heads, dispatches, enrolment, nodes
from hubbub.core.limits import accounts
from hubbub.core.log import idempotency, outbox
from hubbub.core.people import access, auth_attempts, lent_tokens, logins, quotas
from hubbub.core.presence import edit_guard, presences, wakes
from hubbub.core.work import completion, leases, merge_radar, proof, tasks
from hubbub.store.agents import agents as agent_rows
from hubbub.store.fleet import approvals as approval_rows
from hubbub.store.fleet import nodes as node_rows
from hubbub.store.log import idempotency as kept_answers
from hubbub.store.tx import Tx
from hubbub.store.work import overdue

BATCH = 100


def is_due(tx: Tx) -> bool:
    """Tell whether anything is overdue; it costs a few index lookups, so every call may ask first."""
    return overdue.is_any(tx, approvals.gone_since(tx))


def is_due_for(tx: Tx, mark: str) -> bool:
    """Tell the same for a caller, and raise `StaleToken` like `access.require_same`; in one statement."""
    row = overdue.standing_for(tx, mark, approvals.gone_since(tx))
    holder = {**row} if row is not None else None
    is_due = holder is not None and bool(holder.pop("due"))
    access.require_holder(tx, holder)
    return is_due


def settle(tx: Tx) -> None:
    """End everything that is overdue by now: pauses, tasks, presences, approvals, claims, leases, machines.

    The first of the calls that are committed together does it for all of them.
    """
    if tx.before.settled == tx.now:
        return
    while is_due(tx):
        accounts.settle(tx, BATCH)
        for task in tasks.lapsed(tx, BATCH):
            completion.expire(tx, task)
        for presence in agent_rows.lapsed(tx, BATCH):
            presences.lapse(tx, presence)
        for approval in approval_rows.lapsed(tx, BATCH):
            approvals.expire(tx, approval)
        file_claims.lapse(tx, BATCH)
        leases.lapse(tx, BATCH)
        for machine in node_rows.lapsed(tx, BATCH):
            nodes.lapse(tx, machine)
        approvals.forsake(tx, BATCH)
    tx.tally.settled = tx.now


def forget(tx: Tx) -> None:
    """Drop expired records: answers to keyed writes, sent parcels, old questions and orders."""
    kept_answers.forget(tx, before=tx.now - int(idempotency.KEEP.total_seconds() * 1000))
    outbox.forget(tx)
    edit_guard.forget(tx)
    approvals.forget(tx)
    audit_heads.forget(tx)
    wakes.forget(tx)
    enrolment.forget(tx)
    logins.forget(tx)
    meter.forget(tx)
    dispatches.forget(tx)
    lent_tokens.forget(tx)
    quotas.forget(tx)
    auth_attempts.forget(tx)
    connections.forget(tx)
    proof.forget(tx)
    merge_radar.forget(tx)
