import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hubbub.node.commands import running_hub
from hubbub.store.engine import folder_lock

HOLDS = """
import sys
from pathlib import Path
from hubbub.store.engine.folder_lock import FolderLock
held = FolderLock.take(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def holder(data: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has the lock of a data folder, as a hub has."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(data)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def test_the_lock_is_the_hubs() -> None:
    """The file looked for is the one that a hub locks."""
    assert running_hub.LOCK == folder_lock.FILE


def test_without_a_hub_there_is_nothing_to_wait_for(tmp_path: Path) -> None:
    """Neither a folder without a lock nor one with a lock that nobody holds has a hub."""
    assert running_hub.pid_of(tmp_path) is None

    folder_lock.FolderLock.take(tmp_path).release()

    assert running_hub.pid_of(tmp_path) is None


def test_the_end_of_a_hub_is_seen(tmp_path: Path) -> None:
    """The descriptor becomes readable when the process that holds the lock is killed, and not before."""
    with holder(tmp_path) as process:
        descriptor = running_hub.pid_of(tmp_path)
        assert descriptor is not None
        before, _, _ = select.select([descriptor], [], [], 0)

        process.kill()

        after, _, _ = select.select([descriptor], [], [], 10)
        assert (before, after) == ([], [descriptor])
        os.close(descriptor)


def test_a_hub_that_starts_finds_its_lock_free(tmp_path: Path) -> None:
    """Looking for a hub never takes the lock: it can be had again and again while somebody looks."""
    for _ in range(20):
        held = folder_lock.FolderLock.take(tmp_path)
        found = running_hub.pid_of(tmp_path)
        assert found is not None
        os.close(found)
        held.release()
        assert running_hub.pid_of(tmp_path) is None
