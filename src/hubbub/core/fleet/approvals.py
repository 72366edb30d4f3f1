"""Approvals: a machine's questions to people, whose answer lets one call through.

No answer means no. Only people answer, never an agent's token, whatever its role; if the machine's operator lets the
calling client answer for a person, the machine reports the answer. The asker proves itself by a receipt that
only it was given, so an agent cannot answer for its machine, even though they share a token.

Machines ask over their links. A program that asks with a token, as `hubbub mcp cmdop` does beside its client, may be
anything: its questions are kept under a name that no machine has (`hubbub.model.fleet.nodes.beside`), and people see
that.
"""

import hmac
import re
import secrets
from collections.abc import Collection, Sequence
from datetime import timedelta
from uuid import UUID, uuid4

from hubbub.core.people import access
from hubbub.core.snapshots import patches
from hubbub.model.errors import Conflict, Forbidden, Invalid, NotFound
from hubbub.model.fleet.approvals import Approval, ApprovalStatus, ApprovalStep
from hubbub.model.fleet.calls import Question, QuestionKind
from hubbub.model.ids import parse_id
from hubbub.model.log.attention import MISSED_FOR
from hubbub.model.records import Project
from hubbub.model.timestamps import duration_text, milliseconds
from hubbub.model.visible_text import SHOWN_LENGTH, abridged, cut, visible
from hubbub.store.fleet import approvals as rows
from hubbub.store.tx import Tx

NOUN = "approval"
PATIENCE = timedelta(days=7)  # at most
GOOD_FOR = timedelta(seconds=60)  # how long a yes can be used by the asker
BACK = timedelta(seconds=15)  # for an offline machine to return before its questions end
KEEP = timedelta(days=60)
MOST = 50  # waiting questions of one token
LATELY = 5  # earlier questions of the caller that people see with one
LONGEST_NAME = 500  # characters of a machine's and a tool's name
LONGEST_TEXT = 50_000  # characters of a folder or a reason
TOLD_LENGTH = 500  # characters of the shown text that go into the log
OTHERS = "another question has that id"
BY_CLIENT = "elicitation"  # as `answered_by` when the calling client answered

KINDS = {
    ApprovalStep.APPROVE: "approval.approved",
    ApprovalStep.DENY: "approval.denied",
    ApprovalStep.EXPIRE: "approval.expired",
    ApprovalStep.SPEND: "approval.spent",
    ApprovalStep.RESUME: "approval.asked",
    ApprovalStep.WITHDRAW: "approval.withdrawn",
}
# These need no rule of their own, so they are the store's functions.
of_ended_hubs = rows.of_ended_hubs
of_hub = rows.of_hub

_DIGEST = re.compile(r"[0-9a-f]{64}")


def put(
    tx: Tx,
    project: Project,
    question: Question,
    patience: timedelta,
    *,
    elicitation: bool = False,
    approval_id: UUID | None = None,
    machine: UUID | None = None,
    hub: str | None = None,
    receipt: str | None = None,
) -> tuple[Approval, str]:
    """Put a question to the people of a project; return it with the receipt by which the asker uses the answer.

    Unanswered, it expires after `patience`. With `elicitation` the asker may `resolve` it. The asker may choose the id
    and the `receipt`: a question put again with that id is the same. With a token that takes the same receipt and the
    same token; a machine then gets a new receipt. A question over a `machine`'s link ends when the machine is gone for
    longer than `BACK`, unless it is put again; one of a `hub`'s own machine ends with that hub. Records
    `approval.asked`. Raises `Invalid`, and `Conflict` if too many wait already, or the id is another question's.
    """
    _check(question, patience, elicitation=elicitation)
    receipt = receipt or secrets.token_hex(16)
    if approval_id is not None and (known := rows.find(tx, approval_id, lock=True)) is not None:
        return _put_again(tx, known, project, question, receipt), receipt
    token_id = parse_id(question.who.token_id or "")
    if rows.number_pending(tx, project.id, token_id) >= MOST:
        raise Conflict(f"{MOST} questions of this caller wait for an answer already")
    approval = Approval(
        id=approval_id or uuid4(),  # people type its beginning, so it has to be unlike the others
        project_id=project.id,
        kind=question.kind,
        who=visible(question.who.name),
        token_id=token_id,
        node=visible(question.node),
        tool=visible(question.tool),
        arguments={visible(name): abridged(value) for name, value in question.arguments.items()},
        folder=cut(visible(question.folder), LONGEST_TEXT),
        digest=question.digest,
        shown=cut(visible(question.shown, lines=True), SHOWN_LENGTH),
        reason=cut(visible(question.reason), LONGEST_TEXT),
        elicitation=elicitation,
        dangerous=question.dangerous or question.kind is QuestionKind.RULE,
        receipt=access.fingerprint(receipt),
        status=ApprovalStatus.PENDING,
        machine=machine,
        hub=hub,
        created_at=tx.now,
        expires_at=tx.now + milliseconds(patience),
    )
    rows.insert(tx, approval)
    _record(tx, "approval.asked", approval, actor=approval.who)
    return approval, receipt


