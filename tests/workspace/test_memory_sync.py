"""Memory and summaries as files: equal with the hub, whatever side changes, and whatever goes wrong."""

import asyncio
import os
import stat
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hubbub.core.people import projects
from hubbub.core.transaction import Transactions
from hubbub.core.work import memory, summaries
from hubbub.model.errors import HubError
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Project
from hubbub.model.work.memory import MemoryPart
from hubbub.serve.background.hub_documents import HubDocuments
from hubbub.store.engine.sqlite import SQLite
from hubbub.workspace.documents import (
    PROJECT,
    DocumentKind,
    ForeignDocument,
    HubAway,
    HubDocument,
    Subject,
    subject_of,
)
from hubbub.workspace.memory_sync import Mirror
from hubbub.workspace.relay_folder import RelayFolder

ANN = Subject(DocumentKind.AGENT, "ann")
RUN = Subject(DocumentKind.RUN, "2026-03-14-007")
NAMES = {PROJECT: "memory/project.md", ANN: "memory/agents/ann.md", RUN: "sessions/2026-03-14-007/summary.md"}
AT = "2026-11-21 14:03"
LABEL = f"conflict from file {AT}"


@dataclass
class Place:
    """A project of a hub, and a relay folder beside it."""

    store: SQLite
    project: Project
    folder: Path
    told: list[str] = field(default_factory=list)

    def do(self, operation: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        return self.store.write_now(SYSTEM, lambda tx: operation(tx, self.project.id, *arguments, **more))

    def write(self, key: str, content: str, agent: str | None = None) -> None:
        self.do(memory.write, agent, key, content)

    def held(self, subject: Subject = PROJECT) -> str | None:
        """The text that the hub has."""
        if subject.kind is DocumentKind.RUN:
            return str(self.do(summaries.find, subject.name).text)
        found = self.do(memory.read, subject.name or None)
        return found.text if found else None

    def file(self, subject: Subject = PROJECT) -> Path:
        return self.folder / NAMES[subject]

    def text(self, subject: Subject = PROJECT) -> str:
        return self.file(subject).read_bytes().decode()

    def edit(self, text: str, subject: Subject = PROJECT) -> None:
        """Write the file, as an editor does."""
        self.file(subject).parent.mkdir(parents=True, exist_ok=True)
        self.file(subject).write_bytes(text.encode())

    def documents(self) -> HubDocuments:
        return HubDocuments(Transactions(self.store), self.project.id)

    def mirror(self, documents: Any = None) -> Mirror:
        moment = datetime(2026, 11, 21, 14, 3, tzinfo=UTC)
        return Mirror(self.folder, documents or self.documents(), clock=lambda: moment)

    def sync(self, subject: Subject = PROJECT) -> list[str]:
        return asyncio.run(self.mirror().sync(subject))

    def are_equal(self, subject: Subject = PROJECT) -> bool:
        return self.text(subject) == self.held(subject)


@pytest.fixture
def place(sqlite_store: SQLite, tmp_path: Path) -> Place:
    project = sqlite_store.write_now(SYSTEM, lambda tx: projects.create(tx, "lab"))
    return Place(sqlite_store, project, tmp_path / "work" / ".relay")


# One of them changes


def test_nothing_comes_of_nothing(place: Place) -> None:
    """While there is nothing to write, nothing is made, not even the folder."""
    for subject in (PROJECT, ANN, RUN):
        assert place.sync(subject) == []
    assert not place.folder.exists()


@pytest.mark.parametrize("subject", [PROJECT, ANN])
def test_what_the_hub_has_is_in_the_file(place: Place, subject: Subject) -> None:
    """A memory is found as Markdown in its file, and what changes in the hub changes there."""
    for content in ("tabs", "## heading\n\nspaces\r\n"):
        place.write("style", content, subject.name or None)
        place.do(memory.append, subject.name or None, "more")
        assert place.sync(subject) == []
        assert content in place.text(subject)
        assert place.are_equal(subject)


def test_a_summary_is_its_file(place: Place) -> None:
    """A summary is in its file as it was given, and an edit there is the summary from then on."""
    place.do(summaries.save, RUN.name, "ann", "# Done\n\n## a\n\n")
    place.sync(RUN)
    assert place.text(RUN) == "# Done\n\n## a\n\n"
    place.edit("# Done\n\n## a\n\nand b\n", RUN)
    place.sync(RUN)
    assert place.held(RUN) == "# Done\n\n## a\n\nand b\n"


def test_a_new_file_is_a_new_document(place: Place) -> None:
    """A file that somebody made becomes a memory, or a summary."""
    place.edit("# Title\n\n## style\ntabs\n", ANN)
    place.edit("all done", RUN)
    assert place.sync(ANN) == place.sync(RUN) == []
    assert place.do(memory.read, "ann").parts == (MemoryPart(None, "# Title"), MemoryPart("style", "tabs"))
    assert place.held(RUN) == "all done"


def test_an_edit_reaches_the_hub(place: Place) -> None:
    """An edit in the file is made in the hub, section by section; the content of a section is kept exactly."""
    place.write("guide", "so:\n\n## heading\n\nand so on")
    place.write("style", "tabs")
    place.sync()
    place.edit(place.text().replace("tabs", "spaces\n\n## new\n\nsection"))
    assert place.sync() == []
    assert place.do(memory.read, None).parts == (
        MemoryPart("guide", "so:\n\n## heading\n\nand so on"),
        MemoryPart("style", "spaces"),
        MemoryPart("new", "section"),
    )
    assert place.are_equal()


def test_another_spelling_is_no_edit(place: Place) -> None:
    """Line ends, a mark at the beginning and missing blank lines are the editor's: nothing changes, here or there."""
    place.write("style", "tabs\nor spaces")
    place.sync()
    for text in ("\ufeff## style\r\n\r\ntabs\r\nor spaces\r\n", "## style\ntabs\nor spaces"):
        place.edit(text)
        place.sync()
        assert place.text() == text
        assert place.do(memory.read, None).version == 1


def test_a_deleted_section_is_deleted(place: Place) -> None:
    """A section that is cut out of the file is gone from the hub, and one that is gone from the hub from the file."""
    for key in "abc":
        place.write(key, f"this is {key}")
    place.sync()
    place.edit(place.text().replace("## a\n\nthis is a\n\n", ""))
    place.sync()
    assert place.held() == "## b\n\nthis is b\n\n## c\n\nthis is c\n"
    place.do(memory.replace, None, [MemoryPart("c", "this is c")], version=None)
    place.sync()
    assert place.text() == "## c\n\nthis is c\n"


@pytest.mark.parametrize("subject", [PROJECT, RUN])
@pytest.mark.parametrize("emptied", [False, True])
def test_a_deleted_file_comes_back(place: Place, subject: Subject, emptied: bool) -> None:
    """A file that was deleted, or that a full disk or a crash left empty, is restored: no memory is lost by that."""
    place.edit("precious\n", subject)
    place.sync(subject)
    if emptied:
        place.edit("\n", subject)
    else:
        place.file(subject).unlink()
    assert place.sync(subject) == []
    assert place.are_equal(subject)
    assert place.text(subject) == "precious\n"


def test_a_memory_that_is_emptied_on_purpose(place: Place) -> None:
    """A memory that is emptied in the hub is emptied in the file, which stays."""
    place.edit("old\n")
    place.sync()
    place.do(memory.replace, None, [], version=None)
    place.sync()
    assert place.text() == ""
    place.sync()
    assert place.held() == ""


# Both change


def test_changes_of_both_sides_meet(place: Place) -> None:
    """Changes here and there, in different parts, are everywhere afterwards."""
    for key in "abc":
        place.write(key, f"this is {key}")
    place.sync()
    place.edit(place.text().replace("this is a", "A!") + "\n## d\n\nfrom the file\n")
    place.write("c", "C!")
    place.write("e", "from the hub")
    assert place.sync() == []
    assert place.are_equal()
    assert {part.key: part.content for part in place.do(memory.read, None).parts} == {
        "a": "A!",
        "b": "this is b",
        "c": "C!",
        "d": "from the file",
        "e": "from the hub",
    }


def test_a_clash_keeps_both(place: Place) -> None:
    """A section that both changed stays as in the hub; the file's follows as a section that says so, and it is told."""
    place.write("style", "tabs")
    place.sync()
    place.write("style", "two spaces")
    place.edit(place.text().replace("tabs", "four spaces"))
    told = place.sync()
    expected = f"## style\n\ntwo spaces\n\n## style ({LABEL})\n\nfour spaces\n"
    assert (place.held(), place.text()) == (expected, expected)
    kept = f"what the file said is kept as section 'style ({LABEL})'"
    assert told == [f"memory/project.md: section 'style' was changed in the hub too; {kept}"]
    assert place.sync() == []
    assert place.held() == expected


def test_a_clash_of_summaries(place: Place) -> None:
    """A summary that both changed holds both."""
    place.edit("first", RUN)
    place.sync(RUN)
    place.edit("of the file", RUN)
    place.do(summaries.save, RUN.name, "ann", "of the hub")
    assert "was changed in the hub too" in place.sync(RUN)[0]
    assert place.text(RUN) == place.held(RUN) == f"of the hub\n\n## {LABEL}\n\nof the file"
    assert place.sync(RUN) == []


def test_deleted_here_and_changed_there(place: Place) -> None:
    """A section that was deleted in the file and changed in the hub stays, and that is told."""
    place.write("a", "old")
    place.write("b", "stays")
    place.sync()
    place.write("a", "new")
    place.edit("## b\n\nstays\n")
    assert "was deleted on one side" in place.sync()[0]
    assert place.text() == place.held() == "## a\n\nnew\n\n## b\n\nstays\n"


def test_a_change_while_it_merges(place: Place) -> None:
    """A write into the hub or the file just while they are being made equal is not lost."""
    place.edit("from the file\n")
    turns = iter(("hub", "file"))

    class Busy(HubDocuments):
        async def replace(self, subject: Subject, parts: Sequence[MemoryPart], version: int) -> int:
            turn = next(turns, None)
            if turn == "hub":
                await asyncio.to_thread(place.write, "late", "in the hub")
            if turn == "file":
                place.edit("from the file\n\n## late too\n\nin the file\n")
            return await super().replace(subject, parts, version)

    asyncio.run(place.mirror(Busy(Transactions(place.store), place.project.id)).sync(PROJECT))
    assert place.are_equal()
    for text in ("from the file", "## late\n\nin the hub", "## late too\n\nin the file"):
        assert place.text().count(text) == 1


def test_many_mirrors_of_one_folder(place: Place) -> None:
    """Any number of mirrors may stand beside one folder, and each edit arrives once."""
    place.write("a", "in the hub")
    place.edit("from the file\n\n## b\n\nof the file\n")

    async def everyone() -> None:
        await asyncio.gather(*(place.mirror().sync(PROJECT) for _ in range(8)))

    asyncio.run(everyone())
    assert place.are_equal()
    assert [place.text().count(each) for each in ("## a", "## b", "from the file")] == [1, 1, 1]


# What goes wrong


class Crash(BaseException):
    """The process dies here."""


@pytest.mark.parametrize("writes", range(4))
@pytest.mark.parametrize("subject", [PROJECT, RUN])
def test_a_mirror_that_dies(
    place: Place, monkeypatch: pytest.MonkeyPatch, subject: Subject, writes: int
) -> None:
    """Wherever a mirror dies, the file is whole, and the next one finishes the work: nothing is lost or doubled."""
    place.edit("common\n", subject)
    place.sync(subject)
    place.edit("common, of the file\n", subject)
    if subject is RUN:
        place.do(summaries.save, RUN.name, "ann", "common, of the hub\n")
    else:
        place.do(memory.replace, None, [MemoryPart(None, "common, of the hub")], version=None)
    left = iter(range(writes))
    replace = Path.replace

    def dying(path: Path, target: Path) -> Path:
        if next(left, None) is None:
            raise Crash
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", dying)
    try:
        place.sync(subject)
    except Crash:
        assert place.text(subject) == "common, of the file\n" or place.are_equal(subject)
    monkeypatch.undo()
    place.sync(subject)
    assert place.are_equal(subject)
    assert place.text(subject).count("of the hub") == place.text(subject).count("of the file") == 1


def test_another_hub_starts_afresh(place: Place) -> None:
    """In a folder that was beside another project, nothing counts as deleted: the hub gets what the files have."""
    place.edit("## a\n\nkept\n")
    place.sync()
    other = place.store.write_now(SYSTEM, lambda tx: projects.create(tx, "other"))
    elsewhere = Place(place.store, other, place.folder)
    elsewhere.write("b", "there")
    assert elsewhere.sync() == []
    assert elsewhere.held() == place.text() == "## b\n\nthere\n\n## a\n\nkept\n"


def test_a_hub_that_was_set_back(place: Place) -> None:
    """A hub that was restored from an older backup gets back what the files still have."""
    place.write("a", "old")
    for version in range(3):
        place.edit(f"## a\n\nold\n\n## b\n\nnew {version}\n")
        place.sync()

    class Restored(HubDocuments):
        async def fetch(self, subject: Subject) -> HubDocument:
            held = await super().fetch(subject)
            return held if held.version > 4 else HubDocument(held.project, 1, (MemoryPart("a", "old"),))

        async def replace(self, subject: Subject, parts: Sequence[MemoryPart], version: int) -> int:
            return await super().replace(subject, parts, version + 3)

    asyncio.run(place.mirror(Restored(Transactions(place.store), place.project.id)).sync(PROJECT))
    assert place.held() == place.text() == "## a\n\nold\n\n## b\n\nnew 2\n"


def test_what_the_hub_refuses_stays_in_the_file(place: Place) -> None:
    """Where the hub refuses an edit, that is raised, and the file stays as it was edited."""
    place.edit("too much\n")

    class Strict(HubDocuments):
        async def replace(self, subject: Subject, parts: Sequence[MemoryPart], version: int) -> int:
            raise HubError("the body is larger than 1 MiB")

    with pytest.raises(HubError, match="larger than 1 MiB"):
        asyncio.run(place.mirror(Strict(Transactions(place.store), place.project.id)).sync(PROJECT))
    assert place.text() == "too much\n"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\xff\xfe", "memory/project.md: it is not UTF-8 text"),
        (b"a\0b", "memory/project.md: it holds NUL characters, so it is no text"),
        (b"x" * (16 * 1024 * 1024 + 1), "memory/project.md: it is larger than 16 MiB"),
    ],
)
def test_what_is_no_text_is_left_alone(place: Place, content: bytes, sentence: str) -> None:
    """A file that is no text is neither read nor overwritten; the sentence names it, without the machine's path."""
    place.write("a", "in the hub")
    place.edit("")
    place.file().write_bytes(content)
    with pytest.raises(HubError) as refused:
        place.sync()
    assert str(refused.value) == sentence
    assert place.file().read_bytes() == content


