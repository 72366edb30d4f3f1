"""A machine as its tools find it, in a folder of the test's own, with a hub that only remembers what it is told."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from hubbub.model.errors import HubError
from hubbub.model.fleet.call_chain import CallChain
from hubbub.model.fleet.calls import NodeCall, Principal, RefusalCode, ToolResult, ToolSpec, refused
from hubbub.model.fleet.link_protocol import HubRequest, Message
from hubbub.model.fleet.managed_agents import AgentCredentials
from hubbub.model.limits.usage_limits import UsageLimit
from hubbub.node.policy.node_policy import CommandRuntime, Policy, Runtime
from hubbub.node.requests.hub_client import HubClient, Leave
from hubbub.node.sandbox import choose
from hubbub.node.tools.background_tasks import BackgroundTasks
from hubbub.node.tools.tool_context import ToolContext
from shellgate.filesystem import Disk
from shellgate.world import World
from tests.node.tool_access import CATALOGUE

PARTS = ("home", "work", "data")
SOMEBODY = Principal(project="shop", name="ada")


@dataclass
class NotedTask:
    """A task, as the hub was told of it."""

    who: Principal
    title: str
    description: str
    text: str | None = None
    failed: bool = False


class NoWire:
    """Sends no request to anybody."""

    async def request(self, need: HubRequest, content: Message, patience: timedelta | None = None) -> Message:
        raise AssertionError(f"nobody is to be asked: {need}")


@dataclass
class NotingHub(HubClient):
    """Takes tasks and their ends; asks nobody."""

    tasks: dict[str, NotedTask] = field(default_factory=dict)
    api_key: str | None = None
    refuses: HubError | None = None  # what it answers to everything about tasks
    lends_nothing: HubError | None = None  # what it answers to who needs a token
    lent: int = 0  # tokens that are out
    leaves: list[Leave] = field(
        default_factory=lambda: [Leave()]
    )  # its answers in turn, the last one for good
    limits: list[UsageLimit] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(NoWire())

    async def key(self) -> str | None:
        return self.api_key

    async def begin_task(self, who: Principal, title: str, description: str) -> str:
        if self.refuses is not None:
            raise self.refuses
        task_id = str(len(self.tasks) + 1)
        self.tasks[task_id] = NotedTask(who, title, description)
        return task_id

    async def end_task(self, task_id: str, *, text: str, failed: bool) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.tasks[task_id].text, self.tasks[task_id].failed = text, failed

    async def lend(
        self, who: Principal, task_id: str | None = None, chain: CallChain = ()
    ) -> AgentCredentials:
        if self.lends_nothing is not None:
            raise self.lends_nothing
        self.lent += 1
        return AgentCredentials("http://127.0.0.1:1", f"lent for {who.name} and {task_id}")

    async def give_back(self, lent: AgentCredentials) -> None:
        self.lent -= 1

    async def leave(self, who: Principal, task_id: str | None = None) -> Leave:
        return self.leaves[0] if len(self.leaves) == 1 else self.leaves.pop(0)

    async def limit(self, who: Principal, limit: UsageLimit, program: str | None) -> bool:
        self.limits.append(limit)
        return True

    def ended(self, task_id: str) -> bool:
        return self.tasks[task_id].text is not None


async def nothing(_order: NodeCall) -> ToolResult:
    """Performs no order."""
    return refused(RefusalCode.DENIED, "permission_denied")


def place(
    folder: Path,
    *,
    hub: HubClient | None = None,
    runtime: Runtime | None = None,
    perform: Callable[[NodeCall], Awaitable[ToolResult]] = nothing,
    catalogue: Sequence[ToolSpec] = CATALOGUE,
    skills: tuple[Path, ...] = (),
    secret: str | None = None,
) -> ToolContext:
    """A machine named `here`: its project in `work`, a person's home in `home`, its own files in `data`."""
    for name in PARTS:
        (folder / name).mkdir(exist_ok=True)
    home, work, data = (str((folder / name).resolve()) for name in PARTS)
    return ToolContext(
        node="here",
        data=Path(data),
        log=Path(data, "daemon.jsonl"),
        world=World(home=home, cwd=work, roots=(work,), own=(data,), files=Disk()),
        policy=Policy(roots=(Path(work),), runtime=runtime, skills=skills),
        sandbox=choose(),
        hub=hub or NotingHub(),
        redact=lambda text: text if secret is None else text.replace(secret, "[redacted]"),
        perform=perform,
        catalogue=catalogue,
        errands=BackgroundTasks(),
    )


def shell(code: str) -> Runtime:
    """A program as the machine's agent."""
    return CommandRuntime(("/bin/sh", "-c", code))


def endless(folder: Path) -> Runtime:
    """A program as the machine's agent that tells its process id by the pipe `begun`, and never ends."""
    (folder / "work").mkdir()
    os.mkfifo(folder / "work" / "begun")
    return shell("echo $$ > begun; exec tail -f /dev/null")


async def begun(here: ToolContext) -> int:
    """Wait until the endless agent is at work; gives its process id."""
    return int(await asyncio.to_thread(Path(here.world.cwd, "begun").read_text))


def order(tool: str, **arguments: object) -> NodeCall:
    """A call by an agent of the project."""
    return NodeCall(who=SOMEBODY, tool=tool, arguments=arguments)
