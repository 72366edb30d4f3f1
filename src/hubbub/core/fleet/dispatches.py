"""Orders on their way to machines: each is stored before it leaves, so that none is lost and none is done twice.

Their statuses, and the reasons, are in `model/fleet/dispatches.py`. A caller that passes on a machine's report on an
order checks that the order is that machine's own.
"""

from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from hubbub.core.log import idempotency
from hubbub.core.people import access, lent_tokens
from hubbub.model.errors import Conflict
from hubbub.model.fleet.calls import NodeCall, RefusalCode, ToolResult, call_digest
from hubbub.model.fleet.dispatches import ENDED, Dispatch, DispatchStatus, DispatchStep
from hubbub.model.fleet.nodes import Machine, board_name
from hubbub.model.ids import new_id, parse_id
from hubbub.model.records import Project
from hubbub.model.timestamps import milliseconds
from hubbub.store.fleet import dispatches as rows
from hubbub.store.tx import Tx

LATEST = timedelta(minutes=2)  # to begin; callers give up before that
KEEP = timedelta(days=1)  # the outcome, for a caller that repeats the call with its key
KEEP_UNKEYED = timedelta(hours=1)  # without a key nobody can ask for it again
BATCH = 100
FIRST = idempotency.FIRST_ATTEMPT

# These need no rule of their own, so they are the store's functions.
find = rows.find
open_of = rows.open_of


def begin(
    tx: Tx, project: Project, machine: Machine, order: NodeCall, *, sent: bool
) -> tuple[Dispatch, bool]:
    """Store an order for a machine; return whether it is new: the same call with the same key is the same order.

    `sent` says that it goes over the machine's link at once. An order of which nothing was done stays that of all
    attempts up to its number, however late they come; a later attempt is another order. Records `dispatch.queued` or
    `dispatch.sent`. Raises `Invalid` for a wrong key, and `Conflict` for a key by which the same token has made another
    call.
    """
    if order.key is not None:
        idempotency.require_key(order.key)
    fresh = Dispatch(
        id=new_id(),
        project_id=project.id,
        machine=machine.id,
        node=machine.name,
        order=order,
        digest=call_digest(order.who, order.tool, order.arguments, "", machine.name),
        status=DispatchStatus.SENT if sent else DispatchStatus.QUEUED,
        created_at=tx.now,
        attempt=order.attempt if order.key is not None else None,
    )
    key = access.fingerprint(order.key) if order.key is not None else None
    token_id = parse_id(order.who.token_id or "")
    kept = rows.claim(tx, fresh, token_id=token_id, key=key)
    is_later = (fresh.attempt or FIRST) > (kept.attempt or FIRST)
    if kept.is_refused and is_later:
        rows.free_key(tx, kept.id)
        kept = rows.claim(tx, fresh, token_id=token_id, key=key)
    if kept.digest != fresh.digest:
        raise Conflict(f"the idempotency key {order.key!r} was used for another call")
    if kept.id != fresh.id:
        if fresh.attempt is not None and kept.status not in ENDED:
            rows.count(tx, kept.id, fresh.attempt)
        return kept, False
    _record(tx, "dispatch.sent" if sent else "dispatch.queued", kept, actor=order.who.name)
    return kept, True


def send(tx: Tx, dispatch_id: UUID) -> Dispatch | None:
    """Mark an order as going over its machine's link now; None if it must not be sent (any more).

    Nobody waits for an order older than `LATEST`: it ends unsent. Records `dispatch.sent`.
    """
    found = rows.find(tx, dispatch_id)
    if found is not None and found.created_at + milliseconds(LATEST) <= tx.now:
        _abandon(tx, found)
        return None
    sent = rows.move(tx, dispatch_id, DispatchStep.SEND)
    if sent is not None:
        _record(tx, "dispatch.sent", sent)
    return sent


