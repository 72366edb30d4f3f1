"""Tokens of our own lexer in a piece of shell, before anything is expanded, and the pieces of words.

Offsets are bytes of the text in UTF-8, as tree-sitter counts them, so that the two can be compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plain:
    """Unquoted characters: braces, patterns and a leading tilde are live in them."""

    text: str


@dataclass(frozen=True, slots=True)
class Quoted:
    """Characters that stand for themselves, however they were quoted."""

    text: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$name`, `${name…}`: `operator` and `argument` are what follows the name, `inside` all the pieces within."""

    name: str
    source: str
    is_quoted: bool
    operator: str = ""
    argument: tuple["Piece", ...] = ()
    inside: tuple["Piece", ...] = ()
    prefix: str = ""  # `#`: its length; `!`: what it names


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(…)`, `<(…)` or `>(…)`; its text was read as tokens in place."""

    opener: str
    source: str
    is_quoted: bool
    region: "Region"


@dataclass(frozen=True, slots=True)
class Backquoted:
    """A substitution in backquotes: `text` is what bash reads, after one layer of backslashes is gone."""

    text: str
    source: str
    is_quoted: bool


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`$((…))`, `$[…]`."""

    text: str
    source: str
    is_quoted: bool
    inside: tuple["Piece", ...] = ()


@dataclass(frozen=True, slots=True)
class Elements:
    """The words of an array: what follows `NAME=`."""

    words: tuple["Token", ...]
    source: str


Piece = Plain | Quoted | Parameter | Substitution | Backquoted | Arithmetic | Elements


@dataclass(frozen=True, slots=True)
class Token:
    """A word of bash's language; subclasses are the other tokens."""

    start: int
    end: int
    pieces: tuple[Piece, ...]
    source: str

    @property
    def plain(self) -> str | None:
        """The text of a word of nothing but unquoted characters: only such a one can be a reserved word."""
        if len(self.pieces) == 1 and isinstance(self.pieces[0], Plain):
            return self.pieces[0].text
        return None


@dataclass(frozen=True, slots=True)
class Operator:
    """A control operator; the end of a line is one."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Redirection:
    """A redirection with its target, or with the body of its here-document."""

    start: int
    end: int
    operator: str
    descriptor: str | None
    target: Token | None
    body: tuple[Piece, ...] | None = None


@dataclass(frozen=True, slots=True)
class Expression:
    """`[[ … ]]` or `((…))`: its text, and the expansions in it."""

    start: int
    end: int
    text: str
    pieces: tuple[Piece, ...]


AnyToken = Token | Operator | Redirection | Expression


@dataclass(frozen=True, slots=True)
class Region:
    """Code: the whole text, or the inside of a substitution."""

    start: int
    end: int
    tokens: tuple[AnyToken, ...]


def decode(text: str) -> str:
    """Decode a text of our lexer, which has one character for each byte, into its real characters."""
    return text if text.isascii() else text.encode("latin-1").decode("utf-8", "replace")


def within(pieces: tuple[Piece, ...]) -> Iterator[Piece]:
    """Yield the pieces and all nested ones, in the order of the text."""
    for piece in pieces:
        yield piece
        if isinstance(piece, Parameter | Arithmetic):
            yield from within(piece.inside)
        elif isinstance(piece, Elements):
            for word in piece.words:
                yield from within(word.pieces)
