"""A dialect of which each call passes the gate of a machine: some tools are done there, the others by the hub."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast
from uuid import UUID

from hubbub.core import idempotency
from hubbub.core.transaction import Transactions
from hubbub.dialects.call import Call
from hubbub.dialects.cmdop.vouching import APPROVAL, approved_words
from hubbub.dialects.dialect import Answer, BadArguments, Dialect, Reply, Tool, as_json, digest
from hubbub.model.errors import Conflict, HubError, Invalid
from hubbub.model.orders import AskFirst, Code, Node, Order, Outcome, Principal, ToolSpec, refused
from hubbub.model.rights import Actor, Right
from hubbub.store.tx import Tx

Declared = TypeVar("Declared", bound=Callable[..., None])
Do = Callable[[], Awaitable[Answer]]

NOTHING_DONE = frozenset(
    {Code.DENIED, Code.NEEDS_APPROVAL, Code.INVALID, Code.NOT_FOUND, Code.OFFLINE}
)  # then a call may be made again with the same key
NO_MACHINE = "this hub was started without a machine of its own, and no other is connected"


@dataclass
class Gated(Dialect):
    """A tool set whose calls are orders to a machine.

    `of_machine` are the tools that the machine does itself. `identify` says from whom a call comes, if they have the
    right to it; `machine` which machine is meant, and raises a `HubError` where that one cannot be had.
    """

    identify: Callable[[Tx, Call, Right, Mapping[str, object]], Principal] = field(kw_only=True)
    machine: Callable[[Call], Node | None] = field(kw_only=True)
    of_machine: set[str] = field(default_factory=set)
    chosen: dict[UUID, str] = field(
        default_factory=dict
    )  # workspaces, by token, of callers without a connection
    _under_way: dict[tuple[object, str], asyncio.Future[Answer]] = field(default_factory=dict)

    def on_machine(self, *, reads: bool = False) -> Callable[[Declared], Declared]:
        """Declare a tool that the machine does: the signature and the docstring are the contract, there is no body."""

        def declare(tool: Declared) -> Declared:
            self.of_machine.add(tool.__name__)
            self.tool(reads=reads)(cast(Callable[..., Reply], tool))
            return tool

        return declare

    def catalogue(self) -> list[ToolSpec]:
        """The tools, as an agent on a machine is told of them."""
        return [
            ToolSpec(name=tool.name, description=tool.description, schema=tool.schema, check=_check(tool))
            for tool in self.tools.values()
        ]

    async def call(
        self,
        transactions: Transactions,
        actor: Actor,
        name: str,
        arguments: Mapping[str, object],
        key: str | None = None,
        call: Call | None = None,
    ) -> Answer:
        """As every dialect, once the gate of the machine has let the call through."""
        tool = self.tools.get(name)
        if tool is None:
            return Answer(self.unknown(name), is_error=True)
        assert call is not None  # it says which machine is meant
        try:
            order = await self._order(transactions, actor, tool, arguments, call)
            do = self._doing(transactions, actor, order, key, call)
            if key is None or name not in self.of_machine or tool.reads:
                return await do()
            return await self._once(transactions, actor, key, digest(self.name, name, arguments), do)
        except BadArguments as error:
            return Answer(self.invalid(str(error)), is_error=True)
        except HubError as error:
            return self.refuse(error, tool.refusals)

    async def _order(
        self,
        transactions: Transactions,
        actor: Actor,
        tool: Tool,
        arguments: Mapping[str, object],
        call: Call,
    ) -> Order:
        """The call as an order. Raises `BadArguments`, and a `HubError` for who may not give it."""
        given = tool.given(arguments)
        right = Right.READ if tool.reads and tool.name not in self.of_machine else Right.WRITE
        who = await transactions.read(actor, lambda tx: self.identify(tx, call, right, given))
        order = Order(who=who, tool=tool.name, arguments=given, client=call.client, progress=call.progress)
        if APPROVAL in call.meta and tool.name not in self.of_machine:
            approved = await transactions.write(actor, lambda tx: approved_words(tx, call, order))
            return replace(order, approved=approved)
        return order

    def _doing(
        self, transactions: Transactions, actor: Actor, order: Order, key: str | None, call: Call
    ) -> Do:
        """What does the order: the machine that is meant, else the hub alone. Raises a `HubError` if it is away."""
        node = self.machine(call)

        async def act(asked: Order) -> Outcome:
            again = key if (asked.tool, asked.chain) == (order.tool, order.chain) else None
            return outcome_of(
                await Dialect.call(self, transactions, actor, asked.tool, asked.arguments, again, call)
            )

        async def do() -> Answer:
            if node is not None:
                return answer_of(await node.perform(order, act))
            if order.tool in self.of_machine:
                return answer_of(refused(Code.OFFLINE, NO_MACHINE))
            return answer_of(await act(order))

        return do

    async def _once(self, transactions: Transactions, actor: Actor, key: str, same: str, do: Do) -> Answer:
        """Do what a machine does at most once for each key: it cannot be undone as a transaction can.

        Who asks again while it is under way waits for the same answer. Raises `Conflict`.
        """
        mine = (actor.token_id, f"{key}\n{same}")
        if mine in self._under_way:
            return await asyncio.shield(self._under_way[mine])
        coming = self._under_way[mine] = asyncio.get_running_loop().create_future()
        try:
            answer = await _done_once(transactions, actor, key, same, do)
            coming.set_result(answer)
            return answer
        finally:
            del self._under_way[mine]
            if not coming.done():
                coming.set_exception(
                    Conflict(f"an earlier call with the key {key!r} ended without an answer")
                )
                coming.exception()  # whether or not anybody waits for it


async def _done_once(transactions: Transactions, actor: Actor, key: str, same: str, do: Do) -> Answer:
    """The answer that is kept, else that of `do`, which is kept unless nothing was done. Raises `Conflict`."""
    known = await transactions.write(actor, lambda tx: idempotency.begin(tx, key, same))
    if known is not None:
        return _remembered(known)
    try:
        answer = await do()
    except AskFirst:
        await transactions.write(actor, lambda tx: idempotency.end(tx, key, None))
        raise
    kept = None if is_undone(outcome_of(answer)) else _kept(answer)
    await transactions.write(actor, lambda tx: idempotency.end(tx, key, kept))
    return answer


def _check(tool: Tool) -> Callable[[Mapping[str, object]], Mapping[str, object]]:
    def check(arguments: Mapping[str, object]) -> Mapping[str, object]:
        try:
            return tool.given(arguments)
        except BadArguments as error:
            raise Invalid(str(error)) from None

    return check


def answer_of(outcome: Outcome) -> Answer:
    """What came of an order, as it goes over the line: an array stands alone as text, and in an object else."""
    value = outcome.value
    content = cast(Reply, value) if isinstance(value, Mapping) else {"result": value}
    texts = outcome.texts if outcome.texts is not None else (as_json(value),)
    return Answer(
        outcome.structured if outcome.structured is not None else content, outcome.is_error, texts=texts
    )


def is_undone(outcome: Outcome) -> bool:
    """Whether the machine has done nothing."""
    code = outcome.value.get("code") if isinstance(outcome.value, Mapping) else None
    return outcome.is_error and code in NOTHING_DONE


def outcome_of(answer: Answer) -> Outcome:
    return Outcome(value=answer.content, is_error=answer.is_error, texts=answer.texts)


def _kept(answer: Answer) -> Reply:
    return {"content": answer.content, "is_error": answer.is_error, "texts": answer.texts}


def _remembered(kept: Mapping[str, Any]) -> Answer:
    texts = tuple(kept["texts"]) if kept["texts"] is not None else None
    return Answer(kept["content"], kept["is_error"], texts=texts)