def _put_again(tx: Tx, known: Approval, project: Project, question: Question, receipt: str) -> Approval:
    same = (project.id, visible(question.node), question.digest, question.kind)
    if (known.project_id, known.node, known.digest, known.kind) != same:
        raise Conflict(OTHERS)
    if tx.actor.token_id is not None and not _is_whose(tx, known, receipt):
        raise Conflict(OTHERS)
    if known.is_forsaken and tx.now < known.expires_at:
        _move(tx, known, ApprovalStep.RESUME)
    return rows.receive(tx, known.id, access.fingerprint(receipt))


def find(tx: Tx, project_ids: Sequence[UUID], ref: str) -> Approval:
    """Return the approval with that id. Agents find only those for calls of their own token. Raises `NotFound`."""
    approval_id = parse_id(ref)
    approval = rows.find(tx, approval_id) if approval_id else None
    if approval is None or approval.project_id not in project_ids:
        raise NotFound(NOUN, ref)
    if not tx.actor.is_person and approval.token_id != tx.actor.token_id:
        raise NotFound(NOUN, ref)
    return approval


def search(
    tx: Tx, project_ids: Sequence[UUID], *, status: ApprovalStatus | None = None, limit: int = 200
) -> list[Approval]:
    """List the projects' questions, or those of one status, oldest first. Raises `Forbidden` to agents' tokens."""
    access.require_person(tx, "look at what people are asked")
    found = [
        each for project_id in project_ids for each in rows.search(tx, project_id, status=status, limit=limit)
    ]
    return sorted(found, key=lambda approval: (approval.created_at, approval.id))[-limit:]


def open_or_missed(tx: Tx, project_ids: Sequence[UUID], *, limit: int = 200) -> list[Approval]:
    """List the projects' waiting questions, and those that recently expired unanswered; oldest first.

    Raises `Forbidden` to agents' tokens.
    """
    pending = search(tx, project_ids, status=ApprovalStatus.PENDING, limit=limit)
    expired = search(tx, project_ids, status=ApprovalStatus.EXPIRED, limit=limit)
    since = tx.now - MISSED_FOR
    missed = [each for each in expired if each.answered_by is None and (each.ended_at or 0) > since]
    return sorted((*missed, *pending), key=lambda each: (each.created_at, each.id))[-limit:]


def answer(tx: Tx, ref: str, *, approved: bool, signature: str | None = None) -> Approval:
    """Record a person's yes or no, as `approval.approved` or `approval.denied`.

    The `signature` is kept as it is, for the machine to check, which may take no yes without one. The person must be
    able to write in the project; for a new rule of a policy, to manage it. Raises `Forbidden`, always to an agent's
    token; `NotFound`; `Conflict` if the question was answered or its time is over.
    """
    access.require_person(tx, "approve or deny")
    approval = find(tx, [project.id for project in access.visible(tx)], ref)
    approval = rows.find(tx, approval.id, lock=True) or approval
    access.enter(tx, str(approval.project_id), approval.right)
    return _answer(tx, approval, approved=approved, by=tx.actor.label, signature=signature)


