"""Analysis of calls of all tools, on which `decide` decides.

Commands, files and downloads are read by `shellgate`, shells elsewhere by `ssh/reading.py`. All others are read here:
the texts that rules match, and whether the shipped policy lets the call through without asking.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from hubbub.model.fleet.nodes import HERE, is_meant
from hubbub.node.ssh import shell_analysis as ssh
from shellgate import paths
from shellgate.analysis import Analysis, CallPart
from shellgate.floor import commands, downloads, file_calls
from shellgate.floor.downloads import INTERNET, Network
from shellgate.paths import Access
from shellgate.rules import TOOLS
from shellgate.verdicts import deny
from shellgate.world import World

Arguments = Mapping[str, object]
AT_ONCE = 2_000  # characters of a command that are read sooner than a thread begins; longer ones get a thread
ARGUMENTS = "arguments"  # the rule of a call with impossible arguments

# Calls that only read the caller's own data, or change nothing else.
_HARMLESS = frozenset(
    {
        "read_logs",
        "shell_kill",
        "issue_list",
        "issue_get",
        "issue_create",
        "issue_update",
        "issue_close",
        "todo_write",
        "skill_list",
        "agent_logs",
    }
)
_NEVER_ASKS = frozenset({"shell_tasks", "task_status", "permissions_helper", "agent_stop"})
_NEVER_ASKS_OF_CONNECT = frozenset({"list", "whoami", "workspace_list"})
# The arguments that a call needs, and those of them that rules match.
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "execute_command": ("command",),
    "read_file": ("path",),
    "write_file": ("path",),
    "open_file": ("path",),
    "list_dir": ("path",),
    "grep": ("pattern", "path"),
    "glob": ("pattern",),
    "download_file": ("url", "dest"),
    "connect": ("operation",),
    "ssh_session": ("operation",),
    "ask_agent": ("hostname",),
    "ask_agent_stream": ("hostname",),
    "permissions_helper": ("operation",),
    "agent_start": ("agent", "command"),
    "agent_stop": ("agent",),
    "agent_logs": ("agent",),
}
_TARGETS = {
    "shell_kill": "task_id",
    "issue_get": "id",
    "issue_update": "id",
    "issue_close": "id",
    "skill_run": "name",
    "task_status": "task_id",
    "permissions_helper": "operation",
    "ask_agent": "hostname",
    "ask_agent_stream": "hostname",
    "agent_stop": "agent",
    "agent_logs": "agent",
}
_GOES_ON = "it keeps running, outside the sandbox, for every task that the agent gets"


async def analyse(
    tool: str, arguments: Arguments, world: World, network: Network = INTERNET, *, here: str = HERE
) -> Analysis:
    """Read a call of any tool; `here` is the name of this machine.

    An unknown tool, and a call without its needed arguments, are denied; so is a call that makes our own reading fail.
    """
    try:
        return await _read(tool, arguments, replace(world, files=world.files.snapshot()), network, here)
    except (RecursionError, MemoryError, OSError) as error:
        why = type(error).__name__
        return Analysis(floor=(deny(ARGUMENTS, f"The call cannot be read: the gate gave up on it ({why})."),))


async def _read(tool: str, arguments: Arguments, world: World, network: Network, here: str) -> Analysis:
    if tool not in TOOLS:
        return Analysis(floor=(deny(ARGUMENTS, f"There is no tool {tool[:80]!r}."),))
    for name in _NEEDED.get(tool, ()):
        if not isinstance(arguments.get(name), str):
            return Analysis(floor=(deny(ARGUMENTS, f"{tool} needs {name!r}, a text."),))
    if tool == downloads.TOOL:
        return await downloads.read(arguments, world, network)
    if tool in file_calls.ACCESS:
        return file_calls.read(tool, arguments, world)
    if (special := _SPECIAL.get(tool)) is not None:
        is_short = len(_text(arguments, "command")) <= AT_ONCE
        read_it = partial(special, arguments, world, here)
        return read_it() if is_short else await asyncio.to_thread(read_it)
    return _plain(tool, _text(arguments, _TARGETS.get(tool, "")), here)


def _command(arguments: Arguments, world: World, _here: str) -> Analysis:
    """Read a command, in the folder that the call names for it."""
    folder = arguments.get("cwd")
    if not isinstance(folder, str) or not folder:
        return commands.read(_text(arguments, "command"), world)
    cwd = paths.named(folder, world)
    if (closed := paths.protected(cwd, Access.LIST, world)) is not None:
        return Analysis(floor=(closed,), target=_text(arguments, "command"))
    reading = commands.read(_text(arguments, "command"), replace(world, cwd=cwd))
    if paths.is_inside(cwd, world):
        return reading
    outside = "it runs outside the folders that agents work in"
    parts = (replace(each, is_harmless=False, concern=each.concern or outside) for each in reading.parts)
    return replace(reading, parts=tuple(parts))


def _agent_start(arguments: Arguments, world: World, here: str) -> Analysis:
    """Read an agent's command for its tasks; the shipped policy always asks about one."""
    found = _command({**arguments, "cwd": arguments.get("folder")}, world, here)
    parts = (
        replace(each, tool="agent_start", is_harmless=False, concern=each.concern or _GOES_ON)
        for each in found.parts
    )
    return replace(found, parts=tuple(parts))


