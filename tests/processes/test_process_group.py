"""Programs in groups of their own."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

from tests.support.waiting import patience

# A process of ours, which starts a program and waits for it; the program holds a named pipe open while it lives.
OURS = """
import os, subprocess, sys
from hubbub.processes.process_group import ProcessGroup

NONE = subprocess.DEVNULL
words = ["/bin/sh", "-c", "trap '' TERM HUP; exec 3>alive; sleep 600 & wait"]
ProcessGroup(words, env=os.environ, cwd=sys.argv[1], stdin=NONE, stdout=NONE, stderr=NONE).reap()
"""


def test_a_program_ends_when_who_started_it_is_killed(tmp_path: Path) -> None:
    """However a process of ours ends, what it has started ends too, with all of its group, whatever it ignores."""
    os.mkfifo(tmp_path / "alive")
    with (
        subprocess.Popen([sys.executable, "-c", OURS, str(tmp_path)]) as ours,
        (tmp_path / "alive").open("rb") as alive,  # as soon as the program has opened it
    ):
        ours.send_signal(signal.SIGKILL)
        ours.wait(patience())
        ended, _, _ = select.select([alive], [], [], patience())  # once nobody has it open any more
        assert ended
        assert alive.read() == b""
