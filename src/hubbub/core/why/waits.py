"""Reasons why an agent waits: for a person's answer, for things that others hold, or for a machine with its order."""

from collections.abc import Iterator
from uuid import UUID

from hubbub.core.fleet import dispatches
from hubbub.core.why import leases, presence
from hubbub.core.why.explanation import NOTHING, Fact, Value, ago, ahead, named, quoted, say
from hubbub.model.fleet.approvals import Approval, ApprovalStatus
from hubbub.model.fleet.nodes import NODE_PREFIX
from hubbub.model.visible_text import visible
from hubbub.store.fleet import approvals, nodes
from hubbub.store.tx import Tx

MOST = 200  # questions that are searched
SHOWN_LENGTH = 120


def of_agent(tx: Tx, project_id: UUID, name: str) -> Iterator[Fact]:
    """Yield facts about an agent's unanswered questions, its leases, and its open orders."""
    yield from _approvals(tx, project_id, name)
    yield from leases.of_agent(tx, project_id, name)
    yield from _dispatches(tx, project_id, name)


def _approvals(tx: Tx, project_id: UUID, name: str) -> Iterator[Fact]:
    """Yield facts about open questions. Only people read the question; others learn that there is one, and where."""
    for each in approvals.search(tx, project_id, status=ApprovalStatus.PENDING, limit=MOST):
        if name not in (each.who, f"{NODE_PREFIX}{each.node}"):
            continue
        shown = say("approval_shown", shown=quoted(visible(each.shown), SHOWN_LENGTH))
        told = say(
            "approval_pending",
            tool=each.tool,
            place=_place(each),
            who=named(each.who),
            what=shown if tx.actor.is_person else NOTHING,
            until=ahead(each.expires_at, tx.now),
            id=str(each.id),
        )
        detail = {"approval_id": str(each.id), "node": each.node, "tool": each.tool, "who": each.who}
        yield Fact(
            "approval.pending", told, {**detail, "asked_at": each.created_at, "expires_at": each.expires_at}
        )


def _place(approval: Approval) -> Value:
    """Return the place where a call is to be done, with a note on who named it."""
    said = approval.said_node
    return named(approval.node) if said is None else say("approval_place", place=named(said))


def _dispatches(tx: Tx, project_id: UUID, name: str) -> Iterator[Fact]:
    for machine in nodes.of_project(tx, project_id):
        for each in dispatches.open_of(tx, machine.id):
            if name not in (each.order.who.name, f"{NODE_PREFIX}{machine.name}"):
                continue
            told = say(
                "order",
                who=named(each.order.who.name),
                machine=named(machine.name),
                tool=each.order.tool,
                at=ago(each.created_at, tx.now),
                status=say(f"order_{each.status}"),
            )
            detail = {"dispatch_id": str(each.id), "node": machine.name, "tool": each.order.tool}
            more = {"status": each.status, "who": each.order.who.name, "created_at": each.created_at}
            yield Fact("dispatch.under_way", told, {**detail, **more})
            if not machine.is_online(tx.now):
                yield presence.of_machine(tx, machine)
