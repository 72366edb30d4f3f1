"""The sandbox by bubblewrap: a command has namespaces of its own, and a view of the file system made for it.

The machine is read-only, and so is each `.git`; the roots can be written; `/tmp` is the command's own and vanishes with
it; keys, the product's own folders and `.env` files are invisible; `/run` is empty, since the sockets in it lead to
programs outside. When the command ends, or its starter, all its processes end.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from hubbub.node.sandbox.hidden_paths import hidden, is_within, marked, open_roots, status
from hubbub.node.sandbox.launch import Launch
from shellgate.world import World

TEMPORARY = "/tmp"  # noqa: S108  # inside the wall, where it is nobody else's
EMPTY = (TEMPORARY, "/var/tmp", "/run")  # noqa: S108  # likewise
RESOLVER = "/etc/resolv.conf"  # often a link into /run
REPORT = 3  # a descriptor
PATIENCE = timedelta(seconds=5)  # for trying whether it works

NAMESPACES = ("--unshare-all", "--die-with-parent", "--cap-drop", "ALL")
SYSTEM = ("--dev", "/dev", "--proc", "/proc")


def find() -> str | None:
    """Return the path of bubblewrap, if it is there and works: containers often forbid it."""
    program = shutil.which("bwrap")
    if program is None:
        return None
    trial = [program, *NAMESPACES, "--ro-bind", "/", "/", *SYSTEM, "--", "/bin/bash", "-c", ":"]
    try:
        done = subprocess.run(  # noqa: S603  # our own words
            trial, check=False, capture_output=True, timeout=PATIENCE.total_seconds()
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return program if done.returncode == 0 else None


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """Namespaces and mounts."""

    program: str
    network: bool

    @property
    def name(self) -> str:
        return "bwrap"

    def around(
        self, argv: Sequence[str], *, cwd: str, environment: Mapping[str, str], world: World
    ) -> Launch:
        options = [
            *NAMESPACES,
            *(("--share-net",) if self.network else ()),
            *_view(world),
            *("--json-status-fd", str(REPORT), "--chdir", cwd),
        ]
        return Launch(
            argv=(self.program, *options, "--", *argv),
            environment={**environment, "TMPDIR": TEMPORARY},
            cwd="/",
            report=REPORT,
        )


def _view(world: World) -> Iterator[str]:
    """Yield the file system as the command sees it. A later mount covers an earlier one."""
    closed = hidden(world)
    roots, home = open_roots(world, closed), os.path.realpath(world.home)
    yield from ("--ro-bind", "/", "/")
    yield from _binds("--bind", roots)
    yield from SYSTEM
    for folder in filter(_is_folder_itself, EMPTY):
        yield from ("--tmpfs", folder)
    if _is_below(home, EMPTY):
        yield from ("--ro-bind", home, home)
    yield from _binds("--bind", (root for root in roots if _is_below(root, (*EMPTY, home))))
    yield from _resolver()
    found = marked(roots)
    yield from _binds("--ro-bind", found.repositories)
    for path in (*closed, *found.secrets):
        yield from _covered(path)


def _covered(path: str) -> tuple[str, ...]:
    """Cover a path: a folder then is empty, and a file cannot be opened."""
    if Path(path).is_dir():
        return "--tmpfs", path, "--remount-ro", path
    return "--ro-bind", os.devnull, path


def _binds(option: str, paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        if status(path):
            yield from (option, path, path)


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(is_within(path, folder) for folder in folders)


def _is_folder_itself(path: str) -> bool:
    """Tell whether a path is a real folder and no link, which nothing can cover."""
    return Path(path).is_dir() and not Path(path).is_symlink()


def _resolver() -> Iterator[str]:
    """Yield the file with the name servers, if it is in a folder that would be empty."""
    file = os.path.realpath(RESOLVER)
    if _is_below(file, EMPTY) and Path(file).exists():
        yield from ("--ro-bind", file, file)
