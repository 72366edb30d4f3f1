"""Programs in JavaScript that tests run: named and pinned in a `package.json`, fetched when they are first needed."""

import shutil
import subprocess
from pathlib import Path

STAMP = ".fetched"


def fetched(folder: Path) -> Path | None:
    """The `node` to run the programs of `folder` with, which is fetched too; None on a machine without npm.

    Raises `CalledProcessError` when npm cannot fetch them.
    """
    npm = shutil.which("npm")
    if npm is None:
        return None
    wanted = (folder / "package.json").read_text()
    stamp = folder / "node_modules" / STAMP
    if not stamp.exists() or stamp.read_text() != wanted:
        command = [npm, "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        stamp.write_text(wanted)
    return folder / "node_modules" / "node" / "bin" / "node"
