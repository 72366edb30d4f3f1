"""What the arguments of programs mean: by their table, or, where they are a language of their own, by a reader."""

from collections.abc import Callable, Iterator

from shellgate.floor.deeds import Call, Deed
from shellgate.floor.programs import usage_of
from shellgate.floor.readers import (
    besides,
    by_table,
    consoles,
    containers,
    copying,
    editors,
    environment,
    finding,
    git,
    hub,
    interpreters,
    network,
    packing,
    peculiar,
    repeating,
    shells,
    strangers,
)

Reader = Callable[[Call], Iterator[Deed]]

READERS: dict[str, Reader] = {
    **consoles.READERS,
    **containers.READERS,
    **copying.READERS,
    **editors.READERS,
    **environment.READERS,
    **finding.READERS,
    **git.READERS,
    **hub.READERS,
    **interpreters.READERS,
    **network.READERS,
    **packing.READERS,
    **peculiar.READERS,
    **repeating.READERS,
    **shells.READERS,
}


def is_known_here(call: Call) -> bool:
    """Whether there is a program of that name, too."""
    return call.name in READERS or usage_of(call.name) is not None


def deeds(call: Call) -> Iterator[Deed]:
    """All that the command does, as far as its words tell."""
    if call.name in call.scene.program.functions:  # wrappers, and `unset -f`, lead past it
        yield from strangers.function(call)
        if not is_known_here(call):
            return
    yield from besides.read(call)
    if reader := READERS.get(call.name):
        yield from reader(call)
    elif usage := usage_of(call.name, call.arguments[0].value if call.arguments else None):
        yield from by_table.read(call, usage)
    else:
        yield from strangers.read(call)
