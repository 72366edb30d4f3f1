"""Routing of calls to machines, and the combined answer of several.

A call that names a machine in its header goes to that machine, whatever its arguments. Other calls about another
machine go straight to it: its own gate is the authority, and that of the hub's machine is not asked.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta

from hubbub.core.fleet.own_machine import NotServed
from hubbub.dialects.call import HubContext
from hubbub.model.errors import HubError
from hubbub.model.fleet import fan_out
from hubbub.model.fleet.calls import Node, NodeCall, RefusalCode, ToolResult, refused
from hubbub.model.fleet.fan_out import Entry
from hubbub.model.fleet.nodes import is_meant
from hubbub.model.timestamps import milliseconds

NODE_HEADER = "x-hubbub-node"
BY_NAME = frozenset({"ask_agent", "ask_agent_stream"})  # and `connect`, to run a command
ASK_ALL = "ask_agents"
NO_MACHINE = "this hub was started without a machine of its own, and the call names no other"
SHORTEST = timedelta(seconds=1)  # the least time for a machine

Perform = Callable[[Node, NodeCall], Awaitable[ToolResult]]


class Offline(HubError):
    """The named machine cannot be reached."""

    code = "offline"

    def __init__(self, name: str | None) -> None:
        super().__init__(f"the machine {name!r} is not connected" if name is not None else NO_MACHINE)


def is_own_node(site: HubContext, name: str) -> bool:
    """Tell whether the name means the hub's own machine."""
    own = site.node
    return own is not None and is_meant(own.name, name)


def require_own(site: HubContext, own: Node | None, order: NodeCall) -> Node:
    """Return the hub's own machine, given it if it serves the caller's project. Raises `NotServed` and `Offline`."""
    if own is not None:
        return own
    raise Offline(None) if site.node is None else NotServed(order.who.project)


async def find_node(site: HubContext, own: Node | None, name: str, order: NodeCall) -> Node:
    """Return the machine with that name, in any case, for an order. Raises `NotServed` and `Offline`."""
    if is_own_node(site, name):
        return require_own(site, own, order)
    node = await site.fleet.find(order.who.project, name, order) if site.fleet is not None else None
    if node is None:
        raise Offline(name)
    return node


def hosts_of(order: NodeCall) -> list[str]:
    """List the machines named by the order, each once; none if it is about the machine that gets it."""
    named = order.arguments.get("hostname")
    is_about_one = order.tool in BY_NAME or runs_command(order)
    given = order.arguments.get("hostnames") if order.tool == ASK_ALL else [named] if is_about_one else []
    names: dict[str, str] = {}
    for each in given if isinstance(given, Sequence) else ():
        if isinstance(each, str):
            names.setdefault(each.casefold(), each)
    return list(names.values())


def runs_command(order: NodeCall) -> bool:
    """Tell whether it is a command for the machine that it names."""
    return order.tool == "connect" and order.arguments.get("operation") == "exec"


async def ask_all(order: NodeCall, find: Callable[[str], Awaitable[Node]], perform: Perform) -> ToolResult:
    """Ask the agents of several machines at once, each by its own order; return their answers and the late ones.

    No machine waits for another, and each has at most the time for all.
    """
    patience = fan_out.patience_with_each(order)
    hosts = hosts_of(order)

    async def ask(host: str) -> Entry:
        try:
            async with asyncio.timeout(patience.total_seconds()):
                node = await find(host)
                alone = {
                    "hostnames": [node.name],
                    "per_host_timeout_ms": milliseconds(max(patience, SHORTEST)),
                }
                asked = replace(
                    order,
                    arguments={**order.arguments, **alone},
                    patience=fan_out.patience_with_person(patience),
                )
                return fan_out.entry(await perform(node, asked), node.name)
        except TimeoutError:
            return fan_out.entry(fan_out.timed_out(host, patience), host)
        except HubError as error:
            code = RefusalCode.OFFLINE if isinstance(error, Offline) else RefusalCode.FAILED
            return fan_out.entry(refused(code, str(error)), host)

    entries = await asyncio.gather(*map(ask, hosts))
    return fan_out.combined(dict(zip(hosts, entries, strict=True)))
