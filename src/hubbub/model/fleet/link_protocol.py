"""Messages between a hub and a machine over their link, as JSON, and how they are cut into frames.

A text frame of the WebSocket is a piece: `+` and part of a message that continues, or `.` and its last part. So a
long result delays nothing else, and large frames are not needed. A message is an object with a `kind`:

machine to hub                              hub to machine
hello     who it is, what it holds          welcome   the link stands
taken     an order is noted, work begins    order     do this, if your gate lets it
progress  a piece of an order's text        cancel    nobody wants that order any more
ended     an order's outcome                kept      its outcome is safe, forget it
request   what a machine needs of its hub   reply     what came of the request
fares     how its agents fare               bye       the link ends, and whether to come back
load      how busy it is, now and then      sign      sign this statement, if you saw it so

Their members beside the kind; ids are texts, `order` is the id of an order:

hello     as `hello_json`, and versions     welcome   version: the one that both speak from now on
taken     order                             order     order, and as `call_json`
progress  order, text                       cancel    order
ended     order, outcome (`result_json`)   kept      order
request   id, need, order, what that takes  reply     id, and value (an object) or error (code, message)
fares     fares (a list)                    bye       why (a `CloseReason`); versions, if it is about these
load      as `load_json`                   sign      task_id, payload; from version 5 on

A request is repeated with the same id after a reconnect, and done once; its reply may come over a later link:

need         takes                                              value of the reply
put          approval_id, receipt, patience_seconds, question   {}: the question is there, nobody waited
ask          the same; put already is no second question        `answered_json`, and the digest of the question
act          act (`call_json`), approval_id or null            `result_json`
begin_task   title, description; who, which is not believed     task_id
end_task     task_id, text, failed                              {}
seal         seq, digest                                        {}
key          -                                                  key, a text or null
credentials  agent                                              url, token
lend         task_id, a text or null; chain; who, as above      url, token; from version 2 on
use          used, a list; task_id, a text or null; who         {}; from version 3 on
signed       task_id; signature and refusal, one of them null   {}; from version 5 on

`order` is the order that needs it; null where there is none: for `seal`, `key`, `end_task`, `signed`, and for the
credentials of an agent that is started anew. An order counts as held by its machine until it has ended, and for as
long as a task is open that was begun for it. No message is trusted: any deviation from this is `Invalid`.
"""

import io
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from hubbub.model.errors import Conflict, Forbidden, HubError, Invalid, StoreUnavailable
from hubbub.model.fleet.calls import (
    Answered,
    NodeCall,
    NodeInfo,
    Principal,
    Question,
    QuestionKind,
    Ruling,
    ToolResult,
)
from hubbub.model.fleet.managed_agents import ProcessStatus
from hubbub.model.fleet.managed_agents import fares_of as process_statuses_of
from hubbub.model.fleet.nodes import Load
from hubbub.model.ids import parse_id
from hubbub.model.json_fields import (
    flag_of,
    ids_of,
    number_of,
    number_or_none,
    object_of,
    span_or_none,
    text_of,
    text_or_none,
    texts_of,
    word_of,
)
from hubbub.model.timestamps import milliseconds

Message = Mapping[str, object]

PATH = "/api/v1/nodes/link"
PIECE = 32_768  # characters; fewer than the bytes of the largest frame that the hub takes
LARGEST_FRAME = 4 * PIECE + 4  # bytes, where each character takes four
LARGEST = 24 * 1024 * 1024  # characters of a message: a whole file, escaped
LONGEST_PATIENCE = timedelta(hours=1)  # of an order's caller with a person who is asked first
DEEPEST = 100  # objects and arrays in one another
MORE, END = "+", "."

_HALF = re.compile(r"\\u[dD][89a-fA-F]")  # a surrogate, perhaps without its partner

encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


class MessageKind(StrEnum):
    """The kind of a message."""

    HELLO = "hello"
    TAKEN = "taken"
    PROGRESS = "progress"
    ENDED = "ended"
    REQUEST = "request"
    FARES = "fares"
    LOAD = "load"

    WELCOME = "welcome"
    ORDER = "order"
    CANCEL = "cancel"
    KEPT = "kept"
    REPLY = "reply"
    SIGN = "sign"
    BYE = "bye"


class HubRequest(StrEnum):
    """A machine's request to its hub, over a link or by another wire (`serve/fleet/hub_services.py`)."""

    PUT = "put"  # a question, with an id that the machine chose
    ASK = "ask"  # put it, unless it is there already, and wait for the ruling
    ACT = "act"  # do the hub's part of a call, for the caller of an order
    SEAL = "seal"
    KEY = "key"
    BEGIN_TASK = "begin_task"
    END_TASK = "end_task"
    CREDENTIALS = "credentials"  # for an agent that was placed on the machine
    LEND = "lend"  # for the machine's agent program, for an order
    GIVE_BACK = "give_back"  # a lent token; never over a link, where it ends with its order
    RESOLVE = "resolve"  # the answer of the client that made the call; never over a link
    WITHDRAW = "withdraw"  # a question that is not asked any more; a greeting over a link says so, too
    USE = "use"  # use by the machine's agent program, for an order
    LEAVE = "leave"  # whether that agent may use more, for an order
    LIMIT = "limit"  # a usage limit that its program reported
    SIGNED = "signed"  # or not: the answer to a statement
    FARE = "fare"  # statuses of the agents placed here; over a link it is a message of its own


