import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub.node.commands import process_tree
from tests.node.running_commands import Marked, eventually, marked


@pytest.fixture
def tree() -> Iterator[tuple[subprocess.Popen[bytes], Marked]]:
    """A shell with two children that go on when it does not."""
    with marked() as sleepers:
        command = f"{sleepers.sleep} & {sleepers.sleep} & wait"
        with subprocess.Popen(["/bin/bash", "-c", command]) as shell:
            eventually(lambda: len(sleepers.pids()) == 2)
            yield shell, sleepers
            process_tree.kill_descendants(shell.pid)
            shell.kill()


@pytest.mark.parametrize("folder", ["/proc", "/nowhere"])
def test_descendants_are_all_that_live(
    tree: tuple[subprocess.Popen[bytes], Marked], monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    """Parents first; whether the system shows its processes as files or has a program that tells of them."""
    monkeypatch.setattr(process_tree, "PROC", Path(folder))
    shell, sleepers = tree

    everything = process_tree.descendants(os.getpid())
    assert set(process_tree.descendants(shell.pid)) == set(sleepers.pids())
    assert max(map(everything.index, sleepers.pids())) > everything.index(shell.pid)


def test_the_spared_are_left_out_with_what_is_theirs(tree: tuple[subprocess.Popen[bytes], Marked]) -> None:
    """A part of the tree can be left alone."""
    shell, sleepers = tree
    first, second = sleepers.pids()

    assert process_tree.descendants(shell.pid, {first}) == [second]
    assert not set(process_tree.descendants(os.getpid(), {shell.pid})) & {first, second, shell.pid}


def test_descendants_are_killed(tree: tuple[subprocess.Popen[bytes], Marked]) -> None:
    """All of them; their ancestor is not."""
    shell, sleepers = tree

    process_tree.kill_descendants(shell.pid)

    eventually(lambda: not sleepers.pids())
    assert shell.wait() in (0, 128 + 9)


def test_a_signal_to_what_has_gone_is_none() -> None:
    """Nobody complains."""
    with subprocess.Popen(["/bin/true"]) as gone:
        gone.wait()

    process_tree.send(9, {gone.pid})