def test_what_is_no_file_is_left_alone(place: Place) -> None:
    """A folder or a pipe where a file should be is refused, without waiting for it."""
    place.write("a", "in the hub")
    place.file().mkdir(parents=True)
    with pytest.raises(HubError, match=r"memory/project\.md: "):
        place.sync()
    place.file().rmdir()
    os.mkfifo(place.file())
    with pytest.raises(HubError, match=r"memory/project\.md: it is no plain file"):
        place.sync()


@pytest.mark.parametrize("link", ["memory/project.md", "memory", ".hubbub"])
def test_links_lead_nowhere_outside(place: Place, tmp_path: Path, link: str) -> None:
    """Through a link that leads out of the relay folder nothing is read and nothing is written, and that is said."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "project.md").write_text("a secret")
    place.write("a", "in the hub")
    target = outside / "project.md" if link.endswith(".md") else outside
    (place.folder / link).parent.mkdir(parents=True, exist_ok=True)
    (place.folder / link).symlink_to(target)
    with pytest.raises(HubError, match="a link leads out of the relay folder"):
        place.sync()
    assert [file.name for file in outside.iterdir()] == ["project.md"]
    assert (outside / "project.md").read_text() == "a secret"
    assert place.held() == "## a\n\nin the hub\n"


def test_links_within_the_folder_are_followed(place: Place) -> None:
    """A link to a file in the relay folder stays a link, and the file it leads to is the memory."""
    place.folder.mkdir(parents=True)
    (place.folder / "notes.md").write_text("here\n")
    place.file().parent.mkdir()
    place.file().symlink_to("../notes.md")
    place.write("a", "there")
    place.sync()
    assert place.file().is_symlink()
    assert (place.folder / "notes.md").read_text() == place.held() == "here\n\n## a\n\nthere\n"


def test_a_file_keeps_its_mode(place: Place) -> None:
    """A file that is written keeps who may read it; nothing but documents and our own folder is left beside it."""
    place.edit("mine\n")
    place.file().chmod(0o640)
    place.write("a", "new")
    place.sync()
    assert stat.S_IMODE(place.file().stat().st_mode) == 0o640
    assert sorted(each.name for each in place.folder.iterdir()) == [".hubbub", "memory"]
    assert (place.folder / ".hubbub" / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("fe_1-x", "fe_1-x"),
        ("代码1号", "代码1号"),
        ("José", "José"),
        ("a/b", "a%2Fb"),
        ("..", "%2E%2E"),
        ("50% a.b", "50%25%20a%2Eb"),
        ("COM1:", "COM1%3A"),
    ],
)
def test_any_name_is_a_file(place: Place, name: str, file: str) -> None:
    """The files of agents and runs have their names; what could mean something else in a path is percent-encoded."""
    shelf = RelayFolder(place.folder)
    for subject, path in (
        (Subject(DocumentKind.AGENT, name), f"memory/agents/{file}.md"),
        (Subject(DocumentKind.RUN, name), f"sessions/{file}/summary.md"),
    ):
        assert shelf.name(subject) == path
        assert shelf.subject(shelf.folder / path) == subject


@pytest.mark.parametrize(
    "path", ["project.md", "memory/notes.md", "memory/agents/a.b.md", "memory/agents/.md", "memory/agents/x.txt",
             "sessions/summary.md", "sessions/a/other.md", "sessions/a/b/summary.md", "../memory/project.md"],
)  # fmt: skip
def test_other_files_are_not_ours(place: Place, path: str) -> None:
    """Any other file in the folder, or elsewhere, is left alone."""
    shelf = RelayFolder(place.folder)
    assert shelf.subject(Path(os.path.normpath(shelf.folder / path))) is None


def test_what_activities_are_about() -> None:
    """The log of the hub says which document was changed."""
    assert subject_of("memory.updated", None, {"version": 1}) == PROJECT
    assert subject_of("memory.updated", "ann", {"version": 1}) == ANN
    assert subject_of("summary.saved", None, {"run": RUN.name}) == RUN
    assert subject_of("task.sent", "ann", {}) is None


# Staying in step


class Watched:
    """A mirror that runs, with a hub that can be away, and whose news come by hand."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.away = False
        self.news: asyncio.Queue[Subject | str | None] = asyncio.Queue()
        self.replaced = asyncio.Event()
        self.asked = asyncio.Event()
        self.told: list[str] = []
        self._documents = place.documents()

    async def versions(self) -> Mapping[Subject, int]:
        self.asked.set()
        self._require()
        return await self._documents.versions()

    async def fetch(self, subject: Subject) -> HubDocument:
        self._require()
        return await self._documents.fetch(subject)

    async def replace(self, subject: Subject, parts: Sequence[MemoryPart], version: int) -> int:
        self._require()
        new = await self._documents.replace(subject, parts, version)
        self.replaced.set()
        return new

    def _require(self) -> None:
        if self.away:
            raise HubAway("gone fishing")

    async def changes(self) -> AsyncIterator[Subject | None]:
        while (change := await self.news.get()) != "end":
            assert not isinstance(change, str) or change == "end"
            yield change if isinstance(change, tuple) else None

    async def run(self, story: Callable[[], Any]) -> None:
        async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
            tasks.create_task(self.place.mirror(self).run(self.changes(), self.told.append))
            await self.asked.wait()  # now the folder is watched
            await story()
            self.news.put_nowait("end")

    async def edited(self, text: str, subject: Subject = PROJECT) -> None:
        """Edit a file, and wait until the hub has it."""
        self.replaced.clear()
        await asyncio.to_thread(self.place.edit, text, subject)
        await self.replaced.wait()


