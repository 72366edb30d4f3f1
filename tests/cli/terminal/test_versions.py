"""`hubbub --version`: the versions of the program and of what it runs on."""

import json
import platform
import re
from pathlib import Path

import pytest

from hubbub import __version__
from tests.cli.processes import hubbub


def test_the_line_for_a_report(tmp_path: Path) -> None:
    """One line names hubbub, Python, the SQLite inside, the MCP SDK, and the system."""
    said = hubbub("--version", data=tmp_path).stdout

    system = r"\w+ \w+"
    form = r"hubbub ([\d.]+\S*) \(Python ([\d.]+\S*), SQLite [\d.]+, MCP SDK [\d.]+, " + system + r"\)\n"
    assert (found := re.fullmatch(form, said))
    assert found.groups() == (__version__, platform.python_version())


@pytest.mark.parametrize("words", [("--version", "--json"), ("--json", "--version")])
def test_the_same_for_programs(tmp_path: Path, words: tuple[str, str]) -> None:
    """With `--json`, before or after, it is an object with a version under each name."""
    told = json.loads(hubbub(*words, data=tmp_path).stdout)

    assert set(told) == {"hubbub", "python", "sqlite", "mcp_sdk", "platform"}
    assert told["hubbub"] == __version__


def test_json_belongs_to_a_command(tmp_path: Path) -> None:
    """`--json` before a command is wrong usage, and it is said where it belongs."""
    done = hubbub("--json", "agents", data=tmp_path)

    assert done.returncode == 2
    assert "hubbub COMMAND --json" in done.stderr
