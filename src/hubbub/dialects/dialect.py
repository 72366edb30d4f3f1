"""Dialects: a name, tools, and a form of success and refusal.

A dialect is one module that fills a `Dialect`. It knows the core, but no SQL, no HTTP, no MCP, and no other dialect.
"""

import asyncio
import hashlib
import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypedDict, TypeVar, Unpack

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model

from hubbub.core.log import idempotency
from hubbub.core.people import access
from hubbub.core.transaction import Transactions
from hubbub.dialects.call import Call, NotYet
from hubbub.dialects.reply_cache import CachedReply, ReplyCache, Versions
from hubbub.model import json_chunks
from hubbub.model.errors import HubError, Invalid
from hubbub.model.fleet.calls import ToolResult
from hubbub.model.json_fields import validation_message
from hubbub.model.mail.wakes import READ_INBOX
from hubbub.model.people.rights import Actor
from hubbub.model.records import Activity, Project
from hubbub.store.tx import Operation, Tx

Reply = Mapping[str, object]
Refusal = Callable[[Any], Reply]
Shape = Callable[[ToolResult], ToolResult]  # the encoded part of a result, made where the data was read
Fits = Callable[[Mapping[str, object]], str | None]  # why the arguments do not go together; None if they do
Run = TypeVar("Run", bound=Callable[..., Reply])

_MEANT = "null_is_meant"
NULLABLE = Field(json_schema_extra={_MEANT: True})  # for an argument documented as `X | null`
EMPTY_IS_NONE = AfterValidator(
    lambda given: given or None
)  # for an optional id: an empty one counts as left out
_OBJECT, _SINGLE = (dict, Mapping), (int, float, bool)  # told sooner than by their abstract classes
_STRICT = ConfigDict(strict=True, allow_inf_nan=False)  # JSON has no infinite numbers to answer with


class BadArguments(Exception):
    """The arguments do not fit the tool; the message says which and why, in one sentence."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: its contract, the function behind it, and the form of its refusals."""

    name: str
    description: str
    input: type[BaseModel]
    names: frozenset[str]  # of the arguments
    schema: Mapping[str, object]
    run: Callable[..., Reply]
    call_as: str | None  # the parameter by which the function takes its `Call`
    refusals: Mapping[type[HubError], Refusal]
    reads: bool = False
    long: bool = False
    short: bool = False
    told_once: str | None = None
    shown: Callable[[Reply], str] | None = None
    fits: Fits | None = None
    kept: ReplyCache | None = None  # its last replies, if they are kept

    def bound(self, arguments: Mapping[str, object], call: Call | None, door: str) -> Operation[Reply]:
        """Bind the call, whose caller comes in at `door`, into an operation. Raises `BadArguments`."""
        values = self.check(arguments)
        if self.call_as is not None:
            values[self.call_as] = call

        def operation(tx: Tx) -> Reply:
            tx.door = door
            if call is not None:
                call.begin()
                if call.is_again:
                    access.require_valid(tx)
            try:
                if self.kept is not None:
                    return self.kept.reply(tx, values, lambda tx: self.run(tx, **values))
                return self.run(tx, **values)
            finally:
                if call is not None:
                    call.speaker = tx.speaker

        return operation

    def check(self, arguments: Mapping[str, object]) -> dict[str, object]:
        """Return the arguments as the function takes them. Unknown ones are ignored, null means omitted."""
        return dict(vars(self._checked(arguments)))

    def given(self, arguments: Mapping[str, object]) -> dict[str, object]:
        """Return the given arguments of the tool, as JSON. Raises `BadArguments`."""
        return self._checked(arguments).model_dump(exclude_unset=True)

    def _checked(self, arguments: Mapping[str, object]) -> BaseModel:
        given = {
            name: _number(value)
            for name, value in arguments.items()
            if value is not None and name in self.names
        }
        if not _all_storable(given) and (path := _unstorable(given)):
            raise BadArguments(f"{path}: must be Unicode text without NUL characters")
        try:
            checked = self.input.model_validate(given)
        except ValidationError as error:
            raise BadArguments(validation_message(error.errors(include_url=False))) from None
        if self.fits is not None and (why := self.fits(given)) is not None:
            raise BadArguments(why)
        return checked


class ToolOptions(TypedDict, total=False):
    """The properties of a tool that its function does not show."""

    reads: bool  # it changes nothing
    long: bool  # it may read for some time, and must not hold up others
    short: bool  # it takes a bounded number of steps, however large the store
    told_once: str | None  # the field of the reply that holds a secret, which is not stored
    shown: Callable[[Reply], str] | None  # the text for people and models instead of the reply's JSON
    fits: Fits | None  # why arguments that are each right do not go together


def complete(outcome: ToolResult) -> ToolResult:
    """Return the outcome with all its rows."""
    value = json_chunks.complete(outcome.value)
    return outcome if value is outcome.value else replace(outcome, value=value)


