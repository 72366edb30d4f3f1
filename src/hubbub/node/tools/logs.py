"""`read_logs`: the last lines of the machine's own log, without secrets."""

import asyncio
import json
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hubbub.model.fleet.calls import NodeCall, RefusalCode, ToolResult, refused
from hubbub.node.tools.tool_context import Tool, ToolContext

SINCE = timedelta(hours=1)
LEVELS = ("debug", "info", "warning", "error", "critical")
LINES = 1_000  # that are shown, at most: the last ones
LONGEST = 4_000  # characters of a line
OLD = 9  # files that the log's rotation keeps, at most


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The filter of lines."""

    since: datetime
    level: int
    text: str

    def fits(self, line: str) -> bool:
        """Tell whether the line is wanted; a text that is no line of the log is not."""
        if self.text not in line:
            return False
        try:
            facts = json.loads(line)
            at = datetime.fromisoformat(facts["timestamp"])
            return LEVELS.index(facts["level"]) >= self.level and at >= self.since
        except (ValueError, KeyError, TypeError):  # including a time without a zone
            return False


async def read_logs(place: ToolContext, order: NodeCall) -> ToolResult:
    """Return `{lines}`; with `truncated` if there are more than are shown."""
    minutes, level = order.arguments.get("since_minutes"), order.arguments.get("level") or LEVELS[0]
    if level not in LEVELS:
        return refused(RefusalCode.INVALID, f"level must be one of {', '.join(LEVELS)}")
    span = timedelta(minutes=minutes) if isinstance(minutes, int) else SINCE
    wanted = _Wanted(
        datetime.now(UTC) - span, LEVELS.index(str(level)), str(order.arguments.get("match") or "")
    )
    return ToolResult(value=await asyncio.to_thread(_shown, place, wanted))


def _shown(place: ToolContext, wanted: _Wanted) -> dict[str, object]:
    """Return the last of the wanted lines, and whether there are more."""
    last = deque((line for line in _lines(place.log) if wanted.fits(line)), maxlen=LINES + 1)
    more = {"truncated": True} if len(last) > LINES else {}
    return {"lines": [place.redact(line[:LONGEST]) for line in list(last)[-LINES:]], **more}


def _lines(log: Path) -> Iterator[str]:
    """Yield all stored lines, the oldest first."""
    for file in (*(Path(f"{log}.{number}") for number in range(OLD, 0, -1)), log):
        try:
            with file.open(encoding="utf-8", errors="replace") as opened:
                yield from (line.rstrip("\n") for line in opened)
        except FileNotFoundError:
            continue


TOOLS: Mapping[str, Tool] = {"read_logs": read_logs}
