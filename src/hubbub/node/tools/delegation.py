"""Work for other agents: the machine's own as a task in the background, and the agents of machines by name.

Questions to other machines' agents go to the hub, and from there to their machines, whose gates decide. None is waited
for longer than the caller wants, whatever the hub does, and all stop when nobody waits any more.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar, cast

from hubbub.model.errors import HubError, Invalid
from hubbub.model.fleet import call_chain, fan_out
from hubbub.model.fleet.calls import NodeCall, RefusalCode, ToolResult, refused
from hubbub.model.fleet.fan_out import Entry
from hubbub.node import runtimes
from hubbub.node.policy.node_policy import LONGEST_APPROVAL
from hubbub.node.runtimes.conversation import OnText, RuntimeFailed
from hubbub.node.tools import machine_agent
from hubbub.node.tools.forwarding import ASKING, is_all_here, is_here, offline, pass_on
from hubbub.node.tools.tool_context import Tool, ToolContext

T = TypeVar("T")

OWN = frozenset({"delegate_task", "skill_run"})  # done by this machine's own agent
AT_ONCE = timedelta(seconds=30)  # how long the caller of delegate_task waits for its end
LATE = timedelta(seconds=1)  # for other machines' answers to arrive
LINE = 2000  # characters that are held back, waiting for the end of a line


async def delegate_task(place: ToolContext, order: NodeCall) -> ToolResult:
    """Have the machine's agent work on a prompt; long work goes on in the background."""
    prompt = str(order.arguments["prompt"])
    only = cast(Sequence[str] | None, order.arguments.get("tools"))
    try:
        task_id, work = await machine_agent.start(place, order, title=prompt, prompt=prompt, only=only)
    except Invalid as error:
        return refused(RefusalCode.INVALID, str(error))
    except (HubError, RuntimeFailed) as error:
        return refused(RefusalCode.FAILED, str(error))
    await asyncio.wait({work}, timeout=AT_ONCE.total_seconds())
    if not work.done():
        return ToolResult(value={"task_id": task_id, "status": "in_progress"})
    try:
        answer = work.result()
    except RuntimeFailed as failed:
        return refused(RefusalCode.FAILED, str(failed), task_id=task_id, status="failed")
    return ToolResult(value={**machine_agent.said(answer), "task_id": task_id, "status": "done"})


async def ask_agent(place: ToolContext, order: NodeCall) -> ToolResult:
    """Return the answer of one machine's agent."""
    return await _asked(place, replace(order, progress=None))


async def ask_agent_stream(place: ToolContext, order: NodeCall) -> ToolResult:
    """Return the answer of one machine's agent; the caller is told the text line by line while it comes."""
    if order.progress is None:
        return await _asked(place, order)
    with closing(_Lines(place.redact, order.progress)) as lines:
        outcome = await _asked(place, replace(order, progress=lines.hear), lines.hear)
        await lines.flush()
    return outcome


async def why_not(place: ToolContext, order: NodeCall) -> ToolResult | None:
    """Return the refusal of a prompt for this machine's agent alone, if it has none, or lacks the tools."""
    if order.tool in ASKING:
        return _no_agent(place, order) if place.policy.runtime is None else None
    if order.tool not in OWN:
        return None
    try:
        machine_agent.require_able(place, order, cast(Sequence[str] | None, order.arguments.get("tools")))
    except Invalid as error:
        return refused(RefusalCode.INVALID, str(error))
    except RuntimeFailed as error:
        return refused(RefusalCode.FAILED, str(error))
    return None


def _no_agent(place: ToolContext, order: NodeCall) -> ToolResult | None:
    """Return the answer to a prompt for the agent of this machine alone, which has none."""
    named = cast(Sequence[object], order.arguments.get("hostnames") or [order.arguments.get("hostname")])
    none = refused(RefusalCode.FAILED, runtimes.NONE)
    return of_each(place.node, order, none) if is_all_here(place.node, named) else None


def of_each(node: str, order: NodeCall, refusal: ToolResult) -> ToolResult:
    """Return the refusal of a whole call; in `ask_agents` it is the entry of each machine."""
    named = order.arguments.get("hostnames") if order.tool == "ask_agents" else None
    hosts = [host for host in named if isinstance(host, str)] if isinstance(named, Sequence) else []
    entries = {host: fan_out.entry(refusal, host) for host in _distinct(node, hosts)}
    return fan_out.combined(entries) if entries else refusal


async def ask_agents(place: ToolContext, order: NodeCall) -> ToolResult:
    """Return the answers of several machines' agents; a late or absent one keeps nobody waiting."""
    hosts = _distinct(place.node, cast(Sequence[str], order.arguments["hostnames"]))
    if not 1 <= len(hosts) <= fan_out.MOST_HOSTS:
        return refused(
            RefusalCode.INVALID, f"hostnames: 1 to {fan_out.MOST_HOSTS} machines can be asked at once"
        )
    patience = fan_out.patience_with_each(order)
    circles = {host: why for host in hosts if (why := _why_not(place, order, host)) is not None}
    here = [host for host in hosts if host not in circles and is_here(place.node, host)]
    others = [host for host in hosts if host not in circles and host not in here]
    order, is_decided = replace(order, progress=None), is_all_here(place.node, hosts)
    found = await asyncio.gather(
        *(_own_part(place, order, host, patience, is_decided=is_decided) for host in here),
        *([_others(place, order, others, patience)] if others else []),
    )
    entries = {host: fan_out.entry(refused(RefusalCode.FAILED, why), host) for host, why in circles.items()}
    for some in found:
        entries.update(some)
    return fan_out.combined({host: entries[host] for host in hosts})


