"""Work for other agents: the machine's own as a task in the background, and the agents of machines by name."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import cast

from hubbub.model.errors import HubError, Invalid
from hubbub.model.orders import Code, Order, Outcome, refused
from hubbub.node import agent
from hubbub.node.place import Place, Tool
from hubbub.node.runtimes.conversation import Hear, RuntimeFailed
from hubbub.node.tools.connecting import is_here, offline

AT_ONCE = timedelta(seconds=30)  # how long the caller of delegate_task waits for its end
PATIENCE = timedelta(minutes=2)  # with the agent of one machine, where the caller says nothing else
TOTAL_PATIENCE = timedelta(minutes=5)  # with those of several
MOST_HOSTS = 100
LINE = 2000  # characters that are held back, waiting for the end of a line


async def delegate_task(place: Place, order: Order) -> Outcome:
    """Have the machine's agent work on a prompt; what takes long goes on in the background."""
    prompt = str(order.arguments["prompt"])
    only = cast(Sequence[str] | None, order.arguments.get("tools"))
    try:
        task_id, work = await agent.start(place, order, title=prompt, prompt=prompt, only=only)
    except Invalid as error:
        return refused(Code.INVALID, str(error))
    except HubError as error:
        return refused(Code.FAILED, str(error))
    await asyncio.wait({work}, timeout=AT_ONCE.total_seconds())
    if not work.done():
        return Outcome(value={"task_id": task_id, "status": "in_progress"})
    try:
        answer = work.result()
    except RuntimeFailed as failed:
        return refused(Code.FAILED, str(failed), task_id=task_id, status="failed")
    return Outcome(value={**agent.said(answer), "task_id": task_id, "status": "done"})


async def ask_agent(place: Place, order: Order) -> Outcome:
    """The answer of one machine's agent."""
    return await _asked(
        place, order, str(order.arguments["hostname"]), _patience(order, "timeout_ms", PATIENCE)
    )


async def ask_agent_stream(place: Place, order: Order) -> Outcome:
    """As `ask_agent`; the caller is told the text line by line while it comes."""
    patience = _patience(order, "timeout_ms", PATIENCE)
    lines = _Lines(place, order)
    outcome = await _asked(place, order, str(order.arguments["hostname"]), patience, lines.hear)
    await lines.flush()
    return outcome


async def ask_agents(place: Place, order: Order) -> Outcome:
    """The answers of several machines' agents; who is late or away keeps nobody waiting."""
    hosts = list(dict.fromkeys(cast(Sequence[str], order.arguments["hostnames"])))
    if not 1 <= len(hosts) <= MOST_HOSTS:
        return refused(Code.INVALID, f"hostnames: 1 to {MOST_HOSTS} machines can be asked at once")
    each = _patience(order, "per_host_timeout_ms", PATIENCE)
    total = _patience(order, "total_timeout_ms", TOTAL_PATIENCE)
    patience = min(each, total)
    outcomes = await asyncio.gather(*(_asked(place, order, host, patience) for host in hosts))
    by_host = {host: outcome.value for host, outcome in zip(hosts, outcomes, strict=True)}
    late = [host for host, value in by_host.items() if _code(value) == Code.TIMEOUT]
    return Outcome(value={"by_host": by_host, "timed_out": late})


async def _asked(
    place: Place, order: Order, host: str, patience: timedelta, hear: Hear | None = None
) -> Outcome:
    """What the agent of one machine answers within `patience`; after that it is stopped."""
    if not is_here(place.node, host):
        return offline(host)
    work = asyncio.create_task(agent.ask(place, order, str(order.arguments["prompt"]), hear=hear))
    try:
        await asyncio.wait({work}, timeout=patience.total_seconds())
        if not work.done():
            seconds = patience.total_seconds()
            return refused(Code.TIMEOUT, f"the agent of {host!r} did not answer within {seconds:g} seconds")
        return Outcome(value=agent.said(work.result()))
    except RuntimeFailed as failed:
        return refused(Code.FAILED, str(failed))
    except HubError as error:
        return refused(Code.FAILED, str(error))
    finally:
        if not work.done():
            place.errands.drop(work)


def _patience(order: Order, name: str, otherwise: timedelta) -> timedelta:
    given = cast(int | None, order.arguments.get(name))
    return otherwise if given is None else timedelta(milliseconds=given)


def _code(value: object) -> object:
    return value.get("code") if isinstance(value, Mapping) else None


class _Lines:
    """Text on its way to the caller: whole lines, so that no secret passes in two halves."""

    def __init__(self, place: Place, order: Order) -> None:
        self._redact, self._progress, self._held = place.redact, order.progress, ""

    async def hear(self, piece: str) -> None:
        self._held += piece
        whole, end, rest = self._held.rpartition("\n")
        if end or len(rest) > LINE:
            self._held = rest if end else ""
            await self._tell(whole + end if end else rest)

    async def flush(self) -> None:
        """Tell what is left once no more comes."""
        held, self._held = self._held, ""
        if held:
            await self._tell(held)

    async def _tell(self, text: str) -> None:
        if self._progress is not None:
            await self._progress(self._redact(text))


TOOLS: Mapping[str, Tool] = {
    "delegate_task": delegate_task,
    "ask_agent": ask_agent,
    "ask_agent_stream": ask_agent_stream,
    "ask_agents": ask_agents,
}
