"""The agent of a machine at work for a caller: its tools, the depth of its questions, and its task at the hub."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path

from hubbub.model.cost.printed_usage import Used
from hubbub.model.errors import HubError, Invalid
from hubbub.model.fleet import call_chain
from hubbub.model.fleet.calls import NodeCall, ToolResult
from hubbub.model.fleet.managed_agents import AgentCredentials
from hubbub.node.policy.node_policy import AdaptedRuntime, CommandRuntime
from hubbub.node.runtimes import NONE, conversation
from hubbub.node.runtimes.agent_program import TOKEN
from hubbub.node.runtimes.conversation import Answer, OnText, RuntimeFailed, Tell, ToolAccess
from hubbub.node.tools.tool_context import ToolContext
from hubbub.node.tools.usage_gate import RuntimePaused, UsageGate
from hubbub.processes.log import structlog

log = structlog.get_logger("hubbub")

TITLE_LENGTH = 80
ANEW = "An earlier run of this was stopped by a usage limit. What it had done is still there."


async def ask(
    place: ToolContext,
    order: NodeCall,
    prompt: str,
    *,
    only: Sequence[str] | None = None,
    task_id: str | None = None,
    hear: OnText | None = None,
) -> Answer:
    """Return the agent's answer to `prompt`, with the tools named in `only`, else all.

    It acts as the caller of the order, but never as a person. Raises `RuntimeFailed`, also if too many agents have
    asked one another by now, or its budget is spent; `Invalid` for an unknown tool.
    """
    _require_shallow(order)
    hands = _hands(place, order, only, task_id)
    talk = await conversation(place.policy.runtime, await place.hub.key())
    async with _lent(place, order, hands) as lent:
        hands = replace(hands, lent=lent, tell=_telling(place, order, task_id))
        return await UsageGate(place.hub, order.who, task_id).while_open(talk.say(prompt, hands, hear))


async def start(
    place: ToolContext,
    order: NodeCall,
    *,
    title: str,
    prompt: str,
    only: Sequence[str] | None = None,
    waits: bool = True,
) -> tuple[str, "asyncio.Task[Answer]"]:
    """Have the agent work on `prompt` as a task of the hub; return its id, and the future answer.

    The task ends with the answer, whether or not anybody waits for it here. It `waits` for the end of each pause of the
    agent's account, or fails at once, as somebody waits for it. Raises `HubError` if the hub takes no task,
    `RuntimeFailed` as `ask`.
    """
    _require_shallow(order)
    _require_known(place, only)
    task_id = await place.hub.begin_task(order.who, place.redact(_line(title)), place.redact(prompt))

    async def work() -> Answer:
        try:
            if waits:
                answer = await _through_pauses(place, order, prompt, only, task_id)
            else:
                answer = await ask(place, order, prompt, only=only, task_id=task_id)
        except RuntimeFailed as failed:
            raise RuntimeFailed(place.redact(str(failed))) from None
        return replace(answer, text=place.redact(answer.text))

    return task_id, place.errands.start(place.hub, place.data, task_id, work())


async def _through_pauses(
    place: ToolContext, order: NodeCall, prompt: str, only: Sequence[str] | None, task_id: str
) -> Answer:
    """Return the agent's answer, which waits for the end of each pause of its account in between."""
    told = prompt
    while True:
        try:
            return await ask(place, order, told, only=only, task_id=task_id)
        except RuntimePaused:
            told = f"{prompt}\n\n{ANEW}"
            await UsageGate(place.hub, order.who, task_id).opened()


def _telling(place: ToolContext, order: NodeCall, task_id: str | None) -> Tell:
    """Return the function that reports the use to the hub. A failed report does not cost the answer."""

    async def tell(used: Sequence[Used]) -> None:
        try:
            await place.hub.use(order.who, used, task_id)
        except HubError as error:
            log.warning("the hub was not told what the agent used", reason=str(error))

    return tell


def said(answer: Answer) -> dict[str, object]:
    """Return an answer in the form for callers."""
    return {"text": answer.text, "tool_calls": [asdict(call) for call in answer.tool_calls]}


@asynccontextmanager
async def _lent(
    place: ToolContext, order: NodeCall, hands: ToolAccess
) -> AsyncIterator[AgentCredentials | None]:
    """Lend the agent credentials for the hub while it works, if it is a program without other ones.

    A program without credentials works nevertheless: it may not need the hub.
    """
    runtime = place.policy.runtime
    if not isinstance(runtime, CommandRuntime | AdaptedRuntime) or runtime.key == TOKEN:
        yield None
        return
    try:
        lent = await place.hub.lend(order.who, hands.task_id, hands.chain)
    except HubError as error:
        log.warning("the agent gets no token for its order", reason=str(error))
        yield None
        return
    try:
        yield lent
    finally:
        with suppress(HubError):  # the loan ends by itself
            await place.hub.give_back(lent)


def _hands(
    place: ToolContext, order: NodeCall, only: Sequence[str] | None, task_id: str | None
) -> ToolAccess:
    _require_known(place, only)
    asker = replace(order.who, is_person=False)
    chain = call_chain.longer(order.chain, order.who.name, place.node)

    async def call(tool: str, arguments: Mapping[str, object]) -> ToolResult:
        return await place.perform(NodeCall(who=asker, tool=tool, arguments=arguments, chain=chain))

    return ToolAccess(
        node=place.node,
        folder=Path(place.world.cwd),
        tools=[spec for spec in place.catalogue if only is None or spec.name in only],
        call=call,
        task_id=task_id,
        chain=chain,
        is_limited=only is not None,
    )


def require_able(place: ToolContext, order: NodeCall, only: Sequence[str] | None = None) -> None:
    """Raise the errors of `start` that can be known before: `RuntimeFailed`, and `Invalid` for unknown tools."""
    if place.policy.runtime is None:
        raise RuntimeFailed(NONE)
    _require_shallow(order)
    _require_known(place, only)


def _require_shallow(order: NodeCall) -> None:
    """Raise an error if agents have asked one another too deeply; a machine's own agent counts like another's."""
    if (why := call_chain.too_deep(order.chain)) is not None:
        raise RuntimeFailed(why)


def _require_known(place: ToolContext, only: Sequence[str] | None) -> None:
    known = {spec.name for spec in place.catalogue}
    for name in only or ():
        if name not in known:
            raise Invalid(f"tools: there is no tool {name!r}; there are {', '.join(sorted(known))}")


def _line(text: str) -> str:
    first = text.strip().partition("\n")[0].strip() or "untitled"
    return first if len(first) <= TITLE_LENGTH else f"{first[: TITLE_LENGTH - 1]}…"
