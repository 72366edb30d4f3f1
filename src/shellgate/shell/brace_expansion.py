"""Brace expansion: lists and ranges, of the pieces of a word."""

import re

from shellgate.shell.syntax.shell_tokens import Piece, Plain

LIMIT = 512  # words that one may become, and pairs of braces in it
DEPTH_LIMIT = 32  # of braces in braces

_EMPTY_FIRST = re.compile(r"\{\}.*(,|\.\.).*\}", re.DOTALL)

Atoms = tuple[Piece | str, ...]  # unquoted characters one by one, all else as it is


class UnreadError(Exception):
    """A word's braces are not read; the message is the doubt about them."""


TOO_MANY = "its braces make too many words"
EMPTY = "it has empty braces before others in a word, which bash pairs in a way of its own"


def expanded(pieces: tuple[Piece, ...]) -> list[tuple[Piece, ...]]:
    """Return the words that a word becomes. Raises `UnreadError` beyond the limit, and if in doubt."""
    if not any(isinstance(piece, Plain) and "{" in piece.text for piece in pieces):
        return [pieces]
    plain = "".join(piece.text if isinstance(piece, Plain) else "\0" for piece in pieces)
    if _EMPTY_FIRST.search(plain):
        raise UnreadError(EMPTY)
    atoms: list[Piece | str] = []
    for piece in pieces:
        atoms += list(piece.text) if isinstance(piece, Plain) else [piece]
    return [_joined(word) for word in _expand(tuple(atoms))]


def _joined(atoms: Atoms) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    for atom in atoms:
        if not isinstance(atom, str):
            pieces.append(atom)
        elif pieces and isinstance(pieces[-1], Plain):
            pieces[-1] = Plain(pieces[-1].text + atom)
        else:
            pieces.append(Plain(atom))
    return tuple(pieces)


def _expand(atoms: Atoms, depth: int = 0) -> list[Atoms]:
    pairs = _pairs(atoms)
    if depth > DEPTH_LIMIT or len(pairs) > LIMIT:
        raise UnreadError(TOO_MANY)
    words: list[Atoms] = [()]
    start = done = 0
    while start < len(atoms):
        close = pairs.get(start)
        choices = None if close is None else _choices(atoms[start + 1 : close], depth + 1)
        if close is None or choices is None:
            start += 1
            continue
        if len(words) * len(choices) > LIMIT:
            raise UnreadError(TOO_MANY)
        words = [word + atoms[done:start] + choice for word in words for choice in choices]
        start = done = close + 1
    return [word + atoms[done:] for word in words]


def _pairs(atoms: Atoms) -> dict[int, int]:
    """Return where open braces close, by where they open."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for index, atom in enumerate(atoms):
        if atom == "{":
            opened.append(index)
        elif atom == "}" and opened:
            pairs[opened.pop()] = index
    return pairs


def _choices(inside: Atoms, nesting: int) -> list[Atoms] | None:
    """Return the expansion of the inside of a pair of braces; None if it is no expansion."""
    parts: list[Atoms] = []
    depth, start = 0, 0
    for index, atom in enumerate(inside):
        depth += (atom == "{") - (atom == "}")
        if atom == "," and depth == 0:
            parts.append(inside[start:index])
            start = index + 1
    if not parts:
        return _range(inside)
    parts.append(inside[start:])
    return [word for part in parts for word in _expand(part, nesting)]


def _range(inside: Atoms) -> list[Atoms] | None:
    if not all(isinstance(atom, str) for atom in inside):
        return None
    ends = "".join(str(atom) for atom in inside).split("..")
    if len(ends) not in {2, 3} or (len(ends) == 3 and not _is_number(ends[2])):
        return None
    step = abs(int(ends[2])) if len(ends) == 3 else 1
    if _is_number(ends[0]) and _is_number(ends[1]):
        return _numbers(ends[0], ends[1], step or 1)
    if all(len(end) == 1 and end.isascii() and end.isalpha() for end in ends[:2]):
        first, last = ord(ends[0]), ord(ends[1])
        return [(chr(code),) for code in _steps(first, last, step or 1)]
    return None


def _numbers(first: str, last: str, step: int) -> list[Atoms]:
    is_padded = any(len(end.lstrip("+-")) > 1 and end.lstrip("+-").startswith("0") for end in (first, last))
    width = max(len(first), len(last)) if is_padded else 0
    return [tuple(f"{number:0{width}d}") for number in _steps(int(first), int(last), step)]


def _steps(first: int, last: int, step: int) -> range:
    if abs(last - first) // step > LIMIT:
        raise UnreadError(TOO_MANY)
    return range(first, last + 1, step) if first <= last else range(first, last - 1, -step)


def _is_number(text: str) -> bool:
    digits = text[1:] if text[:1] in {"+", "-"} else text
    return digits.isascii() and digits.isdigit() and len(digits) < 16
