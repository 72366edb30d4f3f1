"""The leave of a machine's own agent to use its model: a budget stops it, a pause too, and a limit makes one."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from hubbub.model.fleet.calls import ToolResult
from hubbub.model.limits.usage_limits import LimitKind, UsageLimit
from hubbub.node.policy.node_policy import CommandRuntime
from hubbub.node.requests.hub_client import Leave
from hubbub.node.tools import usage_gate
from hubbub.node.tools.delegation import TOOLS
from hubbub.node.tools.skills import TOOLS as SKILLS
from hubbub.node.tools.tool_context import ToolContext
from tests.cli.processes import ends
from tests.node.tool_contexts import NotingHub, begun, endless, order, place, shell

NOW = 1_760_000_000_000
SPENT = Leave(stopped="the budget of the project is spent", now=NOW)
PAUSED = Leave(stopped="the account 'max' is paused", is_paused=True, now=NOW)
FREE = Leave(now=NOW)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have it look all the time."""
    monkeypatch.setattr(usage_gate, "LOOK", timedelta(milliseconds=1))


def delegated(here: ToolContext) -> ToolResult:
    async def story() -> ToolResult:
        return await TOOLS["delegate_task"](here, order("delegate_task", prompt="count"))

    return asyncio.run(story())


def test_who_may_use_nothing_begins_nothing(tmp_path: Path) -> None:
    """Where a budget is spent the program is not even started, and the task fails with the reason."""
    hub = NotingHub(leaves=[SPENT])
    here = place(tmp_path, hub=hub, runtime=shell("touch begun"))

    assert delegated(here).is_error
    assert (hub.tasks["1"].text, hub.tasks["1"].failed) == ("the budget of the project is spent", True)
    assert not Path(here.world.cwd, "begun").exists()


def test_a_skill_waits_for_no_pause(tmp_path: Path) -> None:
    """A caller of skill_run waits for the answer, so a paused account ends the task at once, with the reason."""
    hub = NotingHub(leaves=[PAUSED])
    here = place(tmp_path, hub=hub, runtime=shell("touch begun"))

    async def story() -> ToolResult:
        return await SKILLS["skill_run"](here, order("skill_run", name="code-review", prompt="go"))

    assert asyncio.run(story()).is_error
    assert (hub.tasks["1"].text, hub.tasks["1"].failed) == ("the account 'max' is paused", True)


@pytest.mark.parametrize("told", [SPENT, PAUSED])
def test_a_program_is_stopped_at_its_work(tmp_path: Path, told: Leave) -> None:
    """When the leave ends its program is told to end, and the caller hears why."""
    hub = NotingHub(leaves=[FREE])
    here = place(tmp_path, hub=hub, runtime=endless(tmp_path))

    async def story() -> tuple[ToolResult, int]:
        asking = asyncio.ensure_future(
            TOOLS["ask_agent"](here, order("ask_agent", hostname="here", prompt="wait", timeout_ms=30_000))
        )
        program = await begun(here)
        hub.leaves = [told]
        return await asking, program

    outcome, program = asyncio.run(story())
    assert outcome.is_error
    assert str(told.stopped) in str(outcome.value)
    ends(program)


def test_a_limit_pauses_the_account_and_the_task_goes_on_after_it(tmp_path: Path) -> None:
    """A program that a limit stops has not failed: its account is paused, and after that its task is gone on with."""
    hub = NotingHub(leaves=[FREE, FREE, PAUSED, PAUSED, FREE])
    notice = "You've hit your usage limit. Try again in 2 hours."
    codex = tmp_path / "codex"
    codex.write_text(
        f'#!/bin/sh\ncat > given; test -e tried || {{ touch tried; echo "{notice}" >&2; exit 1; }}; echo done\n'
    )
    codex.chmod(0o700)
    here = place(tmp_path, hub=hub, runtime=CommandRuntime((str(codex), "exec", "-")))

    assert delegated(here).value == {"text": "done", "tool_calls": [], "task_id": "1", "status": "done"}
    assert hub.limits == [UsageLimit(LimitKind.WINDOW, NOW + 2 * 3_600_000)]
    assert "An earlier run of this was stopped by a usage limit" in Path(here.world.cwd, "given").read_text()


def test_what_another_program_prints_pauses_nothing(tmp_path: Path) -> None:
    """A program of no maker that prints the words of a limit has failed like any other, and no account is paused."""
    hub = NotingHub(leaves=[FREE])
    here = place(tmp_path, hub=hub, runtime=shell('echo "You\'ve hit your usage limit." >&2; exit 1'))

    delegated(here)

    assert (hub.limits, hub.tasks["1"].failed) == ([], True)
