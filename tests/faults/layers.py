"""A layer between a program and the disk: its operations are recorded, and fail where a test says so.

For as long as that is, the functions of `os` that change files are ours, files are opened by the library of Python that
is written in Python, which goes by them, and those of SQLite by a layer of ours, a VFS of apsw. All threads of the
process are seen, and no other process.
"""

import builtins
import io
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from errno import ENOSPC
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import apsw

from tests.faults.recording import Fault, Recording

LAYER = "recorded"  # what SQLite calls it
BENEATH = apsw.vfs_names()[0]  # what it has otherwise
SYNCS_FOLDER = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL | apsw.SQLITE_OPEN_WAL
IN_PYTHON = import_module("_pyio")
REAL = {name: getattr(os, name) for name in dir(os)}


@contextmanager
def recorded(root: Path, fault: Fault | None = None) -> Iterator[Recording]:
    """Record what is done beneath the folder."""
    recording = Recording(root, fault)
    system = _System(recording)
    vfs = _Layer(recording)
    with ExitStack() as patched:
        for name, function in system.functions().items():
            patched.enter_context(mock.patch.object(os, name, function))
        for module in (io, builtins):
            patched.enter_context(mock.patch.object(module, "open", IN_PYTHON.open))
        apsw.set_default_vfs(LAYER)
        try:
            yield recording
        finally:
            apsw.set_default_vfs(BENEATH)
            vfs.unregister()


