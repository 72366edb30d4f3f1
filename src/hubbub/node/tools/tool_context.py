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
    machine_id: str = ""  # which stays when the name changes
    data: Path  # the folder that is its own: the audit log, commands in the background, hashes of skills
    log: Path  # the daemon's log, as lines of JSON
    world: World
    reading: Analysis | None = None  # of this call, as it was decided; a download goes to the addresses in it
    policy: Policy
    sandbox: Sandbox
    hub: HubClient
    redact: Callable[[str], str]  # takes secrets out of text
    perform: Callable[
        [NodeCall], Awaitable[ToolResult]
    ]  # a call by an agent that runs here, through the gate
    act: PerformCall | None = (
        None  # by which the hub does what is not the machine's to do, for whoever called
    )
    catalogue: Sequence[ToolSpec] = ()  # what an agent that runs here may call by `perform`
    errands: BackgroundTasks = field(
        default_factory=BackgroundTasks
    )  # what goes on here after its call was answered
    shells: RemoteShells = field(default_factory=RemoteShells)  # what is open on other machines over SSH
    agents: AgentSupervisor | None = None  # that people have placed here; None where none can be


Tool = Callable[
    [ToolContext, NodeCall], Awaitable[ToolResult]
]  # is called once the gate has let the order through
