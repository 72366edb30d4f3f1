"""Opening of folders from a folder, without a link on the way: `openat2` on Linux, elsewhere name by name.

A program that can change names during the walk can lead it anywhere, unless the system itself refuses every link.
"""

import ctypes
import errno
import fcntl
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_OPENAT2 = 437  # the system call's number, the same on every machine but an obsolete one
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08  # of `linux/openat2.h`
_TRIES = 32  # when the kernel cannot tell, since names change at that moment
_FLAGS = os.O_DIRECTORY | os.O_CLOEXEC
# The answer of an old kernel to the call, or of a filter before it.
_UNKNOWN = {errno.ENOSYS, errno.EPERM, errno.E2BIG, errno.EINVAL}


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


_LINUX = sys.platform == "linux" and platform.machine() != "alpha"
_libc = ctypes.CDLL(None, use_errno=True)
_how = _How(flags=_FLAGS | getattr(os, "O_PATH", 0), mode=0, resolve=_BENEATH | _NO_MAGICLINKS | _NO_SYMLINKS)


def open_folder(base: int, path: str) -> int:
    """Open the folder at `path`, seen from the folder `base`, for `dir_fd`; `listable` opens one for listing.

    `path` has neither `..` nor links. Raises `OSError`: with ELOOP or ENOTDIR if there is a link after all.
    """
    if not path:
        return os.dup(base)
    if _LINUX:
        try:
            return _by_kernel(base, path)
        except OSError as error:
            if error.errno not in _UNKNOWN:
                raise
    return by_steps(base, path)


def by_steps(base: int, path: str) -> int:
    """Open the folder step by step, without the kernel's help; otherwise like `open_folder`."""
    at = os.dup(base)
    for name in filter(None, path.split("/")):
        try:
            below = step(at, name)
        finally:
            os.close(at)
        at = below
    return at


def step(base: int, name: str) -> int:
    """Open the folder of that name in the folder `base`."""
    return os.open(name, _FLAGS | os.O_NOFOLLOW | getattr(os, "O_PATH", os.O_RDONLY), dir_fd=base)


@contextmanager
def listable(at: int) -> Iterator[int]:
    """Open the folder of the descriptor `at` for listing and syncing."""
    descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=at)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def path_of(descriptor: int) -> str | None:
    """Return the present path of an open file or folder; None if the system does not tell."""
    if hasattr(fcntl, "F_GETPATH"):
        return os.fsdecode(fcntl.fcntl(descriptor, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115, this is no file, and a text is wanted
    except OSError:
        return None


def _by_kernel(base: int, path: str) -> int:
    for _ in range(_TRIES):
        found: int = _libc.syscall(_OPENAT2, base, os.fsencode(path), ctypes.byref(_how), ctypes.sizeof(_how))
        if found >= 0:
            return found
        if (failed := ctypes.get_errno()) not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(failed, os.strerror(failed))
