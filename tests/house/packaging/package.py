"""Building the package, and running it as its users have it: away from the sources."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.cli.processes import plain_environment

ROOT = Path(__file__).resolve().parents[3]


def build(target: str, folder: Path, *, source: Path = ROOT) -> Path:
    """The wheel or the source distribution of `source`, made in `folder`."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)],
        cwd=source,
        check=True,
        capture_output=True,
    )
    (made,) = folder.iterdir()
    return made


@dataclass(frozen=True, slots=True)
class Installed:
    """Hubbub in an environment of its own, without sources and extras; its dependencies are those of the tests."""

    environment: Path
    data: Path

    def run(self, program: str, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
        """Run one of the installed programs, in a folder that has nothing to do with the sources."""
        return subprocess.run(
            [self.environment / "bin" / program, *words],
            cwd=self.data,
            env=plain_environment(self.data, HUBBUB_CONFIG=str(self.data / "config"), PYTHONPATH=""),
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )
