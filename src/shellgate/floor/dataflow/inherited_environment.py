"""The environment of a shell that runs a piece of code, as far as the text around it determines it.

A variable that is set to several texts before the code runs is left out: `constants` has all of them checked.
"""

from collections.abc import Iterator

from shellgate.floor.arguments.actions import CommandContext
from shellgate.floor.arguments.shell_words import without
from shellgate.floor.arguments.usage_tables import names
from shellgate.shell.program import SimpleCommand, Word

_SETTERS = names("export declare typeset readonly")


def texts(scene: CommandContext) -> Iterator[tuple[str, str]]:
    """Yield the variables with known texts; a pattern in one stays as written until it is used."""
    for name, word in words(scene):
        if word.pattern is not None:
            yield name, word.pattern


def word(name: str, scene: CommandContext) -> Word | None:
    """Return the value of one variable, if the text around determines it."""
    is_set = name in scene.sets or any(each == name for each, _ in (*scene.variables, *scene.environment))
    return dict(words(scene)).get(name) if is_set else None


def words(scene: CommandContext) -> Iterator[tuple[str, Word]]:
    """Return the variables, each once: those that are set nearest to the code last."""
    held = dict(scene.environment)
    held.update(_of_program(scene))
    held.update((each.name, each.value) for each in scene.command.assignments if not each.appends)
    held.update(scene.variables)
    yield from held.items()


def _of_program(scene: CommandContext) -> Iterator[tuple[str, Word]]:
    """Yield the variables that the program sets and exports, if each has only one text."""
    commands = scene.program.commands
    exported = {name for command in commands for name, _ in _exports(command)}
    exported |= {*scene.world.variables, *(name for name, _ in scene.environment)}
    found: dict[str, list[Word]] = {}
    for command in commands:
        for name, word in _sets(command):
            if name in exported:
                found.setdefault(name, []).append(word)
    for name, values in found.items():
        if len({value.parts for value in values}) == 1:
            yield name, values[0]


def _sets(command: SimpleCommand) -> Iterator[tuple[str, Word]]:
    if not command.words:
        yield from ((each.name, each.value) for each in command.assignments)
    yield from ((name, word) for name, word in _exports(command) if word is not None)


def _exports(command: SimpleCommand) -> Iterator[tuple[str, Word | None]]:
    """Yield the exported names, each with its value, if it is set."""
    if command.name is None or command.name.value not in _SETTERS:
        return
    for word in command.words[1:]:
        name, equals, _ = word.known_start.partition("=")
        if not name.startswith("-"):
            yield name.removesuffix("+"), without(word, len(name) + 1) if equals else None
