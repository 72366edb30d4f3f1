"""Words taken apart and put together, keeping their unknown parts."""

from collections.abc import Iterable
from dataclasses import replace

from shellgate.shell.program import Glob, Text, Unknown, Word, WordPart


def plain(text: str) -> Word:
    """Return a word that is this very text."""
    return Word((Text(text),), text)


def unknown(source: str, *, many: bool = False) -> Word:
    """Make an unknown word."""
    return Word((Unknown(source, many),), source)


def without(word: Word, count: int) -> Word:
    """Return the word without its first `count` characters, all of them known: the value in `--name=value`."""
    parts: list[WordPart] = []
    for part in word.parts:
        if isinstance(part, Text) and count:
            taken = min(count, len(part.text))
            count -= taken
            if rest := part.text[taken:]:
                parts.append(Text(rest))
        else:
            parts.append(part)
    return replace(word, parts=tuple(parts))


def joined(*words: Word) -> Word:
    """Join several words to one."""
    return Word(tuple(part for word in words for part in word.parts), "".join(word.source for word in words))


def beneath(folder: Word, name: Word) -> Word:
    """Return the path of `name` in `folder`."""
    return joined(folder, plain("/"), name)


def is_known(word: Word) -> bool:
    """Tell whether every part of the word is known before it runs; it may still be a pattern."""
    return not any(isinstance(part, Unknown) for part in word.parts)


def may_be_many(word: Word) -> bool:
    """Tell whether running could make several words of it, or none."""
    return any(isinstance(part, Unknown) and part.may_be_many for part in word.parts)


def has_pattern(word: Word) -> bool:
    return any(isinstance(part, Glob) for part in word.parts)


def may_be_option(word: Word) -> bool:
    """Tell whether running could make an option of it."""
    return not is_known(word) and (not word.known_start or word.known_start.startswith("-"))


def filled(words: Iterable[Word], mark: str, value: Word) -> tuple[Word, ...]:
    """Replace `mark` in the words' text by `value`, as `find -exec` and `xargs -I` do."""
    return tuple(_filled(word, mark, value) for word in words)


def _filled(word: Word, mark: str, value: Word) -> Word:
    parts: list[WordPart] = []
    for part in word.parts:
        if not isinstance(part, Text) or mark not in part.text:
            parts.append(part)
            continue
        for number, piece in enumerate(part.text.split(mark)):
            parts.extend(value.parts if number else ())
            parts.extend((Text(piece),) if piece else ())
    return replace(word, parts=tuple(parts))


def last_name(word: Word) -> Word | None:
    """Return the last component of a path, if known: the name of a copy in its new folder."""
    parts: list[WordPart] = []
    for part in reversed(word.parts):
        if isinstance(part, Unknown):
            return None
        _, slash, tail = (part.text if parts else part.text.rstrip("/")).rpartition("/")
        if tail:
            parts.insert(0, type(part)(tail))
        if slash:
            break
    return Word(tuple(parts), word.source) if parts else None
