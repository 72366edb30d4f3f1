"""How a command is started inside a wall, whichever it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from hubbub.node.system.kernel import Ruleset
from shellgate.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How to start a command inside the wall. Whoever does it has to heed every field."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    cwd: str
    report: int | None = None  # the descriptor at which a wall that is a program tells that it stood
    ruleset: Ruleset | None = None  # what whoever starts `argv` takes on before


class Sandbox(Protocol):
    """One kind of wall."""

    @property
    def name(self) -> str:
        """`bwrap`, `landlock` or `none`: it is in each line of the audit log."""

    def around(
        self, argv: Sequence[str], *, cwd: str, environment: Mapping[str, str], world: World
    ) -> Launch:
        """How to start `argv` inside it. Looks into the folders of `world`, so it may take milliseconds."""
