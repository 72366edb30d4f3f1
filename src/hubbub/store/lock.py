"""One hub a data folder: a lock file beside the database, which says who holds it.

The lock is the kernel's (`flock`), so it ends with the process, however that ends. What the file says is for people.
"""

import fcntl
import json
import os
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from hubbub.model.errors import StoreRefused

FILE = "hubbub.lock"


class FolderLock:
    """The right to serve the data of one folder, from `take` to `release`."""

    def __init__(self, file: int) -> None:
        self._file = file

    @classmethod
    def take(cls, folder: Path, *, url: str | None = None) -> "FolderLock":
        """Take the lock of `folder` and note who has it; `StoreRefused` says who, when somebody else does."""
        file = os.open(folder / FILE, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _describe(os.pread(file, 4096, 0))
            os.close(file)
            raise StoreRefused(
                f"the data folder is in use by {holder}; stop that hub or choose another folder with --data"
            ) from None
        os.ftruncate(file, 0)
        os.pwrite(file, _holder(url), 0)
        return cls(file)

    def release(self) -> None:
        """Let the next hub have the folder. The file stays: removing it would race with whoever opens it now."""
        os.close(self._file)


def _holder(url: str | None) -> bytes:
    since = datetime.now(UTC).isoformat(timespec="seconds")
    facts = {"pid": os.getpid(), "host": socket.gethostname(), "since": since, "url": url}
    return json.dumps(facts).encode()


def _describe(content: bytes) -> str:
    try:
        facts = json.loads(content)
    except ValueError:
        return "another hub that is just starting"
    return _sentence(facts) if isinstance(facts, dict) else "another program"


def _sentence(facts: Mapping[str, object]) -> str:
    where = f" at {facts['url']}" if facts.get("url") else ""
    return (
        f"another hub{where} (process {facts.get('pid')} on {facts.get('host')}, since {facts.get('since')})"
    )
