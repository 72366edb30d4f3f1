"""cmdop on the agent's machine: the machine is this one, and its tools are done in this process.

Every call passes this machine's gate. What the machine does never leaves it; all else goes to the hub once the gate has
let it through. Where the gate has a person asked, the question goes to the hub, or to the client if the operator says.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from hubbub import settings
from hubbub.cli.bridge import wire
from hubbub.cli.bridge.calls import KEY, PROGRESS, Call, outcome_of
from hubbub.cli.bridge.client import Client
from hubbub.cli.bridge.companion import Ask
from hubbub.cli.bridge.wire import Message
from hubbub.cli.machine.membership import Membership
from hubbub.client import Hub, owner_token
from hubbub.dialects.cmdop import DIALECT
from hubbub.dialects.cmdop.vouching import APPROVAL
from hubbub.dialects.dialect import BadArguments
from hubbub.model import chains, elicitation
from hubbub.model.chains import Chain
from hubbub.model.errors import Invalid
from hubbub.model.orders import AskFirst, Code, Order, Outcome, Principal, Question, refused
from hubbub.model.rights import HUB
from hubbub.node.here import open_node
from hubbub.node.hub import Hub as NodeHub
from hubbub.node.machine import about
from hubbub.node.node import LocalNode
from hubbub.node.posting import PostWire
from hubbub.node.tools.connecting import BY_NAME
from hubbub.node.weighing import named
from hubbub.serve import log as logs

KEPT = 1000  # outcomes of calls with a key of the client's, the newest


class CmdopCompanion:
    """One client's machine."""

    headers: Mapping[str, str] = {}

    def __init__(self, node: LocalNode, who: Principal, chain: Chain = ()) -> None:
        """`chain` tells for whom the client works, where it is itself the agent of a machine."""
        self._node, self._who, self._chain = node, who, chain
        self._client: Client | None = None
        self._keyed: dict[str, tuple[Order, asyncio.Task[Outcome]]] = {}

    def meet(self, client: Client) -> None:
        self._client = client

    async def call(self, message: Message, ask: Ask) -> Message | None:
        call = Call(message, ask)
        tool = DIALECT.tools.get(call.tool) if isinstance(call.tool, str) else None
        if tool is None:
            return None  # the hub says which there are
        try:
            arguments = tool.given(call.arguments)
            chain = self._chain or chains.checked(wire.meta(message).get(chains.META, ()), chains.META)
        except (BadArguments, Invalid) as error:
            return _answered(call, Outcome(DIALECT.invalid(str(error)), is_error=True))
        order = Order(
            who=self._who,
            tool=tool.name,
            arguments=arguments,
            client=self._person(message),
            progress=self._progress(message),
            chain=chain,
        )
        try:
            return _answered(call, await self._performed(call, order))
        except AskFirst as first:
            return _unfinished(first)

    async def _performed(self, call: Call, order: Order) -> Outcome:
        """What comes of an order. With a key of the client's the machine does it once; the hub minds its own keys."""

        async def act(asked: Order) -> Outcome:
            said: dict[str, object] = {chains.META: list(asked.chain)} if asked.chain else {}
            if asked.approval_id is not None:
                said[APPROVAL] = asked.approval_id
            own, far = _is_same(asked, order), named(asked) in BY_NAME
            return outcome_of(await call.order(asked, said, is_own=own, is_far=far))

        key = wire.meta(call.message).get(KEY)
        is_machines = order.tool in DIALECT.of_machine or named(order) in BY_NAME
        if not isinstance(key, str) or not is_machines or DIALECT.tools[order.tool].reads:
            return await self._node.perform(order, act)
        known, doing = self._keyed.get(key, (None, None))
        if known is None or doing is None:
            doing = asyncio.create_task(self._node.perform(order, act))
            self._keyed[key] = order, doing
            doing.add_done_callback(lambda _: self._forget(key, doing))
        elif (known.tool, known.arguments) != (order.tool, order.arguments):
            return refused(Code.FAILED, f"the idempotency key {key!r} was used for another call")
        try:
            return await asyncio.shield(doing)
        except asyncio.CancelledError:
            doing.cancel()
            raise

    def _forget(self, key: str, done: "asyncio.Task[Outcome]") -> None:
        """Forget a call of which nothing was done, so that it may be made again; and the oldest of too many."""
        if done.cancelled() or done.exception() is not None or done.result().is_undone:
            self._keyed.pop(key, None)
        while len(self._keyed) > KEPT:
            self._keyed.pop(next(iter(self._keyed)))

    def _person(self, message: Message) -> "_Person | None":
        """Return whoever sits at the client, if it can show them a question."""
        if self._client is None or not self._client.is_capable("elicitation", message):
            return None
        return _Person(self._client, message)

    def _progress(self, message: Message) -> Callable[[str], Awaitable[None]] | None:
        """Tells the client a piece of text, if it wants to hear it."""
        token, client, told = wire.meta(message).get(PROGRESS), self._client, itertools.count(1)
        if client is None or token is None:
            return None

        async def tell(text: str) -> None:
            progress = {PROGRESS: token, "progress": next(told), "message": text}
            await client.tell("notifications/progress", progress)

        return tell


