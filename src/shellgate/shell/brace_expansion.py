"""Brace expansion: lists and ranges, of the pieces of a word.

Bash pairs braces in a way of its own, which its manual does not tell; we follow it to the letter, since a word that we
read otherwise is an argument that we do not see:

- A brace is closed by the first `}` at its level that has a separator before it, a comma or `..`. A `}` without one is
  a character like any other: `{a}b,c}` is `a}b c`.
- Between braces without a comma of their own, but with `..`, a comma further in drops them: `{1..{a,b}}` is
  `1..a 1..b`. Without any comma they are a range, or stay as they are, with everything in them.
- `{}` at the beginning of a word, and of each part that is expanded by itself, opens nothing.
"""

from collections.abc import Iterator

from shellgate.shell.syntax.shell_tokens import Parameter, Piece, Plain, Quoted

LIMIT = 512  # words that one may become, and open braces in it
DEPTH_LIMIT = 32  # of braces in braces
_STEPS_LIMIT = 1_000_000  # characters that we look at to close all braces of a part

Atoms = tuple[Piece | str, ...]  # unquoted characters one by one, all else as it is


class UnreadError(Exception):
    """A word's braces are not read; the message is the doubt about them."""


TOO_MANY = "its braces make too many words"
QUOTED_COMMA = (
    "it has a range in braces with something quoted or expanded in it, which bash reads in a way of its own"
)
IN_PARAMETER = "it has braces beside a brace within `${…}`, which bash pairs in a way of its own"
AFTER_BLANK = "it has empty braces behind a quoted blank, which bash reads in a way of its own"


def expanded(pieces: tuple[Piece, ...]) -> list[tuple[Piece, ...]]:
    """Return the words that a word becomes. Raises `UnreadError` beyond the limit, and if in doubt."""
    if not any(isinstance(piece, Plain) and "{" in piece.text for piece in pieces):
        return [pieces]
    if any(isinstance(piece, Parameter) and _has_brace(piece) for piece in pieces):
        raise UnreadError(IN_PARAMETER)
    atoms: list[Piece | str] = []
    for piece in pieces:
        atoms += list(piece.text) if isinstance(piece, Plain) else [piece]
    return [_joined(word) for word in _expand(tuple(atoms))]


def _has_brace(parameter: Parameter) -> bool:
    return not parameter.is_quoted and any(brace in parameter.source[2:-1] for brace in "{}")


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
    opened = atoms.count("{")
    if depth > DEPTH_LIMIT or opened > LIMIT or opened * len(atoms) > _STEPS_LIMIT:
        raise UnreadError(TOO_MANY)
    words: list[Atoms] = [()]
    done = 0
    for start, close in _pairs(atoms):
        choices = _choices(atoms[start + 1 : close], depth + 1)
        if len(words) * len(choices) > LIMIT:
            raise UnreadError(TOO_MANY)
        words = [word + atoms[done:start] + choice for word in words for choice in choices]
        done = close + 1
    return [word + atoms[done:] for word in words]


def _pairs(atoms: Atoms) -> Iterator[tuple[int, int]]:
    """Yield where the outermost braces open and close."""
    begin = index = 0  # bash reads what follows a pair as it reads a word
    while index < len(atoms):
        close = _close(atoms, index + 1) if _opens(atoms, index, begin) else None
        if close is not None:
            yield index, close
            begin = close + 1
        index = index + 1 if close is None else begin


def _opens(atoms: Atoms, index: int, begin: int) -> bool:
    if atoms[index] != "{":
        return False
    if atoms[index + 1 : index + 2] != ("}",):
        return True
    before = atoms[index - 1] if index > begin else None
    if isinstance(before, Quoted) and before.text[-1:].isspace():
        raise UnreadError(AFTER_BLANK)
    return before is not None


def _close(atoms: Atoms, index: int) -> int | None:
    """Return where the brace closes whose inside begins at `index`; None if it is a character like any other."""
    level = separators = 0
    for place in range(index, len(atoms)):
        atom = atoms[place]
        if atom == "}" and not level and separators:
            return place
        if atom == "{":
            level += 1
        elif atom == "}":
            level = max(level - 1, 0)
        elif not level:
            separators += atom == "," or _begins_range(atoms, place)
    return None


def _begins_range(atoms: Atoms, place: int) -> bool:
    return atoms[place : place + 2] == (".", ".") and atoms[place + 2 : place + 3] != ("}",)


def _choices(inside: Atoms, depth: int) -> list[Atoms]:
    """Return the expansion of the inside of a pair of braces."""
    parts = _parts(inside)
    if len(parts) > 1 or "," in inside:
        return [word for part in parts for word in _expand(part, depth)]
    if any(not isinstance(atom, str) and _may_have_comma(atom) for atom in inside):
        raise UnreadError(QUOTED_COMMA)
    return _range(inside) or [("{", *inside, "}")]


def _parts(inside: Atoms) -> list[Atoms]:
    """Return what stands between the commas that are in no further braces."""
    parts: list[Atoms] = []
    level = start = 0
    for index, atom in enumerate(inside):
        if atom == "{":
            level += 1
        elif atom == "}":
            level = max(level - 1, 0)
        elif atom == "," and not level:
            parts.append(inside[start:index])
            start = index + 1
    return [*parts, inside[start:]]


def _may_have_comma(piece: Piece) -> bool:
    return "," in (piece.text if isinstance(piece, Plain | Quoted) else piece.source)


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
