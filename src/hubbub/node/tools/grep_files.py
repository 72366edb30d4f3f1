"""Searching the content of files, by ripgrep; `glob_files` searches their names.

ripgrep is only told where to look, and not trusted: it follows paths by name, and names can change under it. Each line
that it reports is read once more, from a file that is opened like all files here, and counts only if it is the same
there. So wherever ripgrep has been led, nothing is shown that could not be read without it.
"""

import base64
import codecs
import json
import os
import posixpath
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import IO, Any, BinaryIO

from hubbub.model.fleet.calls import RefusalCode, ToolResult, refused
from hubbub.node.system import open_beneath, safe_open
from hubbub.node.system.safe_open import NotOpened
from hubbub.node.tools import list_results
from hubbub.node.tools.file_tool import FileCall, file_tool
from hubbub.node.tools.glob_files import glob
from hubbub.node.tools.withheld_files import is_withheld
from shellgate import paths
from shellgate.floor.search_omissions import left_out
from shellgate.paths import Access

MATCHES = 1_000  # in an answer, at most
SHOWN = 500  # characters of a line, at most
LONGEST = 10_000  # characters of a pattern
PATIENCE = 60.0  # seconds that one search may take
_TRANSCODED = 16 * 1024 * 1024  # bytes of the largest file in UTF-16 that is searched
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Message = Mapping[str, Any]  # a line of ripgrep's answer


def grep(call: FileCall) -> ToolResult:
    """Return `[{file, line, text}]`, by file and line; files are named from the caller's name of the folder."""
    pattern, only = call.text("pattern"), call.text("glob")
    if max(len(pattern), len(only)) > LONGEST or "\0" in pattern + only:
        return refused(
            RefusalCode.INVALID, f"a pattern has at most {LONGEST:,} characters, and no NUL among them"
        )
    is_file = not call.world.files.is_folder(call.target)
    folder, name = posixpath.split(call.target) if is_file else (call.target, "")
    with safe_open.folder(folder, call.world, Access.READ) as at:
        if is_file:
            with safe_open.regular_in(at, name, call.target, call.world):
                pass  # the error then says why a named file cannot be searched
        finds = _Finds(call, at, folder, is_named=is_file)
        with tempfile.TemporaryFile() as complaints:
            arguments = [f"--regexp={pattern}", *([f"--glob={only}"] if only else []), "--", f"./{name}"]
            with _ripgrep(arguments, at, folder, call, complaints) as process:
                is_cut = _gather(process, finds)
            fault = _fault(complaints)
    if process.returncode == 2 and fault and not finds.rows:
        return refused(RefusalCode.INVALID, fault)
    rows = sorted(finds.rows[:MATCHES], key=lambda row: (row["file"], row["line"]))
    return list_results.of(rows, f"Only {MATCHES:,} matches are shown: there are more." if is_cut else None)


class _Finds:
    """The matches so far, each read once more."""

    def __init__(self, call: FileCall, at: int, folder: str, *, is_named: bool) -> None:
        self.rows: list[dict[str, Any]] = []
        self._call, self._at, self._folder = call, at, folder
        self._is_named = is_named  # the file itself was named, and decided about
        self._skips = False
        self._matches: list[Message] = []

    def take(self, message: Message) -> bool:
        """Take the next line of ripgrep's answer; return whether that was enough."""
        match message["type"]:
            case "begin":
                self._matches = []
                self._skips = not self._may_show(self._path(message["data"]))
            case "match" if not self._skips:
                self._matches.append(message["data"])
                if len(self.rows) + len(self._matches) > MATCHES:
                    self._settle()
            case "end" if message["data"].get("binary_offset") is None:
                self._settle()
        return len(self.rows) > MATCHES

    def _settle(self) -> None:
        """Keep the matches in one file that are there when we open it."""
        if not self._matches:
            return
        name = self._path(self._matches[0])
        above, base = posixpath.split(name)
        matches, self._matches = self._matches, []
        try:
            folder = open_beneath.open_folder(self._at, above)
        except OSError:
            return
        try:
            with safe_open.regular_in(folder, base, self._absolute(name), self._call.world) as file:
                content = _content(file)
                self.rows += [self._row(name, each) for each in matches if _is_there(each, content)]
        except (NotOpened, OSError):
            return  # not readable by us, or gone
        finally:
            os.close(folder)

    def _may_show(self, name: str) -> bool:
        path = self._absolute(name)
        if self._is_named:
            return paths.forbidden(path, Access.READ, self._call.world) is None
        world, place = self._call.world, self._call.place
        return not left_out(self._folder, name, world) and not is_withheld(path, place)

    def _path(self, data: Message) -> str:
        return os.fsdecode(_bytes(data["path"])).removeprefix("./")

    def _absolute(self, name: str) -> str:
        return posixpath.join(self._folder, name)

    def _row(self, name: str, data: Message) -> dict[str, Any]:
        given = paths.with_home(self._call.text("path"), self._call.world)
        file = given if self._is_named else posixpath.normpath(posixpath.join(given, name))
        raw = _bytes(data["lines"]).rstrip(b"\r\n")
        at = data["submatches"][0]["start"] if data["submatches"] else 0
        return {
            "file": list_results.readable(file),
            "line": data["line_number"],
            "text": _excerpt(raw.decode(errors="replace"), len(raw[:at].decode(errors="replace"))),
        }


