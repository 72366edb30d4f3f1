"""ssh_session: a shell on another machine, which stays open from one call to the next."""

import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from hubbub.model.errors import Invalid
from hubbub.model.fleet.calls import NodeCall, RefusalCode, ToolResult, refused
from hubbub.node.ssh import destination, host_config
from hubbub.node.ssh.not_connected import NotConnected
from hubbub.node.ssh.remote_shells import IDLE, RemoteShell, RemoteShells
from hubbub.node.tools.tool_context import Tool, ToolContext

TOOL = "ssh_session"
LONGEST_LINE = 4000  # bytes: terminals cut a longer one, and then another command would run than was read


async def shell(place: ToolContext, order: NodeCall) -> ToolResult:
    """Do the operation: see `docs/dialects/cmdop.md`."""
    if (fault := _fault(place.shells, order)) is not None:
        return fault
    try:
        return await _OPERATIONS[str(order.arguments["operation"])](place, order)
    except NotConnected as error:
        return refused(error.code, str(error))


async def why_not(place: ToolContext, order: NodeCall) -> ToolResult | None:
    """Return the refusal of a call that could not succeed after any yes, so that nobody is asked about it."""
    if order.tool != TOOL:
        return None
    if (fault := _fault(place.shells, order)) is not None or order.arguments["operation"] != "open":
        return fault
    wanted = destination.parse(str(order.arguments["hostname"]))
    try:
        await host_config.look_for(wanted, Path(place.world.home))
    except NotConnected as error:
        return refused(error.code, str(error))
    return None


def _fault(shells: RemoteShells, order: NodeCall) -> ToolResult | None:
    """Return the refusal of a call that fails before anything is done, if it does."""
    operation, given = str(order.arguments["operation"]), order.arguments
    for name in _NEEDED[operation]:
        if not isinstance(given.get(name), str):
            return refused(RefusalCode.INVALID, f"{name} is missing: {operation} needs it")
    if operation == "open":
        return _wrong_host(str(given["hostname"]))
    if operation == "send" and (wrong := _wrong_command(str(given["command"]))) is not None:
        return wrong
    shell_id = given.get("session_id")
    if operation != "list" and shells.find(order.who, str(shell_id)) is None:
        minutes = IDLE.total_seconds() / 60
        sentence = f"no shell {shell_id!r} of yours is open; one closes after {minutes:g} minutes without use"
        return refused(RefusalCode.NOT_FOUND, sentence)
    return None


def _wrong_host(hostname: str) -> ToolResult | None:
    try:
        destination.parse(hostname)
    except Invalid as error:
        return refused(RefusalCode.INVALID, str(error))
    return None


def _wrong_command(command: str) -> ToolResult | None:
    try:
        lines = command.encode().splitlines()
    except UnicodeEncodeError:
        return refused(RefusalCode.INVALID, "command: must not have half a character")
    if any(len(each) > LONGEST_LINE for each in lines):
        return refused(RefusalCode.TOO_LARGE, f"command: a line of it may have at most {LONGEST_LINE} bytes")
    return None


async def _open(place: ToolContext, order: NodeCall) -> ToolResult:
    wanted = destination.parse(str(order.arguments["hostname"]))
    home, agent = Path(place.world.home), os.environ.get("SSH_AUTH_SOCK")
    shell = await place.shells.open(order.who, wanted, home, agent)
    return ToolResult(value={"session_id": shell.shell_id, "hostname": str(wanted)})


async def _send(place: ToolContext, order: NodeCall) -> ToolResult:
    command = str(order.arguments["command"])
    place.shells.send(_shell(place, order), _typed(command).encode())
    return ToolResult(value={"sent": True})


def _typed(command: str) -> str:
    """Return the text to type: a command followed by Enter, a key such as Ctrl-C alone."""
    is_key = len(command) == 1 and not command.isprintable()
    return command if is_key or command.endswith("\n") else f"{command}\n"


async def _read(place: ToolContext, order: NodeCall) -> ToolResult:
    shell = _shell(place, order)
    output = await place.shells.read(shell)
    code = {} if shell.line.exit_code is None else {"exit_code": shell.line.exit_code}
    return ToolResult(value={"output": output, "status": shell.status, **code})


async def _close(place: ToolContext, order: NodeCall) -> ToolResult:
    return ToolResult(value={"closed": await place.shells.end(_shell(place, order))})


async def _list(place: ToolContext, order: NodeCall) -> ToolResult:
    return ToolResult(value=[_row(each) for each in place.shells.of(order.who)])


def _row(shell: RemoteShell) -> dict[str, object]:
    return {
        "session_id": shell.shell_id,
        "hostname": str(shell.destination),
        "opened_at": shell.opened_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "idle_seconds": shell.idle_seconds,
        "status": shell.status,
    }


def _shell(place: ToolContext, order: NodeCall) -> RemoteShell:
    shell = place.shells.find(order.who, str(order.arguments["session_id"]))
    assert shell is not None, "it was there a moment ago, and nothing was waited for since"
    return shell


_NEEDED: Mapping[str, tuple[str, ...]] = {
    "open": ("hostname",),
    "send": ("session_id", "command"),
    "read": ("session_id",),
    "close": ("session_id",),
    "list": (),
}
_OPERATIONS: Mapping[str, Callable[[ToolContext, NodeCall], Awaitable[ToolResult]]] = {
    "open": _open,
    "send": _send,
    "read": _read,
    "close": _close,
    "list": _list,
}
TOOLS: Mapping[str, Tool] = {TOOL: shell}
