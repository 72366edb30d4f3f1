"""System calls of Linux that Python lacks: Landlock, and the adoption of orphaned processes.

Keepers of commands load this and little else: it is small on purpose.
"""

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

SIGNAL_WITH_PARENT, ADOPT_ORPHANS, NO_NEW_PRIVILEGES = 1, 36, 38  # prctl

# Landlock's system calls, which have the same numbers on every processor.
CREATE, ADD_RULE, RESTRICT = 444, 445, 446
VERSION = 1  # the flag of CREATE that asks for the kernel's version
BENEATH = 1  # the kind of rule about a folder and everything in it

# Its rights to files, in the order of their bits.
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
CHANGE_FOLDERS = sum(1 << bit for bit in range(4, 13))  # remove and make every kind of entry
REFER, TRUNCATE, IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE  # possible in a rule about one file
BIND_TCP, CONNECT_TCP = 1, 2
SCOPE_SOCKETS, SCOPE_SIGNALS = 1, 2

READ = EXECUTE | READ_FILE | READ_DIR
WRITE = READ | WRITE_FILE | CHANGE_FOLDERS | REFER | TRUNCATE
USE = WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def landlock_abi() -> int:
    """Return the kernel's version of Landlock; 0 if none."""
    if sys.platform != "linux":
        return 0
    try:
        return _call(CREATE, None, 0, VERSION)
    except OSError:
        return 0


def adopt_orphans() -> None:
    """Adopt orphaned descendants of this process from now on; elsewhere than on Linux they are lost."""
    if sys.platform == "linux":
        libc.prctl(ADOPT_ORPHANS, 1, 0, 0, 0)


def end_with_parent(parent: int, number: int) -> None:
    """Have this process sent a signal when its parent ends; raise `ProcessLookupError` if it has ended already."""
    if sys.platform == "linux":
        libc.prctl(SIGNAL_WITH_PARENT, number, 0, 0, 0)
    if os.getppid() != parent:
        raise ProcessLookupError(parent)


class Ruleset(NamedTuple):
    """A ruleset of Landlock: the paths that a process may list, read, write or use as devices.

    Each path includes everything beneath it. A process cannot get rid of its ruleset, nor can its descendants.
    """

    abi: int
    listed: Sequence[str]
    readable: Sequence[str]
    writable: Sequence[str]
    devices: Sequence[str]
    network: bool

    def take_on(self) -> None:
        """Bind the calling thread to it, for good. Raises `OSError` if that fails."""
        files = known_rights(self.abi)
        network = 0 if self.network else BIND_TCP | CONNECT_TCP
        attributes = struct.pack("=QQQ", files, network, SCOPE_SOCKETS | SCOPE_SIGNALS)[: self._size()]
        ruleset = _call(CREATE, attributes, len(attributes), 0)
        _grant(ruleset, self.listed, READ_DIR & files)
        _grant(ruleset, self.readable, READ & files)
        _grant(ruleset, self.writable, WRITE & files)
        _grant(ruleset, self.devices, USE & files)
        if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "no new privileges")
        _call(RESTRICT, ruleset, 0)
        os.close(ruleset)

    def _size(self) -> int:
        """Return the size in bytes of the attributes that this kernel knows."""
        return 8 * (1 + (self.abi >= 4) + (self.abi >= 6))


def known_rights(abi: int) -> int:
    """Return all rights to files that a kernel knows: it forbids no others."""
    newer = (REFER, 2), (TRUNCATE, 3), (IOCTL_DEVICE, 5)
    return READ | WRITE_FILE | CHANGE_FOLDERS | sum(right for right, since in newer if abi >= since)


def _grant(ruleset: int, paths: Iterable[str], rights: int) -> None:
    for path in paths:
        try:
            file = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue  # gone since it was listed: nothing to be granted
        allowed = rights if stat.S_ISDIR(os.fstat(file).st_mode) else rights & OF_FILES
        try:
            if allowed:
                _call(ADD_RULE, ruleset, BENEATH, struct.pack("=Qi", allowed, file), 0)
        finally:
            os.close(file)


def _call(number: int, *arguments: int | bytes | None) -> int:
    words = (ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)
    result = int(libc.syscall(ctypes.c_long(number), *words))
    if result < 0:
        raise OSError(ctypes.get_errno(), "Landlock")
    return result
