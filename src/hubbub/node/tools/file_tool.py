"""What the tools for files have in common: their work is done in a thread, on where the gate saw their path lead."""

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
    """One call, as the thread that does it sees it."""

    place: ToolContext
    order: NodeCall
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


def file_tool(work: Callable[[FileCall], ToolResult]) -> Tool:
    """The tool that does this work. What `NotOpened` says becomes a refusal."""

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
    """The path as the caller wrote it."""
    arguments = order.arguments
    return str(arguments.get("path") or arguments.get("cwd") or arguments.get("pattern") or ".")
