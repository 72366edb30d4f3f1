"""One hub a data folder."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from hubbub.model.errors import StoreRefused
from hubbub.store.engine.folder_lock import FILE
from hubbub.store.engine.sqlite import SQLite

HOLD = """
import sys
from pathlib import Path
from hubbub.store.engine.sqlite import SQLite
store = SQLite.open(Path(sys.argv[1]), url="http://127.0.0.1:8420")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_hub_is_told_who_holds_the_folder(tmp_path: Path) -> None:
    """Opening data that another process serves is refused by a sentence with its process, machine, time and URL."""
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(StoreRefused) as refusal:
            SQLite.open(tmp_path)
        other.kill()

    sentence = str(refusal.value)
    assert (
        f"another hub at http://127.0.0.1:8420 (process {other.pid} on {os.uname().nodename}, since "
        in sentence
    )
    assert str(tmp_path) not in sentence


def test_the_lock_ends_with_its_holder(tmp_path: Path) -> None:
    """After the holder was killed or has closed its store, the folder is free."""
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        other.stdout.readline()
        other.kill()

    SQLite.open(tmp_path).close()
    SQLite.open(tmp_path).close()


@pytest.mark.parametrize("content", ["", "no json", "[]"])
def test_a_lock_file_that_says_nothing_still_locks(tmp_path: Path, content: str) -> None:
    """Whatever the file says, whoever has the lock has it, and the second is refused with a sentence."""
    with closing(SQLite.open(tmp_path)):
        (tmp_path / FILE).write_text(content)

        with pytest.raises(StoreRefused, match="the data folder is in use by another"):
            SQLite.open(tmp_path)
