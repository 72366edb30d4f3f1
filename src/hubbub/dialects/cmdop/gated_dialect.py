"""A dialect whose calls pass the gate of a machine: some tools are done there, the others by the hub."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar, cast

from hubbub.core.fleet import own_machine
from hubbub.core.log import idempotency
from hubbub.core.transaction import Transactions
from hubbub.dialects.call import Call
from hubbub.dialects.cmdop import node_routing
from hubbub.dialects.cmdop.prior_approvals import APPROVAL, approved_words
from hubbub.dialects.dialect import BadArguments, Dialect, Fits, Reply, Shape, Tool, complete, digest
from hubbub.model.errors import Conflict, HubError, Invalid
from hubbub.model.fleet import call_chain
from hubbub.model.fleet.calls import InputRequired, Node, NodeCall, Principal, ToolResult, ToolSpec
from hubbub.model.people.rights import Actor, Right
from hubbub.store.tx import Tx

Declared = TypeVar("Declared", bound=Callable[..., None])
Do = Callable[[], Awaitable[ToolResult]]


@dataclass
class GatedDialect(Dialect):
    """A tool set whose calls are orders to a machine.

    `of_machine` are the tools that the machine does itself. `identify` returns the caller, if it has the right.
    """

    identify: Callable[[Tx, Call, Right, Mapping[str, object]], Principal] = field(kw_only=True)
    of_machine: set[str] = field(default_factory=set)
    _under_way: dict[tuple[object, str], tuple[asyncio.Future[ToolResult], int | None]] = field(
        default_factory=dict
    )

    def on_machine(self, *, reads: bool = False, fits: Fits | None = None) -> Callable[[Declared], Declared]:
        """Declare a tool that the machine does: the signature and the docstring are the contract, there is no body."""

        def declare(tool: Declared) -> Declared:
            self.of_machine.add(tool.__name__)
            self.tool(reads=reads, fits=fits)(cast(Callable[..., Reply], tool))
            return tool

        return declare

    def catalogue(self) -> list[ToolSpec]:
        """Return the tools, in the form for an agent on a machine."""
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
        *,
        shape: Shape = complete,  # the machine also gets the results of calls that it let through
    ) -> ToolResult:
        """Call a tool like any dialect, once the gate of the machine has let the call through."""
        tool = self.tools.get(name)
        if tool is None:
            return ToolResult(self.unknown(name), is_error=True)
        assert call is not None  # it says which machine is meant
        try:
            order, own = await self._order(transactions, actor, tool, arguments, call)
            trip = GatedCall(self, transactions, actor, call, order, own, None if tool.reads else key)
            return await trip.outcome()
        except BadArguments as error:
            return ToolResult(self.invalid(str(error)), is_error=True)
        except HubError as error:
            return self.refuse(error, tool.refusals)

    async def carry_out(
        self, transactions: Transactions, actor: Actor, asked: NodeCall, key: str, call: Call
    ) -> ToolResult:
        """Do a call that a machine's gate let through and sent back: by the hub, or by the machines that it names.

        `actor` is the caller of the machine's order; of `asked` only the tool, its arguments and the chain count. The
        same `key` gives the same outcome.
        """
        tool = self.tools.get(asked.tool)
        if tool is None or tool.name in self.of_machine - node_routing.BY_NAME - {node_routing.ASK_ALL}:
            raise Invalid(f"the hub has no tool {asked.tool!r}")
        try:
            order, own = await self._order(transactions, actor, tool, asked.arguments, call)
        except BadArguments as error:
            raise Invalid(str(error)) from None
        passed = replace(order, who=replace(order.who, is_person=False), chain=asked.chain)
        trip = GatedCall(self, transactions, actor, call, passed, own, None if tool.reads else key)
        return await trip.beyond(passed, trip.key)

    async def _order(
        self,
        transactions: Transactions,
        actor: Actor,
        tool: Tool,
        arguments: Mapping[str, object],
        call: Call,
    ) -> tuple[NodeCall, Node | None]:
        """Return the call as an order, with the hub's own machine if that serves the caller's project.

        Raises `BadArguments`, and a `HubError` for a caller that may not give it.
        """
        given = tool.given(arguments)
        right = Right.READ if tool.reads and tool.name not in self.of_machine else Right.WRITE

        def look(tx: Tx) -> tuple[Principal, Node | None]:
            who = self.identify(tx, call, right, given)
            return who, own_machine.serving(tx, call.site.node, who.project)

        who, own = await transactions.read(actor, look)
        order = NodeCall(
            who=who,
            tool=tool.name,
            arguments=given,
            client=call.client,
            progress=call.progress,
            chain=call_chain.of_call(call.meta, actor.chain),
        )
        if APPROVAL in call.meta and tool.name not in self.of_machine:
            approved = await transactions.write(actor, lambda tx: approved_words(tx, call, order))
            return replace(order, approved=approved), own
        return order, own

    async def once(
        self, transactions: Transactions, actor: Actor, key: str, same: str, do: Do, attempt: int | None
    ) -> ToolResult:
        """Do a machine's work at most once for each key: unlike a transaction it cannot be undone.

        A repeated call waits for the result of the first while that is under way; a later attempt begins anew if
        nothing was done. Raises `Conflict`.
        """
        mine = (actor.token_id, f"{key}\n{same}")
        while mine in self._under_way:
            coming, theirs = self._under_way[mine]
            answer = await asyncio.shield(coming)
            if not answer.is_undone or attempt is None or attempt <= (theirs or 0):
                return answer
        coming = asyncio.get_running_loop().create_future()
        self._under_way[mine] = coming, attempt
        try:
            answer = await _done_once(transactions, actor, key, same, do, attempt)
            coming.set_result(answer)
            return answer
        finally:
            del self._under_way[mine]
            if not coming.done():
                coming.set_exception(
                    Conflict(f"an earlier call with the key {key!r} ended without an answer")
                )
                coming.exception()  # retrieved, even if no caller waits for it


@dataclass(frozen=True, slots=True)
class GatedCall:
    """One call on its way: past the gate of each machine that it concerns, to the machine or the hub that does it.

    `own` is the hub's own machine, if it serves the caller's project; `key` the call's idempotency key, if it has one
    and changes something.
    """

    dialect: GatedDialect
    transactions: Transactions
    actor: Actor
    call: Call
    order: NodeCall
    own: Node | None
    key: str | None

    async def outcome(self) -> ToolResult:
        """Return the result of the call. Raises `Offline`, `NotServed` and `InputRequired`."""
        order, site = self.order, self.call.site
        named = self.call.headers.get(node_routing.NODE_HEADER) or None
        if named is not None:
            return await self._perform(await self._find(self.key, named), order, self.key)
        if not all(node_routing.is_own_node(site, each) for each in node_routing.hosts_of(order)):
            return await self.beyond(order, self.key)
        if self.own is not None or order.tool in self.dialect.of_machine:
            return await self._perform(node_routing.require_own(site, self.own, order), order, self.key)
        return await self.beyond(order, self.key)

    async def beyond(self, order: NodeCall, key: str | None) -> ToolResult:
        """Do a call that has passed all gates: by other machines, or else by the hub."""
        if order.tool == node_routing.ASK_ALL:
            find, perform = partial(self._find_one_of_all, key), partial(self._one_of_all, key)
            return await node_routing.ask_all(order, find, perform)
        if hosts := node_routing.hosts_of(order):
            return await self._perform(await self._find(key, hosts[0]), order, key)
        return await Dialect.call(
            self.dialect, self.transactions, self.actor, order.tool, order.arguments, key, self.call
        )

    async def _find(self, key: str | None, name: str) -> Node:
        return await node_routing.find_node(self.call.site, self.own, name, replace(self.order, key=key))

    async def _find_one_of_all(self, key: str | None, name: str) -> Node:
        return await self._find(_key_of_one(key, name), name)

    async def _one_of_all(self, key: str | None, node: Node, order: NodeCall) -> ToolResult:
        """Do one machine's part of a call that asks several, with a key of its own."""
        return await self._perform(node, order, _key_of_one(key, node.name))

    async def _perform(self, node: Node, order: NodeCall, key: str | None) -> ToolResult:
        """Have a machine do the order if its gate lets it: once for a key.

        The hub's own machine is asked here; one elsewhere stores the order itself, and asks nobody at this client.
        """
        if node is not self.call.site.node:
            numbered = replace(order, key=key, attempt=self.call.attempt)
            return await node.perform(replace(numbered, client=None, approved=None))
        if key is None or not self._is_done_there(order):
            return await node.perform(order, self._act)
        same = digest(self.dialect.name, order.tool, order.arguments)
        do = partial(node.perform, order, self._act)
        return await self.dialect.once(self.transactions, self.actor, key, same, do, self.call.attempt)

    def _is_done_there(self, order: NodeCall) -> bool:
        """Tell whether the machine itself does it; the hub does the rest in a transaction, with keys of its own."""
        return order.tool in self.dialect.of_machine or node_routing.runs_command(order)

    async def _act(self, asked: NodeCall) -> ToolResult:
        """Do the hub's part of a call that its own machine has let through."""
        is_this = (asked.tool, asked.chain) == (self.order.tool, self.order.chain)
        return await self.beyond(asked, self.key if is_this else None)


def _key_of_one(key: str | None, name: str) -> str | None:
    """Return the key of one machine's part of a call that asks several; its name may be in any case."""
    return digest(key, name.casefold()) if key is not None else None


async def _done_once(
    transactions: Transactions, actor: Actor, key: str, same: str, do: Do, attempt: int | None
) -> ToolResult:
    """Return the stored outcome, else that of `do`, stored unless nothing was done. Raises `Conflict`."""
    known = await transactions.write(actor, lambda tx: idempotency.begin(tx, key, same, attempt=attempt))
    if known is not None:
        return known
    try:
        outcome = await do()
    except InputRequired:
        await transactions.write(actor, lambda tx: idempotency.give_back(tx, key))
        raise
    end = partial(idempotency.refuse, attempt=attempt) if outcome.is_undone else idempotency.end
    await transactions.write(actor, lambda tx: end(tx, key, outcome))
    return outcome


def _check(tool: Tool) -> Callable[[Mapping[str, object]], Mapping[str, object]]:
    def check(arguments: Mapping[str, object]) -> Mapping[str, object]:
        try:
            return tool.given(arguments)
        except BadArguments as error:
            raise Invalid(str(error)) from None

    return check
