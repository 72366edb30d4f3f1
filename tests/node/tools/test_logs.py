"""`read_logs`: the wanted part of the machine's own log, without secrets."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hubbub.model.fleet.calls import ToolResult
from hubbub.node.tools import logs
from hubbub.node.tools.tool_context import ToolContext
from tests.node.tool_contexts import order, place

pytestmark = pytest.mark.anyio


@pytest.fixture
def here(tmp_path: Path) -> ToolContext:
    return place(tmp_path, secret="hidden-word")


def line(event: str, *, level: str = "info", ago: timedelta = timedelta()) -> str:
    """A line as the daemon writes them."""
    at = (datetime.now(UTC) - ago).isoformat().replace("+00:00", "Z")
    return json.dumps({"event": event, "level": level, "timestamp": at}) + "\n"


async def asked(here: ToolContext, **arguments: object) -> ToolResult:
    return await logs.read_logs(here, order("read_logs", **arguments))


async def events(here: ToolContext, **arguments: object) -> list[str]:
    value: Any = (await asked(here, **arguments)).value
    return [json.loads(each)["event"] for each in value["lines"]]


async def test_the_last_hour_is_shown(here: ToolContext) -> None:
    """The oldest first; further back only if that is wanted."""
    here.log.write_text(
        line("old", ago=timedelta(minutes=61)) + line("new", ago=timedelta(minutes=59)) + line("now")
    )
    assert await events(here) == ["new", "now"]
    assert await events(here, since_minutes=120) == ["old", "new", "now"]
    assert await events(here, since_minutes=5) == ["now"]


async def test_a_level_is_the_least_that_is_shown(here: ToolContext) -> None:
    """`warning` shows errors too."""
    here.log.write_text("".join(line(level, level=level) for level in logs.LEVELS))
    assert await events(here) == list(logs.LEVELS)
    assert await events(here, level="warning") == ["warning", "error", "critical"]
    refused: Any = (await asked(here, level="loud")).value
    assert refused["code"] == "invalid"


async def test_only_lines_with_the_text_are_shown(here: ToolContext) -> None:
    """The text is sought as it stands: no pattern, and capitals count."""
    here.log.write_text(line("one.a") + line("oneXa") + line("ONE.A"))
    assert await events(here, match="one.a") == ["one.a"]


async def test_files_that_were_put_away_are_read_too(here: ToolContext) -> None:
    """The log is one, however many files it is kept in."""
    here.log.write_text(line("third"))
    here.log.with_name(f"{here.log.name}.1").write_text(line("second"))
    here.log.with_name(f"{here.log.name}.2").write_text(line("first"))
    assert await events(here) == ["first", "second", "third"]


async def test_there_are_no_secrets_in_it(here: ToolContext) -> None:
    """Whatever got into the log does not get out of it."""
    here.log.write_text(line("the hidden-word was said"))
    assert await events(here) == ["the [redacted] was said"]


async def test_what_is_too_much_is_cut_and_said(here: ToolContext) -> None:
    """The last lines are shown, and that there are more."""
    here.log.write_text("".join(line(str(number)) for number in range(logs.LINES + 3)))
    value: Any = (await asked(here)).value
    assert value["truncated"] is True
    assert len(value["lines"]) == logs.LINES
    assert json.loads(value["lines"][-1])["event"] == str(logs.LINES + 2)


async def test_what_is_no_line_of_it_is_left_out(here: ToolContext) -> None:
    """Half a line, or none at all, breaks nothing; neither does a log that was never begun."""
    assert (await asked(here)).value == {"lines": []}
    zoneless = json.dumps({"event": "of a program", "level": "info", "timestamp": "2026-01-01T00:00:00"})
    torn = b'{"event": "torn\n[1]\nnull\n\xff\xfe\n' + zoneless.encode() + b"\n"
    here.log.write_bytes(torn + line("whole").encode())
    assert await events(here) == ["whole"]
