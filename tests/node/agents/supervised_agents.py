"""Agents on a machine of the test's own: a small script stands for their program, and time passes faster."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from hubbub.model.errors import HubError
from hubbub.model.fleet.calls import NodeCall, Principal, ToolResult
from hubbub.model.fleet.managed_agents import AgentCredentials, ManagedAgentStatus, ProcessStatus
from hubbub.node.agents.agent_log import LogLine
from hubbub.node.agents.agent_records import AgentRecord
from hubbub.node.agents.supervised_agent import SupervisionTimings
from hubbub.node.agents.supervisor import AgentSupervisor
from tests.node.tool_contexts import NotingHub
from tests.support.waiting import patience

ADA = Principal(project="shop", name="ada", is_person=True)
QUICK = SupervisionTimings(
    first=timedelta(milliseconds=1),
    longest=timedelta(milliseconds=4),
    healthy=timedelta(hours=1),
    telling=timedelta(milliseconds=1),
)


@dataclass
class PlacingHub(NotingHub):
    """Gives agents what they act with, and hears how they fare."""

    told: list[ProcessStatus] = field(default_factory=list)
    refuses_agents: HubError | None = None
    heard: asyncio.Event = field(default_factory=asyncio.Event)

    async def credentials(self, agent: str) -> AgentCredentials:
        if self.refuses_agents is not None:
            raise self.refuses_agents
        return AgentCredentials("http://127.0.0.1:1", f"key of {agent}")

    async def fare(self, agents: Sequence[ProcessStatus]) -> None:
        self.told += agents
        self.heard.set()

    async def until(self, wanted: Callable[[ProcessStatus], bool]) -> ProcessStatus:
        """The first of what is told that is wanted."""
        async with asyncio.timeout(patience()):
            while True:
                for each in self.told:
                    if wanted(each):
                        return each
                self.heard.clear()
                await self.heard.wait()

    async def until_is(self, status: ManagedAgentStatus) -> ProcessStatus:
        return await self.until(lambda each: each.status is status)


async def never(_order: NodeCall, _digest: str) -> ToolResult:
    raise AssertionError("nothing was to be resumed")


@dataclass
class Minding:
    """The agents, their hub, and the folder in which they run."""

    agents: AgentSupervisor
    hub: PlacingHub
    folder: Path

    async def start(self, command: str, name: str = "coder") -> ProcessStatus:
        at = os.open(self.folder, os.O_RDONLY)
        try:
            return await self.agents.start(note(command, name), at)
        finally:
            os.close(at)

    async def says(self, words: str, name: str = "coder") -> LogLine:
        """Return the first line with these words, as soon as it is printed."""
        async for batch in self.agents.output("shop", name).follow(100):
            for line in batch:
                if words in line.text:
                    return line
        raise AssertionError(f"it never said {words!r}")


def note(command: str, name: str = "coder") -> AgentRecord:
    return AgentRecord(who=ADA, agent=name, command=command, concurrency=1, folder=None, digest="d", since=1)


def script(told: AgentRecord) -> Sequence[str]:
    """The command itself as the agent's program."""
    return ("/bin/sh", "-c", told.command)


def agents_in(data: Path, hub: PlacingHub, *, pace: SupervisionTimings = QUICK) -> AgentSupervisor:
    return AgentSupervisor(
        hub, data, lambda text: text.replace("hunter2", "[redacted]"), pace=pace, words=script
    )


@asynccontextmanager
async def minding(tmp_path: Path, *, pace: SupervisionTimings = QUICK) -> AsyncIterator[Minding]:
    """Agents, none of which existed before; all of them end with the context."""
    hub = PlacingHub()
    agents = agents_in(tmp_path / "data", hub, pace=pace)
    (tmp_path / "work").mkdir(exist_ok=True)
    await agents.open(never)
    try:
        yield Minding(agents, hub, tmp_path / "work")
    finally:
        await agents.close()
