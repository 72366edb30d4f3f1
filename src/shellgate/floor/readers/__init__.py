"""The meaning of programs' arguments: by their table, or by a reader if they are a language of their own."""

from collections.abc import Callable, Iterator

from shellgate.floor.arguments.actions import Action, ProgramCall
from shellgate.floor.programs import usage_of
from shellgate.floor.readers import (
    archivers,
    by_table,
    containers,
    copying,
    database_shells,
    editors,
    environment,
    find_command,
    git,
    hubbub_command,
    interpreters,
    irregular,
    network,
    shells,
    side_effects,
    unknown_programs,
    xargs,
)

Reader = Callable[[ProgramCall], Iterator[Action]]

READERS: dict[str, Reader] = {
    **database_shells.READERS,
    **containers.READERS,
    **copying.READERS,
    **editors.READERS,
    **environment.READERS,
    **find_command.READERS,
    **git.READERS,
    **hubbub_command.READERS,
    **interpreters.READERS,
    **network.READERS,
    **archivers.READERS,
    **irregular.READERS,
    **xargs.READERS,
    **shells.READERS,
}


def is_known_here(call: ProgramCall) -> bool:
    """Tell whether there is a program of that name, too."""
    return call.name in READERS or usage_of(call.name) is not None


def actions_of(call: ProgramCall) -> Iterator[Action]:
    """Yield all actions of the command, as far as its words tell."""
    if call.name in call.scene.program.functions:  # wrappers, and `unset -f`, bypass it
        yield from unknown_programs.function(call)
        if not is_known_here(call):
            return
    yield from side_effects.read(call)
    if reader := READERS.get(call.name):
        yield from reader(call)
    elif usage := usage_of(call.name, call.arguments[0].value if call.arguments else None):
        yield from by_table.read(call, usage)
    else:
        yield from unknown_programs.read(call)