def _gather(process: subprocess.Popen[bytes], finds: _Finds) -> bool:
    """Gather the matches; return whether there are more. Raises `NotOpened` if it takes too long."""
    late = threading.Event()

    def end() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(PATIENCE, end)
    timer.start()
    try:
        assert process.stdout
        for line in process.stdout:
            if finds.take(json.loads(line)):
                process.kill()
                return True
        process.wait()
    finally:
        timer.cancel()
    if late.is_set():
        raise NotOpened(
            RefusalCode.TIMEOUT, f"takes more than {PATIENCE:.0f} s to search; name a smaller folder"
        )
    return False


@contextmanager
def _ripgrep(
    arguments: Sequence[str], at: int, folder: str, call: FileCall, complaints: IO[bytes]
) -> Iterator[subprocess.Popen[bytes]]:
    """Run ripgrep in a folder; it ends with the block, and when nobody waits for it any more."""
    options = ("--json", "--no-config", "--no-messages", "--no-require-git")
    process = subprocess.Popen(  # noqa: S603, a program of ours, its options before `--`
        [program(), *options, *arguments],
        cwd=f"/proc/self/fd/{at}" if sys.platform == "linux" else folder,
        env={"HOME": call.world.home},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=complaints,
    )
    call.stop = process.kill
    try:
        if call.is_cancelled:
            process.kill()
        with process:
            yield process
    finally:
        call.stop = lambda: None
        process.kill()


@cache
def program() -> str:
    """Return the ripgrep of our own environment, else of the machine."""
    own = shutil.which("rg", path=sysconfig.get_path("scripts"))
    found = own or shutil.which("rg")
    if found is None:
        raise NotOpened(RefusalCode.FAILED, "cannot be searched: ripgrep is not installed")
    return found


def _fault(complaints: IO[bytes]) -> str | None:
    """Return why ripgrep rejected a pattern, in one line."""
    complaints.seek(0)
    lines = complaints.read(64 * 1024).decode(errors="replace").splitlines()
    reasons = [line.strip() for line in lines if line.startswith("error:")] or lines[:1]
    if not reasons:
        return None
    return f"the pattern is not one of ripgrep's: {reasons[0].removeprefix('rg: ').removeprefix('error: ')}"


def _content(file: BinaryIO) -> Callable[[int, int], bytes]:
    """Return a reader of bytes at an offset, both in ripgrep's count: without a byte-order mark, in UTF-8."""
    descriptor = file.fileno()
    start = os.pread(descriptor, 3, 0)
    if start.startswith(_UTF_16):
        whole = file.read(_TRANSCODED).decode("utf-16", errors="replace").encode()
        return lambda at, size: whole[at : at + size]
    mark = len(codecs.BOM_UTF8) if start == codecs.BOM_UTF8 else 0
    return lambda at, size: os.pread(descriptor, size, at + mark)


def _is_there(data: Message, content: Callable[[int, int], bytes]) -> bool:
    line = _bytes(data["lines"])
    return content(data["absolute_offset"], len(line)) == line


def _bytes(data: Mapping[str, str]) -> bytes:
    return data["text"].encode() if "text" in data else base64.b64decode(data["bytes"])


def _excerpt(text: str, at: int) -> str:
    """Return the line, or the part of a long one around the match."""
    if len(text) <= SHOWN:
        return text
    start = max(0, min(at - SHOWN // 4, len(text) - SHOWN))
    end = start + SHOWN
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


TOOLS = {"grep": file_tool(grep), "glob": file_tool(glob)}
