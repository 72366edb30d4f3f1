"""Calls to a machine and their results, in the terms that hub, tool sets and machines share."""

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Protocol

from hubbub.model.errors import HubError
from hubbub.model.json_chunks import encoded, has_rows, whole
from hubbub.model.json_text import compact


class RefusalCode(StrEnum):
    """The reason why a machine does not perform a call."""

    DENIED = "denied"
    NEEDS_APPROVAL = "needs_approval"
    NOT_FOUND = "not_found"
    TIMEOUT = "timeout"
    INVALID = "invalid"
    OFFLINE = "offline"
    TOO_LARGE = "too_large"
    FAILED = "failed"


# For these reasons a call may be made again with the same key.
NOTHING_DONE = frozenset(
    {
        RefusalCode.DENIED,
        RefusalCode.NEEDS_APPROVAL,
        RefusalCode.INVALID,
        RefusalCode.NOT_FOUND,
        RefusalCode.OFFLINE,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The caller, according to the token."""

    project: str  # its slug
    name: str  # of the agent, or of the person
    token_id: str | None = None
    is_person: bool = False


class QuestionKind(StrEnum):
    """The subject of a question to a person."""

    CALL = "call"  # that one call may go on
    RULE = "rule"  # that the machine's policy gets a rule
    PROMPT = "prompt"  # that an agent's client may use a tool: what the client would ask the person before it


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question that a person answers before a call may go on."""

    who: Principal
    node: str
    tool: str
    arguments: Mapping[str, object]
    folder: str
    shown: str  # the resolved words of the call, invisible characters escaped
    reason: str
    digest: str  # of caller, tool, canonical arguments, folder, node: 64 hex digits
    kind: QuestionKind = QuestionKind.CALL
    dangerous: bool = False  # the gate's floor demands the question, whatever the policy says


def call_digest(who: Principal, tool: str, arguments: Mapping[str, object], folder: str, node: str) -> str:
    """Digest of one call: two calls that differ in anything have different digests."""
    call = [who.project, who.name, who.token_id, tool, arguments, folder, node]
    canonical = json.dumps(call, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


class Ruling(StrEnum):
    """The answer to a question."""

    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"  # nobody answered in time


@dataclass(frozen=True, slots=True)
class Answered:
    """A question's ruling, and the id under which people find it."""

    ruling: Ruling
    approval_id: str
    by: str | None = None  # the person
    signature: str | None = None  # theirs, in base64, if they signed the shown text


class Client(Protocol):
    """The person at the calling client, if the operator accepts their answers."""

    @property
    def approval_id(self) -> str | None:
        """Return the approval that they were asked for before, if this call repeats one to bring their answer."""

    async def ask(self, question: Question, approval_id: str) -> bool | None:
        """Ask for yes or no; None for neither. Raises `InputRequired` if the call has to be made again."""


class InputRequired(Exception):
    """The call ends here, undone: the client asks its user and repeats the call with the answer."""

    def __init__(self, question: Question, approval_id: str) -> None:
        super().__init__("the client is asked first")
        self.question, self.approval_id = question, approval_id


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCall:
    """One call of a tool, for a machine to perform if its gate lets it."""

    who: Principal
    tool: str
    arguments: Mapping[str, object] = field(default_factory=dict)  # checked, without those that were left out
    client: Client | None = None
    progress: Callable[[str], Awaitable[None]] | None = None  # tells the caller a piece of text while it runs
    chain: tuple[str, ...] = ()  # the agents that asked one another, up to this call
    approval_id: str | None = None  # of the person's yes, passed on to the program that does it
    approved: str | None = None  # the words that a person has already approved, as the hub knows
    key: str | None = None  # the client's own: the same call repeated with it is the same order
    attempt: int | None = None  # the number of the attempt at the call with that key
    patience: timedelta | None = None  # with the person who is asked first, if less than the machine's


def as_json(value: object) -> str:
    """Encode JSON for the line, without blanks."""
    if has_rows(value):
        return b"".join(encoded(value, _in_bytes)).decode()
    return compact(value)


def _in_bytes(value: object) -> bytes:
    return compact(value).encode()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call, and whether the protocol is to call it an error.

    `texts`, where given, replace the JSON for people and models. `refusal` is the hub's own refusal, for edges that
    have words of their own for it; it never leaves this process.
    """

    value: object  # JSON: an object or an array
    _: KW_ONLY
    is_error: bool = False
    texts: tuple[str, ...] | None = None
    structured: Mapping[str, object] | None = None  # if it says more than `value`
    refusal: HubError | None = None
    encoded: dict[object, Sequence[bytes]] = field(
        init=False, default_factory=dict, compare=False, repr=False
    )
    """Forms that edges have made of it, each under a key of its own: an outcome may be the answer to many calls."""

    @property
    def content(self) -> Mapping[str, object]:
        """The JSON object for programs; an array is wrapped in one."""
        if self.structured is not None:
            return self.structured
        return whole(self.value) if isinstance(self.value, Mapping) else {"result": self.value}

    @property
    def shown(self) -> tuple[str, ...]:
        """The texts for people and models; an array stands alone."""
        return self.texts if self.texts is not None else (as_json(self.value),)

    @property
    def code(self) -> RefusalCode | None:
        """Return the reason why the call failed or was not done; None if it was done well."""
        if not self.is_error:
            return None
        told = self.value.get("code") if isinstance(self.value, Mapping) else None
        return RefusalCode(told) if isinstance(told, str) and told in set(RefusalCode) else RefusalCode.FAILED

    @property
    def why(self) -> str:
        """Return the reason as a sentence: the gate's own if the gate denied the call; empty if there is none."""
        told = self.value if isinstance(self.value, Mapping) else {}
        said = told.get("reason") if self.code is RefusalCode.DENIED else None
        return str(said or told.get("error") or "")

    @property
    def is_undone(self) -> bool:
        """True if the machine has done nothing; of several machines, each."""
        among = self.value.get("by_host") if isinstance(self.value, Mapping) else None
        if isinstance(among, Mapping) and among:
            return all(
                isinstance(each, Mapping) and each.get("code") in NOTHING_DONE for each in among.values()
            )
        return self.code in NOTHING_DONE


def refused(code: RefusalCode, sentence: str, **more: object) -> ToolResult:
    """Make the result of a call that was not done, with the reason in one sentence."""
    return ToolResult(value={"error": sentence, "code": str(code), **more}, is_error=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool, as presented to an agent that may call it."""

    name: str
    description: str
    schema: Mapping[str, object]  # JSON Schema of its arguments
    check: Callable[[Mapping[str, object]], Mapping[str, object]]  # as an order takes them; raises `Invalid`


PerformCall = Callable[[NodeCall], Awaitable[ToolResult]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeInfo:
    """A machine, as it presents itself."""

    name: str
    machine_id: str  # the same when the name changes
    platform: str
    version: str
    sandbox: str  # bwrap, landlock or none
    policy_fault: str | None = None  # why its policy does not load, so that it denies everything


class Node(Protocol):
    """A machine, as its callers see it."""

    @property
    def about(self) -> NodeInfo: ...

    @property
    def name(self) -> str: ...

    @property
    def runtime(self) -> str | None:
        """The name of the agent that can be asked there just now; None if there is none."""

    async def perform(self, order: NodeCall, act: PerformCall | None = None) -> ToolResult:
        """Perform the call if the gate allows it, and return the result.

        `act` does the part that is not the machine's: it is called once the gate has allowed the call.
        """


class Fleet(Protocol):
    """The machines that are linked to the hub, by name."""

    async def find(self, project: str, name: str, order: NodeCall | None = None) -> Node | None:
        """Find the project's machine of that name, in any case, while it is there; None stands for the hub's own.

        A machine is there while a hub of this store holds a link to it, or lost it a moment ago. An `order` with a
        key finds an absent machine too: an earlier call with the key may have begun it, also just now.
        """