class _System:
    """The functions of `os`, as they are while something is recorded."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def functions(self) -> dict[str, Callable[..., Any]]:
        own = [name for name in vars(type(self)) if not name.startswith("_") and name != "functions"]
        return {name: getattr(self, name) for name in own} | {
            "remove": self.unlink,
            "replace": self.rename,
            "fdatasync": self.fsync,
        }

    def open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        where = _where(path, dir_fd)
        with self._recording.lock:
            is_new = bool(flags & os.O_CREAT) and not os.path.lexists(where)
            self._require("create" if is_new else "open", where)
            file: int = REAL["open"](path, flags, mode, dir_fd=dir_fd)
            if is_new:
                self._recording.made(where)
            elif flags & os.O_TRUNC:
                self._changed("resize", file, 0)
            return file

    def write(self, file: int, content: Any) -> int:
        with self._recording.lock:
            content = bytes(self._room(file, content))
            count: int = REAL["write"](file, content)
            if (number := self._recording.number(file)) is not None:
                begin = os.lseek(file, 0, os.SEEK_CUR) - count
                self._recording.do("write", number, begin, content[:count])
            return count

    def pwrite(self, file: int, content: Any, begin: int) -> int:
        with self._recording.lock:
            content = bytes(self._room(file, content))
            count: int = REAL["pwrite"](file, content, begin)
            self._changed("write", file, begin, content[:count])
            return count

    def read(self, file: int, size: int) -> bytes:
        self._require("read", file)
        found: bytes = REAL["read"](file, size)
        return found

    def ftruncate(self, file: int, size: int) -> None:
        with self._recording.lock:
            self._require("resize", file)
            REAL["ftruncate"](file, size)
            self._changed("resize", file, size)

    def fsync(self, file: int) -> None:
        with self._recording.lock:
            self._require("sync", file)
            self._changed("sync", file)

    def mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        where = _where(path, dir_fd)
        with self._recording.lock:
            if not os.path.lexists(where):
                self._require("create", where)
            REAL["mkdir"](path, mode, dir_fd=dir_fd)
            self._recording.made(where)

    def symlink(self, target: Any, path: Any, *, dir_fd: int | None = None) -> None:
        where = _where(path, dir_fd)
        with self._recording.lock:
            self._require("create", where)
            REAL["symlink"](target, path, dir_fd=dir_fd)
            self._recording.made(where)

    def link(self, source: Any, target: Any, **given: Any) -> None:
        before, after = _where(source, None), _where(target, None)
        with self._recording.lock:
            self._require("name", after)
            REAL["link"](source, target, **given)
            self._recording.named(after, self._recording.number(before))

    def rename(
        self, before: Any, after: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None
    ) -> None:
        here, there = _where(before, src_dir_fd), _where(after, dst_dir_fd)
        with self._recording.lock:
            self._require("name", there)
            number = self._recording.number(here)
            REAL["rename"](before, after, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
            self._recording.moved(here, there, number)

    def unlink(self, path: Any, *, dir_fd: int | None = None) -> None:
        self._removed("unlink", path, dir_fd)

    def rmdir(self, path: Any, *, dir_fd: int | None = None) -> None:
        self._removed("rmdir", path, dir_fd)

    def _removed(self, how: str, path: Any, dir_fd: int | None) -> None:
        where = _where(path, dir_fd)
        with self._recording.lock:
            REAL[how](path, dir_fd=dir_fd)
            self._recording.named(where, None)

    def _changed(self, what: str, file: int, *given: object) -> None:
        if (number := self._recording.number(file)) is not None:
            self._recording.do(what, number, *given)

    def _room(self, file: int, content: Any) -> Any:
        """Return what of the content there is room for: of a disk that is full from now on, for the first half."""
        known = len(self._recording.failed)
        try:
            self._require("write", file)
        except OSError:
            fault = self._recording.fault
            if known or not (fault and fault.stays and fault.number == ENOSPC and len(content) > 1):
                raise
            return content[: len(content) // 2]
        return content

    def _require(self, call: str, where: str | int) -> None:
        if isinstance(where, int):
            if self._recording.fault is None or self._recording.number(where) is None:
                return
            where = os.readlink(f"/proc/self/fd/{where}")
        if (number := self._recording.fails(call, where)) is not None:
            raise OSError(number, os.strerror(number), where)


def _where(path: Any, dir_fd: int | None) -> str:
    """Return the path itself, of whatever it leads to: without links on the way."""
    at = os.getcwd() if dir_fd is None else os.readlink(f"/proc/self/fd/{dir_fd}")
    above, name = os.path.split(os.path.join(at, os.fsdecode(path)))
    return os.path.join(os.path.realpath(above), name)


class _Layer(apsw.VFS):
    """The files of SQLite, by name."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        super().__init__(LAYER, BENEATH)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802  # SQLite's name
        return _File(self._recording, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:  # noqa: N802
        with self._recording.lock:
            _require(self._recording, "name", name)
            super().xDelete(name, sync)
            self._recording.named(name, None)
            if sync:
                _synced(self._recording, os.path.dirname(name))


class _File(apsw.VFSFile):
    """One file of SQLite."""

    def __init__(self, recording: Recording, name: Any, flags: list[int]) -> None:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._path = os.path.realpath(path) if path else ""
        self._recording = recording
        self._syncs_folder = bool(flags[0] & SYNCS_FOLDER and flags[0] & apsw.SQLITE_OPEN_CREATE)
        with recording.lock:
            is_new = bool(path) and not os.path.lexists(self._path)
            _require(recording, "create" if is_new else "open", self._path)
            super().__init__(BENEATH, name, flags)
            if is_new:
                recording.made(self._path)

    def xRead(self, size: int, begin: int) -> bytes:  # noqa: N802
        _require(self._recording, "read", self._path)
        return super().xRead(size, begin)

    def xWrite(self, content: bytes, begin: int) -> None:  # noqa: N802
        with self._recording.lock:
            _require(self._recording, "write", self._path)
            super().xWrite(content, begin)
            if (number := self._recording.number(self._path)) is not None:
                self._recording.do("write", number, begin, content)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        with self._recording.lock:
            _require(self._recording, "resize", self._path)
            super().xTruncate(size)
            if (number := self._recording.number(self._path)) is not None:
                self._recording.do("resize", number, size)

    def xSync(self, flags: int) -> None:  # noqa: N802
        """Sync the file and, as SQLite's own layer does, the folder with the first sync of a journal that was made."""
        with self._recording.lock:
            _require(self._recording, "sync", self._path)
            _synced(self._recording, self._path)
            if self._syncs_folder:
                self._syncs_folder = False
                _synced(self._recording, os.path.dirname(self._path))


def _failed(call: str) -> apsw.IOError:
    error = apsw.IOError("the disk fails")
    known = {
        "read": apsw.SQLITE_IOERR_READ,
        "sync": apsw.SQLITE_IOERR_FSYNC,
        "name": apsw.SQLITE_IOERR_DELETE,
    }
    error.__dict__["extendedresult"] = known.get(call, apsw.SQLITE_IOERR_WRITE)
    return error


def _synced(recording: Recording, path: str) -> None:
    if (number := recording.number(path)) is not None:
        recording.do("sync", number)


def _require(recording: Recording, call: str, path: str) -> None:
    number = recording.fails(call, path)
    if number is None:
        return
    if number == ENOSPC and call in ("write", "resize"):
        raise apsw.FullError("no room")
    if call in ("create", "open"):
        raise apsw.CantOpenError("no such luck")
    raise _failed(call)
