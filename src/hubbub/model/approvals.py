"""Approvals: questions that a person answers before a call may go on, and the little life that each has."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum, auto
from uuid import UUID

from hubbub.model.machines import said_of
from hubbub.model.orders import QuestionKind

SHOWN_LENGTH = 100_000  # characters; more than the longest command that the gate lets anybody ask about
STRING_LENGTH = 2_000  # of a string among the arguments, where people see them beside what is shown


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


_MARK = 40  # characters at most that say how much is missing

# Characters of other categories that show nothing, or are taken for a blank.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")


def visible(text: str) -> str:
    """`text` with every character written out that people do not see, or that reorders what they see.

    Line ends and tabs too: what is shown stands on one line, so that nothing can be pushed out of sight.
    """
    return "".join(each if _is_seen(each) else _escape(each) for each in text)


def _is_seen(character: str) -> bool:
    if " " <= character <= "~":
        return True
    is_selector = "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    category = unicodedata.category(character)
    return not (is_selector or character in _BLANK or category[0] in "CZ")


def _escape(character: str) -> str:
    short = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    number = ord(character)
    return short.get(character) or (f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}")


def cut(text: str, length: int) -> str:
    """`text`, or its beginning and how much is missing: at most `length` characters in all."""
    kept = length - _MARK
    return text if len(text) <= length else f"{text[:kept]}… ({len(text) - kept} characters more)"


def beginnings(value: object) -> object:
    """JSON of which people will see some: without what of long texts they will not, which may be most of it."""
    if isinstance(value, str):
        return value[: 4 * STRING_LENGTH]
    if isinstance(value, Mapping):
        return {name: beginnings(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [beginnings(each) for each in value]
    return value


def abridged(value: object) -> object:
    """JSON for people: long texts in it are cut, and what is not seen is written out."""
    if isinstance(value, str):
        return visible(cut(value, STRING_LENGTH))
    if isinstance(value, Mapping):
        return {visible(str(name)): abridged(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [abridged(each) for each in value]
    return value
