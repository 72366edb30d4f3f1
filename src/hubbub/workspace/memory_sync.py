"""The memory and the summaries of a project as files in a relay folder, kept equal with the hub both ways.

Three texts are compared: the base on which file and hub last agreed, the hub's text, and the file's. A change on one
side is taken over by the other; a part that both changed stays as the hub has it, followed by the file's version in a
section that says so. A deleted or emptied file is restored: a memory must not be cleared by accident. The hub is read
and written before the file, and the new base is stored last; after a crash in between, the next merge has the
same effect.
"""

import asyncio
import stat
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from watchfiles import awatch
from watchfiles._rust_notify import WatchfilesRustInternalError

from hubbub.model.errors import Conflict, HubError
from hubbub.model.work.memory import MemoryPart
from hubbub.model.work.memory_merge import MergeConflict, merge, merge_text
from hubbub.workspace.documents import DocumentKind, Documents, ForeignDocument, HubAway, HubDocument, Subject
from hubbub.workspace.relay_folder import FileRefused, RelayFolder, SyncBase, parts_of, text_of

EMPTY = timedelta(milliseconds=500)  # how long a file may be empty before it counts as emptied
DEBOUNCE = 400  # milliseconds that a burst of changes to files may last before they are read

Clock = Callable[[], datetime]
Tell = Callable[[str], None]


class SyncPlan(NamedTuple):
    """The parts and the conflicts decided for a document, with the file's text and parts they were decided for."""

    parts: tuple[MemoryPart, ...]
    clashes: Sequence[MergeConflict]
    text: str | None
    said: tuple[MemoryPart, ...] | None


def combine(
    subject: Subject,
    base: Sequence[MemoryPart] | None,
    held: Sequence[MemoryPart],
    theirs: tuple[MemoryPart, ...],
    *,
    label: str,
) -> tuple[tuple[MemoryPart, ...], list[MergeConflict]]:
    """Return the merged parts of a document that the hub holds and whose file says `theirs`, and the conflicts.

    `base` is their last common state, None if there was none. `label` marks the file's version in a conflict.
    """
    if subject.kind is not DocumentKind.RUN:
        merged = merge(base or (), held, theirs, label=label)
        return tuple(merged.parts), merged.clashes
    if not held:
        return theirs, []
    before = text_of(subject, base) if base is not None else None
    whole = merge_text(before, text_of(subject, held), text_of(subject, theirs), label=label)
    return (MemoryPart(None, whole.text),), [MergeConflict(None, label)] if whole.is_clash else []