def _connect(arguments: Arguments, world: World, here: str) -> Analysis:
    operation, host = _text(arguments, "operation"), _text(arguments, "hostname")
    target = f"{operation}:{host}" if host else operation
    part = CallPart(tool="connect", target=target, never_asks=operation in _NEVER_ASKS_OF_CONNECT)
    part = _named(part, host, here, before=f"{operation}:")
    if operation != "exec":
        return Analysis(parts=(part,), target=target)
    found = _command({**arguments, "cwd": None}, world, here)
    if is_meant(here, host):
        whole = replace(part, is_harmless=True)  # it does no more than the command
        return replace(found, parts=(whole, *found.parts), target=f"{target} {found.target}")
    there = replace(part, floor=tuple(each for one in found.parts for each in one.floor))
    return Analysis(parts=(there,), floor=found.floor, target=f"{target} {found.target}")


def _ssh(arguments: Arguments, world: World, _here: str) -> Analysis:
    return ssh.analyse(arguments, world)


def _agents(arguments: Arguments, _world: World, here: str) -> Analysis:
    """Read a call to several machines' agents: each of them is a part of its own."""
    hosts = arguments.get("hostnames")
    if not isinstance(hosts, list) or not hosts or not all(isinstance(each, str) for each in hosts):
        return Analysis(floor=(deny(ARGUMENTS, "ask_agents needs 'hostnames', a list of texts."),))
    parts = tuple(_named(CallPart(tool="ask_agents", target=host), host, here) for host in hosts)
    return Analysis(parts=parts, target=", ".join(hosts))


def _plain(tool: str, target: str, here: str) -> Analysis:
    part = CallPart(tool=tool, target=target, is_harmless=tool in _HARMLESS, never_asks=tool in _NEVER_ASKS)
    part = _named(part, target, here) if _TARGETS.get(tool) == "hostname" else part
    return Analysis(parts=(part,), target=target)


def _named(part: CallPart, host: str, here: str, *, before: str = "") -> CallPart:
    """Add both names of this machine to a part about it, so that a rule about either applies."""
    other = {here.casefold(): HERE, HERE: here}.get(host.casefold())
    return part if other is None else replace(part, alias=before + other)


def _text(arguments: Arguments, name: str) -> str:
    value = arguments.get(name, "")
    return value if isinstance(value, str) else ""


_SPECIAL: Mapping[str, Callable[[Arguments, World, str], Analysis]] = {
    "execute_command": _command,
    "agent_start": _agent_start,
    "connect": _connect,
    "ssh_session": _ssh,
    "ask_agents": _agents,
}
