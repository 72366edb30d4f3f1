"""Orders on their way to machines, and their statuses: none is lost and none is done twice.

An order can be withdrawn only while nobody has it. Once it may have reached its machine, only the machine knows its
fate. If the machine comes back without knowing, the order ends as lost, which is reported; it is not tried again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum, auto
from uuid import UUID

from hubbub.model.fleet.calls import NodeCall, RefusalCode, ToolResult


class DispatchStatus(StrEnum):
    """The status of an order."""

    QUEUED = auto()  # not sent to any machine yet
    SENT = auto()  # over the link; whether it has arrived is not known
    TAKEN = auto()  # the machine has noted it, and works on it
    ENDED = auto()  # with an outcome, a refusal among them
    WITHDRAWN = auto()  # it never left the hub
    LOST = auto()  # the machine cannot say whether it was done


class DispatchStep(StrEnum):
    """A step in the life of an order."""

    SEND = auto()
    TAKE = auto()
    END = auto()
    WITHDRAW = auto()
    LOSE = auto()


S = DispatchStatus

# step           from                                     to
STEPS: Mapping[DispatchStep, tuple[frozenset[DispatchStatus], DispatchStatus]] = {
    DispatchStep.SEND: (frozenset({S.QUEUED, S.SENT}), S.SENT),  # again, if the machine has not noted it
    DispatchStep.TAKE: (frozenset({S.SENT}), S.TAKEN),
    DispatchStep.END: (frozenset({S.SENT, S.TAKEN, S.LOST}), S.ENDED),  # a lost one may turn up
    DispatchStep.WITHDRAW: (frozenset({S.QUEUED}), S.WITHDRAWN),
    DispatchStep.LOSE: (frozenset({S.SENT, S.TAKEN}), S.LOST),
}
ENDED = frozenset({S.ENDED, S.WITHDRAWN, S.LOST})


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """An order on its way, and its result."""

    id: UUID
    project_id: UUID
    machine: UUID  # the id of the `Machine`, which may have been removed
    node: str  # its name
    order: NodeCall = field(repr=False)  # without arguments once it has ended
    digest: str  # of the call, so that a key is not used for two
    status: DispatchStatus
    outcome: ToolResult | None = None  # kept for as long as a caller may ask for it
    code: RefusalCode | None = None  # why it was not done, if so
    created_at: int
    ended_at: int | None = None
    attempt: int | None = None  # the highest number among the calls with its key

    @property
    def is_refused(self) -> bool:
        """Tell whether nothing was done: calls up to its attempt are told so, and only a later one begins anew."""
        is_undone = self.outcome is not None and self.outcome.is_undone
        return self.attempt is not None and (self.status is S.WITHDRAWN or is_undone)
