"""Starting a command inside a sandbox of any kind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from hubbub.node.system.kernel import Ruleset
from shellgate.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """The way to start a command inside the sandbox. The starter has to heed every field."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    cwd: str
    report: int | None = None  # the descriptor on which a sandbox program reports that it stands
    ruleset: Ruleset | None = None  # to be taken on before starting `argv`


class Sandbox(Protocol):
    """One kind of sandbox."""

    @property
    def name(self) -> str:
        """Return `bwrap`, `landlock` or `none`, as in each line of the audit log."""

    def around(
        self, argv: Sequence[str], *, cwd: str, environment: Mapping[str, str], world: World
    ) -> Launch:
        """Return the launch of `argv` inside it. Reads the folders of `world`, which may take milliseconds."""
