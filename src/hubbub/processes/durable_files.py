"""Files and folders that survive a power cut: on the disk when a call returns, until then whole or as they were.

A file is written beside its place, made sure of, and put there by its name, which is made sure of too; a new folder is
there only when the one above it knows of it.
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
    """Have the file hold the content, in place of what it held; a mode is that of a new file, less the umask."""
    with draft(file, content, mode) as finished:
        finished.replace(file)
    sync(file.parent)


def write_new(file: Path, content: str | bytes, mode: int = PRIVATE) -> None:
    """Write a file that does not exist yet, like `write`. Raises `FileExistsError`."""
    with draft(file, content, mode) as finished:
        file.hardlink_to(finished)
    sync(file.parent)


def remove(file: Path) -> None:
    """Have no such file, if there is one."""
    file.unlink(missing_ok=True)
    sync(file.parent)


def put(finished: Path, file: Path) -> None:
    """Have a file that lies finished beside another take its place."""
    sync(finished)
    finished.replace(file)
    sync(file.parent)


@contextmanager
def draft(file: Path, content: str | bytes, mode: int = PRIVATE) -> Iterator[Path]:
    """Yield a finished file beside the one whose place it may take; it is gone in the end, unless it has."""
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
