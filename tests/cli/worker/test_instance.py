"""Identity of a worker's runs."""

import subprocess
import sys

from hubbub.worker.instance import Instance


def test_says_what_it_is_and_reads_it_again() -> None:
    """An instance is written as text, and read from it; texts of other kinds name no worker."""
    mine = Instance.mine()
    assert Instance.parse(str(mine)) == mine
    for text in (None, "", "resume-1", "work:host", "work:host:me:1"):
        assert Instance.parse(text) is None


def test_knows_the_living_from_the_dead() -> None:
    """This process lives; one that has ended is dead, also before anybody asked for its exit code."""
    assert not Instance.mine().is_dead
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        seen = Instance(Instance.mine().host, child.pid, Instance.mine().started)
        assert seen.is_dead  # the number is in use, by a process that began at another time
    assert Instance(Instance.mine().host, child.pid, Instance.mine().started).is_dead


def test_knows_nothing_of_other_machines() -> None:
    """Nobody can tell that an instance on another machine is dead."""
    elsewhere = Instance("elsewhere", 1, "1")
    assert not elsewhere.is_here
    assert not elsewhere.is_dead
