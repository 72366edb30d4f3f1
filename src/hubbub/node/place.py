"""What a tool of a machine has at hand when it is called."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hubbub.model.orders import Order, Outcome, ToolSpec
from hubbub.node.errands import Errands
from hubbub.node.gate.reading import Reading
from hubbub.node.gate.world import World
from hubbub.node.hub import Hub
from hubbub.node.policy import Policy
from hubbub.node.sandbox import Sandbox


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
    catalogue: Sequence[ToolSpec] = ()  # what an agent that runs here may call by `perform`
    errands: Errands = field(default_factory=Errands)  # what goes on here after its call was answered


Tool = Callable[[Place, Order], Awaitable[Outcome]]  # is called once the gate has let the order through
