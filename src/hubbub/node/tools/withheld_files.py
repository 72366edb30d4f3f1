"""Files that a search does not show because the policy forbids reading them."""

from hubbub.node.tools.tool_context import ToolContext
from shellgate.decide import decide
from shellgate.decision import Effect, Source
from shellgate.floor import file_calls

READ = "read_file"


def is_withheld(path: str, place: ToolContext) -> bool:
    """Tell whether a deny rule of the machine's policy forbids reading the file at an absolute path."""
    if not place.policy.deny:
        return False
    reading = file_calls.read(READ, {"path": path}, place.world)
    decision = decide(reading, place.policy, READ, sandboxed=False)
    return decision.effect is Effect.DENY and decision.source is Source.RULE
