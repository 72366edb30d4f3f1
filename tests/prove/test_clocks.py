"""Clocks that are set for single programs."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hubbub.prove.clocks import MISSING, Clock, faster, library
from hubbub.prove.histories import Run
from tests.support.tools import needed

TIME = "import time; print(time.time())"
SLEEP = "import time; begun = time.monotonic(); time.sleep(200); print(time.monotonic() - begun)"


@pytest.fixture
def preloaded() -> Path:
    """The library that has a program see another time."""
    found = library()
    return Path(needed(str(found) if found else None, "faketime"))


def test_a_program_goes_by_the_clock_that_is_set_for_it(tmp_path: Path, preloaded: Path) -> None:
    """A program sees the time that is set for it; the machine's stays."""
    clock = Clock(tmp_path / "clock", preloaded)
    clock.set(-86_400)

    told = subprocess.check_output([sys.executable, "-c", TIME], env={**os.environ, **clock.environment})

    assert (tmp_path / "clock").read_text() == "-86400.000\n"
    assert time.time() - float(told) > 86_000


def test_time_passes_faster_for_a_program(preloaded: Path) -> None:
    """Time passes as many times as fast for a program as is said, and no faster for others."""
    begun = time.monotonic()
    told = subprocess.check_output(
        [sys.executable, "-c", SLEEP], env={**os.environ, **faster(1000, preloaded)}
    )

    assert float(told) >= 200
    assert time.monotonic() - begun < float(told)


def test_a_run_says_that_no_clock_was_set() -> None:
    """Where nothing can set a clock, the run says so, and names the package."""
    assert str(Run(missing=MISSING)).endswith("libfaketime (Debian's package faketime) is not here")
