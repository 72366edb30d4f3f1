"""The process of the ringer (`hubbub ring`) on this machine: whether it runs, and its start.

Clients that are woken from outside need it; their first hook starts it, as `hubbub up` and `hubbub install` do. One
runs for each folder of configuration: it holds a lock there, which ends with the process in any case.
"""

from __future__ import annotations

import os
import signal

from hubbub.processes import file_locks

LOCK = "ringer.lock"
PRIVATE = "HUBBUB_TOKEN"  # those of single agents begin so, too: it has the tokens of the record, and no use for others


class RingerLock:
    """The right to ring, until `release`."""

    __slots__ = ("_file", "_path")

    def __init__(self, file: int, path: str) -> None:
        self._file = file
        self._path = path

    def release(self) -> None:
        """Release the right to the next ringer, and leave no file behind."""
        os.unlink(self._path)
        os.close(self._file)


def take(folder: str) -> RingerLock | None:
    """Take the lock in the folder of configuration, with our process id in it; None if another process has it."""
    path = os.path.join(folder, LOCK)
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        if not file_locks.take(file):
            os.close(file)
            return None
        if _is_at(file, path):
            break
        os.close(file)  # its last holder has just removed it
    os.ftruncate(file, 0)
    os.pwrite(file, str(os.getpid()).encode(), 0)
    return RingerLock(file, path)


def _is_at(file: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False


def holder(folder: str) -> int | None:
    """Return the process that rings; None if none does. Raises `ValueError` until it has written its id."""
    try:
        file = os.open(os.path.join(folder, LOCK), os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        return None if file_locks.is_free(file) else int(os.pread(file, 20, 0))
    finally:
        os.close(file)


def runs(folder: str) -> bool:
    """Tell whether a ringer runs."""
    try:
        return holder(folder) is not None
    except ValueError:
        return True  # it has just begun


def start(folder: str) -> bool:
    """Start a ringer that outlives us; False if one runs already. If two start at once, one of them ends."""
    if runs(folder):
        return False
    import subprocess  # takes longer to import than a hook takes, and is needed once a day

    from hubbub.model.programs.launching import program

    environment = {name: value for name, value in os.environ.items() if not name.startswith(PRIVATE)}
    subprocess.Popen(  # noqa: S603, ourselves
        [*program(), "ring"],
        env={**environment, "HUBBUB_CONFIG": folder},
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return True


def stop(folder: str) -> bool:
    """Stop the ringer, and return when it has ended; False if none runs."""
    try:
        pid = holder(folder)
        file = os.open(os.path.join(folder, LOCK), os.O_RDONLY)
    except (ValueError, FileNotFoundError):
        return False
    try:
        if pid is None:
            return False
        os.kill(pid, signal.SIGTERM)
        file_locks.wait(file, shared=True)  # held by it to its end
    except ProcessLookupError:
        return False
    finally:
        os.close(file)
    return True
