"""Opening of files after the gate's decision: exactly the file that it checked is opened, or none.

The gate follows the links on a path and decides about their target. Here exactly that is opened, from the root's
descriptor and without following a link, and checked again once it is open: so neither links that are swapped in between
have any effect, nor does another name of a protected file.
"""

import errno
import os
import posixpath
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from hubbub.model.fleet.calls import RefusalCode
from hubbub.node.system import open_beneath
from shellgate import paths, protected_names
from shellgate.decision import Decision
from shellgate.paths import Access
from shellgate.world import World

DRAFT = ".part"  # suffix of an unfinished file's name
_LINK = {errno.ELOOP, errno.EXDEV, errno.EMLINK}
_MODE = 0o777  # the bits of a file's mode that are kept when it is replaced


class NotOpened(Exception):
    """A file or folder is not opened; the clause says why: `has changed …`, `is a folder`."""

    def __init__(self, code: RefusalCode, clause: str) -> None:
        super().__init__(clause)
        self.code = code
        self.clause = clause


@contextmanager
def folder(path: str, world: World, access: Access, *, make: bool = False) -> Iterator[int]:
    """Open the folder at an absolute path without links, for `dir_fd`; `make` makes the missing ones.

    Raises `NotOpened`.
    """
    with failures():
        at = _walk(path, world, make=make)
    try:
        _require_unchanged(at, path, access, world)
        yield at
    finally:
        os.close(at)


@contextmanager
def listing(path: str, world: World) -> Iterator[int]:
    """Open the folder at an absolute path without links for listing. Raises `NotOpened`."""
    with folder(path, world, Access.LIST) as at, failures(), open_beneath.listable(at) as readable:
        yield readable


@contextmanager
def regular(path: str, world: World) -> Iterator[BinaryIO]:
    """Open the regular file at an absolute path without links for reading. Raises `NotOpened`."""
    _require_unforbidden(paths.forbidden(path, Access.READ, world))
    above, name = posixpath.split(path)
    with folder(above, world, Access.READ) as at, regular_in(at, name, path, world) as file:
        yield file


@contextmanager
def regular_in(at: int, name: str, path: str, world: World) -> Iterator[BinaryIO]:
    """Open a `regular` file in a folder that is open already; `path` is the file's full path."""
    with failures():
        before = os.stat(name, dir_fd=at, follow_symlinks=False)
        _require_regular(before)  # since opening alone can trigger a device
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        descriptor = os.open(name, flags, dir_fd=at)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        _require_regular(status)
        _require_unforbidden(paths.alias(status, path, Access.READ, world))
        yield file


@contextmanager
def replacing(path: str, world: World) -> Iterator[BinaryIO]:
    """Write a new file that takes the place at an absolute path without links, whole or not at all.

    It does so at the end of the block, with the mode of the old file; if the block raises, nothing has changed.
    Missing folders are made. Raises `NotOpened`.
    """
    _require_unforbidden(paths.forbidden(path, Access.WRITE, world))
    above, name = posixpath.split(path)
    with folder(above, world, Access.WRITE, make=True) as at:
        with failures():
            before = _status(at, name)
        if before is not None:
            _require_replaceable(before, at, name, path, world)
        draft = f".{secrets.token_hex(8)}{DRAFT}"
        with failures():
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=at)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file
                with failures():
                    file.flush()
                    _take_after(before, descriptor)
                    os.fsync(descriptor)
            _require_unchanged(at, above, Access.WRITE, world)
            with failures():
                os.rename(draft, name, src_dir_fd=at, dst_dir_fd=at)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(draft, dir_fd=at)
            raise
        _make_sure(at)


def _walk(path: str, world: World, *, make: bool) -> int:
    """Open the folder at a path, from the root that it is in; from `/` if it is in none."""
    root = paths.root_of(path, world) or "/"
    top = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        base = open_beneath.open_folder(top, root.strip("/"))
    finally:
        os.close(top)
    try:
        return (_made if make else open_beneath.open_folder)(base, path.removeprefix(root).strip("/"))
    finally:
        os.close(base)


def _made(base: int, path: str) -> int:
    """Make the missing folders of a path, and open the last one."""
    try:
        return open_beneath.open_folder(base, path)
    except FileNotFoundError:
        pass
    at = os.dup(base)
    for name in path.split("/"):
        try:
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=at)
            below = open_beneath.step(at, name)
        finally:
            os.close(at)
        at = below
    return at


def _status(at: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _require_unchanged(at: int, path: str, access: Access, world: World) -> None:
    """Check that a folder is where it was looked for, and that its place is not closed."""
    found = open_beneath.path_of(at)
    if found is not None and protected_names.components(found) != protected_names.components(path):
        raise _changed()
    _require_unforbidden(paths.forbidden(found or path, access, world))


def _require_unforbidden(decision: Decision | None) -> None:
    if decision is not None:
        raise NotOpened(RefusalCode.DENIED, f"is closed ({decision.rule_id})")


def _require_regular(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise NotOpened(RefusalCode.INVALID, "is a folder; list_dir shows its content")
    if stat.S_ISLNK(status.st_mode):
        raise _changed()
    if not stat.S_ISREG(status.st_mode):
        raise NotOpened(RefusalCode.DENIED, "is a device, a pipe or a socket; only regular files are opened")


def _require_replaceable(status: os.stat_result, at: int, name: str, path: str, world: World) -> None:
    _require_regular(status)
    _require_unforbidden(paths.alias(status, path, Access.WRITE, world))
    if status.st_nlink > 1:
        raise NotOpened(RefusalCode.DENIED, f"has {status.st_nlink} names, and is not written by one of them")
    if not os.access(name, os.W_OK, dir_fd=at):
        raise NotOpened(RefusalCode.FAILED, "is write-protected")


def _take_after(before: os.stat_result | None, descriptor: int) -> None:
    """Give the new file the mode of the old one, and its owner if we may."""
    if before is None:
        return
    with suppress(PermissionError):  # then it becomes ours, as with most editors
        os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, before.st_mode & _MODE)


def _make_sure(at: int) -> None:
    """Wait until a change of names in the folder is on the disk."""
    with failures(), open_beneath.listable(at) as readable:
        os.fsync(readable)


def _changed() -> NotOpened:
    return NotOpened(RefusalCode.FAILED, "has changed since it was decided about; try again")


@contextmanager
def failures() -> Iterator[None]:
    """Raise `NotOpened` with the system's message, without the path."""
    try:
        yield
    except FileNotFoundError:
        raise NotOpened(RefusalCode.NOT_FOUND, "is not there") from None
    except NotADirectoryError:
        raise NotOpened(
            RefusalCode.INVALID, "is not a folder, or is beneath a path that is not a folder"
        ) from None
    except PermissionError:
        raise NotOpened(
            RefusalCode.FAILED, "may not be used by the user that this machine's tools run as"
        ) from None
    except OSError as error:
        if error.errno in _LINK:
            raise _changed() from None
        if error.errno == errno.ENAMETOOLONG:
            raise NotOpened(RefusalCode.INVALID, "has a name that is too long for this file system") from None
        reason = (error.strerror or "unknown failure").lower()
        raise NotOpened(RefusalCode.FAILED, f"cannot be used: {reason}") from None