class Mirror:
    """One relay folder beside one project of a hub. Several may stand beside the same folder."""

    def __init__(
        self, folder: Path, documents: Documents, *, clock: Clock = lambda: datetime.now(UTC)
    ) -> None:
        self._shelf = RelayFolder(folder)
        self._documents = documents
        self._clock = clock
        self._project: str | None = None

    async def sync(self, subject: Subject) -> list[str]:
        """Make file and hub equal; return a sentence for each clash.

        Raises `HubAway`, and `HubError` if the hub or the file refuses: then both are as they were.
        """
        said: tuple[MemoryPart, ...] | None = None  # the file's content when the hub last agreed to it
        was_empty = False
        clashes: dict[MergeConflict, None] = {}
        while True:
            held = await self._documents.fetch(subject)
            self._project = held.project
            plan = await asyncio.to_thread(self._plan, subject, held, said)
            version = held.version
            if plan.text is not None and not plan.text.strip() and plan.parts and not was_empty:
                was_empty = True  # perhaps an editor is in the middle of writing it
                await asyncio.sleep(EMPTY.total_seconds())
                continue
            if plan.parts != held.parts:
                try:
                    version = await self._documents.replace(subject, plan.parts, version)
                except Conflict:
                    continue
            said = plan.said
            clashes |= dict.fromkeys(plan.clashes)
            if await asyncio.to_thread(self._settle, subject, plan, held.project, version):
                return [sentence(self._shelf.name(subject), clash) for clash in clashes]

    async def run(self, changes: AsyncIterator[Subject | None], tell: Tell) -> None:
        """Keep files and hub equal until `changes` ends: the files are watched, and the hub reports its changes.

        `changes` yields the documents that changed at the hub, and None whenever changes may have been missed, above
        all after it was away; until then impossible work is left. `tell` gets the sentences of conflicts and
        errors.
        """
        pending = _Pending()
        async with asyncio.TaskGroup() as tasks:
            busy = [
                tasks.create_task(self._watch(pending, tell)),
                tasks.create_task(self._work(pending, tell)),
            ]
            async for change in changes:
                pending.add(change)
            await pending.done()
            for task in busy:
                task.cancel()

    def _plan(self, subject: Subject, held: HubDocument, said: tuple[MemoryPart, ...] | None) -> SyncPlan:
        """Merge. The base is read before the file, as it is written after it: so it is never the newer of the two."""
        base = said if said is not None else self._base(subject, held)
        text = self._shelf.read(subject)
        if text is None or not text.strip():
            return SyncPlan(held.parts, (), text, said)
        label = f"conflict from file {self._clock():%Y-%m-%d %H:%M}"
        theirs = parts_of(subject, text, held.parts if base is None else base)
        parts, clashes = combine(subject, base, held.parts, theirs, label=label)
        return SyncPlan(parts, clashes, text, theirs)

    def _base(self, subject: Subject, held: HubDocument) -> tuple[MemoryPart, ...] | None:
        """Return the last common text; None if the hub has since lost it or was restored to an earlier state."""
        base = self._shelf.base(held.project, subject)
        return base.parts if base and base.version <= held.version else None

    def _settle(self, subject: Subject, plan: SyncPlan, project: str, version: int) -> bool:
        """Write the plan's result to the file, and store the base; False if the file has changed since the plan."""
        base, agreed = self._shelf.base(project, subject), SyncBase(version, plan.parts)
        is_written = _says(subject, plan.text, plan.parts)
        if is_written and (base == agreed or plan.text is None):
            return True
        with self._shelf.locked():
            if self._shelf.read(subject) != plan.text:
                return False
            if not is_written:
                self._shelf.write(subject, text_of(subject, plan.parts))
            self._shelf.keep_base(project, subject, agreed)
        return True

    async def _watch(self, pending: "_Pending", tell: Tell) -> None:
        """Mark the documents that change in the folder as pending; while there is no folder, wait for it."""
        try:
            while True:
                place = _nearest(self._shelf.folder)
                async with aclosing(
                    _changes(place.path, recursive=place.path == self._shelf.folder)
                ) as changes:
                    async for paths in changes:
                        for path in paths:
                            await self._note(path, pending)
                        if not paths:
                            pending.add(None)  # changes from before it was watched
                        if place != _nearest(self._shelf.folder):
                            break
        except (OSError, WatchfilesRustInternalError):
            tell(
                "edits of files in the relay folder are not noticed from now on: the system refuses to watch it"
            )

    async def _note(self, path: Path, pending: "_Pending") -> None:
        """Mark the document of this file as pending; for a folder, which may have come with files, all documents."""
        subject = self._shelf.subject(path)
        if subject is not None and await asyncio.to_thread(self._has_changed, subject):
            pending.add(subject)
        elif subject is None and self._shelf.holds_documents(path):
            pending.add(None)

    def _has_changed(self, subject: Subject, version: int | None = None) -> bool:
        """Tell whether the file differs from its last common state, or the hub is at another `version`."""
        try:
            base = self._shelf.base(self._project, subject) if self._project else None
            if base is None or version not in (None, base.version):
                return True
            return not _says(subject, self._shelf.read(subject), base.parts)
        except HubError:
            return True  # to be reported when it is read

    async def _work(self, pending: "_Pending", tell: Tell) -> None:
        while True:
            for subject in await self._look_at(await pending.take(), tell):
                try:
                    for clash in await self.sync(subject):
                        tell(clash)
                except HubAway:
                    break
                except ForeignDocument:
                    continue
                except HubError as error:
                    tell(refused(self._shelf.name(subject), error))
            pending.finish()

    async def _look_at(self, changed: set[Subject | None], tell: Tell) -> list[Subject]:
        """Return the documents to be made equal: those that changed, or all that may have."""
        if None not in changed:
            return sorted(subject for subject in changed if subject is not None)
        try:
            versions = await self._documents.versions()
        except HubAway:
            return []
        except HubError as error:
            tell(str(error))
            return []
        subjects = {*versions, *await asyncio.to_thread(self._shelf.subjects)}
        return [
            subject
            for subject in sorted(subjects)
            if await asyncio.to_thread(self._has_changed, subject, versions.get(subject, 0))
        ]


