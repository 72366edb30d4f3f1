"""Common part of the tools for files: they work in a thread, on the target that the gate saw."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from hubbub.model.fleet.calls import NodeCall, RefusalCode, ToolResult, refused
from hubbub.node.system.safe_open import NotOpened
from hubbub.node.tools.tool_context import Tool, ToolContext
from shellgate.floor import file_calls
from shellgate.world import World


@dataclass(slots=True)
class FileCall:
    """One call, for the thread that does it."""

    place: ToolContext
    order: NodeCall
    target: str  # the absolute path of its subject, without links
    is_cancelled: bool = False
    stop: Callable[[], object] = field(default=lambda: None)  # called when nobody waits for it any more

    @property
    def arguments(self) -> Mapping[str, object]:
        return self.order.arguments

    @property
    def world(self) -> World:
        return self.place.world

    def text(self, name: str) -> str:
        """Return a text argument; empty if it was omitted."""
        return str(self.arguments.get(name) or "")


def file_tool(work: Callable[[FileCall], ToolResult]) -> Tool:
    """Return the tool for this work. A `NotOpened` becomes a refusal."""

    async def perform(place: ToolContext, order: NodeCall) -> ToolResult:
        reading = place.reading or file_calls.read(order.tool, order.arguments, place.world)
        if reading.floor:
            return refused(RefusalCode.INVALID, reading.floor[0].reason)
        call = FileCall(place, order, reading.target)
        try:
            return await asyncio.to_thread(work, call)
        except NotOpened as error:
            return refused(error.code, f"`{_shown(order)}` {error.clause}.")
        except asyncio.CancelledError:
            call.is_cancelled = True
            call.stop()
            raise

    return perform


def _shown(order: NodeCall) -> str:
    """Return the path in the caller's words."""
    arguments = order.arguments
    return str(arguments.get("path") or arguments.get("cwd") or arguments.get("pattern") or ".")
