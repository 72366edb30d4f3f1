"""Reaching machines by name: this one here, and all others through the hub, where their own gates decide."""

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
    """Tell whether the name is that of this machine, which is called `node`."""
    return isinstance(hostname, str) and is_meant(node, hostname)


def is_all_here(node: str, hostnames: Iterable[object]) -> bool:
    """Tell whether all names are this machine's, so that the gate has decided about the whole call."""
    return all(is_here(node, each) for each in hostnames)


def why_unasked(node: str, tool: str, order: NodeCall) -> str | None:
    """Return why nobody is asked on this machine about a call of `tool`; None if a person may be.

    The call is about other machines (this machine's part passes the gate by itself then), or it is refused, since
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
    """Return the answer about a machine that is out of reach."""
    return refused(RefusalCode.OFFLINE, f"the machine {hostname!r} is not connected")


async def pass_on(place: ToolContext, order: NodeCall) -> ToolResult:
    """Have a call about other machines done there, through the hub."""
    if place.act is None:
        return offline(str(order.arguments.get("hostname")))
    try:
        return await place.act(order)
    except StoreUnavailable as error:
        return refused(RefusalCode.OFFLINE, str(error))
    except HubError as error:
        return refused(RefusalCode.FAILED, str(error))


async def execute(place: ToolContext, order: NodeCall) -> ToolResult:
    """Run a command on the named machine; the gate has read the command with the call."""
    hostname, command = order.arguments.get("hostname"), order.arguments.get("command")
    if not isinstance(hostname, str) or not isinstance(command, str):
        missing = "hostname" if not isinstance(hostname, str) else "command"
        return refused(RefusalCode.INVALID, f"{missing} is missing: exec needs a hostname and a command")
    if not is_here(place.node, hostname):
        return await pass_on(place, order)
    given = {name: order.arguments[name] for name in ("command", "timeout_ms") if name in order.arguments}
    return await commands.TOOLS[RUN](place, replace(order, tool=RUN, arguments=given))


async def whoami(place: ToolContext, _order: NodeCall) -> ToolResult:
    """Return this machine's name, and the id that stays when the name changes."""
    return ToolResult(value={"hostname": place.node, "machine_id": place.machine_id})


TOOLS: Mapping[str, Tool] = {
    "connect exec": execute,
    "connect whoami": whoami,
}
