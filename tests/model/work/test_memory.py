"""Documents as text and back: exactly, whatever stands in them."""

from collections.abc import Sequence

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from hubbub.model.errors import Invalid
from hubbub.model.work.memory import MemoryPart, appended, parse, render, require_key, require_parts
from tests.support.each_row import each_row

NOON = 1_795_262_400_000  # 2026-11-21 12:00 UTC

LINES = st.sampled_from(
    ["", "## a", "## b", "##", "### a", "---", "*2026-11-21*", "text", "text\r", "\r", " ", "## a\r", "文"]
)
CONTENTS = st.one_of(st.lists(LINES, max_size=6).map("\n".join), st.text(max_size=20))
KEYS = st.one_of(
    st.sampled_from(["a", "b", "c", " a", "a ", "---"]),
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=10).filter(
        lambda key: not key.startswith("#")
    ),
)
DOCUMENTS = st.lists(st.builds(MemoryPart, st.none() | KEYS, CONTENTS), max_size=6).map(
    lambda parts: list({part.key or object(): part for part in parts}.values())
)


def edit(text: str, *replacements: tuple[str, str]) -> str:
    """The text with each old piece, which is there once, made new."""
    for old, new in replacements:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def test_a_document_is_markdown() -> None:
    """A section is a heading, a blank line and its content; other parts stand as they are, after a blank line."""
    parts = [
        MemoryPart(None, "# Notes"),
        MemoryPart("style", "tabs\nno spaces"),
        MemoryPart("empty", ""),
        MemoryPart(None, "end"),
    ]
    assert render(parts) == "# Notes\n\n## style\n\ntabs\nno spaces\n\n## empty\n\n\n\nend\n"
    assert render([]) == ""


def test_what_an_append_adds() -> None:
    """An append adds a blank line, a rule, the UTC date in italics, a blank line, and the content as it is."""
    assert appended("learned\nmuch", NOON) == MemoryPart(None, "\n---\n*2026-11-21*\n\nlearned\nmuch")
    text = render([MemoryPart("a", "one"), appended("two", NOON)])
    assert text == "## a\n\none\n\n---\n*2026-11-21*\n\ntwo\n"


@given(DOCUMENTS)
@example([MemoryPart(None, ""), MemoryPart(None, "\n"), MemoryPart("a", "\n\n"), MemoryPart(None, "\r")])
@example(
    [appended("## a\n\n---\n*2026-11-20*", NOON), MemoryPart("a", "## a\n\n## b\n"), MemoryPart("b", "## a")]
)
def test_what_was_rendered_is_read_back(parts: list[MemoryPart]) -> None:
    """A text that nobody touched is the parts it was rendered from, whatever they hold, and holds each verbatim."""
    text = render(parts)
    assert parse(text, parts) == parts
    assert all(part.content in text for part in parts)


@given(DOCUMENTS, DOCUMENTS)
def test_any_text_can_be_read(known: list[MemoryPart], other: list[MemoryPart]) -> None:
    """Whatever was made of a document, its parts can be kept, hold all its characters, and are stable from then on."""
    text = render(other)
    parts = parse(text, known)
    require_parts(parts)
    assert "".join(render(parts).split()) == "".join(text.split())
    assert parse(render(parts), parts) == parts


@given(DOCUMENTS)
def test_other_line_ends_are_no_change(parts: list[MemoryPart]) -> None:
    """An editor that writes CR LF, or leaves out the last line feed, changes nothing."""
    assume(parts)
    text = render(parts)
    assert parse(text.replace("\r\n", "\n").replace("\n", "\r\n"), parts) == parts
    assert not text.rstrip("\r\n") or text.endswith(("\n\n", "\r\n")) or parse(text[:-1], parts) == parts


@pytest.mark.system
@given(DOCUMENTS, st.data())
def test_a_new_section_tears_no_content(parts: list[MemoryPart], data: st.DataObject) -> None:
    """A section that is typed between others, or at the end, is one more; the others are what they were."""
    at = data.draw(st.integers(0, len(parts)))
    typed = MemoryPart("typed by hand", "new words")
    assume(all(each.key is not None for each in parts[at:]))  # else what follows would be in it
    assert parse(render([*parts[:at], typed, *parts[at:]]), parts) == [*parts[:at], typed, *parts[at:]]


@pytest.mark.system
@given(DOCUMENTS, st.data())
def test_a_new_line_changes_one_part(parts: list[MemoryPart], data: st.DataObject) -> None:
    """A line typed at the end of a section is in that section, and the others are what they were."""
    sections = [index for index, part in enumerate(parts) if part.key is not None]
    assume(sections)
    at = data.draw(st.sampled_from(sections))
    changed = MemoryPart(parts[at].key, f"{parts[at].content}\nand one more line")
    assert parse(render([*parts[:at], changed, *parts[at + 1 :]]), parts) == [
        *parts[:at],
        changed,
        *parts[at + 1 :],
    ]


INNER = MemoryPart("guide", "Write like this:\n\n## heading\n\nand then\n\n## style\n\nmore")
KNOWN = [
    MemoryPart(None, "# Notes"),
    INNER,
    MemoryPart("style", "tabs"),
    appended("## heading\n\nof an append", NOON),
]


