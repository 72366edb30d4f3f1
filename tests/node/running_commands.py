"""Commands on a machine of a test's own, behind each kind of wall, and what there is of them in the system."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any
from uuid import uuid4

import pytest

from hubbub.model.fleet.calls import NodeCall, Principal, ToolResult
from hubbub.node.sandbox import Sandbox
from hubbub.node.sandbox.bubblewrap import Bubblewrap, find
from hubbub.node.sandbox.landlock import Landlock
from hubbub.node.sandbox.no_sandbox import NoSandbox
from hubbub.node.system.kernel import landlock_abi
from hubbub.node.tools.commands import TOOLS
from hubbub.node.tools.tool_context import ToolContext
from tests.node.tool_contexts import SOMEBODY
from tests.support import process_table
from tests.support.tools import needed
from tests.support.waiting import until

WALLS = ("bwrap", *(pytest.param(each, marks=pytest.mark.system) for each in ("landlock", "none")))
FORKER = b"hubbub.node.commands.fork_server"


def wall(name: str, *, network: bool = True) -> Sandbox:
    """One kind of wall, whichever this machine would choose."""
    match name:
        case "bwrap":
            return Bubblewrap(needed(bubblewrap(), "bubblewrap"), network=network)
        case "landlock":
            return Landlock(landlock_abi(), network=network)
        case _:
            return NoSandbox()


@cache
def bubblewrap() -> str | None:
    """The path of bubblewrap, which is tried once for all tests."""
    return find()


async def perform(here: ToolContext, tool: str, who: Principal = SOMEBODY, **arguments: object) -> ToolResult:
    """Return the result of a call that the gate lets through."""
    return await TOOLS[tool](here, NodeCall(who=who, tool=tool, arguments=arguments))


def ask(here: ToolContext, tool: str, who: Principal = SOMEBODY, **arguments: Any) -> ToolResult:
    """The same, from outside an event loop."""
    return asyncio.run(perform(here, tool, who, **arguments))


def run(here: ToolContext, command: str, **arguments: Any) -> Any:
    """Return the answer of a command that was run to its end."""
    outcome = ask(here, "execute_command", command=command, **arguments)
    assert not outcome.is_error, outcome.value
    return outcome.value


def printed(here: ToolContext, command: str, **arguments: Any) -> str:
    """Return the output of a command, which must succeed without errors."""
    value = run(here, command, **arguments)
    assert (value["exit_code"], value["stderr"]) == (0, ""), value
    return str(value["stdout"])


def begin(here: ToolContext, command: str, who: Principal = SOMEBODY, **arguments: Any) -> str:
    """The id of a command in the background."""
    outcome = ask(here, "execute_command", who, command=command, background=True, **arguments)
    assert not outcome.is_error, outcome.value
    value: Any = outcome.value
    assert value["status"] == "running"
    return str(value["task_id"])


def row(here: ToolContext, task_id: str, who: Principal = SOMEBODY) -> dict[str, Any]:
    """Return the entry of shell_tasks for one command."""
    rows: Any = ask(here, "shell_tasks", who).value
    (found,) = (each for each in rows if each["id"] == task_id)
    return dict(found)


def eventually(happened: Callable[[], object]) -> None:
    """Look until it has happened."""
    until(happened, "what was begun")


class Marked:
    """Processes that can be told from all others of the machine: each sleeps for a time of its own."""

    def __init__(self) -> None:
        self.sleep = f"sleep {10**6 + uuid4().int % 10**9}.{os.getpid()}"

    def pids(self) -> list[int]:
        """Those that live."""
        words = self.sleep.encode().replace(b" ", b"\0")
        return [pid for pid, line in process_table.commands() if line.rstrip(b"\0") == words]

    def keeper(self) -> int:
        """The keeper above them."""
        pid = self.pids()[0]
        while FORKER not in process_table.command(pid):
            pid = process_table.parent(pid)
        return pid

    def forker(self) -> int:
        """The forker above that."""
        return process_table.parent(self.keeper())

    def waiting(self) -> int:
        """The keeper beside it that waits for an order; 0 for the moment in which there is none."""
        keeper, forker = self.keeper(), self.forker()
        return next(
            (
                each
                for each, _ in process_table.commands()
                if each != keeper and process_table.parent(each) == forker
            ),
            0,
        )


@contextmanager
def marked() -> Iterator[Marked]:
    """The mark of processes, of which none must be left in the end."""
    processes = Marked()
    yield processes
    eventually(lambda: not processes.pids())


def behind(here: ToolContext, name: str, *, network: bool = True) -> ToolContext:
    """The machine, with another wall."""
    return replace(here, sandbox=wall(name, network=network))
