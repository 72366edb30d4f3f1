"""Hints in a program's text at a path that is known only when it runs: `cat $(echo /etc/shadow)`.

The output of a substitution is unknown. But if one mentions a protected path, or assembles a text from pieces
or a code, and it is used as a path, a person is asked.
"""

import re
from collections.abc import Iterator

from shellgate import globs, paths
from shellgate.decision import Decision
from shellgate.floor.arguments.actions import CHANGES, REMOVES, CommandContext, TouchPath
from shellgate.floor.dataflow import carried_texts
from shellgate.floor.dataflow.path_resolution import leads
from shellgate.floor.programs import name_of
from shellgate.paths import Access
from shellgate.shell.program import Glob, Unknown, Word
from shellgate.verdicts import ask

_VARIABLE = re.compile(r"\$\{?!?([A-Za-z_][A-Za-z0-9_]*)")
_NAME = re.compile(r"[^\s'\"`$(){}<>|;&=,]+")
_BUILDERS = re.compile(r"(?:\$\(|`)(?:.*[\s|;&(])?(?:base64|base32|xxd|rev|printf|openssl)\s", re.DOTALL)
_SETTERS = frozenset({"read", "mapfile", "readarray"})
_MOST = 20  # files that a pattern is expanded to
_PRINTERS = frozenset({"echo", "printf"})


def judge(touch: TouchPath, scene: CommandContext) -> Iterator[Decision]:
    """Yield the questions about an unknown path."""
    texts = list(dict.fromkeys(sources(touch.word, scene)))
    carried = carried_texts.carried(touch.word, scene)
    access = Access.WRITE if touch.use in CHANGES else Access.READ
    if any(map(_BUILDERS.search, texts)):
        yield ask("F9", f"Only running it tells what `{touch.word.source}` is, and its text is put together.")
    if carried_texts.slashes(touch.word):
        yield ask("F9", f"Only running it tells what `{touch.word.source}` is: slashes are put into it.")
    for name in dict.fromkeys([*(name for source in texts for name in _NAME.findall(source)), *carried]):
        if "/" in name or name.startswith((".", "~")):
            yield from _perhaps(name, touch, access, scene)


def _perhaps(name: str, touch: TouchPath, access: Access, scene: CommandContext) -> Iterator[Decision]:
    """Yield the questions about a text that a path may become."""
    path = scene.world.absolute(paths.with_home(name, scene.world), scene.here)
    if touch.descends and touch.use in REMOVES and paths.vital(path, scene.world):
        yield ask("F1", f"When it runs, this may be all of `{name}`.")
    if access is Access.WRITE and paths.is_block_device(path):
        yield ask("F3", f"When it runs, this may be a block device, {path}.")
    found = [path]
    if globs.is_pattern(name):
        found += [lead.path for lead in leads(Word((Glob(path),), name), scene).paths[:_MOST]]
    for each in found:
        if (said := paths.protected(each, access, scene.world)) is not None:
            yield ask(said.rule_id, f"When it runs, this may be a protected path. {said.reason}")
            return


def sources(word: Word, scene: CommandContext) -> Iterator[str]:
    """Yield the texts that an unknown word may come from."""
    for part in word.parts:
        if isinstance(part, Unknown):
            yield part.source
            yield from settings(part.source, scene)


def settings(source: str, scene: CommandContext) -> Iterator[str]:
    """Yield the texts that the variables in a source are set to."""
    for name in _VARIABLE.findall(source):
        yield from _settings(name, scene)


def _settings(name: str, scene: CommandContext) -> Iterator[str]:
    commands = scene.program.commands
    yield from (
        each.value.source for command in commands for each in command.assignments if each.name == name
    )
    if not any(_sets(name, command.words) for command in commands):
        return
    for command in commands:
        yield from (redirect.body.source for redirect in command.redirects if redirect.body is not None)
        if command.name is not None and name_of(command.name.value or "") in _PRINTERS:
            yield from (word.source for word in command.words[1:])


def _sets(name: str, words: tuple[Word, ...]) -> bool:
    return bool(words) and words[0].value in _SETTERS and any(word.value == name for word in words[1:])