@dataclass(slots=True)
class Dialect:
    """A tool set spoken by the hub.

    `success` and `refusals` shape the replies; `invalid` is the reply to wrong arguments, `unknown` to an unknown tool.
    `guide` tells an agent how to work here. Followers of one inbox first get `greeting`, then activities as
    `inbox_event` shapes them; it returns None for an activity that does not concern them.
    """

    name: str
    guide: str
    success: Callable[[Reply], Reply]
    refusals: Mapping[type[HubError], Refusal]
    invalid: Callable[[str], Reply]
    unknown: Callable[[str], Reply]
    greeting: Callable[[str, Project], Reply] | None = None
    inbox_event: Callable[[Tx, Activity], Reply | None] | None = None
    refusals_are_errors: bool = False  # whether the protocol is to call a refusal an error
    leave: Callable[[Tx, Call], None] | None = None  # what the end of a connection means for its agent
    read_mail: str = READ_INBOX  # what its agents are told to do about unread mail
    streams: bool = False  # whether its tools may send or ask something before they answer
    tools: dict[str, Tool] = field(default_factory=dict)

    def tool(
        self,
        refusals: Mapping[type[HubError], Refusal] | None = None,
        *,
        required: Sequence[str] = (),
        **options: Unpack[ToolOptions],
    ) -> Callable[[Run], Run]:
        """Register a function as a tool: its name, signature and docstring are the contract.

        Its first parameter is the transaction. `required` are arguments that the schema demands, though the function
        can find them in the context of a call without them.
        """

        def register(run: Run) -> Run:
            parameters = inspect.signature(run, eval_str=True).parameters.values()
            arguments = _arguments(run.__name__, parameters)
            self.tools[run.__name__] = Tool(
                name=run.__name__,
                description=inspect.getdoc(run) or "",
                input=arguments,
                names=frozenset(arguments.model_fields),
                schema=_plain_schema(arguments, required),
                run=run,
                call_as=next((p.name for p in parameters if p.annotation is Call), None),
                refusals={**self.refusals, **(refusals or {})},
                **options,
            )
            return run

        return register

    def keeps(self, versions: Callable[..., Versions | None]) -> Callable[[Run], Run]:
        """Make a reading tool build the same reply only once (`ReplyCache`), if it depends on neither caller nor time.

        `versions` takes the tool's arguments, and returns the version of everything in the reply.
        """

        def keep(run: Run) -> Run:
            self.tools[run.__name__] = replace(self.tools[run.__name__], kept=ReplyCache(versions))
            return run

        return keep

    async def call(
        self,
        transactions: Transactions,
        actor: Actor,
        name: str,
        arguments: Mapping[str, object],
        key: str | None = None,
        call: Call | None = None,
        *,
        shape: Shape = complete,
    ) -> ToolResult:
        """Call a tool as `actor`, in one transaction; `call` is the context, for tools that ask for it.

        With an idempotency `key`, a repeated write gets the answer of the first and changes nothing. `shape` encodes
        the data where it is read: a large reply never exists as a whole.
        """
        tool = self.tools.get(name)
        if tool is None:
            return ToolResult(self.unknown(name), is_error=True)
        try:
            arguments = self.understood(tool, arguments)
            operation = tool.bound(arguments, call, self.name)
        except BadArguments as error:
            return ToolResult(self.invalid(str(error)), is_error=True)

        async def attempt() -> ToolResult:
            if tool.reads:
                read = lambda tx: shape(self._told(tool, operation(tx)))  # noqa: E731
                return await transactions.read(actor, read, long=tool.long)
            same = digest(self.name, name, arguments) if key is not None else ""
            speaker = partial(self.speaker, call)
            once = idempotency.once(key, same, operation, told_once=tool.told_once, speaker=speaker)
            return self._told(tool, await transactions.write(actor, once, short=tool.short))

        try:
            return await (attempt() if call is None else _patiently(attempt, actor, call))
        except HubError as error:
            return self.refuse(error, tool.refusals)

    def _told(self, tool: Tool, reply: Reply) -> ToolResult:
        if not isinstance(reply, CachedReply):
            return self._outcome(tool, reply)
        if reply.outcome is None:
            reply.outcome = self._outcome(tool, reply)
        return reply.outcome

    def _outcome(self, tool: Tool, reply: Reply) -> ToolResult:
        texts = (tool.shown(reply),) if tool.shown is not None else None
        return ToolResult(self.success(reply), texts=texts)

    def understood(self, _tool: Tool, arguments: Mapping[str, object]) -> Mapping[str, object]:
        """Return the arguments as they are meant. Raises `BadArguments`."""
        return arguments

    def is_one_step(self, _tool: str, _given: Mapping[str, object]) -> bool:
        """Tell whether a call ends with its transaction, or keeps nothing before it waits."""
        return True

    def speaker(self, _call: Call | None, _tx: Tx) -> str | None:
        """Return the caller, if token and arguments do not identify it, so that agents' keys are kept apart."""
        return None

    def refuse(self, error: HubError, refusals: Mapping[type[HubError], Refusal] | None = None) -> ToolResult:
        """Return `error` in this dialect's words."""
        known = self.refusals if refusals is None else refusals
        if isinstance(error, Invalid):
            return ToolResult(self.invalid(str(error)), is_error=True, refusal=error)
        for kind in type(error).__mro__:
            if kind in known:
                return ToolResult(known[kind](error), is_error=self.refusals_are_errors, refusal=error)
        raise error


