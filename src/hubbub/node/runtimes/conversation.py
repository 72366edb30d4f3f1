"""Conversations with the agent of a machine: its tools, its answers, and its failures."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from hubbub.model.cost.printed_usage import Used
from hubbub.model.fleet.calls import ToolResult, ToolSpec
from hubbub.model.fleet.managed_agents import AgentCredentials

PATIENCE = timedelta(minutes=30)  # for one prompt; a runtime that takes longer is stopped

Tell = Callable[[Sequence[Used]], Awaitable[None]]
OnText = Callable[[str], Awaitable[None]]  # takes a piece of the answer as it comes


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the agent called on its way to an answer."""

    name: str
    arguments: Mapping[str, object]
    ok: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """The agent's final answer."""

    text: str
    tool_calls: Sequence[ToolCall] = ()


class RuntimeFailed(Exception):
    """The agent has no answer; the message says why, in one sentence.

    `said` are the own words of its `program`, if that is one of a maker of models: they may be about a usage limit.
    """

    def __init__(self, sentence: str, said: str = "", program: str | None = None) -> None:
        super().__init__(sentence)
        self.said, self.program = said, program


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAccess:
    """The agent's tools and surroundings."""

    node: str  # the machine's name
    folder: Path  # its working folder
    tools: Sequence[ToolSpec]  # those that it may call
    call: Callable[[str, Mapping[str, object]], Awaitable[ToolResult]]  # calls one of them, through the gate
    task_id: str | None = None  # the hub's task that it works on
    chain: tuple[str, ...] = ()  # the agents that asked one another, up to this one
    lent: AgentCredentials | None = None  # its token for the hub, if it is a program
    tell: Tell | None = None  # reports use to the hub
    is_limited: bool = False  # whether `tools` is less than all


class Conversation(Protocol):
    """One conversation with an agent. It remembers earlier prompts if its kind can."""

    async def say(self, prompt: str, hands: ToolAccess, hear: OnText | None = None) -> Answer:
        """Return the answer to `prompt`; `hear` gets its text piece by piece while it comes.

        Raises `RuntimeFailed`. Cancelling it stops the agent, with everything it started.
        """