def resolve(tx: Tx, approval_id: UUID, *, receipt: str, approved: bool) -> Approval:
    """Record the answer of the calling client, as its machine reports it. Records like `answer`.

    Raises `NotFound` without the receipt, `Forbidden` if the client may not answer the question, or if a token reports
    on a machine's question, and `Conflict` if it was answered or its time is over.
    """
    approval = _asked(tx, approval_id, receipt)
    if tx.actor.token_id is not None and approval.said_node is None:
        raise Forbidden("a machine asked this itself: only that machine may bring its client's answer")
    if not approval.elicitation:
        raise Forbidden("only a person may answer this question: its machine does not let the client do so")
    return _answer(tx, approval, approved=approved, by=BY_CLIENT)


def spend(tx: Tx, approval_id: UUID, digest: str, *, receipt: str) -> Approval:
    """Use a yes for the one call that it was given for. Records `approval.spent`.

    Raises `NotFound` without the receipt, and `Conflict` if there is no yes (any more) or the call is another.
    """
    approval = _asked(tx, approval_id, receipt)
    if not hmac.compare_digest(approval.digest, digest):
        raise Conflict("this is not the call that was approved")
    _require(approval, tx.now, ApprovalStatus.APPROVED)
    return _move(tx, approval, ApprovalStep.SPEND)


def expire(tx: Tx, approval: Approval) -> None:
    """Close a question whose time is over, or whose machine is gone, unless another writer was faster.

    Records `approval.expired`.
    """
    moved = rows.move(tx, approval, ApprovalStep.EXPIRE)
    if moved is not None:
        _record(tx, KINDS[ApprovalStep.EXPIRE], moved)


def gone_since(tx: Tx) -> int:
    """Return the time since which a machine must have been gone for its questions to be closed."""
    return tx.now - milliseconds(BACK)


def forsake(tx: Tx, limit: int) -> None:
    """Close up to `limit` questions of vanished machines, which could not use an answer. Records like `expire`."""
    for approval in rows.forsaken(tx, gone_since(tx), limit):
        expire(tx, approval)


def withdraw(tx: Tx, machine: UUID, *, but: Collection[UUID]) -> None:
    """Withdraw the questions of a returned machine, except those that it still asks (`but`).

    Those that ended while it was gone end for good, too. Records `approval.withdrawn`.
    """
    for approval in rows.unanswered(tx, machine):
        if approval.id not in but:
            _move(tx, approval, ApprovalStep.WITHDRAW)


def outlive(tx: Tx, approval_id: UUID) -> None:
    """Withdraw a question of a hub's own machine that has ended, since nobody waits for the answer any more.

    Records `approval.withdrawn`, or nothing if it was answered or its time was over.
    """
    approval = rows.find(tx, approval_id, lock=True)
    if approval is not None and approval.status is ApprovalStatus.PENDING:
        _move(tx, approval, ApprovalStep.WITHDRAW)


def take_back(tx: Tx, approval_id: UUID, *, receipt: str) -> None:
    """Withdraw a question that was answered at its source, or whose asker ends or has cancelled the call.

    Records `approval.withdrawn`, or nothing if it was answered or its time was over. Raises `NotFound` without a
    receipt.
    """
    approval = _asked(tx, approval_id, receipt)
    if approval.status is ApprovalStatus.PENDING:
        _move(tx, approval, ApprovalStep.WITHDRAW)


def lately(tx: Tx, approval: Approval) -> list[Approval]:
    """List the caller's last questions before this one, newest first; none to agents' tokens."""
    return rows.before(tx, approval, LATELY) if tx.actor.is_person else []


def forget(tx: Tx) -> None:
    """Drop questions that ended a while ago."""
    rows.forget(tx, tx.now - milliseconds(KEEP))


