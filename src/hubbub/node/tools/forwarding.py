"""Reaching machines by name: this one here, and all others by way of the hub, where their own gates decide."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hubbub.model.errors import HubError, StoreUnavailable
from hubbub.model.fleet import call_chain
from hubbub.model.fleet.calls import NodeCall, RefusalCode, ToolResult, refused
from hubbub.model.fleet.nodes import is_meant
from hubbub.node.tools import commands
from hubbub.node.tools.tool_context import Tool, ToolContext

RUN = "execute_command"
ASKING = frozenset({"ask_agent", "ask_agent_stream", "ask_agents"})
BY_NAME = ASKING | {"connect exec"}
ELSEWHERE = "another machine is meant, whose own gate decides"


def is_here(node: str, hostname: object) -> bool:
    """Whether the name is that of this machine, which is called `node`."""
    return isinstance(hostname, str) and is_meant(node, hostname)


def is_all_here(node: str, hostnames: Iterable[object]) -> bool:
    """Whether the names are all this machine's, so that the gate has decided about the call as a whole."""
    return all(is_here(node, each) for each in hostnames)


def why_unasked(node: str, tool: str, order: NodeCall) -> str | None:
    """Why no person is asked on this machine about a call of `tool`, if that is so: nothing is decided by it here.

    It is about other machines (what it has for this one passes the gate by itself then), or it is refused, since
    agents would ask one another without end.
    """
    if tool not in BY_NAME:
        return None
    given = order.arguments
    names = given.get("hostnames") if tool == "ask_agents" else [given.get("hostname")]
    if not isinstance(names, list) or not names:
        return None
    if not is_all_here(node, names):
        return ELSEWHERE
    return call_chain.why_not(order.chain, node) if tool in ASKING else None


def offline(hostname: str) -> ToolResult:
    """The answer about a machine that cannot be reached."""
    return refused(RefusalCode.OFFLINE, f"the machine {hostname!r} is not connected")


async def pass_on(place: ToolContext, order: NodeCall) -> ToolResult:
    """Have a call that is about other machines done there, by way of the hub."""
    if place.act is None:
        return offline(str(order.arguments.get("hostname")))
    try:
        return await place.act(order)
    except StoreUnavailable as error:
        return refused(RefusalCode.OFFLINE, str(error))
    except HubError as error:
        return refused(RefusalCode.FAILED, str(error))


async def execute(place: ToolContext, order: NodeCall) -> ToolResult:
    """Run a command on the machine that is named; the gate has read the command with the call."""
    hostname, command = order.arguments.get("hostname"), order.arguments.get("command")
    if not isinstance(hostname, str) or not isinstance(command, str):
        missing = "hostname" if not isinstance(hostname, str) else "command"
        return refused(RefusalCode.INVALID, f"{missing} is missing: exec needs a hostname and a command")
    if not is_here(place.node, hostname):
        return await pass_on(place, order)
    given = {name: order.arguments[name] for name in ("command", "timeout_ms") if name in order.arguments}
    return await commands.TOOLS[RUN](place, replace(order, tool=RUN, arguments=given))


async def whoami(place: ToolContext, _order: NodeCall) -> ToolResult:
    """This machine's name, and the id that stays when the name changes."""
    return ToolResult(value={"hostname": place.node, "machine_id": place.machine_id})


TOOLS: Mapping[str, Tool] = {
    "connect exec": execute,
    "connect whoami": whoami,
}
