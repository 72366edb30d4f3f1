"""Real clients, of the version that all of this was proven with, from the package registry."""

import shutil
import subprocess
from pathlib import Path

import platformdirs

from tests.support.tools import needed


def program(package: str, version: str, name: str) -> Path:
    """The executable of an npm package, fetched once and kept in the user's cache; skips where npm is absent."""
    npm = needed(shutil.which("npm"), "npm")
    folder = Path(platformdirs.user_cache_dir("hubbub-e2e", appauthor=False), name, version)
    found = folder / "node_modules" / ".bin" / name
    if not found.exists():
        subprocess.run(
            [npm, "install", "--no-audit", "--no-fund", "--prefix", folder, f"{package}@{version}"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return found
