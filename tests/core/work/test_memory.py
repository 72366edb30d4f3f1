"""The memory of agents: sections, appends, and whole documents, by many at once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from hubbub.core.work import memory
from hubbub.model.errors import Conflict, Invalid
from hubbub.model.work.memory import MemoryDocument, MemoryPart
from tests.core.conftest import RACERS, World, errors_of

NOON = 1_795_262_400_000  # 2026-11-21 12:00 UTC
WRITERS = 20


def remembered(world: World, agent: str | None = "ann") -> MemoryDocument:
    document = world.do(memory.read, world.id, agent)
    assert document is not None
    return document


def test_nothing_is_remembered_at_first(world: World) -> None:
    """There is no memory before somebody writes it."""
    assert world.do(memory.read, world.id, None) is None
    assert world.do(memory.documents, world.id) == []


def test_a_section_is_written_and_replaced(world: World) -> None:
    """A section is added at the end, and keeps its place when it gets another content."""
    for key, content in (("stack", "Python"), ("style", "tabs"), ("stack", "Python 3.11")):
        world.do(memory.write, world.id, "ann", key, content)
    document = remembered(world)
    assert document.parts == (MemoryPart("stack", "Python 3.11"), MemoryPart("style", "tabs"))
    assert document.text == "## stack\n\nPython 3.11\n\n## style\n\ntabs\n"
    assert document.version == 3


def test_memories_are_apart(world: World) -> None:
    """The project's memory, that of each agent and that of another project know nothing of each other."""
    other = world.elsewhere("other")
    for where, agent in ((world, None), (world, "bob"), (world, "ann"), (other, None)):
        where.do(memory.write, where.id, agent, "who", f"{where.project.slug} {agent}")
    assert remembered(world, None).parts == (MemoryPart("who", "lab None"),)
    assert remembered(world, "bob").parts == (MemoryPart("who", "lab bob"),)
    assert remembered(other, None).parts == (MemoryPart("who", "other None"),)
    assert [each.agent for each in world.do(memory.documents, world.id)] == [None, "ann", "bob"]


def test_an_append_bears_the_date(world: World) -> None:
    """Appended text comes last, below a rule and the UTC date, and a section of the same text is left alone."""
    world.do(memory.write, world.id, "ann", "style", "tabs")
    world.at(NOON, memory.append, world.id, "ann", "## style\n\nno, spaces")
    world.at(NOON, memory.write, world.id, "ann", "style", "both")
    assert remembered(world).text == "## style\n\nboth\n\n---\n*2026-11-21*\n\n## style\n\nno, spaces\n"


def test_a_key_is_checked(world: World) -> None:
    """An impossible key is refused, and changes nothing."""
    for key in ("", "# a", "a\nb", "k" * 257):
        with pytest.raises(Invalid, match="1 to 256 characters"):
            world.do(memory.write, world.id, None, key, "x")
    with pytest.raises(Invalid, match="'a' is there twice"):
        world.do(memory.replace, world.id, None, [MemoryPart("a", "1"), MemoryPart("a", "2")], version=None)
    assert world.do(memory.documents, world.id) == []
    assert "memory.updated" not in world.kinds()


def test_a_document_is_replaced_if_it_is_the_one_known(world: World) -> None:
    """A whole memory is replaced where it is still at the version named; 0 is that of one that is not there."""
    parts = [MemoryPart(None, "# Notes\n"), MemoryPart("style", "tabs"), MemoryPart(None, "the end")]
    first = world.do(memory.replace, world.id, "ann", parts, version=0)
    assert (first.version, first.parts) == (1, tuple(parts))
    assert remembered(world) == first
    world.do(memory.write, world.id, "ann", "style", "spaces")
    for stale in (0, 1, 3):
        with pytest.raises(Conflict, match=f"at version 2, not {stale}"):
            world.do(memory.replace, world.id, "ann", [], version=stale)
    assert remembered(world).parts[1] == MemoryPart("style", "spaces")
    assert world.do(memory.replace, world.id, "ann", [], version=2).text == ""
    assert world.do(memory.replace, world.id, "ann", parts, version=None).version == 4


def test_every_change_is_in_the_log(world: World) -> None:
    """Each change is recorded: whose memory it is, the version it made, the section it was about, and who did it."""
    world.do(memory.write, world.id, "ann", "style", "tabs")
    world.do(memory.append, world.id, "ann", "more")
    world.do(memory.write, world.id, None, "stack", "Python", by="bob")
    world.do(memory.replace, world.id, None, [], version=1)
    changes = [each for each in world.log() if each.kind == "memory.updated"]
    assert [(each.actor, each.agent, each.detail["version"], each.detail["key"]) for each in changes] == [
        ("ann", "ann", 1, "style"),
        ("ann", "ann", 2, None),
        ("bob", None, 1, "stack"),
        ("hub", None, 2, None),
    ]


def test_racing_writers_lose_nothing(world: World) -> None:
    """Twenty who write different sections at once, of a memory that nobody has written yet, leave twenty sections."""
    begin = threading.Barrier(WRITERS)

    def write(number: int) -> None:
        mine = world.at_hub(number)
        begin.wait()
        mine.do(memory.write, world.id, None, f"section {number}", "x" * 1_000)
        mine.do(memory.append, world.id, "ann", f"line {number}")

    with ThreadPoolExecutor(WRITERS) as threads:
        list(threads.map(write, range(WRITERS)))
    assert {part.key for part in remembered(world, None).parts} == {f"section {n}" for n in range(WRITERS)}
    assert len(remembered(world, "ann").parts) == WRITERS
    assert remembered(world, None).version == WRITERS


def test_of_racing_replacements_one_wins(world: World) -> None:
    """One of those who replace the same version at once does, and the others hear that it has moved on."""
    outcomes = world.race(
        *[
            lambda tx, number=number: memory.replace(
                tx, world.id, None, [MemoryPart("winner", str(number))], version=0
            )
            for number in range(RACERS)
        ]
    )
    assert errors_of(outcomes) == [Conflict] * (RACERS - 1)
    (winner,) = [each for each in outcomes if isinstance(each, MemoryDocument)]
    assert remembered(world, None) == winner
