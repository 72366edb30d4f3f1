"""What the arguments of programs mean: by their table, or, where they are a language of their own, by a reader."""

from collections.abc import Callable, Iterator

from hubbub.node.gate.floor.deeds import Call, Deed
from hubbub.node.gate.floor.programs import usage_of
from hubbub.node.gate.floor.readers import (
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


def deeds(call: Call) -> Iterator[Deed]:
    """All that the command does, as far as its words tell."""
    if call.name in call.scene.program.functions:
        yield from strangers.function(call)
    elif reader := READERS.get(call.name):
        yield from reader(call)
    elif usage := usage_of(call.name, call.arguments[0].value if call.arguments else None):
        yield from by_table.read(call, usage)
    else:
        yield from strangers.read(call)
