"""agent_start, agent_stop and agent_logs: agents that people place on this machine. No tool set offers them.

Only people order them, through the hub. The agents run outside of the sandbox of commands.
"""

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import cast

from hubbub.model.errors import Conflict, Invalid, NotFound
from hubbub.model.fleet.calls import NodeCall, Principal, RefusalCode, ToolResult, call_digest, refused
from hubbub.model.fleet.managed_agents import NO_AGENTS, ProcessStatus
from hubbub.node.agents.agent_log import LogLine
from hubbub.node.agents.agent_records import AgentRecord
from hubbub.node.agents.supervisor import AgentSupervisor
from hubbub.node.system import safe_open
from hubbub.node.system.safe_open import NotOpened
from hubbub.node.tools import agent_arguments
from hubbub.node.tools.tool_context import Tool, ToolContext
from shellgate import paths
from shellgate.paths import Access

LINES = 200
NO_PERSON = "only people start, stop and read agents on machines"
# Words that a shell handles itself; there need not be a program of that name.
_OF_SHELL = frozenset(
    {
        ".",
        ":",
        "[",
        "cd",
        "command",
        "echo",
        "eval",
        "exec",
        "export",
        "printf",
        "read",
        "set",
        "source",
        "test",
        "trap",
    }
)


class _NotDone(Exception):
    """A refusal of this machine, with its reason in one sentence."""

    def __init__(self, code: RefusalCode, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


async def agent_start(place: ToolContext, order: NodeCall) -> ToolResult:
    """Start an agent and supervise it; return its status."""
    try:
        agents, given = _agents(place, order), _given(order)
        _require_program(place)
        return ToolResult(value=_told(place, await _started(place, agents, _note(place, order.who, given))))
    except _NotDone as no:
        return refused(no.code, str(no))


async def agent_stop(place: ToolContext, order: NodeCall) -> ToolResult:
    """Stop an agent: its work is finished within seconds, or handed back."""
    try:
        agents, given = _agents(place, order), _given(order)
        name = str(given["agent"])
        await agents.stop(order.who.project, name)
    except _NotDone as no:
        return refused(no.code, str(no))
    except NotFound as error:
        return refused(RefusalCode.NOT_FOUND, f"{error.key!r} does not run on {place.node}")
    return ToolResult(value={"agent": name, "node": place.node, "stopped": True})


async def agent_logs(place: ToolContext, order: NodeCall) -> ToolResult:
    """Return an agent's last lines; with `follow` they are sent as JSON lists, until the agent ends."""
    try:
        agents, given = _agents(place, order), _given(order)
        name, lines = str(given["agent"]), cast(int, given.get("lines", LINES))
        output = agents.output(order.who.project, name)
    except _NotDone as no:
        return refused(no.code, str(no))
    except NotFound as error:
        return refused(RefusalCode.NOT_FOUND, f"{error.key!r} never ran on {place.node}")
    told: Sequence[LogLine] = ()
    if given.get("follow") is True and order.progress is not None:
        async for batch in output.follow(lines):
            await order.progress(json.dumps(_rows(batch), ensure_ascii=False))
    else:
        told = output.recent(lines)
    return ToolResult(value={"agent": name, "node": place.node, "lines": _rows(told)})


async def _started(place: ToolContext, agents: AgentSupervisor, note: AgentRecord) -> ProcessStatus:
    real = place.world.files.resolve(paths.named(note.folder or ".", place.world))
    try:
        with safe_open.folder(real, place.world, Access.READ) as at:
            return await agents.start(note, at)
    except NotOpened as error:
        raise _NotDone(error.code, f"the folder {note.folder or '.'!r} {error.clause}") from None
    except Conflict as error:
        raise _NotDone(RefusalCode.FAILED, str(error)) from None
    except OSError as error:
        raise _NotDone(RefusalCode.FAILED, f"the agent cannot be started: {error.strerror}") from None


def _agents(place: ToolContext, order: NodeCall) -> AgentSupervisor:
    """Return the agents of this machine, if it keeps any and a person asks."""
    if place.agents is None:
        raise _NotDone(RefusalCode.FAILED, NO_AGENTS)
    if not order.who.is_person:
        raise _NotDone(RefusalCode.DENIED, NO_PERSON)
    return place.agents


def _given(order: NodeCall) -> Mapping[str, object]:
    try:
        return agent_arguments.check_arguments(order.tool, order.arguments)
    except Invalid as error:
        raise _NotDone(RefusalCode.INVALID, str(error)) from None


def _note(place: ToolContext, who: Principal, given: Mapping[str, object]) -> AgentRecord:
    """Make the record of the order."""
    note = AgentRecord(
        who=who,
        agent=str(given["agent"]),
        command=str(given["command"]),
        concurrency=cast(int, given.get("concurrency", 1)),
        folder=cast(str | None, given.get("folder")),
        digest="",
        since=time.time_ns() // 1_000_000,
    )
    asked = note.order
    digest = call_digest(who, asked.tool, asked.arguments, place.world.cwd, place.node)
    return replace(note, digest=digest)


def _require_program(place: ToolContext) -> None:
    """Check that the program exists, if the command is just one program with its arguments."""
    parts = place.reading.parts if place.reading is not None else ()
    name = parts[0].words[0] if len(parts) == 1 and parts[0].words else None
    if name is None or name in _OF_SHELL or "/" in name:
        return
    if shutil.which(name, path=place.world.variables.get("PATH")) is None:
        raise _NotDone(RefusalCode.FAILED, f"there is no program {name!r} on {place.node}")


def _told(place: ToolContext, fares: ProcessStatus) -> dict[str, object]:
    return {
        "agent": fares.agent,
        "node": place.node,
        "status": str(fares.status),
        "since": fares.since,
        "pid": fares.pid,
        "sandbox": "none",
    }


def _rows(lines: Sequence[LogLine]) -> list[dict[str, object]]:
    return [asdict(line) for line in lines]


TOOLS: Mapping[str, Tool] = {
    "agent_start": agent_start,
    "agent_stop": agent_stop,
    "agent_logs": agent_logs,
}
