"""cmdop on the agent's machine: the machine is this one, and its tools run in this process.

Every call passes this machine's gate. The machine's own work never leaves it; all other calls go to the hub once the
gate has let them through. If the gate has a person asked, the question goes to the hub, or to the client if the
operator says so.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from hubbub import settings
from hubbub.bridge.companions.companion import Ask
from hubbub.bridge.companions.tool_calls import KEY, PROGRESS, ClientCall, result_of
from hubbub.bridge.messages import json_rpc
from hubbub.bridge.messages.json_rpc import Message
from hubbub.bridge.messages.mcp_client import McpClient
from hubbub.client import Hub
from hubbub.daemons.membership import Membership
from hubbub.dialects.cmdop import DIALECT
from hubbub.dialects.cmdop.prior_approvals import APPROVAL
from hubbub.dialects.dialect import BadArguments
from hubbub.model import data_folder
from hubbub.model.errors import Invalid
from hubbub.model.fleet import call_chain, elicitation
from hubbub.model.fleet.call_chain import CallChain
from hubbub.model.fleet.calls import (
    InputRequired,
    NodeCall,
    Principal,
    Question,
    RefusalCode,
    ToolResult,
    refused,
)
from hubbub.model.people.rights import HUB
from hubbub.node.factory import open_node
from hubbub.node.gate.evaluation import named
from hubbub.node.gate.host_facts import describe
from hubbub.node.local_node import LocalNode
from hubbub.node.requests.http_transport import HttpTransport
from hubbub.node.requests.hub_client import HubClient as NodeHub
from hubbub.node.tools.forwarding import BY_NAME
from hubbub.serve.monitoring import logging_setup as logs

KEPT = 1000  # outcomes of calls with a client's key, the newest


class CmdopCompanion:
    """One client's machine."""

    headers: Mapping[str, str] = {}

    def __init__(self, node: LocalNode, who: Principal, chain: CallChain = ()) -> None:
        """Set up the companion; `chain` says for whom the client works, if it is itself the agent of a machine."""
        self._node, self._who, self._chain = node, who, chain
        self._client: McpClient | None = None
        self._keyed: dict[str, tuple[NodeCall, asyncio.Task[ToolResult]]] = {}

    def meet(self, client: McpClient) -> None:
        self._client = client

    async def call(self, message: Message, ask: Ask) -> Message | None:
        call = ClientCall(message, ask)
        tool = DIALECT.tools.get(call.tool) if isinstance(call.tool, str) else None
        if tool is None:
            return None  # the hub lists them
        try:
            arguments = tool.given(call.arguments)
            chain = self._chain or call_chain.checked(
                json_rpc.meta(message).get(call_chain.META, ()), call_chain.META
            )
        except (BadArguments, Invalid) as error:
            return _answered(call, ToolResult(DIALECT.invalid(str(error)), is_error=True))
        order = NodeCall(
            who=self._who,
            tool=tool.name,
            arguments=arguments,
            client=self._person(message),
            progress=self._progress(message),
            chain=chain,
        )
        try:
            return _answered(call, await self._performed(call, order))
        except InputRequired as first:
            return _unfinished(first)

    async def _performed(self, call: ClientCall, order: NodeCall) -> ToolResult:
        """Perform an order. With the client's key the machine does it once; the hub treats its own keys."""

        async def act(asked: NodeCall) -> ToolResult:
            said: dict[str, object] = {call_chain.META: list(asked.chain)} if asked.chain else {}
            if asked.approval_id is not None:
                said[APPROVAL] = asked.approval_id
            own, far = _is_same(asked, order), named(asked) in BY_NAME
            return result_of(await call.order(asked, said, is_own=own, is_far=far))

        key = json_rpc.meta(call.message).get(KEY)
        is_machines = order.tool in DIALECT.of_machine or named(order) in BY_NAME
        if not isinstance(key, str) or not is_machines or DIALECT.tools[order.tool].reads:
            return await self._node.perform(order, act)
        known, doing = self._keyed.get(key, (None, None))
        if known is None or doing is None:
            doing = asyncio.create_task(self._node.perform(order, act))
            self._keyed[key] = order, doing
            doing.add_done_callback(lambda _: self._forget(key, doing))
        elif (known.tool, known.arguments) != (order.tool, order.arguments):
            return refused(RefusalCode.FAILED, f"the idempotency key {key!r} was used for another call")
        try:
            return await asyncio.shield(doing)
        except asyncio.CancelledError:
            doing.cancel()
            raise

    def _forget(self, key: str, done: "asyncio.Task[ToolResult]") -> None:
        """Forget an undone call, so that it may be made again; and the oldest of too many."""
        if done.cancelled() or done.exception() is not None or done.result().is_undone:
            self._keyed.pop(key, None)
        while len(self._keyed) > KEPT:
            self._keyed.pop(next(iter(self._keyed)))

    def _person(self, message: Message) -> "_Person | None":
        """Return the person at the client, if it can show them a question."""
        if self._client is None or not self._client.is_capable("elicitation", message):
            return None
        return _Person(self._client, message)

    def _progress(self, message: Message) -> Callable[[str], Awaitable[None]] | None:
        """Return a function that sends the client a piece of text; None if it wants none."""
        token, client, told = json_rpc.meta(message).get(PROGRESS), self._client, itertools.count(1)
        if client is None or token is None:
            return None

        async def tell(text: str) -> None:
            progress = {PROGRESS: token, "progress": next(told), "message": text}
            await client.tell("notifications/progress", progress)

        return tell