def test_headings_in_contents_stay_contents() -> None:
    """A line that looks like a heading is one only if it was typed; in a content that was there it stays content."""
    text = edit(render(KNOWN), ("tabs", "tabs\n\n## more\nnew"), ("and then", "and thus"))
    assert parse(text, KNOWN) == [
        KNOWN[0],
        MemoryPart("guide", INNER.content.replace("then", "thus")),
        KNOWN[2],
        MemoryPart("more", "new"),
        KNOWN[3],
    ]


def test_a_moved_part_stays_whole() -> None:
    """A part that was cut out and put elsewhere is the same part, with the headings in its content."""
    for moved in (KNOWN[1], KNOWN[3]):
        rest = [part for part in KNOWN if part is not moved]
        for order in ([*rest, moved], [rest[0], moved, *rest[1:]]):
            assert parse(render(order), KNOWN) == order


def test_a_deleted_part_is_gone() -> None:
    """A part whose lines were deleted is no more, and the others are what they were."""
    for gone in KNOWN:
        rest = [part for part in KNOWN if part is not gone]
        assert parse(render(rest), KNOWN) == rest
    assert parse("", KNOWN) == []


def test_a_deleted_heading_joins_two() -> None:
    """Where a heading was deleted, its content goes on in the part before."""
    text = edit(render([MemoryPart("a", "one"), MemoryPart("b", "two")]), ("## b\n\n", ""))
    assert parse(text, [MemoryPart("a", "one"), MemoryPart("b", "two")]) == [MemoryPart("a", "one\n\ntwo")]


def test_a_text_from_elsewhere() -> None:
    """In a text that nobody rendered, headings begin sections, and what was appended is on its own."""
    text = "# Title\r\n\r\nwords\r\n## a\r\none\r\n\r\n\r\n## b \r\n\r\n\r\n---\r\n_2026-03-14_\r\n\r\nlater"
    assert parse(text, []) == [
        MemoryPart(None, "# Title\n\nwords"),
        MemoryPart("a", "one\n"),
        MemoryPart("b", ""),
        MemoryPart(None, "\n---\n_2026-03-14_\n\nlater"),
    ]


def test_a_second_heading_of_a_key() -> None:
    """Each section has a key of its own: a heading that repeats one begins a part without key, with its text kept."""
    parts = parse("## a\n\none\n\n## a\n\ntwo\n\n## b\n\nthree\n", [])
    assert parts == [MemoryPart("a", "one"), MemoryPart(None, "\n## a\n\ntwo"), MemoryPart("b", "three")]
    copied = parse(
        "## a\n\ncopy\n\n## b\n\nthree\n\n## a\n\none\n", [MemoryPart("b", "three"), MemoryPart("a", "one")]
    )
    assert copied == [MemoryPart(None, "## a\n\ncopy"), MemoryPart("b", "three"), MemoryPart("a", "one")]


def test_what_is_no_heading() -> None:
    """Another level, no text behind it, or a text that can be no key, make no section."""
    for line in ("# a", "### a", "##a", "## ", "## #a", f"## {'k' * 257}", " ## a"):
        assert parse(f"{line}\ntext\n", []) == [MemoryPart(None, f"{line}\ntext")]


@each_row(
    ("key", "is_good"),
    [("k" * 256, True), ("a#", True), ("文", True), ("", False), ("k" * 257, False), ("#a", False)]
    + [(f"a{each}b", False) for each in "\n\r\v\f\x85\u2028\u2029"],
)
def test_a_key_fits_on_a_line(key: str, is_good: bool) -> None:
    """A key has 1 to 256 characters, no line break, and no # at its beginning; another is refused with a sentence."""
    if is_good:
        require_key(key)
    else:
        with pytest.raises(Invalid, match="1 to 256 characters, no line break"):
            require_key(key)


def test_keys_are_told_apart() -> None:
    """Parts with the same key are refused; parts without one may be many."""
    require_parts([MemoryPart(None, "x"), MemoryPart(None, "x"), MemoryPart("a", "")])
    with pytest.raises(Invalid, match="the key 'a' is there twice"):
        require_parts([MemoryPart("a", ""), MemoryPart("a", "")])


def test_a_large_document_is_read_soon() -> None:
    """A large document whose lines are all alike, with edits far apart, is read in an effort like that of the edits."""
    known = [MemoryPart(f"key {number}", "## same\n" * 9_000) for number in range(4)]
    text = edit(render(known), ("## key 0\n", "first\n\n## key 0\n"), ("## key 3\n", "last\n\n## key 3\n"))
    assert [part.key for part in parse(text, known)] == [None, *[part.key for part in known]]


def test_a_document_written_anew_is_read_soon() -> None:
    """A large document of which hardly a line is left is read as what it is now."""
    known: Sequence[MemoryPart] = [
        MemoryPart("old", "\n".join(f"line {number}\n" for number in range(5_000)))
    ]
    anew = MemoryPart("new", "\n".join(f"other {number}\n" for number in range(5_000)))
    assert parse(render([anew]), known) == [anew]