@dataclass(frozen=True, slots=True)
class _Person:
    """Whoever sits at the client, for one call."""

    client: Client
    message: Message

    @property
    def approval_id(self) -> str | None:
        known = wire.parameters(self.message).get("requestState")
        return known if isinstance(known, str) else None

    async def ask(self, question: Question, approval_id: str) -> bool | None:
        if wire.modern_version(self.message) is None:
            params = {"message": elicitation.sentence(question), "requestedSchema": elicitation.SCHEMA}
            result = await self.client.ask(elicitation.METHOD, params)
            return elicitation.said(result.get("action"), result.get("content"))
        responses = wire.parameters(self.message).get("inputResponses")
        answer = responses.get(elicitation.KEY) if isinstance(responses, dict) else None
        if approval_id != self.approval_id or not isinstance(answer, dict):
            raise AskFirst(question, approval_id)
        return elicitation.said(answer.get("action"), answer.get("content"))


def _is_same(one: Order, other: Order) -> bool:
    """Whether one is the other, or the part of it that is about other machines; what agents call has another chain."""
    return (one.tool, one.chain) == (other.tool, other.chain)


def _answered(call: Call, answer: Outcome) -> Message:
    """The answer to the client."""
    result: Message = {
        "content": [{"type": "text", "text": text} for text in answer.shown],
        "structuredContent": dict(answer.content),
        "isError": answer.is_error,
    }
    if wire.modern_version(call.message) is not None:
        result["resultType"] = "complete"
    return {"jsonrpc": "2.0", "result": result}


def _unfinished(first: AskFirst) -> Message:
    """The answer that has the client ask, and make the call again."""
    params = {
        "mode": "form",
        "message": elicitation.sentence(first.question),
        "requestedSchema": elicitation.SCHEMA,
    }
    request = {"method": elicitation.METHOD, "params": params}
    result = {
        "resultType": "input_required",
        "inputRequests": {elicitation.KEY: request},
        "requestState": first.approval_id,
    }
    return {"jsonrpc": "2.0", "result": result}


@asynccontextmanager
async def companion(
    data: Path,
    hub: Callable[[], Hub],
    *,
    is_attended: bool = False,
    chain: Chain = (),
    joined: Membership | None = None,
) -> AsyncIterator[CmdopCompanion]:
    """The companion of a client that works in the present folder. `hub` gives the hub as it is now.

    `is_attended` says that the machine's operator sits at the client, who is then asked there whatever the policy says.
    `chain` is as for the companion, at least that of its token. `joined` is what the machine is where it has joined a
    hub: it has one name then.
    """
    logs.configure(form="json", level="warning")  # to standard error: the output is the client's
    present = hub()
    me: Message = await asyncio.to_thread(present.get, "/me")
    project = present.project or me["projects"][0]["slug"]
    who = Principal(project=project, name=me["agent"] or HUB)
    chain = chains.at_least(chain, tuple(me.get("chain", ())))  # an older hub says nothing of it
    name = about(data, name=joined.name if joined is not None else None).name
    wire = PostWire(lambda: hub().url, present.token, name, project=present.project)
    node = open_node(
        data=data,
        log_file=data / logs.DAEMON,
        config=settings.read().config,
        cwd=Path.cwd(),
        hub=NodeHub(wire),
        catalogue=DIALECT.catalogue(),
        secrets=[each for each in (present.token, owner_token(data), joined and joined.token) if each],
        name=name,
        is_attended=is_attended,
    )
    try:
        async with node.alive():
            yield CmdopCompanion(node, who, chain)
    finally:
        await wire.close()
