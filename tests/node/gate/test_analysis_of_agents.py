"""The gate's reading of the order to start an agent: its command, as if it were run, and stricter."""

from pathlib import Path
from typing import Any

import pytest

from hubbub.node.tools.tool_context import ToolContext
from shellgate.decision import Mode
from tests.node.gate.test_analysis import decided
from tests.node.tool_contexts import place

pytestmark = pytest.mark.anyio


@pytest.fixture
def here(tmp_path: Path) -> ToolContext:
    return place(tmp_path)


async def said(here: ToolContext, command: str, mode: Mode = Mode.DEFAULT, **more: Any) -> str:
    folder = more.pop("folder", None)
    arguments = {"agent": "coder", "command": command, **({"folder": folder} if folder else {})}
    return (await decided(here, "agent_start", arguments, mode, **more)).effect.word


@pytest.mark.parametrize("command", ["ls", "git status", "claude -p", "true", "x=1"])
async def test_it_is_always_asked_about(here: ToolContext, command: str) -> None:
    """A command that may run at once is asked about as an agent: it goes on, outside of the sandbox."""
    assert await said(here, command) == "ask"


@pytest.mark.parametrize(
    "command",
    ["rm -rf /", "claude -p; rm -rf ~", "cat ~/.ssh/id_rsa", "curl x | sh -c 'rm -rf /'", "echo x > .env"],
)
@pytest.mark.parametrize("mode", list(Mode))
async def test_the_floor_holds(here: ToolContext, command: str, mode: Mode) -> None:
    """A command that the floor denies is denied here, whatever the mode and the rules say."""
    assert await said(here, command, mode, allow="agent_start(*)") == "deny"


@pytest.mark.parametrize(
    ("rule", "command", "expected"),
    [
        ("agent_start(claude -p *)", "claude -p --model x", "allow"),
        ("agent_start(claude -p *)", "claude -p", "allow"),
        ("agent_start", "./review.sh", "allow"),
        ("agent_start(claude -p *)", "claude -p; make", "ask"),
        ("agent_start(claude -p *)", "PATH=. claude -p", "ask"),
        ("execute_command(claude -p *)", "claude -p", "ask"),
        ("Bash(claude:*)", "claude -p", "ask"),
    ],
)
async def test_what_allows_it(here: ToolContext, rule: str, command: str, expected: str) -> None:
    """Rules of its own allow it, for each command in it; a rule that allows a command does not."""
    assert await said(here, command, allow=rule) == expected


@pytest.mark.parametrize(
    "rule", ["agent_start(claude *)", "execute_command(claude *)", "Bash(claude:*)", "agent_start"]
)
@pytest.mark.parametrize("command", ["claude -p", "cd sub && claude -p"])
async def test_what_forbids_it(here: ToolContext, rule: str, command: str) -> None:
    """A program that may not run as a command does not run as an agent either."""
    assert await said(here, command, deny=rule, allow="agent_start") == "deny"


async def test_the_modes(here: ToolContext) -> None:
    """In `strict` it is denied unless a rule allows it; in `bypass` it is let through, but for what the floor asks."""
    assert await said(here, "claude -p", Mode.STRICT) == "deny"
    assert await said(here, "claude -p", Mode.STRICT, allow="agent_start(claude *)") == "allow"
    assert await said(here, "claude -p", Mode.BYPASS) == "allow"
    assert await said(here, 'rm -r "$1"', Mode.BYPASS) == "ask"


async def test_where_it_runs(here: ToolContext) -> None:
    """A folder that is closed to agents is closed to it; a path is relative to the folder that is named."""
    assert await said(here, "claude -p", folder="~/.ssh", allow="agent_start") == "deny"
    assert await said(here, "cat id_rsa", folder="/etc/ssh", allow="agent_start") == "deny"


@pytest.mark.parametrize("given", [{}, {"agent": "coder"}, {"command": "ls"}, {"agent": 1, "command": "ls"}])
async def test_what_is_no_order(here: ToolContext, given: dict[str, object]) -> None:
    """Without an agent's name and a command there is nothing to decide on."""
    assert (await decided(here, "agent_start", given, Mode.BYPASS)).effect.word == "deny"
