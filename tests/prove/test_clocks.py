"""Clocks that are set for single programs."""

import os
import subprocess
import sys
import time
from pathlib import Path

from hubbub.prove.clocks import MISSING, Clock, faster, library
from hubbub.prove.histories import Run

TIME = "import time; print(time.time())"
SLEEP = "import time; begun = time.monotonic(); time.sleep(200); print(time.monotonic() - begun)"


def test_a_program_goes_by_the_clock_that_is_set_for_it(tmp_path: Path) -> None:
    """A program sees the time that is set for it, or that passes faster; the machine's stays; else a run says so."""
    preloaded = library()
    clock = Clock(tmp_path / "clock", preloaded or Path("libfaketime.so.1"))
    clock.set(-86_400)

    assert (tmp_path / "clock").read_text() == "-86400.000\n"
    assert str(Run(missing=MISSING)).endswith(MISSING)
    if preloaded is not None:
        told = subprocess.check_output([sys.executable, "-c", TIME], env={**os.environ, **clock.environment})
        assert time.time() - float(told) > 86_000
        begun = time.monotonic()
        told = subprocess.check_output(
            [sys.executable, "-c", SLEEP], env={**os.environ, **faster(1000, preloaded)}
        )
        assert float(told) >= 200
        assert time.monotonic() - begun < float(told)
