"""The context of a tool call: its request, its connection, and its hub.

A tool whose function has a `Call` parameter is given it; it is no argument of the tool.
"""

import base64
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol
from uuid import UUID

from hubbub.core.transaction import Transactions
from hubbub.model.errors import Invalid, ProjectRequired
from hubbub.model.fleet.calls import Client, Fleet, Node, NodeCall, ToolResult
from hubbub.model.mail.wakes import DeliveryChannels
from hubbub.model.people.rights import Actor
from hubbub.model.records import Activity
from hubbub.store.tx import Operation
from hubbub.workspace.locations import Workspace

_WRAPPED = re.compile(r"=\?base64\?(?P<text>.*)\?=")


class CarryOut(Protocol):
    """Does the hub's part of a machine's order, for the caller of the order, at most once for a key."""

    async def __call__(
        self, transactions: Transactions, actor: Actor, asked: NodeCall, key: str, call: "Call", /
    ) -> ToolResult: ...


class ActivitySource(DeliveryChannels, Protocol):
    """A source of activities, and of the agents that hear of them at once."""

    def follow(
        self, actor: Actor, project_id: UUID, agent: str | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Sequence[Activity]]]:
        """Follow the project's activities from now on, in batches; it ends when the actor's token does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """Limits on a run's content; None means no limit."""

    messages: int | None = None
    tasks: int | None = None
    artifacts: int | None = None
    reviews: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HubContext:
    """The hub's facts for tools."""

    url: str  # its address for people and programs
    port: int
    instance: str  # this process of the hub
    news: ActivitySource
    tell: Callable[[UUID, Mapping[str, object]], None]  # tells the live watchers of the project; kept nowhere
    note: Callable[[Operation[None]], None]  # runs it soon, after the answer; dropped if it cannot be done
    caps: RunLimits = field(default_factory=RunLimits)
    workspace: Workspace | None = None  # the folder whose team works over the hub itself, in one project:
    workspace_project: str | None = None
    node: Node | None = None  # the machine that the hub runs on, if it is offered to agents
    fleet: Fleet | None = None  # the machines that are linked to the hub
    carry_out: CarryOut | None = None  # does the hub's part of a call by an agent on its own machine


@dataclass(slots=True, kw_only=True)
class Call:
    """One call of a tool."""

    site: HubContext
    headers: Mapping[str, str] = field(default_factory=dict)  # of the request, by lower-case name
    meta: Mapping[str, object] = field(default_factory=dict)  # `_meta` of the call
    attempt: int | None = None  # at the call with its idempotency key, if its caller counts
    connection: str | None = None  # the id of its connection, if that lasts longer than this call
    client: Client | None = None  # the person at the client, if there is one to ask
    progress: Callable[[str], Awaitable[None]] | None = None  # tells the caller a piece of text meanwhile
    notes: dict[str, object] = field(default_factory=dict)  # passed from one try to the next
    may_wait: bool = True  # else `NotYet` is raised to the caller
    is_again: bool = False  # it was tried before: a while may have passed since its token was looked up
    is_last_try: bool = False  # there is no more time to wait: the tool must not raise `NotYet` again
    is_woken: bool = False  # an activity that it waited for has happened
    speaker: tuple[UUID, str] | None = None  # the project and the agent that made the call, once known
    _then: list[Callable[[], None]] = field(default_factory=list)

    def header(self, name: str) -> str | None:
        """Return a header of the request; a text that no header can hold comes in base64, as MCP encodes it.

        Raises `Invalid` if the base64 is wrong.
        """
        value = self.headers.get(name) or None
        wrapped = _WRAPPED.fullmatch(value) if value is not None else None
        if wrapped is None:
            return value
        try:
            text = base64.b64decode(wrapped["text"], validate=True).decode()
        except ValueError:
            text = ""
        if not text.isprintable() or not text:
            raise Invalid(f"{name}: the part between =?base64? and ?= must be base64 of UTF-8 text")
        return text

    @property
    def has_waited(self) -> bool:
        """Tell whether so much time has passed that the token may have ended meanwhile."""
        return self.is_woken or self.is_last_try

    def then(self, action: Callable[[], None]) -> None:
        """Run `action` outside the transaction, on the event loop, once the call has succeeded."""
        self._then.append(action)

    def begin(self) -> None:
        """Drop the actions of an earlier try: the operation is run from the start."""
        self._then.clear()

    def finish(self) -> None:
        """Run the actions, as the call has succeeded."""
        for action in self._then:
            action()


class NotYet(Exception):
    """There is no answer yet: nothing of the call is kept, and it is made again when something has happened.

    `wanted` says which activities of the project are worth another try; with an `agent`, only those about the
    agent. After `patience` the call is made a last time in any case.
    """

    def __init__(
        self,
        project_id: UUID,
        patience: timedelta,
        wanted: Callable[[Activity], bool],
        *,
        agent: str | None = None,
    ) -> None:
        super().__init__("there is no answer yet")
        self.project_id, self.patience, self.wanted, self.agent = project_id, patience, wanted, agent


def project_wanted(error: ProjectRequired) -> str:
    """Say how a person of several projects names one."""
    return f"{error}, by the header X-Hubbub-Project" if error.slugs else str(error)
