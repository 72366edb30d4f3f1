"""Reaching machines by name: this one. Others are reached where they are connected to the hub, or by SSH."""

from collections.abc import Mapping
from dataclasses import replace

from hubbub.model.orders import Code, Order, Outcome, refused
from hubbub.node.gate.judge import HERE
from hubbub.node.place import Place, Tool
from hubbub.node.tools import commands

RUN = "execute_command"
BY_NAME = frozenset({"connect exec", "ask_agent", "ask_agent_stream", "ask_agents"})


def is_here(node: str, hostname: object) -> bool:
    """Whether the name is that of this machine, which is called `node`."""
    return isinstance(hostname, str) and hostname.casefold() in (node.casefold(), HERE)


def is_elsewhere(node: str, tool: str, arguments: Mapping[str, object]) -> bool:
    """Whether a call is about other machines alone: as none can be reached, nobody need be asked about it."""
    if tool == "ssh_session":
        return True
    names = arguments.get("hostnames") if tool == "ask_agents" else [arguments.get("hostname")]
    return tool in BY_NAME and isinstance(names, list) and not any(is_here(node, each) for each in names)


def offline(hostname: str) -> Outcome:
    """The answer about a machine that cannot be reached."""
    return refused(Code.OFFLINE, f"the machine {hostname!r} is not connected")


async def execute(place: Place, order: Order) -> Outcome:
    """Run a command on the machine that is named; the gate has read the command with the call."""
    hostname, command = order.arguments.get("hostname"), order.arguments.get("command")
    if not isinstance(hostname, str) or not isinstance(command, str):
        missing = "hostname" if not isinstance(hostname, str) else "command"
        return refused(Code.INVALID, f"{missing} is missing: exec needs a hostname and a command")
    if not is_here(place.node, hostname):
        return offline(hostname)
    given = {name: order.arguments[name] for name in ("command", "timeout_ms") if name in order.arguments}
    return await commands.TOOLS[RUN](place, replace(order, tool=RUN, arguments=given))


async def whoami(place: Place, _order: Order) -> Outcome:
    """This machine's name, and the id that stays when the name changes."""
    return Outcome(value={"hostname": place.node, "machine_id": place.machine_id})


async def shell(_place: Place, order: Order) -> Outcome:
    """Shells on other machines: none of them can be reached from here."""
    operation, arguments = order.arguments["operation"], order.arguments
    if operation == "list":
        return Outcome(value=[])
    needed = "hostname" if operation == "open" else "session_id"
    name = arguments.get(needed)
    if not isinstance(name, str):
        return refused(Code.INVALID, f"{needed} is missing: {operation} needs it")
    if operation == "open":
        return offline(name)
    return refused(Code.NOT_FOUND, f"there is no open ssh session {name!r}")


TOOLS: Mapping[str, Tool] = {
    "connect exec": execute,
    "connect whoami": whoami,
    "ssh_session": shell,
}