class CloseReason(StrEnum):
    """The reason why a link ends."""

    TAKEN = "name_taken"  # another machine of that name is linked: do not come back
    REVOKED = "revoked"  # the machine's key is not valid any more: do not come back
    CLOSING = "closing"  # the hub stops; come back
    BROKEN = "broken"  # a message made no sense; come back
    VERSION = "version"  # there is no common version; come back, as either end may be newer then


ABOUT = ("name", "machine_id", "platform", "version", "sandbox")  # what each machine says of itself
FINAL = frozenset({CloseReason.TAKEN, CloseReason.REVOKED})
LONGEST_REFUSAL = 2_000  # characters
LARGEST_LOAD = 2**53  # of any of its numbers, so that every reader can hold it
REFUSALS: Mapping[str, type[HubError]] = {
    each.code: each for each in (Conflict, Forbidden, Invalid, StoreUnavailable)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """The first message of a machine. `running` and `ended` are the orders it holds, the latter not yet kept."""

    instance: str  # of this process: after a reconnect, the same id is the same process
    about: NodeInfo
    runtime: str | None = None  # the name of the agent that can be asked there
    labels: tuple[str, ...] = ()
    running: tuple[UUID, ...] = ()
    ended: tuple[UUID, ...] = ()
    fares: tuple[ProcessStatus, ...] = ()
    signing_key: str | None = None  # its public half; None if it signs nothing
    asked: tuple[UUID, ...] | None = None  # the questions that it waits for; None if it does not say


def message(kind: MessageKind, **content: object) -> str:
    """Encode a message, to be cut into pieces. Raises `Invalid` if JSON in UTF-8 cannot hold it, or it is too long."""
    try:
        text = encode({"kind": kind, **content})
        text.encode()
    except (ValueError, RecursionError):  # NaN, half a character, thousands of levels
        raise Invalid("it has a value that a link cannot carry") from None
    if len(text) > LARGEST:
        raise Invalid(f"it is longer than the {LARGEST} characters that a link carries at a time")
    require_shallow(content)
    return text


def pieces(text: str) -> Iterator[str]:
    """Cut a message into pieces for the line."""
    last = max(len(text) - 1, 0) // PIECE * PIECE
    for start in range(0, last, PIECE):
        yield MORE + text[start : start + PIECE]
    yield END + text[last:]


@dataclass(slots=True)
class MessageAssembler:
    """Puts the pieces of one direction together again."""

    # Extended in place: however small the pieces are, they take no more memory than their message.
    _held: io.StringIO = field(default_factory=io.StringIO)

    def add(self, piece: str) -> Message | None:
        """Add a piece and return the message that it ends, if any. Raises `Invalid`."""
        mark, part = piece[:1], piece[1:]
        length = self._held.tell() + len(part)
        if mark not in (MORE, END) or length > LARGEST:
            raise Invalid(
                f"a piece begins with {MORE!r} or {END!r}; a message has at most {LARGEST} characters"
            )
        self._held.write(part)
        if mark == MORE:
            return None
        text, self._held = self._held.getvalue(), io.StringIO()
        return _message(text)


def _message(text: str) -> Message:
    try:
        found = json.loads(text, parse_constant=_no_number, parse_float=_finite)
        if _HALF.search(text):
            encode(found).encode()
    except (ValueError, RecursionError):
        raise Invalid("a message is an object in JSON") from None
    require_shallow(found)
    if not isinstance(found, dict):
        raise Invalid("a message is an object in JSON")
    word_of(found, "kind", MessageKind)
    return found


def _no_number(name: str) -> object:
    raise ValueError(name)


def _finite(written: str) -> float:
    if math.isinf(found := float(written)):
        raise ValueError(written)
    return found


def require_shallow(found: object) -> None:
    """Raise `Invalid` for a message that nests too deeply for its readers."""
    level = [found]
    for _ in range(DEEPEST):
        children = (
            each.values() if isinstance(each, dict) else each
            for each in level
            if isinstance(each, dict | list | tuple)
        )
        level = [child for among in children for child in among if isinstance(child, dict | list | tuple)]
        if not level:
            return
    raise Invalid(f"a message nests at most {DEEPEST} deep")


def granted(request_id: str, value: Mapping[str, object]) -> str:
    """Encode the reply to a request that was done."""
    return message(MessageKind.REPLY, id=request_id, value=value)


def refused(request_id: str, error: HubError) -> str:
    """Encode the reply to a request that was refused."""
    return message(MessageKind.REPLY, id=request_id, error={"code": error.code, "message": str(error)})


def value_of(reply: Message) -> Message:
    """Return the value of a reply. Raises the refusal in it as a `HubError` of its kind, and `Invalid`."""
    if "error" not in reply:
        return object_of(reply, "value")
    error = object_of(reply, "error")
    kind = REFUSALS.get(text_of(error, "code"), HubError)
    raise kind(text_of(error, "message")[:LONGEST_REFUSAL])


# ---- parts of messages ----------------------------------------------------------------------------------------------


def call_id(given: Message, name: str = "order") -> UUID:
    """Return the id of the order that a message is about. Raises `Invalid`."""
    found = parse_id(text_of(given, name))
    if found is None:
        raise Invalid(f"{name}: must be the id of an order")
    return found


def call_json(order: NodeCall) -> Mapping[str, object]:
    """Encode an order for its machine, without the parts that mean something only to the sender."""
    return {
        "who": asdict(order.who),
        "tool": order.tool,
        "arguments": order.arguments,
        "chain": order.chain,
        **({"patience_ms": milliseconds(order.patience)} if order.patience is not None else {}),
    }


def call_of(given: Message) -> NodeCall:
    """Decode an order. Raises `Invalid`."""
    return NodeCall(
        who=principal_of(object_of(given, "who")),
        tool=text_of(given, "tool"),
        arguments=object_of(given, "arguments"),
        chain=texts_of(given, "chain"),
        patience=span_or_none(given, "patience_ms", LONGEST_PATIENCE),
    )


def principal_of(given: Message) -> Principal:
    """Decode a caller. Raises `Invalid`."""
    return Principal(
        project=text_of(given, "project"),
        name=text_of(given, "name"),
        token_id=text_or_none(given, "token_id"),
        is_person=flag_of(given, "is_person"),
    )


def result_json(outcome: ToolResult) -> Mapping[str, object]:
    return {name: getattr(outcome, name) for name in ("value", "is_error", "texts", "structured")}


def result_of(given: Message) -> ToolResult:
    """Decode a result. Raises `Invalid`."""
    value, structured = given.get("value"), given.get("structured")
    if not isinstance(value, dict | list) or not isinstance(structured, dict | None):
        raise Invalid("value: must be an object or an array, structured an object")
    texts = None if given.get("texts") is None else texts_of(given, "texts")
    return ToolResult(value=value, is_error=given.get("is_error") is True, texts=texts, structured=structured)


def question_json(question: Question) -> Mapping[str, object]:
    return asdict(question)


def question_of(given: Message) -> Question:
    """Decode a question. Raises `Invalid`."""
    return Question(
        who=principal_of(object_of(given, "who")),
        node=text_of(given, "node"),
        tool=text_of(given, "tool"),
        arguments=object_of(given, "arguments"),
        folder=text_of(given, "folder"),
        shown=text_of(given, "shown"),
        reason=text_of(given, "reason"),
        digest=text_of(given, "digest"),
        kind=word_of(given, "kind", QuestionKind),
        dangerous=flag_of(given, "dangerous"),
    )


def answered_json(answered: Answered) -> Mapping[str, object]:
    return asdict(answered)


def answered_of(given: Message) -> Answered:
    """Decode an answer. Raises `Invalid`."""
    return Answered(
        word_of(given, "ruling", Ruling),
        text_of(given, "approval_id"),
        text_or_none(given, "by"),
        text_or_none(given, "signature"),
    )


def hello_json(hello: Hello) -> Mapping[str, object]:
    ids = {"running": hello.running, "ended": hello.ended, "asked": hello.asked or ()}
    return asdict(hello) | {name: list(map(str, each)) for name, each in ids.items()}


def hello_of(given: Message) -> Hello:
    """Decode the first message of a machine. Raises `Invalid`."""
    about = object_of(given, "about")
    return Hello(
        instance=text_of(given, "instance"),
        about=NodeInfo(
            **{each: text_of(about, each) for each in ABOUT}, policy_fault=text_or_none(about, "policy_fault")
        ),
        runtime=text_or_none(given, "runtime"),
        labels=texts_of(given, "labels"),
        running=ids_of(given, "running"),
        ended=ids_of(given, "ended"),
        fares=process_statuses_of(given),
        signing_key=text_or_none(given, "signing_key"),
        asked=ids_of(given, "asked") if "asked" in given else None,
    )


def load_json(load: Load) -> Mapping[str, object]:
    return asdict(load)


def load_of(given: Message) -> Load:
    """Decode a machine's load. Raises `Invalid`."""
    load1, cpus = given.get("load1"), number_of(given, "cpus")
    if not isinstance(load1, int | float) or isinstance(load1, bool):
        raise Invalid("load1: must be a number")
    used, total = number_or_none(given, "memory_used"), number_or_none(given, "memory_total")
    if not all(0 <= each < LARGEST_LOAD for each in (load1, cpus, used or 0, total or 0)):
        raise Invalid("load: its numbers must not be negative or larger than a machine's")
    return Load(load1=float(load1), cpus=cpus, memory_used=used, memory_total=total)
