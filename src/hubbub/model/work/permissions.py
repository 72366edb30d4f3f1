"""Rights on a task. This table alone says who may do what; `lifecycle` says when it is possible.

The caller has one or more *roles* in the task, and each role allows some verbs. A token bound to an agent has that
agent's roles and no other. A person, or an unbound token, may do everything but report as a holder on its own
work, if they name no agent. If they name one, they act as that agent, and steer like callers of the documented tool
sets, whose servers know no tokens at all. The table in the documentation is drawn from this one (`as_table`).
"""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID


class TaskRole(StrEnum):
    """A caller's role in a task."""

    HOLDER = "holder"  # its assignee
    SENDER = "sender"
    REVIEWER = "reviewer"  # asked for a review of its artifacts
    TAKER = "taker"  # any agent, while the task is free
    COORDINATOR = "coordinator"  # made so by a person, for all of the project
    PERSON = "person"  # a person, an unbound token or the hub itself, without an agent's name
    STAND_IN = "stand-in"  # a person, or an unbound token, in the name of an agent
    STRANGER = "stranger"  # an agent, by a token of its own


class Verb(StrEnum):
    """A verb on a task, as a sentence says it."""

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
    COMMENT = "comment on"


class VerbManner(StrEnum):
    """The manner of a verb: a door's documented words may allow it to others, or to fewer."""

    PLAIN = "plainly"  # REST, the command line, the hub's own tools, and all other tools
    ANSWER = "by an answer"  # CommHub's send_ack and send_reply, and Relay's update_task
    BOARD = "on a board"  # cmdop's issue_update and issue_close, which set its status
    OWN = "with one's own"  # GolemXV's update_task and complete_task, CommHub's report_completion


P, V, M = TaskRole, Verb, VerbManner
_DOER = frozenset({P.HOLDER})
_TAKER = _DOER | {P.TAKER}
_CHARGED = frozenset({P.HOLDER, P.COORDINATOR, P.PERSON})
_ANSWERING = _CHARGED | {P.SENDER, P.TAKER}
_STEERING = _CHARGED | {P.SENDER, P.STAND_IN}
_JUDGING = frozenset({P.SENDER, P.REVIEWER, P.COORDINATOR, P.PERSON, P.STAND_IN})

MAY: dict[Verb, frozenset[TaskRole]] = {
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
    V.COMMENT: frozenset(TaskRole),
}

# A manner is open to these roles alone, whatever the verb; the others are open to all.
OPEN_TO: dict[VerbManner, frozenset[TaskRole]] = {M.ANSWER: _ANSWERING, M.OWN: _DOER}

# Roles that a manner allows in place of those of the verb alone.
MAY_SO: dict[VerbManner, dict[Verb, frozenset[TaskRole]]] = {
    M.ANSWER: {
        V.CLAIM: _TAKER | {P.PERSON},  # they accept on behalf of the addressee
        **dict.fromkeys((V.START, V.SUBMIT, V.COMPLETE, V.FAIL, V.CANCEL, V.REOPEN, V.REASSIGN), _ANSWERING),
    },
    M.BOARD: {
        V.START: _ANSWERING,  # an agent that begins an issue means to have it
        **dict.fromkeys((V.SUBMIT, V.BLOCK, V.COMPLETE, V.FAIL, V.CANCEL), _STEERING | {P.TAKER}),
    },
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


def allowed(verb: Verb, manner: VerbManner = VerbManner.PLAIN) -> frozenset[TaskRole]:
    """Return the roles that allow the verb in that manner; the manner must be open to one of them, too (`OPEN_TO`)."""
    return MAY_SO.get(manner, {}).get(verb, MAY[verb])


def as_table() -> str:
    """Draw the table as Markdown, for the documentation: the verbs, the changes by manner, and who may use a manner."""
    head = ["", *TaskRole]
    lines: list[tuple[str, frozenset[TaskRole]]] = [
        *((verb, MAY[verb]) for verb in Verb),
        *((f"{verb}, {manner}", parts) for manner, verbs in MAY_SO.items() for verb, parts in verbs.items()),
        *((f"anything {manner}", parts) for manner, parts in OPEN_TO.items()),
    ]
    rows = [[name, *("yes" if part in parts else "" for part in TaskRole)] for name, parts in lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))