async def _patiently(attempt: Callable[[], Awaitable[ToolResult]], actor: Actor, call: Call) -> ToolResult:
    """Return the outcome of a call that may have to wait for it."""
    try:
        outcome = await attempt()
    except NotYet as wait:
        if not call.may_wait:
            raise
        outcome = await _waited(attempt, actor, call, wait)
    call.finish()
    return outcome


async def _waited(
    attempt: Callable[[], Awaitable[ToolResult]], actor: Actor, call: Call, wait: NotYet
) -> ToolResult:
    """Try again at each activity that is worth it, and once more at the end."""
    deadline = asyncio.get_running_loop().time() + wait.patience.total_seconds()
    call.is_again = True
    async with call.site.news.follow(actor, wait.project_id, wait.agent) as news:
        while True:
            try:
                return await attempt()  # for activities before we followed
            except NotYet as again:
                call.is_woken = await _happened(news, again.wanted, deadline)
                if not call.is_woken:
                    break
    call.is_last_try = True
    return await attempt()


async def _happened(
    news: AsyncIterator[Sequence[Activity]], wanted: Callable[[Activity], bool], deadline: float
) -> bool:
    """Wait for a wanted activity; False if there is none in time, or there will be no more news."""
    with suppress(TimeoutError):
        async with asyncio.timeout_at(deadline):
            async for activities in news:
                if any(wanted(activity) for activity in activities):
                    return True
    return False


def digest(*call: object) -> str:
    """Return the digest of a call, for comparing two."""
    return hashlib.sha256(
        json.dumps(call, sort_keys=True, default=str).encode("utf-8", "replace")
    ).hexdigest()


def _number(value: object) -> object:
    """Return a number without a fraction as whole: in JSON Schema 5.0 is an integer too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _all_storable(value: object) -> bool:
    """Tell whether a store can keep all the texts in `value`; if not, `_unstorable` finds the wrong one."""
    waiting, texts = [value], list[str]()
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            texts.append(each)
        elif isinstance(each, _OBJECT):
            waiting += each.keys()
            waiting += each.values()
        elif type(each) not in _SINGLE and isinstance(each, Sequence):
            waiting += each
    return _is_storable("".join(texts))


def _unstorable(value: object, path: str = "") -> str | None:
    """Return the place of a text in `value` that no store can keep: NUL characters, halves of surrogate pairs."""
    if isinstance(value, str):
        return None if _is_storable(value) else path
    if isinstance(value, Mapping):
        if path and not all(map(_is_storable, value)):
            return path
        children = [(f"{path}.{name}".lstrip("."), child) for name, child in value.items()]
    elif isinstance(value, Sequence):
        children = [(f"{path}[{index}]", child) for index, child in enumerate(value)]
    else:
        return None
    return next((found for name, child in children if (found := _unstorable(child, name))), None)


def _is_storable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _arguments(name: str, parameters: Iterable[inspect.Parameter]) -> type[BaseModel]:
    """Return the model of a tool's arguments, from the parameters of its function."""
    fields: dict[str, Any] = {
        each.name: (each.annotation, ... if each.default is each.empty else each.default)
        for each in parameters
        if each.annotation not in (Tx, Call)
    }
    return create_model(name, __config__=_STRICT, **fields)


def _plain_schema(arguments: type[BaseModel], also_required: Sequence[str]) -> Mapping[str, object]:
    """Return the JSON Schema of the arguments as documented: no titles, and only those nullable that are `NULLABLE`."""
    schema = arguments.model_json_schema()
    properties = {name: _plain(prop) for name, prop in schema.get("properties", {}).items()}
    required = [*also_required, *schema.get("required", [])]
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _plain(prop: Mapping[str, Any]) -> dict[str, Any]:
    """Return a property without its title and its null default; without its null, unless that is meant."""
    choices = [choice for choice in prop.get("anyOf", []) if choice.get("type") != "null"]
    plain = {k: v for k, v in prop.items() if k not in ("anyOf", "title", "default", _MEANT)}
    if len(choices) == 1:
        plain |= choices[0]
    elif choices:
        plain["anyOf"] = choices
    if _MEANT in prop:
        plain["type"] = [plain["type"], "null"]
    if prop.get("default") is not None:
        plain["default"] = prop["default"]
    return plain
