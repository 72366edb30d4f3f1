"""Programs in JavaScript that tests run: named and pinned in a `package.json`, fetched when they are first needed."""

import shutil
import subprocess
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "clients" / "package.json"
MODULES = PACKAGE.with_name("node_modules")
NODE = MODULES / "node" / "bin" / "node"  # fetched too: that of the machine may be too old
STAMP = ".fetched"


def is_fetched(package: Path = PACKAGE) -> bool:
    """Fetch the programs that `package` names, unless they are here; return False on a machine without npm.

    Raises:
        subprocess.CalledProcessError: npm could not fetch them.
    """
    npm = shutil.which("npm")
    if npm is None:
        return False
    wanted, stamp = package.read_text(), package.with_name("node_modules") / STAMP
    if not stamp.exists() or stamp.read_text() != wanted:
        command = [npm, "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(command, cwd=package.parent, check=True, stdout=subprocess.DEVNULL)
        stamp.write_text(wanted)
    return True
