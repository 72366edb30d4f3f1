"""The place of a team's work: the root of its project, and the relay folder with the team's files."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = ".relay"


@dataclass(frozen=True, slots=True)
class Workspace:
    """Two absolute paths; neither need exist. `root` is where hooks run, `folder` holds team files and memory."""

    root: Path
    folder: Path


def find(environment: Mapping[str, str], cwd: Path) -> Workspace:
    """Return the workspace that RELAY_PROJECT_ROOT and RELAY_DIR name, else the one of the working folder `cwd`.

    Relative paths are relative to `cwd`, which is absolute; an empty variable counts as unset. If only the relay
    folder is named, the root is the folder that holds it.
    """
    root, folder = environment.get("RELAY_PROJECT_ROOT"), environment.get("RELAY_DIR")
    if folder:
        named = _seen_from(cwd, folder)
        return Workspace(_seen_from(cwd, root) if root else named.parent, named)
    home = _seen_from(cwd, root or ".")
    return Workspace(home, home / FOLDER)


def _seen_from(cwd: Path, path: str) -> Path:
    """Return an absolute path without `..`; links are not followed, since a folder belongs where its name is."""
    return Path(os.path.normpath(cwd / path))
