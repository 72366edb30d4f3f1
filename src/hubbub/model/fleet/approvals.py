"""Approvals: questions that a person answers before a call may go on, and the statuses of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum, auto
from typing import Annotated
from uuid import UUID

from hubbub.model.fields import CARD, REST, Secret, Seen
from hubbub.model.fleet.calls import QuestionKind
from hubbub.model.fleet.nodes import said_of
from hubbub.model.people.rights import Right


class ApprovalStatus(StrEnum):
    """The status of a question."""

    PENDING = auto()
    APPROVED = auto()  # and not used yet
    DENIED = auto()
    EXPIRED = auto()  # nobody answered in time, or the yes was not used in time
    SPENT = auto()  # the one call that was approved goes on
    WITHDRAWN = (
        auto()
    )  # nobody waits for it: its call was cancelled, its machine restarted, or its client answered


class ApprovalStep(StrEnum):
    """A step in the life of a question."""

    APPROVE = auto()
    DENY = auto()
    EXPIRE = auto()
    SPEND = auto()
    RESUME = auto()  # its machine is back
    WITHDRAW = auto()  # its machine does not ask it any more


S = ApprovalStatus

# step           from                                 to
STEPS: Mapping[ApprovalStep, tuple[frozenset[ApprovalStatus], ApprovalStatus]] = {
    ApprovalStep.APPROVE: (frozenset({S.PENDING}), S.APPROVED),
    ApprovalStep.DENY: (frozenset({S.PENDING}), S.DENIED),
    ApprovalStep.EXPIRE: (frozenset({S.PENDING, S.APPROVED}), S.EXPIRED),
    ApprovalStep.SPEND: (frozenset({S.APPROVED}), S.SPENT),
    ApprovalStep.RESUME: (frozenset({S.EXPIRED}), S.PENDING),
    ApprovalStep.WITHDRAW: (frozenset({S.PENDING, S.EXPIRED}), S.WITHDRAWN),
}
ENDED = frozenset({S.DENIED, S.EXPIRED, S.SPENT, S.WITHDRAWN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A question to people, and its answer."""

    id: Annotated[UUID, Seen(REST | CARD)]
    project_id: UUID
    kind: Annotated[
        QuestionKind,
        Seen(
            REST,
            "what a yes lets happen: one call (`call`), a new rule of a policy (`rule`), or a client's `prompt`",
        ),
    ]
    who: Annotated[str, Seen(REST | CARD, "the caller")]
    token_id: UUID | None  # with which the call was made
    node: Annotated[
        str,
        Seen(REST | CARD, "the machine; if a program with a token asked, `{who}@{said_node}`"),
    ]
    tool: Annotated[str, Seen(REST | CARD)]
    arguments: Annotated[Mapping[str, object], Seen(REST, "for people: long texts are cut")]
    folder: Annotated[str, Seen(REST | CARD)]
    digest: Annotated[str, Seen(REST, "of caller, tool, arguments, folder and machine")]
    shown: Annotated[
        str,
        Seen(REST | CARD, "the resolved words of the call, in its lines, invisible characters written out"),
    ]
    reason: Annotated[str, Seen(REST | CARD)]
    elicitation: Annotated[bool, Seen(REST, "true if the calling client may answer")]
    receipt: Annotated[str, Secret("of the asker's proof")] = field(repr=False)
    dangerous: Annotated[bool, Seen(REST | CARD, "true if the machine always asks about such a call")] = (
        False  # its subject cannot be undone: a yes is given twice
    )
    status: Annotated[ApprovalStatus, Seen(REST)]
    created_at: Annotated[int, Seen(REST | CARD)]
    expires_at: Annotated[int, Seen(REST | CARD)]
    answered_by: Annotated[str | None, Seen(REST)] = None
    answered_at: Annotated[int | None, Seen(REST)] = None
    signature: Annotated[str | None, Seen(REST, "the approver's, if they signed the shown text")] = None
    ended_at: Annotated[int | None, Seen(REST)] = None
    machine: UUID | None = None  # over whose link it came
    hub: str | None = None  # whose own machine asks it, while that process lives

    @property
    def is_forsaken(self) -> bool:
        """True if it ended before its time because its machine is gone."""
        return (
            self.status is ApprovalStatus.EXPIRED
            and self.ended_at is not None
            and self.ended_at < self.expires_at
        )

    @property
    def right(self) -> Right:
        """Return the right needed to answer: rules of a machine's policy are for those who manage."""
        return Right.MANAGE if self.kind is QuestionKind.RULE else Right.WRITE

    @property
    def said_node(self) -> str | None:
        """Return the machine's name as the agent's own program gives it; None if the machine itself asked."""
        return said_of(self.who, self.node)
