"""Links that a program makes before it uses them: `ln -s / x; rm -rf x/*`."""

from collections.abc import Iterator
from posixpath import basename, join, normpath

from shellgate.floor.arguments.actions import CommandContext
from shellgate.floor.programs import name_of
from shellgate.shell.program import Program, SimpleCommand
from shellgate.world import World


def through(path: str, scene: CommandContext) -> Iterator[str]:
    """Yield the targets of an absolute path by the links that the program itself makes."""
    for link, target in scene.links:
        if path == link or path.startswith(f"{link}/"):
            yield target + path[len(link) :]


def made(program: Program, world: World) -> Iterator[tuple[str, str]]:
    """Yield the symbolic links that a program makes: their places, and their targets."""
    for command in program.commands:
        if command.name is not None and name_of(command.name.value or "") in ("ln", "cp"):
            yield from _made(command, world)


def _made(command: SimpleCommand, world: World) -> Iterator[tuple[str, str]]:
    values = [word.value for word in command.words[1:]]
    flags = "".join(value for value in values if value is not None and value.startswith("-"))
    operands = [value for value in values if value is not None and not value.startswith("-")]
    if "s" not in flags or not operands:
        return
    here = command.cwd or world.cwd
    target = operands[0]
    written = operands[1] if len(operands) > 1 else basename(target.rstrip("/"))
    for link in (join(here, written), join(here, written, basename(target.rstrip("/")))):
        place = normpath(link)
        yield place, normpath(join(place.rpartition("/")[0] or "/", target))
