"""The context of a tool's call."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hubbub.model.fleet.calls import NodeCall, PerformCall, ToolResult, ToolSpec
from hubbub.node.agents.supervisor import AgentSupervisor
from hubbub.node.policy.node_policy import Policy
from hubbub.node.requests.hub_client import HubClient
from hubbub.node.sandbox import Sandbox
from hubbub.node.ssh.remote_shells import RemoteShells
from hubbub.node.tools.background_tasks import BackgroundTasks
from shellgate.analysis import Analysis
from shellgate.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """One machine, at the time of one call."""

    node: str  # its name
    machine_id: str = ""  # the same when the name changes
    data: Path  # its own folder: the audit log, commands in the background, hashes of skills
    log: Path  # the daemon's log, as lines of JSON
    world: World
    reading: Analysis | None = None  # of this call, as it was decided; a download goes to its addresses
    policy: Policy
    sandbox: Sandbox
    hub: HubClient
    redact: Callable[[str], str]  # removes secrets from text
    perform: Callable[
        [NodeCall], Awaitable[ToolResult]
    ]  # a call by an agent that runs here, through the gate
    act: PerformCall | None = None  # the hub's part of a call, for its caller
    catalogue: Sequence[ToolSpec] = ()  # the tools that an agent here may call by `perform`
    errands: BackgroundTasks = field(
        default_factory=BackgroundTasks
    )  # work that goes on after its call was answered
    shells: RemoteShells = field(default_factory=RemoteShells)  # open shells on other machines over SSH
    agents: AgentSupervisor | None = None  # placed here by people; None if none can be


Tool = Callable[
    [ToolContext, NodeCall], Awaitable[ToolResult]
]  # called once the gate has let the order through
