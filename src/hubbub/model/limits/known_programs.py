"""Programs of makers of models: whether a command runs one.

Only what such a program prints may pause an account. Any other may print anything, also others' words about limits.
"""

import shlex
from collections.abc import Iterator
from pathlib import PurePath

from hubbub.model.limits.usage_limits import NOTICES

_SHELLS = frozenset({"bash", "dash", "sh", "zsh"})
_BEFORE = frozenset({  # words that may precede a program's
    "!", "do", "else", "env", "exec", "if", "nice", "npx", "then", "time", "timeout", "while", "{",
})  # fmt: skip
_APART = frozenset(";|&(\n")  # between two commands
_PUNCTUATION = "();<>|&\n"


def program_of(command: str) -> str | None:
    """Return the first known program that a shell's command runs; None if it runs none, or cannot be read."""
    try:
        words = list(_words(command))
    except ValueError:
        return None
    is_awaited, shell = True, False  # whether a program comes next; whether a shell's own command does
    for word in words:
        if not set(word) - set(_PUNCTUATION):
            is_awaited, shell = bool(_APART & set(word)) or is_awaited, False
        elif shell and not word.startswith("-"):
            return program_of(word)
        elif is_awaited and not _precedes(word):
            name = PurePath(word).name
            if name in NOTICES:
                return name
            is_awaited, shell = False, name in _SHELLS
    return None


def _words(command: str) -> Iterator[str]:
    reader = shlex.shlex(command, posix=True, punctuation_chars=_PUNCTUATION)
    reader.whitespace, reader.commenters = " \t\r", ""
    reader.whitespace_split = True
    return iter(reader)


def _precedes(word: str) -> bool:
    """Tell whether a program may still come after the word: a variable, an option, or a program that starts another."""
    return "=" in word or word.startswith("-") or word[:1].isdigit() or PurePath(word).name in _BEFORE