def _check(question: Question, patience: timedelta, *, elicitation: bool) -> None:
    if not timedelta() < patience <= PATIENCE:
        raise Invalid(
            f"a question may wait for more than 0 s, and for at most {PATIENCE // timedelta(days=1)} days"
        )
    if not _DIGEST.fullmatch(question.digest):
        raise Invalid("the digest of a call is 64 hex digits, in lower case")
    if not question.shown.strip():
        raise Invalid("a question must show its subject")
    for name, given in (("node", question.node), ("tool", question.tool)):
        if not given.strip() or len(given) > LONGEST_NAME:
            raise Invalid(f"{name}: must have 1 to {LONGEST_NAME} characters")
    if elicitation and question.kind is QuestionKind.RULE:
        raise Invalid("elicitation: only people may add a rule to a policy, never a client")


def _asked(tx: Tx, approval_id: UUID, receipt: str) -> Approval:
    """Return the receipt's question, locked; with a token only one that the same token put."""
    approval = rows.find(tx, approval_id, lock=True)
    if approval is None or not _is_whose(tx, approval, receipt):
        raise NotFound(NOUN, approval_id)
    return approval


def _is_whose(tx: Tx, approval: Approval, receipt: str) -> bool:
    """Tell whether the caller asked this question: it has the receipt, and no other token than the asker's."""
    has_receipt = hmac.compare_digest(approval.receipt, access.fingerprint(receipt))
    return has_receipt and tx.actor.token_id in (None, approval.token_id)


def _require(approval: Approval, now: int, status: ApprovalStatus) -> None:
    """Raise `Conflict` unless the question is in that status, and still in time."""
    if approval.is_forsaken:
        raise Conflict(
            "its machine is gone, so nobody waits for the answer; it will ask again if it comes back"
        )
    if approval.status is ApprovalStatus.WITHDRAWN:
        raise Conflict(
            "it was answered at the client, or the client has ended, so nobody waits for the answer"
            if approval.kind is QuestionKind.PROMPT
            else "its call was cancelled, or its machine was restarted, so nobody waits for the answer"
        )
    if approval.status is ApprovalStatus.EXPIRED or (
        approval.status is status and approval.expires_at <= now
    ):
        raise Conflict("it has expired, so nobody waits for the answer any more; have it asked again")
    if approval.status is status:
        return
    if approval.answered_at is not None:
        said = ApprovalStatus.DENIED if approval.status is ApprovalStatus.DENIED else ApprovalStatus.APPROVED
        used = ", and used" if approval.status is ApprovalStatus.SPENT else ""
        ago = duration_text(now - approval.answered_at)
        raise Conflict(f"it was {said} by {approval.answered_by} {ago} ago{used}")
    raise Conflict(f"it is {approval.status}, not {status}")


def _answer(tx: Tx, approval: Approval, *, approved: bool, by: str, signature: str | None = None) -> Approval:
    _require(approval, tx.now, ApprovalStatus.PENDING)
    step = ApprovalStep.APPROVE if approved else ApprovalStep.DENY
    lasts = max(approval.expires_at, tx.now + milliseconds(GOOD_FOR)) if approved else None
    return _move(tx, approval, step, expires_at=lasts, by=by, signature=signature)


def _move(
    tx: Tx,
    approval: Approval,
    step: ApprovalStep,
    *,
    expires_at: int | None = None,
    by: str | None = None,
    signature: str | None = None,
) -> Approval:
    moved = rows.move(tx, approval, step, expires_at=expires_at, by=by, signature=signature)
    assert moved is not None  # it is locked, and its status was checked
    _record(tx, KINDS[step], moved)
    return moved


def _record(tx: Tx, kind: str, approval: Approval, *, actor: str | None = None) -> None:
    tx.record(
        kind,
        project_id=approval.project_id,
        actor=actor,
        agent=approval.who,
        detail={
            "approval_id": str(approval.id),
            "kind": approval.kind,
            "node": approval.node,
            "said_node": approval.said_node,
            "tool": approval.tool,
            "shown": cut(visible(approval.shown), TOLD_LENGTH),
            "folder": cut(approval.folder, TOLD_LENGTH),
            "digest": approval.digest,
            "reason": cut(approval.reason, TOLD_LENGTH),
            "status": approval.status,
            "expires_at": approval.expires_at,
            "answered_by": approval.answered_by,
        },
        patch=patches.approval(tx, approval),
    )
