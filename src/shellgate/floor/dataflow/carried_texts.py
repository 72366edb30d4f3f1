"""Texts of a program that may become paths in ways that are not followed: `set -- /etc/shadow; cat "$1"`.

Bash has more ways to carry a text from one place to another than can be followed: positional parameters, `printf -v`,
references, slices, the environment of another shell. So if a path is unknown, all the texts at the start of such ways
count, except those that are only printed.
"""

import re
from collections.abc import Iterator

from shellgate.floor.arguments.actions import CommandContext
from shellgate.floor.arguments.usage_tables import names
from shellgate.floor.programs import name_of
from shellgate.shell.program import SimpleCommand, Unknown, Word

# Commands whose words become values of variables: by their names, by `$_`, or as parameters of a function.
_CARRIERS = names(
    "set export declare typeset readonly local : true false env genv let eval shift for [[ getopts"
)
_READERS = names("read mapfile readarray xargs gxargs parallel cpio zip tar rsync")
_PRINTERS = names("echo printf cat")
_MOST = 400  # texts
_LONGEST = 300  # characters of one
_DEFAULT = re.compile(r"[-+=?](?=[/.~])|(?<=[\w\]])[=:](?=[/.~])")
_CUTS_START = re.compile(r"\$\{!?\w+(?:\[[^]]*\])?(?:#|:(?![-+=?]))")
_CUTS_END = re.compile(r"\$\{!?\w+(?:\[[^]]*\])?(?:%|:(?![-+=?]))")
_PUTS_SLASHES = re.compile(r"\$\{!?\w+(?:\[[^]]*\])?//?[^}]*/[^}]*/")
_PIECE = re.compile(r"[^\s'\"`$(){}<>|;&,]+")


def slashes(word: Word) -> bool:
    """Tell whether a replaced text in it has a slash, so that no name in the program determines the path."""
    return any(isinstance(part, Unknown) and _PUTS_SLASHES.search(part.source) for part in word.parts)


def carried(word: Word, scene: CommandContext) -> frozenset[str]:
    """Return the texts that an unknown word may become, or a part of them if it is cut from a text."""
    sources = [part.source for part in word.parts if isinstance(part, Unknown)]
    if not any("$" in source for source in sources):
        return frozenset()
    commands = (*scene.around, *scene.program.commands)
    takes_all = any("$_" in source or "${_" in source for source in sources)
    has_readers = any(_name(each) in _READERS for each in commands)
    found = {text for part in word.parts if isinstance(part, Unknown) for text in _source(part)}
    for command in commands:
        for text in _of(command, scene, takes_all=takes_all, has_readers=has_readers):
            if len(found) < _MOST and len(text) <= _LONGEST:
                found.add(text)
                found.update(text[each.end() :] for each in _DEFAULT.finditer(text))
    found.update(text for each in scene.program.mentioned for text in _pieces(each))
    cut = "".join(sources)
    if _CUTS_START.search(cut) or "BASH_REMATCH" in cut:
        found |= {text[at:] for text in found for at, sign in enumerate(text) if sign in "/.~" and at}
    if _CUTS_END.search(cut):
        found |= {text[:at] for text in found for at, sign in enumerate(text) if sign in "/.-_" and at}
    return frozenset(found)


def _of(
    command: SimpleCommand, scene: CommandContext, *, takes_all: bool, has_readers: bool
) -> Iterator[str]:
    for assignment in command.assignments:
        yield from _pieces(assignment.value)
    name = _name(command)
    is_function = name in scene.program.functions or name in ("bash", "sh", "dash", "zsh")
    carries = name in _CARRIERS or is_function or (name == "printf" and _is_option_v(command))
    if takes_all or carries or (has_readers and name in _PRINTERS):
        for word in command.words[1:]:
            yield from _pieces(word)
    else:
        for word in command.words[1:]:
            yield from (text for part in word.parts if isinstance(part, Unknown) for text in _source(part))
    if has_readers:
        for redirect in command.redirects:
            yield from _pieces(redirect.body) if redirect.body is not None else ()


def _is_option_v(command: SimpleCommand) -> bool:
    return len(command.words) > 1 and command.words[1].value == "-v"


def _name(command: SimpleCommand) -> str:
    return name_of(command.name.value or "") if command.name is not None else ""


def _pieces(word: Word) -> Iterator[str]:
    pattern = word.pattern
    if pattern is not None:
        yield pattern.strip()
        yield from _PIECE.findall(pattern) if re.search(r"\s|[({]", pattern) else ()
    else:
        if not isinstance(word.parts[0], Unknown):
            for stands in ("", "1"):
                yield "".join(stands if isinstance(part, Unknown) else part.text for part in word.parts)
        elif word.parts[0].source.startswith("~"):  # some user's home
            yield word.source
        yield from (text for part in word.parts if isinstance(part, Unknown) for text in _source(part))


def _source(part: Unknown) -> Iterator[str]:
    for text in _PIECE.findall(part.source):
        yield text
        yield from (text[each.end() :] for each in _DEFAULT.finditer(text))
