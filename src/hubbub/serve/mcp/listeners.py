"""Who is told of each call of a tool: for metrics, and for what an agent does now."""

from collections.abc import Callable
from uuid import UUID

from hubbub.dialects.dialect import Dialect

Measure = Callable[[Dialect, str, float], None]  # gets the dialect, the tool, and the duration of a call
Saw = Callable[[UUID, str, str], None]  # gets the project, the agent, and the tool that it called


def unmeasured(_dialect: Dialect, _tool: str, _seconds: float) -> None:
    """Measure nothing."""


def unseen(_project: UUID, _agent: str, _tool: str) -> None:
    """Note nothing."""
