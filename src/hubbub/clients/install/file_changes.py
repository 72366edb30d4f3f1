"""Files of a plan, changed in memory first, and then on the disk: all of them or none.

A file is replaced by a finished one, at the target of a symbolic link, with the permissions that it had; a copy of the
old one is kept beside it until the uninstall. Two installers do not write at the same time.
"""

import difflib
import hashlib
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from hubbub.model.errors import HubError
from hubbub.processes import durable_files, file_locks
from spliceconf import Unreadable

SECRET = re.compile(r"\b([nu]tok_)\w+")
STAMP = "%Y%m%dT%H%M%SZ"
NO_FILE = "/dev/null"  # in a diff, as elsewhere
STAMPED = re.compile(r"[0-9]{8}T[0-9]{6}Z")


class FileChanged(HubError):
    """A file has changed since the plan was made; nothing was written."""


class FileChanges:
    """The present content of files, and their new content: text, or None for no file."""

    def __init__(self) -> None:
        self._before: dict[Path, str | None] = {}
        self._after: dict[Path, str | None] = {}
        self.modes: dict[Path, int] = {}  # if they differ from those of the file on the disk
        self._written: dict[Path, int] = {}  # with the permissions that they had before
        self._made: list[Path] = []

    def read(self, path: Path) -> str | None:
        """Return the new text of the file. Raises `Unreadable` if it is no text or cannot be read."""
        if path not in self._before:
            self._before[path] = self._after[path] = _read(path)
        return self._after[path]

    def write(self, path: Path, text: str) -> None:
        """Set the new text of the file."""
        self.read(path)
        self._after[path] = text

    def mode(self, path: Path) -> int:
        """Return the new permissions of the file."""
        return self.modes.get(path, _mode(path))

    def remove(self, path: Path) -> None:
        self.read(path)
        self._after[path] = None

    def was(self, path: Path) -> str | None:
        """Return the text of the file on the disk."""
        self.read(path)
        return self._before[path]

    def changed(self) -> list[Path]:
        """Return the files whose content would change."""
        return [
            path
            for path, text in self._after.items()
            if text != self._before[path] or (text is not None and self.mode(path) != _mode(path))
        ]

    def diff(self) -> str:
        """Return the changes as a unified diff, with tokens masked."""
        return "".join(self._diff_of(path) for path in self.changed())

    def commit(self) -> None:
        """Write the changes. Raises `FileChanged` before anything is written; after an `OSError`, `revert` them."""
        for path in self.changed():
            if not self._is_still(path):
                raise FileChanged(f"{path} was changed just now by another program; try again")
            self._made += missing_folders(path)
        finished: dict[Path, Path | None] = {}
        try:
            for path in self.changed():
                text = self._after[path]
                finished[path] = None if text is None else _partial(path, text, self.mode(path))
            for path, partial in finished.items():
                self._written[path] = _mode(path)
                _replace(path, partial)
        finally:
            for left in finished.values():
                if left is not None:
                    left.unlink(missing_ok=True)

    def revert(self) -> None:
        """Restore the written files, and remove the folders made for them."""
        for path, mode in self._written.items():
            text = self._before[path]
            _replace(path, None if text is None else _partial(path, text, mode))
        self._written.clear()
        remove_empty(self._made)

    def _is_still(self, path: Path) -> bool:
        try:
            return _read(path) == self._before[path]
        except Unreadable:
            return False

    def _diff_of(self, path: Path) -> str:
        before, after = self._before[path], self._after[path]
        old, new = (NO_FILE if text is None else str(path) for text in (before, after))
        lines = difflib.unified_diff(_shown(before), _shown(after), old, new)
        return "".join(
            line if line.endswith("\n") else f"{line}\n\\ no newline at the end\n" for line in lines
        )


@contextmanager
def locked(config: Path) -> Iterator[None]:
    """Lock out other installs and uninstalls. The folder itself is the lock, and is removed if it is left empty."""
    while True:
        durable_files.make_folder(config, 0o700)
        lock = os.open(config, os.O_RDONLY)
        try:
            file_locks.wait(lock)
            if not _is_still(config, lock):
                continue  # the last holder of the lock has removed the folder
            try:
                yield
            finally:
                remove_empty([config])
            return
        finally:
            os.close(lock)


def backup_of(path: Path) -> Path:
    """Return a path for the backup, beside the file."""
    target = Path(os.path.realpath(path))
    stamp = time.strftime(STAMP, time.gmtime())
    return target.with_name(f"{target.name}.hubbub-{stamp}.bak")


def is_backup(path: Path, of: Path) -> bool:
    """Tell whether the file may be a backup of `of`."""
    target = Path(os.path.realpath(of))
    stamp = path.name.removeprefix(f"{target.name}.hubbub-").removesuffix(".bak")
    return (
        path.parent == target.parent and path.name.endswith(".bak") and STAMPED.fullmatch(stamp) is not None
    )


def digest(text: str) -> str:
    """Return the digest by which we recognise our own text."""
    return hashlib.sha256(text.encode()).hexdigest()


def write_new(path: Path, text: str, *, like: Path) -> None:
    """Make a file with the permissions of another, which may be replaced once this one is there."""
    durable_files.write_new(path, text)
    path.chmod(_mode(like))


def missing_folders(path: Path) -> list[Path]:
    """Return the missing folders above the file, innermost first."""
    return [each for each in Path(os.path.realpath(path)).parents if not each.exists()]


def remove_empty(folders: Sequence[Path]) -> None:
    """Remove the empty ones of the folders, innermost first."""
    for folder in sorted(folders, key=lambda each: len(each.parts), reverse=True):
        with suppress(OSError):
            folder.rmdir()


def masked(text: str) -> str:
    """Mask the secret part of any token in the text."""
    return SECRET.sub(r"\1…", text)


def _is_still(folder: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(folder.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _shown(text: str | None) -> list[str]:
    return masked(text or "").splitlines(keepends=True)


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise Unreadable("is not UTF-8 text") from None
    except OSError as error:
        raise Unreadable(f"cannot be read: {os.strerror(error.errno or 0)}") from None


def _partial(path: Path, text: str, mode: int) -> Path:
    """Write a finished file beside the one that it will replace."""
    target = Path(os.path.realpath(path))
    durable_files.make_folder(target.parent)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(descriptor)
        os.fchmod(descriptor, mode)
        with suppress(PermissionError):  # the file of another owner becomes ours
            if target.exists():
                os.fchown(descriptor, target.stat().st_uid, target.stat().st_gid)
    return Path(name)


def _mode(path: Path) -> int:
    """Return the permissions of the file; for a missing one, the person's usual ones."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _replace(path: Path, partial: Path | None) -> None:
    target = Path(os.path.realpath(path))
    if partial is None:
        durable_files.remove(target)
        return
    partial.replace(target)
    durable_files.sync(target.parent)
