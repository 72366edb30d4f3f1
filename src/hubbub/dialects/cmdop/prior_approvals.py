"""A person's yes that a machine brings with a call, so that the hub's own machine need not ask again.

The caller names the approval, and could name any; so it counts only if a person answered it, for this token and exactly
this call, a moment ago, and once. The words that they saw go along: the hub's machine compares them with its own.
"""

from dataclasses import replace

from hubbub.core.fleet import approvals
from hubbub.core.log import idempotency
from hubbub.core.people import access
from hubbub.dialects.call import Call
from hubbub.model.errors import Conflict, NotFound
from hubbub.model.fleet.approvals import Approval, ApprovalStatus
from hubbub.model.fleet.calls import NodeCall, QuestionKind, call_digest
from hubbub.model.timestamps import milliseconds
from hubbub.store.tx import Tx

APPROVAL = "hubbub/approval"  # in `_meta`: the id


def approved_words(tx: Tx, call: Call, order: NodeCall) -> str | None:
    """Return the words that a person approved; None if there is no such approval, or it was used before."""
    ref = call.meta.get(APPROVAL)
    if not isinstance(ref, str):
        return None
    try:
        approval = approvals.find(tx, [each.id for each in access.visible(tx, order.who.project)], ref)
        if not _is_for(approval, order, tx.now):
            return None
        idempotency.begin(tx, f"approval {approval.id}", approval.digest)
    except (NotFound, Conflict):
        return None
    return approval.shown


def _is_for(approval: Approval, order: NodeCall, now: int) -> bool:
    """Tell whether a person has just approved this call. The machine that asked knew no token of the caller."""
    caller = replace(order.who, token_id=None)
    recent = now - milliseconds(approvals.GOOD_FOR)
    node = approval.said_node or approval.node
    return (
        approval.kind is QuestionKind.CALL
        and approval.status is ApprovalStatus.SPENT
        and approval.answered_by not in (None, approvals.BY_CLIENT)
        and (approval.ended_at or 0) >= recent
        and approval.digest == call_digest(caller, order.tool, order.arguments, approval.folder, node)
    )
