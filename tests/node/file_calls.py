"""The tools for files as a machine calls them: read by the gate first, then done."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from hubbub.model.fleet.calls import ToolResult
from hubbub.node.tools.files import TOOLS as FILES
from hubbub.node.tools.grep_files import TOOLS as SEARCHES
from hubbub.node.tools.tool_context import ToolContext
from shellgate.floor import file_calls
from tests.node.tool_contexts import order


def answer(here: ToolContext, tool: str, **arguments: object) -> ToolResult:
    """Return the result of a call that the gate lets through."""
    reading = file_calls.read(tool, arguments, here.world)
    return done(replace(here, reading=reading), tool, **arguments)


def done(here: ToolContext, tool: str, **arguments: object) -> ToolResult:
    """Return the result of a call, whatever the gate would decide."""

    async def called() -> ToolResult:
        return await {**FILES, **SEARCHES}[tool](here, order(tool, **arguments))

    return asyncio.run(called())


def value(outcome: ToolResult) -> Any:
    assert not outcome.is_error, outcome.value
    return outcome.value


def refusal(outcome: ToolResult) -> tuple[str, str]:
    """The code and the sentence of a call that was not done."""
    assert outcome.is_error, outcome.value
    said = cast("dict[str, str]", outcome.value)
    return said["code"], said["error"]


def write(folder: Path, **texts: str) -> None:
    """Files in a folder: `__` in a name is a slash, a last `_` the dot in front of its ending."""
    for name, text in texts.items():
        path = folder / "/".join(name.split("__")).replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
