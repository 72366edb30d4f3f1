"""The operating system's wall around a command: bubblewrap where it is installed, else Landlock, else none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from hubbub.node.gate.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How to start a command inside the wall."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    cwd: str


class Sandbox(Protocol):
    """One kind of wall."""

    @property
    def name(self) -> str:
        """`bwrap`, `landlock` or `none`: it is in each line of the audit log."""

    def around(
        self, argv: Sequence[str], *, cwd: str, environment: Mapping[str, str], world: World
    ) -> Launch:
        """How to start `argv` inside it."""
