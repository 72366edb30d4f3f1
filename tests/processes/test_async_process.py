"""Starting other programs from an event loop."""

import subprocess
import sys
from pathlib import Path

from tests.support.waiting import patience

# Python that runs in a child before it is another program ends it, and the exit code tells.
MARKED = 99
STARTS = f"""
import asyncio, os, subprocess, uvloop
from hubbub.processes.async_process import AsyncProcess

os.register_at_fork(after_in_child=lambda: os._exit({MARKED}))
NONE = subprocess.DEVNULL

async def main():
    child = AsyncProcess(["/bin/sh", "-c", "exit 7"], cwd="/", env={{}}, stdin=NONE, stdout=NONE, stderr=NONE)
    print(await child.wait(), child.code)

uvloop.run(main())
"""
LOOPS_OWN = ("create_subprocess_", "subprocess_exec", "subprocess_shell")
SOURCES = Path(__file__).parents[2] / "src" / "hubbub"


def test_no_python_runs_between_fork_and_program() -> None:
    """A child is the program at once, so that no lock of the parent's threads can stop it, and the loop with it."""
    run = subprocess.run(
        [sys.executable, "-c", STARTS], capture_output=True, text=True, timeout=patience(), check=True
    )

    assert run.stdout.split() == ["7", "7"]


def test_no_program_is_started_by_the_loop_itself() -> None:
    """The loop's own ways of starting programs, which run Python in the child, are used nowhere."""
    found = [
        str(path.relative_to(SOURCES))
        for path in SOURCES.rglob("*.py")
        if any(way in path.read_text() for way in LOOPS_OWN)
    ]

    assert found == []
