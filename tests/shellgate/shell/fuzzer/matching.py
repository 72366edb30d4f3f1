"""Comparison of a call that bash made with those that the reader saw."""

import re
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache

from shellgate.shell.program import Glob, Program, SimpleCommand, Text, Unknown, Word
from tests.shellgate.shell.fuzzer.running import Call

_LEADING = frozenset({"command", "builtin", "exec"})
_UNREAD = frozenset({"eval", ".", "source"})  # what they run is not the reader's business: a person is asked
_RUNS_TEXT = _UNREAD | {"trap"}


def missed(calls: list[Call], program: Program) -> Call | None:
    """The first call that the reader did not see, if it had no doubt either."""
    if program.doubts or program.too_large:
        return None
    for call in calls:
        if not any(_is_seen(call, command) for command in program.commands):
            return call
    return None


def _is_seen(call: Call, command: SimpleCommand) -> bool:
    words = command.words
    if words and _may_run_text(words[0]):
        return True  # `$(x)eval …`: a person is asked, as nobody knows the name
    if command.cwd is not None and command.cwd != call.folder.replace("//", "/"):
        return False
    while words and words[0].value in _LEADING:
        words = words[1:]
        while words and _is_option(words[0]):
            words = words[2:] if words[0].value == "-a" else words[1:]
    if words and words[0].value in _UNREAD:
        return True
    if words and _may_vary(words[0]) and _is_seen(call, replace(command, words=words[1:])):
        return True  # `$x command y`, where x is empty
    return _are_seen(call.words, words)


def _may_run_text(name: Word) -> bool:
    """Tell whether a name that is known in part may be one that runs a text."""
    kinds = {type(part) for part in name.parts}
    return {Text, Unknown} <= kinds and any(_is_word(each, name.parts) for each in _RUNS_TEXT)


def _is_option(word: Word) -> bool:
    """Tell whether it is one; a lone `-` is the name of a command."""
    return (word.value or "").startswith("-") and word.value != "-"


def _are_seen(said: tuple[str, ...], words: tuple[Word, ...]) -> bool:
    @cache
    def seen(at: int, word: int) -> bool:
        if word == len(words):
            return at == len(said)
        if _may_vary(words[word]) and (seen(at, word + 1) or (at < len(said) and seen(at + 1, word))):
            return True
        is_pattern = any(isinstance(part, Glob) for part in words[word].parts)
        if is_pattern and seen(at, word + 1):
            return True
        parts = _one_slash(words[word].parts) if is_pattern else words[word].parts
        if at == len(said) or not _is_word(said[at], parts):
            return False
        return seen(at + 1, word + 1) or (is_pattern and seen(at + 1, word))

    return seen(0, 0)


def _one_slash(parts: tuple[Text | Glob | Unknown, ...]) -> tuple[Text | Glob | Unknown, ...]:
    """Write a pattern as bash writes what it finds: `*//` finds `sub/`."""
    return tuple(Text(re.sub("/+", "/", each.text)) if isinstance(each, Text) else each for each in parts)


def _may_vary(word: Word) -> bool:
    """Tell whether it may be any number of words."""
    return any(isinstance(part, Unknown) and part.may_be_many for part in word.parts)


def _is_word(said: str, parts: tuple[Text | Glob | Unknown, ...]) -> bool:
    if not parts:
        return not said
    first, rest = parts[0], parts[1:]
    if isinstance(first, Text):
        return said.startswith(first.text) and _is_word(said[len(first.text) :], rest)
    return any(
        (isinstance(first, Unknown) or said[:end] == first.text or fnmatchcase(said[:end], first.text))
        and _is_word(said[end:], rest)
        for end in range(len(said) + 1)
    )
