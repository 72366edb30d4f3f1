"""Approvals: questions that a person answers before a call may go on, and the little life that each has."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum, auto
from uuid import UUID

from hubbub.model.machines import said_of
from hubbub.model.orders import QuestionKind


class ApprovalStatus(StrEnum):
    """How far a question is."""

    PENDING = auto()
    APPROVED = auto()  # and not used yet
    DENIED = auto()
    EXPIRED = auto()  # nobody answered in time, or the yes was not used in time
    SPENT = auto()  # the one call that was approved goes on
    WITHDRAWN = auto()  # its machine was started anew, and does not ask it any more


class ApprovalStep(StrEnum):
    """What may happen to a question."""

    APPROVE = auto()
    DENY = auto()
    EXPIRE = auto()
    SPEND = auto()
    RESUME = auto()  # its machine is back
    WITHDRAW = auto()  # so it is, and has forgotten it


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
    """A question to people, and what became of it."""

    id: UUID
    project_id: UUID
    kind: QuestionKind
    who: str  # the agent, or the person, whose call it is
    token_id: UUID | None  # with which the call was made
    node: (
        str  # where a program beside the agent asks, with a token: the agent, "@", and the name that it gives
    )
    tool: str
    arguments: Mapping[str, object]  # for people: long texts are cut
    folder: str
    digest: str  # of who, tool, canonical arguments, folder, node, as the machine made it
    shown: str  # the resolved words of the call, invisible characters escaped
    reason: str
    elicitation: bool  # the client that made the call may answer for a person
    receipt: str = field(repr=False)  # the hash of what whoever asked proves itself with
    status: ApprovalStatus
    created_at: int
    expires_at: int
    answered_by: str | None = None
    answered_at: int | None = None
    signature: str | None = None  # of whoever answered, where they signed what they were shown
    ended_at: int | None = None
    dangerous: bool = False  # it is about what cannot be undone: a yes is to be given twice
    machine: UUID | None = None  # over whose link it came

    @property
    def is_forsaken(self) -> bool:
        """Whether it ended before its time: its machine is gone."""
        return (
            self.status is ApprovalStatus.EXPIRED
            and self.ended_at is not None
            and self.ended_at < self.expires_at
        )

    @property
    def said_node(self) -> str | None:
        """The machine, as the agent's own program says that asked; None: the machine itself asked, over its link."""
        return said_of(self.who, self.node)
