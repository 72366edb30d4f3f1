"""Files of the machine: reading, writing, opening on its desktop, and listing a folder."""

import codecs
import os
import posixpath
import shutil
import stat
import subprocess
import sys
import threading
from typing import BinaryIO

from hubbub.model.fleet.calls import RefusalCode, ToolResult, refused
from hubbub.node.system import safe_open
from hubbub.node.system.safe_open import NotOpened
from hubbub.node.tools import list_results
from hubbub.node.tools.file_tool import FileCall, file_tool
from shellgate.paths import Access

LINES = 2_000  # of a file that are read, at most
BYTES = 256 * 1024  # likewise
NAMES = 10_000  # of a folder that are listed, at most
_SNIFFED = 8 * 1024  # bytes in which a NUL shows that a file is not text
_CHUNK = 1024 * 1024
_TOLD_WITHIN = 5.0  # seconds in which a desktop reports that it cannot open a file
_DESKTOP = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
_TYPES = {stat.S_IFREG: "file", stat.S_IFDIR: "dir", stat.S_IFLNK: "link"}


def read_file(call: FileCall) -> ToolResult:
    """Return `{content, truncated}`: the lines from `start` to `end`, inclusive, counted from 1."""
    start, end = call.arguments.get("start"), call.arguments.get("end")
    first = start if isinstance(start, int) else 1
    last = end if isinstance(end, int) else None
    if first < 1 or (last is not None and last < first):
        return refused(
            RefusalCode.INVALID, "start and end are lines counted from 1, and start is not behind end"
        )
    with safe_open.regular(call.target, call.world) as file, safe_open.failures():
        if b"\0" in file.read(_SNIFFED):
            size = os.fstat(file.fileno()).st_size
            raise NotOpened(RefusalCode.INVALID, f"is no text but a binary file of {size:,} bytes")
        file.seek(_offset(file, first))
        content, truncated = _lines(file.read(BYTES + 1), None if last is None else last - first + 1)
    return ToolResult(value={"content": content, "truncated": truncated})


def write_file(call: FileCall) -> ToolResult:
    """Return `{bytes_written}`; the file is the old one or the new one at any time, never a mixture."""
    if call.text("path").endswith("/"):
        raise NotOpened(RefusalCode.INVALID, "ends in a slash, so it names a folder; name a file")
    try:
        content = call.text("content").encode()
    except UnicodeEncodeError:
        return refused(
            RefusalCode.INVALID, "content holds half of a character, which no file in UTF-8 can hold"
        )
    with safe_open.replacing(call.target, call.world) as file, safe_open.failures():
        file.write(content)
    return ToolResult(value={"bytes_written": len(content)})


def list_dir(call: FileCall) -> ToolResult:
    """Return `[{name, type, size}]`, by name; a link counts as a link, whatever it leads to."""
    with safe_open.listing(call.target, call.world) as at, safe_open.failures():
        found = sorted(os.listdir(at))  # noqa: PTH208, it is a descriptor
        rows = [row for name in found[:NAMES] if (row := _row(at, name)) is not None]
    more = f"The first {NAMES:,} of {len(found):,} names are shown." if len(found) > NAMES else None
    return list_results.of(rows, more)


def open_file(call: FileCall) -> ToolResult:
    """Return `{opened}`: whether the desktop's default program was started; there may be no desktop."""
    above, name = posixpath.split(call.target)
    with safe_open.folder(above, call.world, Access.READ) as at, safe_open.failures():
        os.stat(name, dir_fd=at, follow_symlinks=False)
    opener = _opener(call)
    if opener is None:
        return ToolResult(value={"opened": False})
    process = subprocess.Popen(  # noqa: S603, the operator's desktop, and a path that the gate let through
        [opener, call.target],
        env={**call.world.variables, **_desktop()},
        cwd=call.world.home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return ToolResult(value={"opened": process.wait(_TOLD_WITHIN) == 0})
    except subprocess.TimeoutExpired:  # some stay as long as the program they have started
        threading.Thread(target=process.wait, daemon=True).start()
        return ToolResult(value={"opened": True})


def _opener(call: FileCall) -> str | None:
    """Return the desktop's program that opens files; None without a desktop."""
    path = call.world.variables.get("PATH", os.defpath)
    if sys.platform == "darwin":
        return shutil.which("open", path=path)
    has_screen = _desktop().keys() & {"DISPLAY", "WAYLAND_DISPLAY"}
    return shutil.which("xdg-open", path=path) if has_screen else None


def _desktop() -> dict[str, str]:
    """Return the desktop's variables, which commands do not get."""
    return {name: os.environ[name] for name in _DESKTOP if name in os.environ}


def _offset(file: BinaryIO, line: int) -> int:
    """Return the offset of a line, counted from 1; the end of the file if it has fewer."""
    file.seek(0)
    offset, before = 0, line - 1
    while before and (chunk := file.read(_CHUNK)):
        ends = chunk.count(b"\n")
        if ends < before:
            before -= ends
            offset += len(chunk)
            continue
        at = -1
        for _ in range(before):
            at = chunk.index(b"\n", at + 1)
        return offset + at + 1
    return offset


def _lines(data: bytes, wanted: int | None) -> tuple[str, bool]:
    """Return the wanted lines up to the limits, and whether some are missing because of these."""
    most = LINES if wanted is None else min(wanted, LINES)
    lines = data[:BYTES].split(b"\n", most)
    rest = lines.pop() if len(lines) > most else None
    if rest is not None:
        kept = b"\n".join(lines) + b"\n"
        return _decoded(kept, is_whole=True), (wanted is None or wanted > most) and len(data) > len(kept)
    if len(data) <= BYTES:
        return _decoded(data, is_whole=True), False
    whole = data[: data.rfind(b"\n", 0, BYTES) + 1]
    return _decoded(whole or data[:BYTES], is_whole=bool(whole)), True


def _decoded(data: bytes, *, is_whole: bool) -> str:
    """Decode the text; bytes that are not UTF-8 are replaced, except the beginning of a cut character."""
    return codecs.getincrementaldecoder("utf-8")("replace").decode(data, final=is_whole)


def _row(at: int, name: str) -> dict[str, object] | None:
    try:
        status = os.stat(name, dir_fd=at, follow_symlinks=False)
    except OSError:
        return None  # it is gone, or not readable
    kind = _TYPES.get(stat.S_IFMT(status.st_mode), "other")
    return {"name": list_results.readable(name), "type": kind, "size": status.st_size}


TOOLS = {
    "read_file": file_tool(read_file),
    "write_file": file_tool(write_file),
    "open_file": file_tool(open_file),
    "list_dir": file_tool(list_dir),
}
