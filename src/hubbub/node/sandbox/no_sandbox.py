"""No sandbox: only the gate stands between a command and the machine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hubbub.node.sandbox.launch import Launch
from shellgate.world import World


@dataclass(frozen=True, slots=True)
class NoSandbox:
    """The sandbox of a machine whose system offers none."""

    @property
    def name(self) -> str:
        return "none"

    def around(
        self, argv: Sequence[str], *, cwd: str, environment: Mapping[str, str], world: World
    ) -> Launch:
        return Launch(argv=tuple(argv), environment=environment, cwd=cwd)
