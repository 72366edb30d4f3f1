"""The lock of a data folder, for one hub: a file beside the database that names the holder.

The lock is the kernel's (`flock`), so it ends with the process in any case. The file's text is for people.
"""

import json
import os
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from hubbub.model.errors import StoreRefused
from hubbub.processes import file_locks

FILE = "hubbub.lock"


class FolderLock:
    """The right to serve the data of one folder, from `take` to `release`."""

    def __init__(self, file: int) -> None:
        self._file = file

    @classmethod
    def take(cls, folder: Path, *, url: str | None = None) -> "FolderLock":
        """Take the lock of `folder` and note its holder; `StoreRefused` names another holder."""
        file = os.open(folder / FILE, os.O_RDWR | os.O_CREAT, 0o600)
        if not file_locks.take(file):
            holder = _sentence(_facts(os.pread(file, 4096, 0)))
            os.close(file)
            raise StoreRefused(
                f"the data folder is in use by {holder}; stop that hub or choose another folder with --data"
            )
        try:
            os.ftruncate(file, 0)
            os.pwrite(file, _holder(url), 0)
        except OSError:
            os.close(file)
            raise
        return cls(file)

    def release(self) -> None:
        """Release the folder for the next hub. The file stays: removing it would race with the next opener."""
        os.close(self._file)


def holder_of(folder: Path) -> int | None:
    """Return the process on this machine that serves the data of `folder`; None if there is none.

    Raises `StoreRefused` if it is not on this machine.
    """
    try:
        file = os.open(folder / FILE, os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        if file_locks.is_free(file):
            return None
        facts = _facts(os.pread(file, 4096, 0))
    finally:
        os.close(file)
    pid, host = facts.get("pid"), facts.get("host")
    if not isinstance(pid, int) or host != socket.gethostname():
        raise StoreRefused(f"the data folder is in use by {_sentence(facts)}; stop it there")
    return pid


def _holder(url: str | None) -> bytes:
    since = datetime.now(UTC).isoformat(timespec="seconds")
    facts = {"pid": os.getpid(), "host": socket.gethostname(), "since": since, "url": url}
    return json.dumps(facts).encode()


def _facts(content: bytes) -> Mapping[str, object]:
    try:
        facts = json.loads(content)
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}


def _sentence(facts: Mapping[str, object]) -> str:
    if not facts:
        return "another hub that is just starting"
    where = f" at {facts['url']}" if facts.get("url") else ""
    return (
        f"another hub{where} (process {facts.get('pid')} on {facts.get('host')}, since {facts.get('since')})"
    )
