"""Small runs of pytest with plugins of ours, in a folder of their own."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.runner.reporting import ROOT

PYTEST = (sys.executable, "-P", "-m", "pytest")
SETTINGS = """\
[pytest]
addopts =
    -p tests.runner.reporting -p tests.runner.repeating -p tests.runner.workers -p no:cacheprovider
    --basetemp made
markers =
    long
    requires
"""


class Small:
    """A folder with tests of its own, which are run as ours are, without any program on the path."""

    def __init__(self, folder: Path, **files: str) -> None:
        self.folder = folder
        (folder / "pytest.ini").write_text(SETTINGS)
        for name, text in files.items():
            file = folder / "tests" / f"{name.replace('__', '/')}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.call(*PYTEST, *arguments, **environment)

    def call(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        with self.started(*words, passed=(), **environment) as process:
            said, errors = process.communicate()
        return subprocess.CompletedProcess(words, process.returncode, said, errors)

    def started(self, *words: str, passed: Sequence[int] = (), **environment: str) -> subprocess.Popen[str]:
        """A program that runs in the folder, and has these files open too."""
        kept = {name: value for name, value in os.environ.items() if name != "CI" and "PYTEST" not in name}
        ours = {"PATH": "", "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        environment = {**kept, **ours, **environment}
        pipe = subprocess.PIPE
        return subprocess.Popen(
            words, cwd=self.folder, env=environment, stdout=pipe, stderr=pipe, text=True, pass_fds=passed
        )

    def order(self, *arguments: str) -> list[str]:
        """The tests that are run, in their order."""
        return re.findall(r"^(tests/\S+) PASSED", self.run("-v", *arguments).stdout, re.MULTILINE)


def ending(done: subprocess.CompletedProcess[str]) -> str:
    """How many passed, failed and so on."""
    return done.stdout.splitlines()[-1].strip("= ").partition(" in ")[0]
