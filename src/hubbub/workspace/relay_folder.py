"""The files of a relay folder that are kept equal with the hub, and their last common state beside them.

    memory/project.md   memory/agents/<name>.md   sessions/<run>/summary.md   .hubbub/

A file is replaced as a whole, so that nobody ever reads half of one, and a crash leaves the old or the new. Nothing
is read or written outside the folder, wherever a link in it leads.
"""

import json
import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, NamedTuple
from urllib.parse import quote, unquote

from hubbub.model.errors import HubError
from hubbub.model.work.memory import MemoryPart, parse, render
from hubbub.processes import durable_files, file_locks
from hubbub.workspace.documents import PROJECT, DocumentKind, Subject

OURS = ".hubbub"
LOCK = "lock"
IGNORE = ".gitignore"  # so that it is not committed along with the memory
LARGEST = 16 * 1024 * 1024  # bytes of a file that is read
SUFFIX = ".md"
SUMMARY = "summary.md"


class FileRefused(HubError):
    """A file of the relay folder that cannot be read or written, or must not be."""

    code: ClassVar[str] = "invalid"

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name}: {why}")


class SyncBase(NamedTuple):
    """A document as file and hub last agreed on it."""

    version: int
    parts: tuple[MemoryPart, ...]


class RelayFolder:
    """One relay folder, which need not exist. Raises `FileRefused` for each file that is not usable."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(os.path.realpath(folder))

    def name(self, subject: Subject) -> str:
        """Return the path of the document's file, relative to the folder."""
        match subject.kind:
            case DocumentKind.PROJECT:
                return f"memory/project{SUFFIX}"
            case DocumentKind.AGENT:
                return f"memory/agents/{encoded(subject.name)}{SUFFIX}"
            case DocumentKind.RUN:
                return f"sessions/{encoded(subject.name)}/{SUMMARY}"

    def subject(self, path: Path) -> Subject | None:
        """Return the document whose file is at `path`; None for any other file."""
        if not path.is_relative_to(self.folder):
            return None
        match path.relative_to(self.folder).parts:
            case ("memory", "project.md"):
                return PROJECT
            case ("memory", "agents", name) if name.endswith(SUFFIX):
                found = Subject(DocumentKind.AGENT, unquote(name.removesuffix(SUFFIX)))
            case ("sessions", name, "summary.md"):
                found = Subject(DocumentKind.RUN, unquote(name))
            case _:
                return None
        return found if found.name and self.folder / self.name(found) == path else None

    def holds_documents(self, path: Path) -> bool:
        """Tell whether `path` is a folder in which documents have their files."""
        match path.relative_to(self.folder).parts if path.is_relative_to(self.folder) else ():
            case ("memory",) | ("memory", "agents") | ("sessions",) | ("sessions", _):
                return True
        return False

    def subjects(self) -> list[Subject]:
        """List the documents with files."""
        patterns = (f"memory/*{SUFFIX}", f"memory/agents/*{SUFFIX}", f"sessions/*/{SUMMARY}")
        paths = sorted(path for pattern in patterns for path in self.folder.glob(pattern))
        return [subject for path in paths if (subject := self.subject(path))]

    def read(self, subject: Subject) -> str | None:
        """Return the text of the document's file; None if there is no file."""
        name = self.name(subject)
        try:
            content = _read(self._inside(name))
            text = content.decode("utf-8-sig")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            raise FileRefused(name, "it is not UTF-8 text") from None
        except OSError as error:
            raise FileRefused(name, _reason(error)) from None
        if "\0" in text:
            raise FileRefused(name, "it holds NUL characters, so it is no text")
        return text

    def write(self, subject: Subject, text: str) -> None:
        """Replace the content of the document's file by `text`; the file keeps its mode."""
        self._replace(self.name(subject), text)

    def base(self, project: str, subject: Subject) -> SyncBase | None:
        """Return the document as it was when it was last the same here and in the hub; None if it never was."""
        try:
            kept = json.loads(_read(self._inside(self._base_name(project, subject))))
            return SyncBase(
                kept["version"], tuple(MemoryPart(key, content) for key, content in kept["parts"])
            )
        except (OSError, ValueError, LookupError, TypeError):
            return None  # there is none, or it was edited

    def keep_base(self, project: str, subject: Subject, base: SyncBase) -> None:
        parts = [(part.key, part.content) for part in base.parts]
        self._replace(
            self._base_name(project, subject), json.dumps({"version": base.version, "parts": parts})
        )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder; another mirror on it waits. Only for as long as files are written."""
        try:
            ours = self._inside(OURS)
            durable_files.make_folder(ours)
            lock = os.open(ours / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise FileRefused(OURS, _reason(error)) from None
        try:
            file_locks.wait(lock)
            if not (ours / IGNORE).exists():
                self._replace(f"{OURS}/{IGNORE}", "*\n")
            yield
        finally:
            os.close(lock)

    def _base_name(self, project: str, subject: Subject) -> str:
        return f"{OURS}/{encoded(project)}/{self.name(subject)}.json"

    def _inside(self, name: str) -> Path:
        """Return the real path of `name`. Raises `FileRefused` if a link leads out of the folder."""
        path = Path(os.path.realpath(self.folder / name))
        if not path.is_relative_to(self.folder):
            raise FileRefused(name, "a link leads out of the relay folder; it is left alone")
        return path

    def _replace(self, name: str, text: str) -> None:
        """Write a file next to its place, sync it to the disk, and put it there. Needs the lock."""
        target, draft = self._inside(name), self._inside(f"{OURS}/draft")
        try:
            durable_files.make_folder(target.parent)
            with draft.open("wb") as file:
                if target.exists():
                    os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            draft.replace(target)
            durable_files.sync(target.parent)
        except OSError as error:
            raise FileRefused(name, _reason(error)) from None


def text_of(subject: Subject, parts: Sequence[MemoryPart]) -> str:
    """Return the content of a document's file: a memory rendered, a summary as it was given."""
    return "".join(part.content for part in parts) if subject.kind is DocumentKind.RUN else render(parts)


def parts_of(subject: Subject, text: str, known: Sequence[MemoryPart]) -> tuple[MemoryPart, ...]:
    """Parse the parts in the text of a file, for a document that was `known`."""
    if subject.kind is not DocumentKind.RUN:
        return tuple(parse(text, known))
    before, now = text_of(subject, known).replace("\r\n", "\n"), text.replace("\r\n", "\n")
    return tuple(known) if now in (before, f"{before}\n") else (MemoryPart(None, now),)


def encoded(name: str) -> str:
    """Encode a name as a file name: letters and digits of any script, `-` and `_` stay; the rest as in an address."""
    return "".join(each if _is_plain(each) else _percent(each) for each in name)


def _is_plain(character: str) -> bool:
    return character in "-_" or unicodedata.category(character)[0] in "LMN"


def _percent(character: str) -> str:
    return quote(character, safe="") if character != "." else "%2E"


def _read(path: Path) -> bytes:
    """Return the content of a regular file, once nobody is just writing it."""
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(file, "rb") as stream:
        before = os.fstat(file)
        if not stat.S_ISREG(before.st_mode):
            raise OSError(None, "it is no plain file")
        if before.st_size > LARGEST:
            raise OSError(None, f"it is larger than {LARGEST // 1024 // 1024} MiB")
        while True:
            content = stream.read(LARGEST)
            after = os.fstat(file)
            if (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns):
                return content
            before = after
            stream.seek(0)


def _reason(error: OSError) -> str:
    """Return the reason of an error, without the path."""
    reason = error.strerror or "it cannot be used"
    return reason[:1].lower() + reason[1:]
