"""`hubbub completion`: completing commands in a shell."""

from pathlib import Path

import pytest

from tests.cli.processes import hubbub


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(tmp_path: Path, shell: str) -> None:
    """The script for each shell asks hubbub itself what fits."""
    assert "_HUBBUB_COMPLETE" in hubbub("completion", shell, data=tmp_path).stdout


def test_completes_commands(tmp_path: Path) -> None:
    """The beginning of a command is completed to the commands that begin so."""
    asked = {"_HUBBUB_COMPLETE": "bash_complete", "COMP_WORDS": "hubbub ta", "COMP_CWORD": "1"}
    done = hubbub(data=tmp_path, environment=asked)
    assert [line.partition(",")[2] for line in done.stdout.splitlines()] == ["tasks", "task"]