# ---- one machine ---------------------------------------------------------------------------------------------------


async def _asked(place: ToolContext, order: NodeCall, hear: OnText | None = None) -> ToolResult:
    """Return the answer of the named machine's agent, in the caller's time once its gate has decided."""
    host = str(order.arguments["hostname"])
    patience = fan_out.patience(order, "timeout_ms", fan_out.PATIENCE)
    if (why := _why_not(place, order, host)) is not None:
        return refused(RefusalCode.FAILED, why)
    if is_here(place.node, host):
        return await _own(place, order, host, patience, hear)
    outcome = await _in_time(place, pass_on(place, order), LONGEST_APPROVAL + patience + LATE)
    return fan_out.timed_out(host, patience) if outcome is None else outcome


async def _own(
    place: ToolContext, order: NodeCall, host: str, patience: timedelta, hear: OnText | None = None
) -> ToolResult:
    """Return the answer of this machine's agent."""
    work = machine_agent.ask(place, order, str(order.arguments["prompt"]), hear=hear)
    try:
        answer = await _in_time(place, work, patience)
    except (RuntimeFailed, HubError) as failed:
        return refused(RefusalCode.FAILED, str(failed))
    return (
        fan_out.timed_out(host, patience) if answer is None else ToolResult(value=machine_agent.said(answer))
    )


async def _in_time(place: ToolContext, work: Awaitable[T], patience: timedelta) -> T | None:
    """Return the result of `work`; None after `patience`. It is stopped when nobody waits any more."""

    async def done() -> T:
        return await work

    doing = asyncio.create_task(done())
    try:
        await asyncio.wait({doing}, timeout=patience.total_seconds())
        return doing.result() if doing.done() else None
    finally:
        if not doing.done():
            place.errands.drop(doing)


def _why_not(place: ToolContext, order: NodeCall, host: str) -> str | None:
    """Return why agents would ask one another without end; None if they would not."""
    return call_chain.why_not(order.chain, place.node if is_here(place.node, host) else host)


# ---- several -------------------------------------------------------------------------------------------------------

Entries = Mapping[str, Entry]


def _distinct(node: str, hosts: Sequence[str]) -> list[str]:
    """Return each machine once, by the first of its given names."""
    named: dict[str, str] = {}
    for host in hosts:
        named.setdefault((node if is_here(node, host) else host).casefold(), host)
    return list(named.values())


async def _own_part(
    place: ToolContext, order: NodeCall, host: str, patience: timedelta, *, is_decided: bool
) -> Entries:
    """Return this machine's part of the answers.

    If other machines are asked too, no person was asked about this part: it passes the gate by itself, and a question
    does not go to the client, which would have to make the whole call again.
    """
    if is_decided:
        return {host: fan_out.entry(await _own(place, order, host, patience), host)}
    alone = replace(
        order,
        arguments={**order.arguments, "hostnames": [host]},
        client=None,
        patience=fan_out.patience_with_person(patience),
    )
    outcome = await _in_time(place, place.perform(alone), patience + LATE)
    return _entries([host], outcome, patience)


async def _others(place: ToolContext, order: NodeCall, hosts: Sequence[str], patience: timedelta) -> Entries:
    """Return the answers of other machines' agents, whom the hub asks all at once."""
    if place.act is None:
        return {host: fan_out.entry(offline(host), host) for host in hosts}
    rest = replace(order, arguments={**order.arguments, "hostnames": list(hosts)})
    outcome = await _in_time(place, pass_on(place, rest), patience + LATE)
    return _entries(hosts, outcome, patience)


def _entries(hosts: Sequence[str], outcome: ToolResult | None, patience: timedelta) -> Entries:
    """Return the entries of some hosts from `ask_agents`; None means that it was late."""
    return {host: fan_out.entry(outcome or fan_out.timed_out(host, patience), host) for host in hosts}


# ---- text on its way -----------------------------------------------------------------------------------------------


class _Lines:
    """Text on its way to the caller: whole lines, so that no secret passes in two halves."""

    def __init__(self, redact: Callable[[str], str], progress: OnText) -> None:
        self._redact, self._progress, self._held = redact, progress, ""
        self._is_open = True

    async def hear(self, piece: str) -> None:
        self._held += piece
        whole, end, rest = self._held.rpartition("\n")
        if end or len(rest) > LINE:
            self._held = rest if end else ""
            await self._tell(whole + end if end else rest)

    async def flush(self) -> None:
        """Send the rest."""
        held, self._held = self._held, ""
        if held:
            await self._tell(held)

    def close(self) -> None:
        """Stop sending: an agent's words while it is being stopped come after the result."""
        self._is_open = False

    async def _tell(self, text: str) -> None:
        if self._is_open:
            await self._progress(self._redact(text))


TOOLS: Mapping[str, Tool] = {
    "delegate_task": delegate_task,
    "ask_agent": ask_agent,
    "ask_agent_stream": ask_agent_stream,
    "ask_agents": ask_agents,
}
