"""Tests that are run by several processes, shown by small runs of their own."""

import os
import re
import signal
from pathlib import Path

import pytest

from tests.runner.small_run import PYTEST, Small, ending
from tests.support.waiting import patience

pytestmark = pytest.mark.system  # they start pytest anew, and prove nothing of the product

SPREAD = """\
import os
import pytest
def tell(word):
    with open("told", "a") as told: told.write(f"{word} {os.getpid()}\\n")
tell("collected")
@pytest.fixture(scope="module")
def world():
    tell("built")
    yield
    tell("taken down")
@pytest.mark.parametrize("number", range(6))
def test_numbers(world, number): tell("ran")
"""
LONG = """\
import os
import pytest
def tell(word):
    with open("told", "a") as told: told.write(f"{word} {os.getpid()}\\n")
@pytest.mark.parametrize("number", range(6))
def test_short(number): tell("short")
@pytest.mark.long
def test_long(): tell("long")
"""
DIES = """\
import os
import pytest
@pytest.mark.parametrize("number", range(6))
def test_numbers(number):
    if number == 1: os._exit(7)
"""
FAILS = """\
import pytest
@pytest.mark.parametrize("number", range(1000))  # more than one runs while the other reports its failure
def test_numbers(number): assert number
"""
WAITS = """\
import os
import signal
import pytest
@pytest.fixture
def world():
    yield
    with open("told", "a") as told: told.write("taken down ")
def test_short(): pass
def test_long(world):
    try:
        os.write(int(os.environ["REACHED"]), b"!")
        signal.pause()
    finally:
        signal.raise_signal(signal.SIGINT)
        with open("told", "a") as told: told.write("left ")
"""


def told(folder: Path) -> list[list[str]]:
    """The output of the processes, by process."""
    lines = [line.rsplit(" ", 1) for line in (folder / "told").read_text().splitlines()]
    return [[word for word, told_by in lines if told_by == each] for each in {pid: None for _, pid in lines}]


def test_tests_are_collected_once_and_run_by_several(tmp_path: Path) -> None:
    """One process collects; each of the others runs a share, sets up what that needs once, and takes it down again."""
    assert ending(Small(tmp_path, test_spread=SPREAD).run("--workers", "2")) == "6 passed"

    collected, *ran = told(tmp_path)
    assert collected == ["collected"]
    assert len(ran) == 2
    for each in ran:
        assert each == ["built", *["ran"] * (len(each) - 2), "taken down"]
    assert sum(each.count("ran") for each in ran) == 6


def test_a_long_test_is_begun_first(tmp_path: Path) -> None:
    """A test marked `long` is the first of its process, however late it stands."""
    assert ending(Small(tmp_path, test_long=LONG).run("--workers", "2")) == "7 passed"

    assert next(each for each in told(tmp_path) if "long" in each)[0] == "long"


def test_a_process_that_dies_fails_the_test_that_it_was_at(tmp_path: Path) -> None:
    """The test has failed, and says how its process died; another process runs the rest."""
    done = Small(tmp_path, test_dies=DIES).run("--workers", "2")

    assert ending(done) == "1 failed, 5 passed"
    assert "the process that ran it has died, with 7" in done.stdout.splitlines()


def test_a_run_ends_with_the_first_failure_where_that_is_asked_for(tmp_path: Path) -> None:
    """With `-x` no test is begun after a failure but those that the processes know of."""
    done = Small(tmp_path, test_fails=FAILS).run("--workers", "2", "-x")

    assert done.returncode == 1
    assert (told := re.fullmatch(r"1 failed, (\d+) passed", ending(done)))
    assert int(told[1]) < 999
    assert "stopping after 1 failures" in done.stdout


def test_who_breaks_off_is_told_what_was_going_on(tmp_path: Path) -> None:
    """An interrupted run names the tests that have not ended, and takes back what they had set up.

    A second interrupt meanwhile, as a terminal sends it, changes nothing.
    """
    small = Small(tmp_path, test_waits=WAITS)
    here, there = os.pipe()
    with small.started(*PYTEST, "--workers", "2", passed=(there,), REACHED=str(there)) as process:
        os.close(there)
        assert os.read(here, 1) == b"!"
        os.close(here)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=patience(60))

    assert "it was at tests/test_waits.py::test_long" in said.splitlines()
    assert (tmp_path / "told").read_text() == "left taken down "