def test_edits_and_news_are_passed_on(place: Place) -> None:
    """While it runs, an edit of a file reaches the hub, and what the hub tells reaches the file."""
    watched = Watched(place)

    async def story() -> None:
        await watched.edited("first\n")  # there was no folder before
        await watched.edited("first, and more\n")
        await watched.edited("mine\n", ANN)
        await asyncio.to_thread(place.write, "late", "from the hub", "ann")
        watched.news.put_nowait(ANN)

    asyncio.run(watched.run(story))
    assert place.held() == place.text() == "first, and more\n"
    assert place.held(ANN) == place.text(ANN) == "mine\n\n## late\n\nfrom the hub\n"
    assert watched.told == []


def test_what_was_there_before_is_found(place: Place) -> None:
    """When it begins, everything that was changed while nothing ran is made equal."""
    place.edit("in a file\n", ANN)
    place.do(summaries.save, RUN.name, "ann", "in the hub")
    watched = Watched(place)
    asyncio.run(watched.run(watched.replaced.wait))
    assert place.held(ANN) == "in a file\n"
    assert place.text(RUN) == "in the hub"


def test_a_hub_that_is_away(place: Place) -> None:
    """Edits and changes while the hub is away are made up for as soon as it is said to be back."""
    place.write("a", "common")
    watched = Watched(place)

    async def story() -> None:
        watched.away = True
        await asyncio.to_thread(place.edit, "in a file\n", ANN)
        watched.asked.clear()
        watched.news.put_nowait(None)
        await watched.asked.wait()
        watched.away = False
        watched.news.put_nowait(None)
        await watched.replaced.wait()

    asyncio.run(watched.run(story))
    assert place.held(ANN) == "in a file\n"
    assert place.are_equal()


