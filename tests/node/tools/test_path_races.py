"""Names that change under the tools: another process swaps links in, as fast as the system lets it.

It swaps a folder for a link to a closed one, a file for a link to a key, and a file for another name of that key. The
calls are such as the gate lets through: it has seen the folder and the files.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from hubbub.model.fleet.calls import ToolResult
from hubbub.node.system import open_beneath
from hubbub.node.tools.tool_context import ToolContext
from shellgate.analysis import Analysis
from tests.node.file_calls import done
from tests.node.tool_contexts import place

KEY = "a key that nobody is to see"
ONLY_THERE = "authorized_keys"  # a name in the closed folder, and in no other
SWAPPING = """
import ctypes, os, sys
exchange = getattr(ctypes.CDLL(None), "renameat2", None)  # in one step, where the system has it
def swap(one, other):
    if exchange is None or exchange(-100, one, -100, other, 2):
        os.rename(one, one + b"~"), os.rename(other, one), os.rename(one + b"~", other)
names = list(map(os.fsencode, sys.argv[2:]))
for _ in range(int(sys.argv[1]) // len(names)):
    for name in names:
        swap(name, os.path.join(os.path.dirname(name), b"." + os.path.basename(name)))
"""
Calls = tuple[tuple[str, str, dict[str, str]], ...]  # the tool, what it is about, and more arguments
FILES: Calls = (
    ("read_file", "folder/id_rsa", {}),
    ("read_file", "file", {}),
    ("read_file", "twin", {}),
    ("write_file", "folder/written", {"content": "x"}),
    ("write_file", "folder/id_rsa", {"content": "fine"}),
    ("list_dir", "folder", {}),
)
SEARCHES: Calls = (
    ("grep", "", {"pattern": "key|fine", "glob": "*"}),
    ("grep", "folder", {"pattern": "key|fine"}),
    ("grep", "file", {"pattern": "key|fine"}),
    ("glob", "", {"pattern": "**/*"}),
    ("glob", "folder", {"pattern": "*"}),
)


@pytest.fixture
def here(tmp_path: Path) -> ToolContext:
    """A machine with a folder and two files; hidden beside each is what it is swapped for."""
    machine = place(tmp_path)
    work, keys = Path(machine.world.cwd), Path(machine.world.home, ".ssh")
    keys.mkdir()
    (keys / "id_rsa").write_text(KEY)
    (keys / ONLY_THERE).write_text(KEY)
    (work / "folder").mkdir()
    for name in ("folder/id_rsa", "file", "twin"):
        (work / name).write_text("fine")
    (work / ".folder").symlink_to(keys)
    (work / ".file").symlink_to(keys / "id_rsa")
    (work / ".twin").hardlink_to(keys / "id_rsa")
    return machine


@contextmanager
def swapping(work: Path, swaps: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run another process that swaps the names and ends after so many swaps, SWAPS times as many."""
    names = [str(work / name) for name in ("folder", "file", "twin")]
    many = swaps * int(os.environ.get("SWAPS", "1"))
    with subprocess.Popen([sys.executable, "-c", SWAPPING, str(many), *names]) as process:
        try:
            yield process
        finally:
            process.kill()


def outcomes(here: ToolContext, calls: Calls) -> Iterator[tuple[str, ToolResult]]:
    """Return the results of the calls, as if the gate had looked before the names were swapped."""
    for tool, name, arguments in calls:
        path = f"{here.world.cwd}/{name}".rstrip("/")
        decided = replace(here, reading=Analysis(target=path))
        yield tool, done(decided, tool, path=path, **arguments)


@pytest.mark.parametrize(
    ("calls", "opened", "swaps"),
    [
        pytest.param(FILES, open_beneath.open_folder, 60_000, id="files"),
        pytest.param(
            FILES, open_beneath.by_steps, 200_000, id="files-without-openat2", marks=pytest.mark.system
        ),
        pytest.param(SEARCHES, open_beneath.open_folder, 200_000, id="searches", marks=pytest.mark.system),
    ],
)
def test_nothing_leaks_while_names_are_swapped(
    here: ToolContext, calls: Calls, opened: object, swaps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call is done on what was decided about, or not at all: nothing closed is read, shown, made or changed."""
    monkeypatch.setattr(open_beneath, "open_folder", opened)
    done_by, shown = set(), ""
    with swapping(Path(here.world.cwd), swaps) as process:
        while process.poll() is None:
            for tool, outcome in outcomes(here, calls):
                shown += "" if outcome.is_error else str(outcome.value)
                done_by |= set() if outcome.is_error else {tool}

    assert process.returncode == 0
    assert done_by == {tool for tool, _, _ in calls}
    assert KEY not in shown
    assert ONLY_THERE not in shown
    closed = Path(here.world.home, ".ssh").iterdir()
    assert {path.name: path.read_text() for path in closed} == {"id_rsa": KEY, ONLY_THERE: KEY}
