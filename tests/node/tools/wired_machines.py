"""Some machines in one process, with gates, policies and agents of their own; plain calls stand in for the hub."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from hubbub.dialects.cmdop import DIALECT
from hubbub.model.fleet.calls import (
    Answered,
    NodeCall,
    Principal,
    Question,
    RefusalCode,
    Ruling,
    ToolResult,
    refused,
)
from hubbub.node.factory import open_node
from hubbub.node.local_node import LocalNode
from tests.node.tool_contexts import NotingHub

ADA = Principal(project="shop", name="ada", token_id="t1")
BYPASS = 'mode = "bypass"'


@dataclass
class People(NotingHub):
    """Answer every question alike, and remember what they were asked."""

    ruling: Ruling = Ruling.DENIED
    asked: list[Question] = field(default_factory=list)

    async def ask(self, question: Question, patience: timedelta) -> Answered:
        self.asked.append(question)
        return Answered(self.ruling, "a1", "grace")


class Machine:
    """One machine, and the orders that came to it over the wire."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name, self.people, self.came = name, People(), list[NodeCall]()
        self.work, self._config = folder / "work", folder / "config"
        self.work.mkdir(parents=True)
        self._config.mkdir()
        self.policy()
        self.node: LocalNode = open_node(
            data=folder / "data",
            log_file=folder / "log",
            config=self._config,
            cwd=self.work,
            hub=self.people,
            catalogue=DIALECT.catalogue(),
            name=name,
            environment={"HOME": str(folder), "PATH": "/usr/bin:/bin"},
        )

    def policy(self, text: str = BYPASS, *, model: str | None = None, command: str | None = None) -> None:
        """Write its operator's policy, and its agent."""
        if model is not None:
            text += f'\n[runtime]\nkind = "openai"\nurl = "{model}"\nmodel = "m"\n'
        if command is not None:
            text += f"\n[runtime]\nkind = 'command'\ncommand = ['/bin/sh', '-c', '''{command}''']\n"
        (self._config / "node.toml").write_text(text)
        (self._config / "node.toml").chmod(0o600)

    @property
    def audit(self) -> str:
        return (self._config.parent / "data" / "audit.jsonl").read_text()


class Wire:
    """A hub for machines: it brings each order to the machine that it names."""

    def __init__(self, folder: Path, *names: str) -> None:
        self.machines = {name: Machine(folder / name, name) for name in names}
        self.passed: list[NodeCall] = []  # what machines gave it to do

    def __getitem__(self, name: str) -> Machine:
        return self.machines[name]

    async def act(self, order: NodeCall) -> ToolResult:
        self.passed.append(order)
        if order.tool != "ask_agents":
            return await self._bring(str(order.arguments["hostname"]), order)
        hosts = order.arguments["hostnames"]
        assert isinstance(hosts, Sequence)
        each = [replace(order, arguments={**order.arguments, "hostnames": [host]}) for host in hosts]
        found = await asyncio.gather(*(map(self._bring, hosts, each)))
        by_host = {host: _told(outcome, host) for host, outcome in zip(hosts, found, strict=True)}
        return ToolResult(value={"by_host": by_host, "timed_out": []})

    async def _bring(self, name: str, order: NodeCall) -> ToolResult:
        machine = self.machines.get(name)
        if machine is None:
            return refused(RefusalCode.OFFLINE, f"the machine {name!r} is not connected")
        machine.came.append(order)
        return await machine.node.perform(order, self.act)


def _told(outcome: ToolResult, host: str) -> object:
    assert isinstance(outcome.value, Mapping)
    by_host = outcome.value.get("by_host")
    return by_host[host] if isinstance(by_host, Mapping) else outcome.value


def order(tool: str, **arguments: object) -> NodeCall:
    """A call by ada."""
    return NodeCall(who=ADA, tool=tool, arguments=arguments)
