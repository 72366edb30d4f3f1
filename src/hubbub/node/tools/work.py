"""What the tools for files have in common: their work is done in a thread, on where the gate saw their path lead."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from hubbub.model.orders import Code, Order, Outcome, refused
from hubbub.node.opening import NotOpened
from hubbub.node.place import Place, Tool
from shellgate.floor import files
from shellgate.world import World


@dataclass(slots=True)
class Call:
    """One call, as the thread that does it sees it."""

    place: Place
    order: Order
    target: str  # the absolute path that it is about, without links
    is_cancelled: bool = False
    stop: Callable[[], object] = field(default=lambda: None)  # is called when nobody waits for it any more

    @property
    def arguments(self) -> Mapping[str, object]:
        return self.order.arguments

    @property
    def world(self) -> World:
        return self.place.world

    def text(self, name: str) -> str:
        """An argument that is a text; empty where it was left out."""
        return str(self.arguments.get(name) or "")


def tool(work: Callable[[Call], Outcome]) -> Tool:
    """The tool that does this work. What `NotOpened` says becomes a refusal."""

    async def perform(place: Place, order: Order) -> Outcome:
        reading = place.reading or files.read(order.tool, order.arguments, place.world)
        if reading.floor:
            return refused(Code.INVALID, reading.floor[0].reason)
        call = Call(place, order, reading.target)
        try:
            return await asyncio.to_thread(work, call)
        except NotOpened as error:
            return refused(error.code, f"`{_shown(order)}` {error.clause}.")
        except asyncio.CancelledError:
            call.is_cancelled = True
            call.stop()
            raise

    return perform


def _shown(order: Order) -> str:
    """The path as the caller wrote it."""
    arguments = order.arguments
    return str(arguments.get("path") or arguments.get("cwd") or arguments.get("pattern") or ".")
