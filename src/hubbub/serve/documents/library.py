"""The documents in the package: their list, their titles, and a search for words in them.

A checkout reads them where they are written, an installed package beside its code; both have the same folders.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from posixpath import dirname, normpath

import hubbub
from hubbub.serve.http.page_paths import DOCUMENTS

PACKED = Path(hubbub.__file__).parent / "documents"
CHECKOUT = Path(hubbub.__file__).parents[2]
FIRST = ("README.md", "docs/quickstart.md", "docs/dashboard.md")  # recommended beginning
PAGES = ("README.md", "CHANGELOG.md", "docs/*.md", "docs/*/*.md")
GROUPS = ("", "clients", "how-to", "dialects", "reference", "decisions")
FOUND = 30  # places that a search returns
AROUND = 90  # characters before and after a match
LONGEST_SEARCH = 100
MOST_WORDS = 8
TELLING = 3  # letters of a word that is searched for

_HEADING = re.compile(r"^(#{1,6}) +(.+?)\s*$")
_FENCE = re.compile(r"\s*(```|~~~)")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"[*`|]|<!--.*?-->|</?(?:picture|source|img)\b[^>]*>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, and the text under it until the next, without Markdown's marks."""

    heading: str
    anchor: str
    text: str


@dataclass(frozen=True)
class Document:
    """One page, as it was written."""

    file: str  # its name from the root of the project
    text: str

    @property
    def address(self) -> str:
        """Return the address under which the hub serves it: its name without parts that readers need not know."""
        name = self.file.removesuffix(".md").removeprefix("docs/").removesuffix("README").strip("/")
        return f"{DOCUMENTS}/{name.lower()}".rstrip("/")

    @property
    def group(self) -> str:
        """Return the folder that it is in."""
        return dirname(self.file).removeprefix("docs").strip("/")

    @cached_property
    def sections(self) -> list[Section]:
        return list(_sections(self.text))

    @property
    def title(self) -> str:
        return self.sections[0].heading


@dataclass(frozen=True, slots=True)
class Place:
    """A match of a search: the section, and the text around the longest of the words."""

    document: Document
    section: Section
    before: str
    words: str
    after: str

    @property
    def address(self) -> str:
        return f"{self.document.address}#{self.section.anchor}"


class Library:
    """All documents, by their addresses."""

    def __init__(self, folder: Path) -> None:
        files = [file for pattern in PAGES for file in folder.glob(pattern)]
        known = [Document(file.relative_to(folder).as_posix(), file.read_text("utf-8")) for file in files]
        self.documents = {each.address: each for each in sorted(known, key=_rank)}

    @staticmethod
    @cache
    def own() -> "Library":
        """Return the documents of the running version, read when they are first needed."""
        return Library(PACKED if PACKED.is_dir() else CHECKOUT)

    def groups(self) -> dict[str, list[Document]]:
        """Return the documents by folder, for the side of each page; the recommended beginning comes first."""
        found = {name: [each for each in self.documents.values() if each.group == name] for name in GROUPS}
        return {name: documents for name, documents in found.items() if documents}

    def target(self, document: Document, link: str) -> str | None:
        """Return the address that a link of a document leads to; None if the hub does not serve it."""
        name, _, anchor = link.partition("#")
        if "://" in name or name.startswith("mailto:"):
            return link
        file = normpath(f"{dirname(document.file)}/{name}".lstrip("/")) if name else document.file
        found = next((each for each in self.documents.values() if each.file == file), None)
        if found is None:
            return None
        return f"{found.address}#{anchor}" if anchor else found.address

    def search(self, wanted: str) -> list[Place]:
        """Return the sections with all the words: those in headings first, then those with the most matches."""
        words = _telling(wanted[:LONGEST_SEARCH].lower().split())[:MOST_WORDS]
        if not words:
            return []
        places = (
            (score, _place(document, section, words))
            for document in self.documents.values()
            for section in document.sections
            if (score := _score(document, section, words))
        )
        ranked = sorted(places, key=lambda scored: -scored[0])
        return [place for _score, place in ranked[:FOUND]]


def anchors(headings: Sequence[str]) -> list[str]:
    """Return the names by which headings of one page are linked to; later ones of equal headings get a number."""
    names: list[str] = []
    counts: dict[str, int] = {}
    for heading in headings:
        name = re.sub(r"[^\w\- ]", "", _LINK.sub(r"\1", heading).lower()).replace(" ", "-")
        number = counts[name] = counts.get(name, -1) + 1
        names.append(f"{name}-{number}" if number else name)
    return names


def _sections(text: str) -> Iterator[Section]:
    headings: list[str] = []
    bodies: list[list[str]] = []
    is_code = False
    for line in text.splitlines():
        if _FENCE.match(line):
            is_code = not is_code
            continue
        heading = None if is_code else _HEADING.match(line)
        if heading is not None:
            headings.append(heading[2])
            bodies.append([])
        elif bodies:
            bodies[-1].append(line)
    for title, anchor, lines in zip(headings, anchors(headings), bodies, strict=True):
        yield Section(_bare(title), anchor, " ".join(_bare("\n".join(lines)).split()))


def _bare(text: str) -> str:
    """Return the text without the marks of Markdown."""
    return _MARKS.sub("", _LINK.sub(r"\1", text))


def _rank(document: Document) -> tuple[int, str]:
    return (FIRST.index(document.file) if document.file in FIRST else len(FIRST), document.file)


def _telling(words: Sequence[str]) -> list[str]:
    """Leave out short words such as `a` and `of`, which are a part of many others, unless all are short."""
    return [word for word in words if len(word) >= TELLING or not word.isascii()] or [*words]


def _score(document: Document, section: Section, words: Sequence[str]) -> int:
    """Return how well a section matches the words; 0 if one of them is missing."""
    title, heading, text = document.title.lower(), section.heading.lower(), section.text.lower()
    scores = [20 * (word in heading) + min(5, text.count(word)) for word in words]
    return sum(scores) + sum(15 for word in words if word in title) if all(scores) else 0


def _place(document: Document, section: Section, words: Sequence[str]) -> Place:
    text, lower = section.text, section.text.lower()
    found = ((word, at) for word in sorted(words, key=len, reverse=True) if (at := lower.find(word)) >= 0)
    word, start = next(found, ("", 0))
    end = start + len(word)
    before, after = text[max(0, start - AROUND) : start], text[end : end + AROUND]
    return Place(
        document,
        section,
        f"…{before}" if start > AROUND else before,
        text[start:end],
        f"{after}…" if end + AROUND < len(text) else after,
    )
