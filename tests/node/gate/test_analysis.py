"""The gate's reading of a call of each tool, and the shipped policy's decision."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hubbub.node.gate import analysis
from hubbub.node.tools.tool_context import ToolContext
from shellgate.decide import decide
from shellgate.decision import Decision, Mode
from shellgate.floor.downloads import Unplugged
from shellgate.rules import TOOLS, parse
from tests.node.tool_contexts import place

pytestmark = pytest.mark.anyio

CALLS: Mapping[str, Mapping[str, Any]] = {
    "execute_command": {"command": "make"},
    "read_file": {"path": "x"},
    "write_file": {"path": "x", "content": ""},
    "open_file": {"path": "x"},
    "list_dir": {"path": "."},
    "grep": {"pattern": "x", "path": "."},
    "glob": {"pattern": "*"},
    "download_file": {"url": "http://1.1.1.1/", "dest": "x"},
    "connect": {"operation": "share", "hostname": "here"},
    "ssh_session": {"operation": "open", "hostname": "prod-1"},
    "ask_agent": {"hostname": "prod-1", "prompt": "hi"},
    "ask_agent_stream": {"hostname": "prod-1", "prompt": "hi"},
    "ask_agents": {"hostnames": ["prod-1", "dev-1"], "prompt": "hi"},
    "skill_run": {"name": "review", "prompt": "hi"},
    "delegate_task": {"prompt": "hi"},
    "shell_kill": {"task_id": "1"},
    "issue_get": {"id": "1"},
    "issue_update": {"id": "1"},
    "issue_close": {"id": "1"},
    "issue_create": {"title": "x"},
    "todo_write": {"items": []},
    "task_status": {"task_id": "1"},
    "permissions_helper": {"operation": "show_policy"},
    "agent_start": {"agent": "coder", "command": "ls"},
    "agent_stop": {"agent": "coder"},
    "agent_logs": {"agent": "coder"},
}
HARMLESS = {
    *("read_file", "list_dir", "grep", "glob", "read_logs", "shell_kill", "todo_write", "skill_list"),
    *("issue_list", "issue_get", "issue_create", "issue_update", "issue_close", "agent_logs"),
}
NEVER_ASKED = {"shell_tasks", "task_status", "permissions_helper", "agent_stop"}


@pytest.fixture
def here(tmp_path: Path) -> ToolContext:
    return place(tmp_path)


async def decided(
    here: ToolContext, tool: str, arguments: Mapping[str, Any], mode: Mode = Mode.DEFAULT, **rules: str
) -> Decision:
    """Return the decision on a call on the machine `here`, with one rule for each effect that is named."""
    reading = await analysis.analyse(tool, arguments, here.world, Unplugged(), here=here.node)
    named: dict[str, Any] = {effect: (parse(rule),) for effect, rule in rules.items()}
    policy = replace(here.policy, mode=mode, **named)
    return decide(reading, policy, tool, sandboxed=False)


@pytest.mark.parametrize("tool", TOOLS)
async def test_what_the_shipped_policy_says_of_each_tool(here: ToolContext, tool: str) -> None:
    """Reading, searching, the board, logs and lists are let through; all else that does something is asked about."""
    decision = await decided(here, tool, CALLS.get(tool, {}))
    expected = "allow" if tool in HARMLESS | NEVER_ASKED else "ask"
    assert decision.effect.word == expected, decision


@pytest.mark.parametrize("tool", TOOLS)
async def test_strict_denies_all_but_what_never_asks(here: ToolContext, tool: str) -> None:
    """In `strict` without rules nothing is done but what only tells an agent about its own calls."""
    decision = await decided(here, tool, CALLS.get(tool, {}), Mode.STRICT)
    assert decision.effect.word == ("allow" if tool in NEVER_ASKED else "deny"), decision


@pytest.mark.parametrize("tool", TOOLS)
async def test_a_deny_rule_reaches_every_tool(here: ToolContext, tool: str) -> None:
    """There is no call that the operator cannot forbid."""
    decision = await decided(here, tool, CALLS.get(tool, {}), Mode.BYPASS, deny=tool, allow=tool)
    assert (decision.effect.word, decision.rule_id) == ("deny", tool)


@pytest.mark.parametrize("operation", ["list", "whoami", "workspace_list"])
@pytest.mark.parametrize("mode", [*Mode])
async def test_looking_around_is_never_asked_about(here: ToolContext, operation: str, mode: Mode) -> None:
    """`connect` list, whoami and workspace_list are let through in any mode."""
    decision = await decided(here, "connect", {"operation": operation}, mode, ask="connect")
    assert decision.effect.word == "allow"


@pytest.mark.parametrize(
    ("rule", "hostname", "allowed"),
    [
        ("connect(exec:prod-*)", "prod-1", True),
        ("connect(exec:prod-*)", "dev-1", False),
        ("connect(prod-1)", "prod-1", True),
        ("connect(share:*)", "prod-1", False),
    ],
)
async def test_a_command_elsewhere_is_ruled_by_its_machine(
    here: ToolContext, rule: str, hostname: str, allowed: bool
) -> None:
    """The operator allows names of another machine; its own gate decides what runs there."""
    call = {"operation": "exec", "hostname": hostname, "command": "make"}
    assert (await decided(here, "connect", call, allow=rule)).effect.word == ("allow" if allowed else "ask")


@pytest.mark.parametrize("hostname", ["here", "HERE", "localhost"])
async def test_a_command_here_is_a_command(here: ToolContext, hostname: str) -> None:
    """On this machine by its name, a command is what it is without."""
    for command, effect in (("ls", "allow"), ("make", "ask"), ("rm -rf /", "deny")):
        call = {"operation": "exec", "hostname": hostname, "command": command}
        assert (await decided(here, "connect", call)).effect.word == effect
    make = {"operation": "exec", "hostname": hostname, "command": "make"}
    assert (await decided(here, "connect", make, allow="Bash(make)")).effect.word == "allow"
    assert (await decided(here, "connect", make, Mode.BYPASS, deny="connect(exec:*)")).effect.word == "deny"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("connect", {"operation": "exec", "hostname": "prod-1", "command": "rm -rf /"}),
        ("ssh_session", {"operation": "send", "session_id": "1", "command": "rm -rf /"}),
    ],
)
async def test_the_floor_reads_what_is_sent_elsewhere(
    here: ToolContext, tool: str, arguments: Mapping[str, Any]
) -> None:
    """A call that no setting allows here is not sent to another machine either."""
    assert (await decided(here, tool, arguments, Mode.BYPASS, allow=tool)).rule_id == "F1"


async def test_each_of_several_machines_is_asked_about(here: ToolContext) -> None:
    """The strictest answer over all of them stands."""
    call = CALLS["ask_agents"]
    assert (await decided(here, "ask_agents", call, allow="ask_agents(prod-*)")).effect.word == "ask"
    assert (await decided(here, "ask_agents", call, allow="ask_agents(*-1)")).effect.word == "allow"
    assert (
        await decided(here, "ask_agents", call, Mode.BYPASS, deny="ask_agents(dev-*)")
    ).effect.word == "deny"


async def test_a_command_is_read_in_its_folder(here: ToolContext) -> None:
    """The argument `cwd` is where a command's paths begin, and is itself decided about."""
    for cwd in ("sub", f"{here.world.cwd}/sub"):
        assert (await decided(here, "execute_command", {"command": "ls", "cwd": cwd})).effect.word == "allow"
    outside = await decided(here, "execute_command", {"command": "ls", "cwd": ".."})
    assert (outside.effect.word, outside.reason) == ("ask", "it runs outside the folders that agents work in")
    for mode in Mode:
        for cwd in ("/etc", "~/.ssh"):
            call = {"command": "cat x", "cwd": cwd}
            assert (await decided(here, "execute_command", call, mode)).rule_id == "F5"
    deleting = {"command": "rm -rf ./home", "cwd": "/"}
    assert (await decided(here, "execute_command", deleting, Mode.BYPASS)).rule_id == "F1"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("no_such_tool", {}),
        ("", {}),
        ("execute_command", {}),
        ("execute_command", {"command": 1}),
        ("write_file", {"path": ["x"]}),
        ("download_file", {"url": "http://1.1.1.1/"}),
        ("ask_agents", {"hostnames": "prod-1"}),
        ("ask_agents", {"hostnames": [1]}),
        ("ask_agents", {"hostnames": []}),
        ("connect", {}),
    ],
)
async def test_what_cannot_be_read_is_denied(
    here: ToolContext, tool: str, arguments: Mapping[str, Any]
) -> None:
    """No tool of that name, or not what it needs: denied in every mode, with a sentence."""
    decision = await decided(here, tool, arguments, Mode.BYPASS)
    assert (decision.effect.word, decision.rule_id) == ("deny", analysis.ARGUMENTS)


@pytest.mark.parametrize("error", [RecursionError, MemoryError, OSError])
async def test_what_breaks_our_own_reading_is_denied(
    here: ToolContext, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    """A call that the gate gives up on is not let through, and the gate goes on."""

    def fail(*_arguments: object) -> None:
        raise error

    monkeypatch.setattr("shellgate.floor.commands.read", fail)
    decision = await decided(here, "execute_command", {"command": "ls"}, Mode.BYPASS)
    assert decision.effect.word == "deny"
    assert "cannot be read" in decision.reason
