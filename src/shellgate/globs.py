"""Patterns of one name, in the shells' notation: `*`, `?`, `[…]`, and bash's `@(…)`, `?(…)`, `*(…)`, `+(…)`, `!(…)`."""

import re
from collections.abc import Callable
from functools import lru_cache

CHOICES = 100  # patterns that braces are expanded to, at most

_MAGIC = re.compile(r"[*?\[]|[@+!]\(")
_BRACKETS = re.compile(r"\[[!^]?\]?(?:\[[:.=][^\]]*[:.=]\]|[^\]\[]|\[(?![:.=]))*\]")
_CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r"\s",
    "xdigit": "0-9a-fA-F",
    "word": r"\w",
    "punct": r"!-/:-@\[-`{-~",
}


def is_pattern(name: str) -> bool:
    """Tell whether a shell would look names up for it."""
    return _MAGIC.search(name) is not None


def split(pattern: str) -> tuple[str, str]:
    """Return the folder that holds all matches of a path pattern, and the pattern from there on.

    The last name is a pattern whether or not it looks like one.
    """
    names = pattern.split("/")
    fixed = 0
    while fixed < len(names) - 1 and not is_pattern(names[fixed]) and "{" not in names[fixed]:
        fixed += 1
    folder = "/".join(names[:fixed])
    return folder or ("/" if fixed else ""), "/".join(names[fixed:])


def braces(pattern: str) -> list[str]:
    """Expand `{a,b}` in a pattern, to `CHOICES` patterns at most; without a comma, braces are themselves."""
    waiting = [pattern]
    done: list[str] = []
    while waiting:
        each = waiting.pop(0)
        choice = _first_choice(each)
        if choice is None or len(waiting) + len(done) >= CHOICES:
            done.append(each)
        else:
            start, options, end = choice
            waiting = [each[:start] + option + each[end:] for option in options] + waiting
    return list(dict.fromkeys(done))


def _first_choice(pattern: str) -> tuple[int, list[str], int] | None:
    """Return the first braces with a choice: their beginning, the choices, and their end."""
    starts: list[tuple[int, list[int]]] = []  # of open braces, with the commas in each
    for at, character in enumerate(pattern):
        if character == "{":
            starts.append((at, []))
        elif character == "," and starts:
            starts[-1][1].append(at)
        elif character == "}" and starts:
            start, commas = starts.pop()
            if commas:
                ends = [*commas, at]
                options = [pattern[i + 1 : j] for i, j in zip([start, *commas], ends, strict=True)]
                return start, options, at + 1
    return None


@lru_cache(maxsize=512)
def component(pattern: str, *, is_wide: bool = False) -> Callable[[str], bool]:
    """Return a test whether a name fits the pattern; a leading dot must be written, unless `is_wide`.

    For a pattern beyond our means, more names fit than should.
    """
    compiled = re.compile(_expression(pattern), re.DOTALL)
    shows_hidden = is_wide or not pattern.startswith(("*", "?", "[", "@(", "+(", "!("))

    def fits(name: str) -> bool:
        return (shows_hidden or not name.startswith(".")) and compiled.fullmatch(name) is not None

    return fits


def _expression(pattern: str) -> str:
    """Return a regular expression that never backtracks over a star, so that no pattern is slow."""
    pieces: list[str] = [""]
    at = 0
    while at < len(pattern):
        piece, at = _piece(pattern, at)
        if piece == "*":
            pieces += [""] if pieces[-1] or len(pieces) == 1 else []
        else:
            pieces[-1] += piece
    first, *middle = pieces
    if not middle:
        return first
    last = middle.pop()
    return first + "".join(f"(?>.*?{each})" for each in middle) + f".*{last}"


def _piece(pattern: str, at: int) -> tuple[str, int]:
    """Return the expression for the piece at an index, and the index after it; `*` for any characters."""
    character = pattern[at]
    if pattern[at + 1 : at + 2] == "(" and character in "@?*+!":
        return "*", _behind_group(pattern, at + 2)
    if character == "*":
        return "*", at + 1
    if character == "?":
        return ".", at + 1
    if character == "[" and (found := _BRACKETS.match(pattern, at)):
        return _one_of(found[0]), found.end()
    if character == "\\" and at + 1 < len(pattern):
        return re.escape(pattern[at + 1]), at + 2
    return re.escape(character), at + 1


def _behind_group(pattern: str, at: int) -> int:
    depth = 1
    while at < len(pattern) and depth:
        depth += {"(": 1, ")": -1}.get(pattern[at], 0)
        at += 1
    return at


def _one_of(brackets: str) -> str:
    """Return the expression for one character of a set; any character for an unreadable set."""
    inside = brackets[1:-1]
    negated = inside[:1] in ("!", "^")
    members = inside[1:] if negated else inside
    text = ""
    at = 0
    while at < len(members):
        if found := re.compile(r"\[:(\w+):\]").match(members, at):
            text += _CLASSES.get(found[1], r"\s\S")
            at = found.end()
        else:
            text += members[at] if members[at] == "-" else re.escape(members[at])
            at += 1
    expression = f"[{'^' if negated else ''}{text}]"
    try:
        re.compile(expression)
    except re.error:
        return "."
    return expression