def test_one_bad_file_stops_no_other(place: Place) -> None:
    """A fault of one file is told, and the others are kept equal."""
    place.edit("")
    place.file().write_bytes(b"\xff")
    place.edit("mine\n", ANN)
    watched = Watched(place)
    asyncio.run(watched.run(watched.replaced.wait))
    assert place.held(ANN) == "mine\n"
    assert "memory/project.md: it is not UTF-8 text" in watched.told


def test_what_is_for_another_mirror(place: Place) -> None:
    """An edit of a memory that our token may not write is left, without a word, to the mirror of the agent it is of."""
    place.edit("of ann\n", ANN)
    place.edit("of all\n")
    watched = Watched(place)
    replace = watched.replace

    async def bound(subject: Subject, parts: Sequence[MemoryPart], version: int) -> int:
        if subject == ANN:
            raise ForeignDocument("this token acts as 'bob' only, not as 'ann'")
        return await replace(subject, parts, version)

    watched.replace = bound  # type: ignore[method-assign]
    asyncio.run(watched.run(watched.replaced.wait))
    assert (place.held(ANN), place.held(), watched.told) == (None, "of all\n", [])
    assert place.text(ANN) == "of ann\n"


def test_a_folder_that_goes_and_comes(place: Place) -> None:
    """A relay folder that is taken away while it is watched is made again, with all that the hub has."""
    place.write("a", "in the hub")
    watched = Watched(place)

    async def story() -> None:
        await watched.edited("new\n", ANN)
        watched.asked.clear()
        await asyncio.to_thread(place.folder.rename, place.folder.with_name("away"))
        await watched.asked.wait()
        await watched.edited("again\n", RUN)

    asyncio.run(watched.run(story))
    assert place.text() == place.held()
    assert place.held(RUN) == "again\n"
