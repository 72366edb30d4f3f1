"""Answers from a telephone, by a signed link.

The link stands for one question, and for the person who enabled buttons on the webhook that brought it.
"""

from hubbub.core.fleet import approvals
from hubbub.core.people import access
from hubbub.model.errors import Forbidden, NotFound
from hubbub.model.fleet.approvals import Approval
from hubbub.model.fleet.calls import QuestionKind
from hubbub.model.log import answer_links
from hubbub.store.fleet import approvals as rows
from hubbub.store.log import webhooks
from hubbub.store.tx import Tx

NOUN = "question"
DANGEROUS = "a dangerous call, or a new rule, is approved in the dashboard, after signing in"


def look(tx: Tx, token: str) -> tuple[Approval, list[Approval]]:
    """Return the question of a link, and the asker's recent questions; act as the person for whom the link stands.

    Raises `NotFound` alike for a link that never existed and one that has ended.
    """
    ids = answer_links.ids_of(token)
    webhook = webhooks.find(tx, ids[0]) if ids else None
    approval = rows.find(tx, ids[1]) if ids else None
    if webhook is None or approval is None or webhook.answers_by is None or webhook.removed_at is not None:
        raise NotFound(NOUN, "of this link")
    is_ours = webhook.project_id == approval.project_id
    if not is_ours or not answer_links.is_genuine(token, webhook, approval.id, approval.digest):
        raise NotFound(NOUN, "of this link")
    tx.actor = access.person(tx, webhook.answers_by)
    access.enter(tx, str(approval.project_id))
    return approval, approvals.lately(tx, approval)


def answer(tx: Tx, token: str, *, approved: bool) -> Approval:
    """Record the answer of the person for whom the link stands, like `approvals.answer`.

    Raises `NotFound`; `Forbidden` for a yes that needs more than one tap; `Conflict` for a late answer.
    """
    approval, _ = look(tx, token)
    if approved and needs_more(approval):
        raise Forbidden(DANGEROUS)
    return approvals.answer(tx, str(approval.id), approved=approved)


def needs_more(approval: Approval) -> bool:
    """Tell whether a yes needs more than one tap."""
    return approval.dangerous or approval.kind is QuestionKind.RULE
