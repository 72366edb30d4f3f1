"""Rules of a policy: `Tool(pattern)`, in either spelling."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule."""

    source: str  # as written
    tool: str
    pattern: str | None  # None: every call of the tool
