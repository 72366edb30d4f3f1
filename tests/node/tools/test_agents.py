"""agent_start, agent_stop and agent_logs, as a machine's tools: the right to order them, and invalid orders."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hubbub.model.fleet.calls import NodeCall, ToolResult
from hubbub.node.tools.agents import TOOLS
from hubbub.node.tools.tool_context import Tool, ToolContext
from tests.node.agents.supervised_agents import ADA, PlacingHub, agents_in
from tests.node.tool_contexts import SOMEBODY, place

pytestmark = pytest.mark.anyio

ORDER = {"agent": "coder", "command": "sleep 1000"}


@pytest.fixture
def here(tmp_path: Path) -> ToolContext:
    return replace(place(tmp_path), agents=agents_in(tmp_path / "data", PlacingHub()))


async def called(here: ToolContext, tool: str, who: Any = ADA, **arguments: object) -> Any:
    do: Tool = TOOLS[tool]
    outcome: ToolResult = await do(here, NodeCall(who=who, tool=tool, arguments=arguments))
    return outcome.value


@pytest.mark.parametrize("tool", TOOLS)
async def test_only_people_order_agents(here: ToolContext, tool: str) -> None:
    """Whatever a policy lets through, an agent starts, ends and reads no other."""
    assert (await called(here, tool, SOMEBODY, **ORDER))["code"] == "denied"


@pytest.mark.parametrize("tool", TOOLS)
async def test_a_machine_of_one_client_keeps_none(here: ToolContext, tool: str) -> None:
    """A machine that ends with its client has no agents placed on it, and says so."""
    assert "serves one client" in (await called(replace(here, agents=None), tool, **ORDER))["error"]


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"agent": ""}, "agent"),
        ({"agent": " coder"}, "agent"),
        ({"agent": "x" * 201}, "agent"),
        ({"agent": None}, "agent"),
        ({"command": " "}, "command"),
        ({"command": "a\0b"}, "command"),
        ({"concurrency": 0}, "concurrency"),
        ({"concurrency": 65}, "concurrency"),
        ({"concurrency": True}, "concurrency"),
        ({"folder": 7}, "folder"),
        ({"folder": "a\0b"}, "folder"),
    ],
)
async def test_what_is_no_order(here: ToolContext, wrong: dict[str, object], named: str) -> None:
    """A message of the hub that makes no sense is refused in one sentence that names it."""
    answer = await called(here, "agent_start", **{**ORDER, **wrong})
    assert (answer["code"], answer["error"].partition(":")[0]) == ("invalid", named)


@pytest.mark.parametrize("lines", [-1, 2_001, "9", True])
async def test_how_many_lines(here: ToolContext, lines: object) -> None:
    """From none to two thousand lines can be asked for."""
    assert (await called(here, "agent_logs", agent="coder", lines=lines))["code"] == "invalid"


async def test_who_is_not_there(here: ToolContext) -> None:
    """An agent that never ran here is neither read nor ended."""
    for tool in ("agent_stop", "agent_logs"):
        assert (await called(here, tool, agent="nobody"))["code"] == "not_found"


async def test_where_it_cannot_run(here: ToolContext) -> None:
    """A folder that is not there, or is a file, is said by the name it was given; `~` is the home, not a folder."""
    Path(here.world.cwd, "file").touch()  # noqa: ASYNC240  # a file of the test's own
    Path(here.world.cwd, "~/deep").mkdir(parents=True)  # noqa: ASYNC240  # likewise
    for folder in ("nowhere", "file", "~/deep"):
        answer = await called(here, "agent_start", **ORDER, folder=folder)
        assert answer["error"].startswith(f"the folder '{folder}'")
