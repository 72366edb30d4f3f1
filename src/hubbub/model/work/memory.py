"""Memories of agents: documents of parts, rendered as text and parsed back.

A memory is an ordered list of parts: *sections*, each with a key of its own, and parts without a key: the text before
the first section, and appended text. As text a section is a heading and its content:

    ## conventions
    <blank line>
    four spaces, no tabs

A part without a key is its content alone. Between two parts there is a blank line, unless a part without a key begins
with one itself. Contents are written as they are, nothing is escaped; so `parse` needs to know the parts that a text
was rendered from, to tell the heading of a section from a line of content that looks like one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

from hubbub.model.errors import Invalid
from hubbub.model.work.line_diff import align

KEY_LENGTH = 256
HEADING = "## "
RULE = "---"
PLACES = 100  # searched for a moved part; only where all lines are alike there are more

_BREAKS = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
_DATE = re.compile(r"([*_])\d{4}-\d{2}-\d{2}\1")


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """A section of a document, or, without a key, a stretch of text. No two parts of one document have the same key."""

    key: str | None
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryVersion:
    """The version of a memory, without its text. `agent` is its owner; None for the project's memory."""

    project_id: UUID
    agent: str | None
    version: int  # counted from 1; rises with every change
    updated_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDocument(MemoryVersion):
    """A whole memory."""

    parts: tuple[MemoryPart, ...]

    @property
    def text(self) -> str:
        return render(self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """The summary of a run, given at its end."""

    project_id: UUID
    run: str
    agent: str  # the last writer
    text: str
    version: int
    created_at: int
    updated_at: int


def require_parts(parts: Iterable[MemoryPart]) -> None:
    """Raise `Invalid` unless these can be the parts of one document: valid keys, each once."""
    seen: set[str] = set()
    for part in parts:
        if part.key is None:
            continue
        require_key(part.key)
        if part.key in seen:
            raise Invalid(f"the key {part.key!r} is there twice; each section has its own")
        seen.add(part.key)


def require_key(key: str) -> None:
    """Raise `Invalid` unless `key` can be the key of a section."""
    if not _is_key(key):
        raise Invalid(f"a key has 1 to {KEY_LENGTH} characters, no line break, and does not begin with #")


def appended(content: str, at: int) -> MemoryPart:
    """Make the part of an append at the moment `at`: blank line, rule, the UTC date in italics, blank line, content."""
    day = datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d")
    return MemoryPart(None, f"\n{RULE}\n*{day}*\n\n{content}")


def render(parts: Sequence[MemoryPart]) -> str:
    """Render the document as Markdown; every line ends with a line feed. Without parts the text is empty."""
    return "".join(f"{line.text}\n" for line in _drawn(parts))


def parse(text: str, known: Sequence[MemoryPart]) -> list[MemoryPart]:
    """Parse the parts of `text`, which a person or an agent has edited from `render(known)`.

    An untouched part keeps its identity, so that `parse(render(parts), parts) == parts`. A new line that looks like
    a heading begins a section, and the beginning of an append begins a part. A heading with the key of another section
    begins no second one: it belongs to a part without key. Line ends may have become CR LF; blank lines around a
    heading may be missing.
    """
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []
    edited = _Edited(known, lines)
    edges = sorted(edited.edges().items())
    parts: list[MemoryPart] = []
    for (at, edge), following in zip(edges, [*edges[1:], None], strict=False):
        begin, end = _span(lines, at, edge, following)
        if edge.key is not None or edge.is_known or any(lines[begin:end]):
            parts.append(MemoryPart(edge.key, "\n".join(map(edited.line, range(begin, end)))))
    return parts


def _is_key(key: str) -> bool:
    return 0 < len(key) <= KEY_LENGTH and not key.startswith("#") and _BREAKS.isdisjoint(key)


class _Drawn(NamedTuple):
    """A line of a rendered document. `part` is None between two parts; `is_first` says that it begins its part."""

    text: str
    part: int | None
    is_first: bool


class _Edge(NamedTuple):
    """The beginning of a part: of a section, if it has a key."""

    key: str | None
    is_known: bool


def _drawn(parts: Sequence[MemoryPart]) -> list[_Drawn]:
    lines: list[_Drawn] = []
    for index, part in enumerate(parts):
        content = part.content.split("\n")
        whole = content if part.key is None else [f"{HEADING}{part.key}", "", *content]
        if index and whole[0].removesuffix("\r"):
            lines.append(_Drawn("", None, is_first=False))
        lines += (_Drawn(text, index, is_first=number == 0) for number, text in enumerate(whole))
    return lines


def _span(lines: Sequence[str], at: int, edge: _Edge, following: tuple[int, _Edge] | None) -> tuple[int, int]:
    """Return the lines of the content of the part that begins at `at`: from the first to before the second."""
    begin, end = at, following[0] if following else len(lines)
    if edge.key is not None:
        begin += 1
        begin += begin < end and not lines[begin]  # the blank line below the heading
    if following and lines[end]:
        end -= begin < end and not lines[end - 1]  # the blank line above the next
    return begin, end


class _Edited:
    """The lines of an edited document, matched with those of the original."""

    def __init__(self, known: Sequence[MemoryPart], lines: Sequence[str]) -> None:
        self._known = known
        self._lines = lines
        self._drawn = _drawn(known)
        before = [line.text.removesuffix("\r") for line in self._drawn]
        self._origins = [self._drawn[at] if at is not None else None for at in align(before, lines)]
        self._find_moved()

    def line(self, at: int) -> str:
        """Return the line as it was before an editor changed its end."""
        origin = self._origins[at]
        return origin.text if origin else self._lines[at]

    def edges(self) -> dict[int, _Edge]:
        """Find the beginnings of all parts; the first is at 0, if there are lines."""
        edges = self._known_edges()
        taken = {edge.key for edge in edges.values()}
        for at in self._new_lines():
            key = _typed_key(self._lines[at])
            if key is not None and key not in taken:
                edges.setdefault(at, _Edge(key, is_known=False))
                taken.add(key)
            elif key is not None or self._begins_append(at):
                edges.setdefault(self._above(at), _Edge(None, is_known=False))
        first = min(edges, default=len(self._lines))
        if first > 0:
            adopts = edges.get(first) == _Edge(None, is_known=True)
            edges[0] = edges.pop(first) if adopts else _Edge(None, is_known=False)
        return edges

    def _known_edges(self) -> dict[int, _Edge]:
        """Find the beginnings of the known parts that are still there."""
        places: dict[int, list[int]] = {}
        for at, origin in enumerate(self._origins):
            if origin and origin.part is not None:
                places.setdefault(origin.part, []).append(at)
        begins = {index: self._begin(self._known[index], left) for index, left in places.items()}
        return {
            at: _Edge(self._known[index].key, is_known=True) for index, at in begins.items() if at is not None
        }

    def _begin(self, part: MemoryPart, left: Sequence[int]) -> int | None:
        """Find the beginning of a known part with the remaining lines `left`: of a section, its heading if it remains.

        A part without key begins at the first line with words, and the blank lines above that belong to its content.
        """
        if part.key is not None:
            return next((at for at in left if (origin := self._origins[at]) and origin.is_first), None)
        words = part.content.lstrip("\r\n")
        if not words:
            return left[0]
        at = next((at for at in left if self._lines[at]), None)
        blank = part.content.count("\n", 0, len(part.content) - len(words))
        while at and blank and not self._lines[at - 1]:
            at, blank = at - 1, blank - 1
        return at

    def _new_lines(self) -> Iterator[int]:
        return (at for at, origin in enumerate(self._origins) if origin is None)

    def _above(self, at: int) -> int:
        """Return the blank line before the line `at`, which belongs to it; else `at` itself."""
        return at - 1 if at and not self._lines[at - 1] else at

    def _begins_append(self, at: int) -> bool:
        below = self._lines[at + 1] if at + 1 < len(self._lines) else ""
        return self._lines[at] == RULE and _DATE.fullmatch(below) is not None

    def _find_moved(self) -> None:
        """Recognise known parts that were moved whole to another place."""
        begun = {origin.part for origin in self._origins if origin and origin.is_first}
        new: dict[str, list[int]] = {}
        for at in self._new_lines():
            new.setdefault(self._lines[at], []).append(at)
        blocks: dict[int, list[_Drawn]] = {}
        for line in self._drawn:
            if line.part is not None and line.part not in begun:
                blocks.setdefault(line.part, []).append(line)
        there = {*self._lines}
        for block in blocks.values():
            texts = [line.text.removesuffix("\r") for line in block]
            if there.issuperset(texts):
                rarest = min(range(len(texts)), key=lambda at: len(new.get(texts[at], self._lines)))
                places = [at - rarest for at in new.get(texts[rarest], ())[:PLACES]]
                begin = next(
                    (at for at in places if self._lines[max(at, 0) : at + len(texts)] == texts), None
                )
                if begin is not None:
                    self._origins[begin : begin + len(texts)] = block


def _typed_key(line: str) -> str | None:
    """Return the key of the section that the line begins; None if it is no heading."""
    if not line.startswith(HEADING):
        return None
    key = line.removeprefix(HEADING).strip()
    return key if _is_key(key) else None