def take(tx: Tx, dispatch_ids: Iterable[UUID]) -> frozenset[UUID]:
    """Mark orders as accepted by machines, which work on them; return those that were only sent before."""
    taken = [rows.move(tx, each, DispatchStep.TAKE) for each in sorted(set(dispatch_ids))]
    return frozenset(each.id for each in taken if each is not None)


def end(tx: Tx, dispatch_id: UUID, outcome: ToolResult) -> Dispatch | None:
    """Store the result of an order; None if it had ended before, or never existed.

    A lost order may turn up again. If nothing was done its key is free again, for a later attempt if its caller counts
    them. Records `dispatch.ended`.
    """
    ended = rows.move(
        tx,
        dispatch_id,
        DispatchStep.END,
        outcome=outcome,
        code=outcome.code,
        frees_key=outcome.is_undone,
    )
    if ended is not None:
        lent_tokens.end(tx, dispatch_id)
        _record(tx, "dispatch.ended", ended, actor=board_name(ended.node))
    return ended


def withdraw(tx: Tx, dispatch_id: UUID) -> bool:
    """Withdraw an order that was not sent yet; False if it is too late. Records `dispatch.ended`."""
    withdrawn = rows.move(tx, dispatch_id, DispatchStep.WITHDRAW, frees_key=True)
    if withdrawn is not None:
        _record(tx, "dispatch.ended", withdrawn)
    return withdrawn is not None


def lose(tx: Tx, dispatch_id: UUID) -> bool:
    """Mark an order as lost: nobody can say whether it was done; False if it has ended. Records `dispatch.ended`."""
    lost = rows.move(tx, dispatch_id, DispatchStep.LOSE, code=RefusalCode.FAILED)
    if lost is not None:
        lent_tokens.end(tx, dispatch_id)
        _record(tx, "dispatch.ended", lost)
    return lost is not None


def of_machine(tx: Tx, project: Project, machine: Machine, limit: int) -> list[Dispatch]:
    """List the machine's recent orders, newest first, to people of its project. Raises `Forbidden`."""
    access.require_person(tx, "see what a machine was ordered")
    access.visible(tx, str(project.id))
    return rows.of_machine(tx, machine.id, limit)


def abandon(tx: Tx, machine_id: UUID) -> None:
    """End all open orders of a removed machine: unsent ones are withdrawn, the rest are lost."""
    for each in rows.open_of(tx, machine_id):
        _abandon(tx, each)


def forget(tx: Tx) -> None:
    """Drop orders that ended a while ago, and end those that waited too long for a hub or a machine."""
    for step, patience in ((DispatchStep.WITHDRAW, LATEST), (DispatchStep.LOSE, KEEP)):
        while left := rows.left_over(tx, step, before=tx.now - milliseconds(patience), limit=BATCH):
            for each in left:
                _abandon(tx, each)
    rows.forget(tx, tx.now - milliseconds(KEEP))
    rows.forget_outcomes(tx, tx.now - milliseconds(KEEP_UNKEYED))


def _abandon(tx: Tx, dispatch: Dispatch) -> None:
    withdraw(tx, dispatch.id) or lose(tx, dispatch.id)


def _record(tx: Tx, kind: str, dispatch: Dispatch, *, actor: str | None = None) -> None:
    """Record it, without the order's content or result."""
    who = dispatch.order.who
    detail: dict[str, object] = {
        "dispatch_id": str(dispatch.id),
        "node": dispatch.node,
        "tool": dispatch.order.tool,
    }
    if dispatch.order.chain:
        detail["chain"] = list(dispatch.order.chain)
    if dispatch.ended_at is not None:
        duration = dispatch.ended_at - dispatch.created_at
        detail |= {"status": dispatch.status, "code": dispatch.code, "duration_ms": duration}
    tx.record(
        kind,
        project_id=dispatch.project_id,
        actor=actor,
        agent=None if who.is_person else who.name,
        detail=detail,
    )
