"""Lease rules: commands that a project allows only under a lease, found in a shell's text.

The text is read by words alone, with the operators of a shell between its commands. That is enough to remind an agent
of the rules, but no barrier: it does not see the inside of a script, or what variables and functions hide.
"""

import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from hubbub.model.errors import Invalid
from hubbub.model.work.leases import COMMAND_LENGTH, LeaseRule

DEEPEST = 4  # nested shells that are searched
LARGEST = 100_000  # characters of a text that is read
SHOWN = 400  # characters of a command in a sentence

_OPERATORS = frozenset(";|&()<>\n")
_WRAPPERS = frozenset(
    {
        "sudo",
        "doas",
        "env",
        "time",
        "nohup",
        "nice",
        "ionice",
        "exec",
        "command",
        "timeout",
        "setsid",
        "xargs",
        "then",
        "do",
        "else",
        "!",
        "{",
    }
)
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
_VALUED = frozenset({"--wait", "--priority", "--url", "--token", "--project", "--data", "--for"})

Words = Sequence[str]


class Found(NamedTuple):
    """A command that needs a lease, and the things that the text itself leases for it."""

    rule: LeaseRule
    under: tuple[str, ...]


def rule(command: str, things: Sequence[str]) -> LeaseRule:
    """Make the rule that such a command needs these things. Raises `Invalid`."""
    words = command.split()
    if (
        not words
        or len(command) > COMMAND_LENGTH
        or any(set(word) & set("'\"\\$`") | _OPERATORS & set(word) for word in words)
    ):
        raise Invalid(
            "command: give its first words as they are typed, such as `docker compose up`, without quotes or "
            f"operators, in at most {COMMAND_LENGTH} characters"
        )
    return LeaseRule(" ".join(words), tuple(things))


def needing(text: str, rules: Sequence[LeaseRule]) -> Iterator[Found]:
    """Yield the commands in the text that meet one of the rules."""
    if rules:
        yield from _needing(text[:LARGEST], rules, (), DEEPEST)


def advice(text: str, things: Sequence[str]) -> str:
    """Rewrite the text so that it runs under a lease of these things."""
    prefix = f"hubbub with {' '.join(things)} -- "
    one = " ".join(text.split())
    is_simple = len(_simple(text)) <= 1 and "=" not in one.partition(" ")[0]
    whole = prefix + (one if is_simple else f"sh -c {shlex.quote(text.strip())}")
    return whole if len(whole) <= SHOWN else f"{prefix}sh -c '…'"


def _needing(text: str, rules: Sequence[LeaseRule], under: tuple[str, ...], depth: int) -> Iterator[Found]:
    for words in _simple(text):
        yield from _in_command(words, rules, under, depth)


def _in_command(
    words: Words, rules: Sequence[LeaseRule], under: tuple[str, ...], depth: int
) -> Iterator[Found]:
    start = next(
        (at for at, word in enumerate(words) if "=" not in word or word.startswith(("-", "="))), len(words)
    )
    words = words[start:]
    if not words or depth < 0:
        return
    program = _program(words[0])
    if program == "hubbub" and words[1:2] == ["with"] and "--" in words:
        at = words.index("--")
        yield from _in_command(words[at + 1 :], rules, (*under, *_things(words[2:at])), depth - 1)
    elif program in _SHELLS and (code := _code(words)) is not None:
        yield from _needing(code, rules, under, depth - 1)
    elif program in _WRAPPERS:
        found = (_in_command(words[at:], rules, under, depth - 1) for at in range(1, len(words)))
        yield from dict.fromkeys(each for some in found for each in some)
    else:
        yield from (Found(each, under) for each in rules if _is_one(words, each.command.split()))


def _is_one(words: Words, wanted: Words) -> bool:
    """Tell whether a command begins with the wanted words, ignoring options and their values."""
    if not words or _program(words[0]) != wanted[0]:
        return False
    return _follow(words[1:], wanted[1:])


def _program(word: str) -> str:
    return word.rpartition("/")[2]


def _follow(words: Words, wanted: Words) -> bool:
    if not wanted:
        return True
    if not words:
        return False
    if words[0] == wanted[0]:
        return _follow(words[1:], wanted[1:])
    return words[0].startswith("-") and (_follow(words[1:], wanted) or _follow(words[2:], wanted))


def _things(words: Words) -> Iterator[str]:
    """Yield the things of `hubbub with`, without its options."""
    left = iter(words)
    for word in left:
        if word in _VALUED:
            next(left, None)
        elif not word.startswith("-"):
            yield word


def _code(words: Words) -> str | None:
    """Return the code that a shell is given by `-c`; None if there is none."""
    for at, word in enumerate(words[1:], 1):
        if word.startswith("-") and not word.startswith("--") and word.endswith("c"):
            return words[at + 1] if at + 1 < len(words) else None
        if not word.startswith("-"):
            return None
    return None


def _simple(text: str) -> list[list[str]]:
    """Split a text into simple commands, each a list of words without their quotes."""
    lexer = shlex.shlex(text.replace("\\\n", " "), posix=True, punctuation_chars=";|&()<>\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        tokens = list(lexer)
    except ValueError:  # an unclosed quote
        tokens = text.split()
    return [
        list(words)
        for is_operator, words in groupby(tokens, key=lambda token: bool(token) and set(token) <= _OPERATORS)
        if not is_operator
    ]
