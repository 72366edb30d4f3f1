"""Reconciliation: when a machine is linked (again), its orders are compared with the hub's, and each goes one way.

An order that no machine has is sent. One that was sent, and not taken by the machine, is sent again if a caller may
still wait for it. One that was taken, and neither runs nor has ended there, is lost: it is reported, and not retried.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from hubbub.core.fleet import approvals, dispatches
from hubbub.model.fleet.calls import RefusalCode, refused
from hubbub.model.fleet.dispatches import Dispatch, DispatchStatus
from hubbub.model.fleet.link_protocol import Hello
from hubbub.model.fleet.nodes import Machine
from hubbub.model.timestamps import milliseconds
from hubbub.store.tx import Tx

NOT_SENT = refused(
    RefusalCode.OFFLINE,
    "the machine was away for so long that nobody waited for this any more; nothing was done",
)


@dataclass(frozen=True, slots=True)
class LocalState:
    """This hub's own knowledge: orders taken by the machine, orders with waiting callers, and for how long."""

    taken: frozenset[UUID]
    awaited: frozenset[UUID]
    patience: timedelta


@dataclass(slots=True)
class Reconciled:
    """The consequences of the comparison."""

    send: list[Dispatch] = field(default_factory=list)
    held: list[Dispatch] = field(default_factory=list)  # the machine works on them, or is about to report
    over: list[Dispatch] = field(default_factory=list)  # ended now, without the machine
    unwanted: list[UUID] = field(default_factory=list)  # the machine works on them in vain


def reconcile(tx: Tx, machine: Machine, hello: Hello, known: LocalState) -> Reconciled:
    """Compare the machine's orders with the stored ones. One without a waiting caller is sent only while young.

    Questions that the machine no longer asks are withdrawn.
    """
    resumed, here = Reconciled(), {*hello.running, *hello.ended}
    opened = dispatches.open_of(tx, machine.id)
    own = {dispatch.id for dispatch in opened}
    taken = dispatches.take(tx, own & (here | known.taken))
    youngest = tx.now - milliseconds(known.patience)
    for dispatch in opened:
        if dispatch.id in here:
            resumed.held.append(dispatch)
            continue
        if dispatch.status is DispatchStatus.TAKEN or dispatch.id in taken:
            dispatches.lose(tx, dispatch.id)
        elif dispatch.id not in known.awaited and dispatch.created_at < youngest:
            dispatches.withdraw(tx, dispatch.id) or dispatches.end(tx, dispatch.id, NOT_SENT)
        elif (sent := dispatches.send(tx, dispatch.id)) is not None:
            resumed.send.append(sent)
            continue
        resumed.over.append(dispatches.find(tx, dispatch.id) or dispatch)
    if hello.asked is not None:
        approvals.withdraw(tx, machine.id, but=hello.asked)
    resumed.unwanted = [each for each in hello.running if each not in own and _is_unwanted(tx, machine, each)]
    return resumed


def _is_unwanted(tx: Tx, machine: Machine, dispatch_id: UUID) -> bool:
    """Tell whether an order was given up while its machine worked on it."""
    dispatch = dispatches.find(tx, dispatch_id)
    return dispatch is None or dispatch.machine != machine.id or dispatch.status is not DispatchStatus.LOST
