"""Which machines a call is about, and how what is asked of several comes together.

A call that names a machine in its header is that machine's, whatever it says. Else those that speak of another machine
go straight to it: its own gate is the authority, and that of the hub's machine is not asked.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from hubbub.dialects.call import Site
from hubbub.model.errors import HubError
from hubbub.model.orders import Code, Node, Order, Outcome, refused

NODE_HEADER = "x-hubbub-node"
HERE = "localhost"  # whatever machine a call has come to
BY_NAME = frozenset({"ask_agent", "ask_agent_stream"})  # and `connect`, to run a command
ASK_ALL = "ask_agents"
NO_MACHINE = "this hub was started without a machine of its own, and the call names no other"
MOST_HOSTS = 100
PER_HOST_MS, TOTAL_MS = 120_000, 300_000  # where a call says nothing

Entry = Mapping[str, object]
Perform = Callable[[Node, Order], Awaitable[Outcome]]


class Offline(HubError):
    """The machine that is meant cannot be reached."""

    code = "offline"

    def __init__(self, name: str | None) -> None:
        super().__init__(f"the machine {name!r} is not connected" if name else NO_MACHINE)


def is_here(site: Site, name: str) -> bool:
    """Whether the name means the hub's own machine."""
    own = site.node
    return own is not None and name.casefold() in (own.name.casefold(), HERE)


async def found(site: Site, project: str, name: str) -> Node:
    """The machine of that name, whatever its case. Raises `Offline`."""
    if is_here(site, name) and site.node is not None:
        return site.node
    node = await site.fleet.find(project, name) if site.fleet is not None else None
    if node is None:
        raise Offline(name)
    return node


def hosts_of(order: Order) -> list[str]:
    """The machines that the order is about, each once, as it calls them; none where it is about the one it is given."""
    named = order.arguments.get("hostname")
    is_about_one = order.tool in BY_NAME or runs_command(order)
    given = order.arguments.get("hostnames") if order.tool == ASK_ALL else [named] if is_about_one else []
    names: dict[str, str] = {}
    for each in given if isinstance(given, Sequence) else ():
        if isinstance(each, str):
            names.setdefault(each.casefold(), each)
    return list(names.values())


def runs_command(order: Order) -> bool:
    """Whether it is a command for the machine that it names."""
    return order.tool == "connect" and order.arguments.get("operation") == "exec"


@dataclass(frozen=True, slots=True)
class _Said:
    """What one machine's agent said, or why it did not."""

    entry: Entry
    is_late: bool = False


async def ask_all(order: Order, find: Callable[[str], Awaitable[Node]], perform: Perform) -> Outcome:
    """Have the agents of several machines asked at once, each by an order of its own; what each said, and who is late.

    None waits for another, and nobody for longer than the call says in all.
    """
    total = _milliseconds(order, "total_timeout_ms", TOTAL_MS)
    per_host = min(_milliseconds(order, "per_host_timeout_ms", PER_HOST_MS), total)
    hosts = hosts_of(order)
    if len(hosts) > MOST_HOSTS:
        return refused(Code.INVALID, f"hostnames: at most {MOST_HOSTS} machines can be asked at once")

    async def ask(host: str) -> _Said:
        try:
            async with asyncio.timeout(per_host / 1000):
                node = await find(host)
                one = {
                    **order.arguments,
                    "hostnames": [node.name],
                    "per_host_timeout_ms": max(per_host, 1000),
                }
                return _said(node.name, await perform(node, replace(order, arguments=one)))
        except TimeoutError:
            return _late(host, per_host)
        except HubError as error:
            code = Code.OFFLINE if isinstance(error, Offline) else Code.FAILED
            return _Said({"error": str(error), "code": str(code)})

    said = await asyncio.gather(*map(ask, hosts))
    by_host = {host: each.entry for host, each in zip(hosts, said, strict=True)}
    late = [host for host, each in zip(hosts, said, strict=True) if each.is_late]
    return Outcome(value={"by_host": by_host, "timed_out": late})


def _said(name: str, outcome: Outcome) -> _Said:
    """What a machine answered that was asked alone."""
    value = outcome.value if isinstance(outcome.value, Mapping) else {}
    among = value.get("by_host")
    entries = among if isinstance(among, Mapping) else {}
    entry = entries.get(name)
    if not outcome.is_error and isinstance(entry, Mapping):
        return _Said(entry, is_late=entry.get("code") == Code.TIMEOUT)
    code = outcome.code or Code.FAILED
    error = value.get("error") if outcome.is_error else "the machine's answer makes no sense"
    return _Said({"error": str(error), "code": str(code)}, is_late=code is Code.TIMEOUT)


def _late(host: str, milliseconds: int) -> _Said:
    sentence = f"the agent of {host!r} did not answer within {milliseconds / 1000:g} seconds"
    return _Said({"error": sentence, "code": str(Code.TIMEOUT)}, is_late=True)


def _milliseconds(order: Order, name: str, otherwise: int) -> int:
    given = order.arguments.get(name)
    return given if isinstance(given, int) else otherwise
