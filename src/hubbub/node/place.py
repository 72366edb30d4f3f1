"""What a tool of a machine has at hand when it is called."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hubbub.model.orders import Act, Order, Outcome, ToolSpec
from hubbub.node.agents.supervisor import Agents
from hubbub.node.errands import Errands
from hubbub.node.hub import Hub
from hubbub.node.policy import Policy
from hubbub.node.sandbox import Sandbox
from hubbub.node.ssh.shells import Shells
from shellgate.reading import Reading
from shellgate.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One machine, at the time of one call."""

    node: str  # its name
    machine_id: str = ""  # which stays when the name changes
    data: Path  # the folder that is its own: the audit log, commands in the background, hashes of skills
    log: Path  # the daemon's log, as lines of JSON
    world: World
    reading: Reading | None = None  # of this call, as it was decided; a download goes to the addresses in it
    policy: Policy
    sandbox: Sandbox
    hub: Hub
    redact: Callable[[str], str]  # takes secrets out of text
    perform: Callable[[Order], Awaitable[Outcome]]  # a call by an agent that runs here, through the gate
    act: Act | None = None  # by which the hub does what is not the machine's to do, for whoever called
    catalogue: Sequence[ToolSpec] = ()  # what an agent that runs here may call by `perform`
    errands: Errands = field(default_factory=Errands)  # what goes on here after its call was answered
    shells: Shells = field(default_factory=Shells)  # what is open on other machines over SSH
    agents: Agents | None = None  # that people have placed here; None where none can be


Tool = Callable[[Place, Order], Awaitable[Outcome]]  # is called once the gate has let the order through
