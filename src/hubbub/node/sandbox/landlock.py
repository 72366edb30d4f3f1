"""The sandbox by Landlock: the kernel lets a command read the machine and write the roots, and nothing else.

Landlock can only grant, and grants a folder with all its content. So a path is hidden by granting everything around it:
later neighbours of it cannot be read either. Within the roots nothing can be left out, since new files there must be
writable: there `.git` can be changed and `.env` can be read, protected by the gate alone. Names of files can
be seen everywhere. Without the network, TCP is closed; UDP is not, since Landlock does not know it.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hubbub.node.sandbox.hidden_paths import hidden, is_within, open_roots
from hubbub.node.sandbox.launch import Launch
from hubbub.node.system.kernel import Ruleset
from shellgate.world import World

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")


@dataclass(frozen=True, slots=True)
class Landlock:
    """Rules of the kernel for one process and its descendants."""

    abi: int
    network: bool

    @property
    def name(self) -> str:
        return "landlock"

    def around(
        self, argv: Sequence[str], *, cwd: str, environment: Mapping[str, str], world: World
    ) -> Launch:
        closed = hidden(world)
        ruleset = Ruleset(
            abi=self.abi,
            listed=("/",),
            readable=tuple(_all_but(closed)),
            writable=open_roots(world, closed),
            devices=DEVICES,
            network=self.network,
        )
        return Launch(argv=tuple(argv), environment=environment, cwd=cwd, ruleset=ruleset)


def _all_but(closed: Sequence[str], folder: str = "/") -> Iterator[str]:
    """Yield the paths in a folder that are neither hidden nor above a hidden one; of the latter, their content."""
    if not any(is_within(path, folder) for path in closed):
        yield folder
        return
    try:
        with os.scandir(folder) as entries:
            paths = [entry.path for entry in entries if not entry.is_symlink()]
    except OSError:
        return
    for path in paths:
        if path not in closed:
            yield from _all_but(closed, path)
