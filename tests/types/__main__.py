"""Check the types that the comments of the dashboard's modules declare. Needs npm: without it nothing is run."""

import subprocess
import sys
from pathlib import Path

from tests.support import javascript

HERE = Path(__file__).parent
COMPILER = HERE / "node_modules" / "typescript" / "bin" / "tsc"


def main() -> int:
    """Print what is wrong, and return 1 if anything is."""
    if not javascript.is_fetched(HERE / "package.json"):
        sys.stdout.write("types: npm is not installed, so those of the dashboard's modules are not checked\n")
        return 0
    return subprocess.run(["node", COMPILER, "--project", HERE], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
