"""Who may do what with a task. This table is the only place that knows; `lifecycle` says when it is possible.

Whoever calls has a *part* in the task, or several, and each part lets them do some things. A token that is bound to an
agent has that agent's parts and no other. A person, or a token bound to nobody, who names no agent may do all that is
not a holder's word about its own work; who names one acts as that agent, and steers as the documented tool sets have
it, whose servers know no tokens at all. The table in the documentation is drawn from this one (`as_table`).
"""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID


class Part(StrEnum):
    """What somebody is to a task."""

    HOLDER = "holder"  # its assignee
    SENDER = "sender"
    REVIEWER = "reviewer"  # asked for a review of what was made for it
    TAKER = "taker"  # any agent, while it is free
    COORDINATOR = "coordinator"  # made so by a person, for all of the project
    PERSON = "person"  # who speaks in no agent's name: a person, a token bound to nobody, the hub itself
    STAND_IN = "stand-in"  # a person, or a token bound to nobody, in the name of an agent
    STRANGER = "stranger"  # an agent, by a token of its own


class Verb(StrEnum):
    """What somebody may want to do with a task, as a sentence says it."""

    CLAIM = "claim"
    START = "start"
    PROGRESS = "report on"
    SUBMIT = "submit"
    BLOCK = "block"
    UNBLOCK = "unblock"
    COMPLETE = "complete"
    FAIL = "fail"
    RELEASE = "release"
    APPROVE = "approve"
    REQUEST_CHANGES = "send back"
    CANCEL = "cancel"
    RETRY = "retry"
    REOPEN = "put back"
    REASSIGN = "reassign"
    DESCRIBE = "describe"
    ANSWER = "answer"  # end or move it as CommHub's send_reply and Relay's update_task word it
    SETTLE = "settle"  # set its status as a board does: cmdop's issue_update and issue_close
    COMMENT = "comment on"


P, V = Part, Verb
_DOER = frozenset({P.HOLDER})
_TAKER = _DOER | {P.TAKER}
_CHARGED = frozenset({P.HOLDER, P.COORDINATOR, P.PERSON})
_ANSWERING = _CHARGED | {P.SENDER, P.TAKER}
_STEERING = _CHARGED | {P.SENDER, P.STAND_IN}
_JUDGING = frozenset({P.SENDER, P.REVIEWER, P.COORDINATOR, P.PERSON, P.STAND_IN})

MAY: dict[Verb, frozenset[Part]] = {
    V.CLAIM: _TAKER,
    V.START: _TAKER,
    V.PROGRESS: _DOER,
    V.SUBMIT: _DOER,
    V.BLOCK: _CHARGED,
    V.UNBLOCK: _CHARGED,
    V.COMPLETE: _CHARGED,
    V.FAIL: _CHARGED,
    V.RELEASE: _CHARGED,
    V.APPROVE: _JUDGING,
    V.REQUEST_CHANGES: _JUDGING,
    V.CANCEL: _STEERING,
    V.RETRY: _STEERING,
    V.REOPEN: _STEERING,
    V.REASSIGN: _STEERING,
    V.DESCRIBE: _STEERING,
    V.ANSWER: _ANSWERING,
    V.SETTLE: _STEERING,
    V.COMMENT: frozenset(Part),
}

CALLED = {  # in a sentence that says who may
    P.HOLDER: "its holder",
    P.SENDER: "its sender",
    P.REVIEWER: "who was asked to review it",
    P.COORDINATOR: "a coordinator of the project",
    P.PERSON: "a person",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Coordinator:
    """An agent that may steer every task of a project."""

    project_id: UUID
    agent: str
    granted_by: str  # a person
    granted_at: int


def as_table() -> str:
    """The table as Markdown, for the documentation."""
    head = ["", *Part]
    rows = [[verb, *("yes" if part in MAY[verb] else "" for part in Part)] for verb in Verb]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))
