"""Files and folders that survive a power cut: each call returns once its change is on the disk, whole or not made.

A file is written and synced beside its place and then renamed into it, and the folder is synced too; for a new folder
the one above it is synced.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PRIVATE = 0o600


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Make a folder, with those above it that are missing, unless it is there."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(mode=mode, parents=True, exist_ok=True)
    for each in missing:
        sync(each.parent)


def write(file: Path, content: str | bytes, mode: int = PRIVATE) -> None:
    """Write the content to the file, replacing what it held; `mode` is that of a new file, less the umask."""
    with draft(file, content, mode) as finished:
        finished.replace(file)
    sync(file.parent)


def write_new(file: Path, content: str | bytes) -> None:
    """Write a file that does not exist yet, like `write`. Raises `FileExistsError`."""
    with draft(file, content) as finished:
        file.hardlink_to(finished)
    sync(file.parent)


def remove(file: Path) -> None:
    """Remove the file, if there is one."""
    file.unlink(missing_ok=True)
    sync(file.parent)


def put(finished: Path, file: Path) -> None:
    """Move a file that is finished beside another into its place."""
    sync(finished)
    finished.replace(file)
    sync(file.parent)


@contextmanager
def draft(file: Path, content: str | bytes, mode: int = PRIVATE) -> Iterator[Path]:
    """Yield a finished temporary file that may replace `file`; it is removed at the end unless it did."""
    finished = file.with_name(f".{file.name}.{os.urandom(4).hex()}")
    try:
        descriptor = os.open(finished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content.encode() if isinstance(content, str) else content)
            opened.flush()
            os.fsync(descriptor)
        yield finished
    finally:
        finished.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Wait until a file's content, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