@dataclass(frozen=True, slots=True)
class _Person:
    """The person at the client, for one call."""

    client: McpClient
    message: Message

    @property
    def approval_id(self) -> str | None:
        known = json_rpc.parameters(self.message).get("requestState")
        return known if isinstance(known, str) else None

    async def ask(self, question: Question, approval_id: str) -> bool | None:
        if json_rpc.modern_version(self.message) is None:
            params = {"message": elicitation.sentence(question), "requestedSchema": elicitation.SCHEMA}
            result = await self.client.ask(elicitation.METHOD, params)
            return elicitation.read_answer(result.get("action"), result.get("content"))
        responses = json_rpc.parameters(self.message).get("inputResponses")
        answer = responses.get(elicitation.KEY) if isinstance(responses, dict) else None
        if approval_id != self.approval_id or not isinstance(answer, dict):
            raise InputRequired(question, approval_id)
        return elicitation.read_answer(answer.get("action"), answer.get("content"))


def _is_same(one: NodeCall, other: NodeCall) -> bool:
    """Tell whether one call is the other, or its part about other machines; an agent's call has another chain."""
    return (one.tool, one.chain) == (other.tool, other.chain)


def _answered(call: ClientCall, answer: ToolResult) -> Message:
    """Return the answer to the client."""
    result: Message = {
        "content": [{"type": "text", "text": text} for text in answer.shown],
        "structuredContent": dict(answer.content),
        "isError": answer.is_error,
    }
    if json_rpc.modern_version(call.message) is not None:
        result["resultType"] = "complete"
    return {"jsonrpc": "2.0", "result": result}


def _unfinished(first: InputRequired) -> Message:
    """Return the answer that tells the client to ask, and to make the call again."""
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
    chain: CallChain = (),
    joined: Membership | None = None,
) -> AsyncIterator[CmdopCompanion]:
    """Yield the companion of a client that works in the present folder. `hub` returns the present hub.

    `is_attended` says that the machine's operator sits at the client, who is then asked there whatever the policy
    says. `chain` is that of the companion, at least that of its token. `joined` is the machine's membership if it has
    joined a hub: it has one name then.
    """
    logs.configure(form="json", level="warning")  # to standard error: the output is the client's
    present = hub()
    me: Message = await asyncio.to_thread(present.get, "/me")
    project = present.project or me["projects"][0]["slug"]
    who = Principal(project=project, name=me["agent"] or HUB)
    chain = call_chain.at_least(chain, tuple(me.get("chain", ())))  # an older hub does not report it
    name = describe(data, name=joined.name if joined is not None else None).name
    wire = HttpTransport(lambda: hub().url, present.token, name, project=present.project)
    node = open_node(
        data=data,
        log_file=data / logs.DAEMON,
        config=settings.read().config,
        cwd=Path.cwd(),
        hub=NodeHub(wire),
        catalogue=DIALECT.catalogue(),
        secrets=[present.token, *data_folder.secrets(data), *([joined.token] if joined is not None else [])],
        name=name,
        is_attended=is_attended,
    )
    try:
        async with node.alive():
            yield CmdopCompanion(node, who, chain)
    finally:
        await wire.close()