class _Pending:
    """The documents that are to be looked at; None stands for all."""

    def __init__(self) -> None:
        self._changed: set[Subject | None] = set()
        self._came = asyncio.Event()
        self._idle = asyncio.Event()

    def add(self, change: Subject | None) -> None:
        self._changed.add(change)
        self._idle.clear()
        self._came.set()

    async def take(self) -> set[Subject | None]:
        """Return everything that was added since the last call, once there is something."""
        await self._came.wait()
        self._came.clear()
        taken, self._changed = self._changed, set()
        return taken

    def finish(self) -> None:
        """Note that the taken ones are done."""
        if not self._changed:
            self._idle.set()

    async def done(self) -> None:
        """Wait until nothing is left to be looked at."""
        await self._idle.wait()


def _says(subject: Subject, text: str | None, parts: Sequence[MemoryPart]) -> bool:
    """Tell whether a file's text means these parts, however it is spelled; no file means an empty document."""
    if text is None or not text.strip():
        return not text_of(subject, parts).strip()
    return parts_of(subject, text, parts) == tuple(parts)


async def _changes(place: Path, *, recursive: bool) -> AsyncGenerator[set[Path], None]:
    """Yield the changes in a folder: an empty set once it is watched, then the paths in bursts, until it is gone."""
    watch = awatch(
        place, watch_filter=None, debounce=DEBOUNCE, recursive=recursive, ignore_permission_denied=True
    )
    upcoming = asyncio.ensure_future(anext(watch))
    try:
        await asyncio.sleep(0)  # in its first step it begins to watch
        yield set()
        while True:
            yield {Path(path) for _change, path in await upcoming}
            upcoming = asyncio.ensure_future(anext(watch))
    except FileNotFoundError:
        return
    finally:
        upcoming.cancel()
        await asyncio.wait([upcoming])
        await watch.aclose()


class _Place(NamedTuple):
    """A folder, and its identity: another may take its place, while watching goes on with the old one."""

    path: Path
    inode: int


def _nearest(folder: Path) -> _Place:
    """Return the folder or, if it does not exist, the nearest existing one above it."""
    for path in (folder, *folder.parents):
        with suppress(FileNotFoundError, NotADirectoryError):
            found = path.stat()
            if stat.S_ISDIR(found.st_mode):
                return _Place(path, found.st_ino)
    raise NotADirectoryError(str(folder))  # there is always a root


def refused(name: str, error: HubError) -> str:
    """Word a refusal for people; if the hub refused, it does not know of the file."""
    return str(error) if isinstance(error, FileRefused) else f"{name}: {error}"


def sentence(name: str, clash: MergeConflict) -> str:
    """Word a clash for people."""
    what = f"section {clash.key!r}" if clash.key is not None else "the same text"
    if clash.kept_as is None:
        return f"{name}: {what} was deleted on one side and changed on the other; it is kept"
    return (
        f"{name}: {what} was changed in the hub too; what the file said is kept as section {clash.kept_as!r}"
    )
