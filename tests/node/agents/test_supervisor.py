"""Agents that are placed on a machine: started, minded, ended, and told of."""

import asyncio
import json
import os
import signal
import stat
from datetime import timedelta
from pathlib import Path

import pytest

from hubbub.model.errors import Conflict, Forbidden, NotFound
from hubbub.model.fleet.calls import NodeCall, RefusalCode, ToolResult, refused
from hubbub.model.fleet.managed_agents import ManagedAgentStatus
from hubbub.node.agents import agent_records
from hubbub.node.agents.supervised_agent import SupervisionTimings
from tests.cli.processes import ends
from tests.node.agents.supervised_agents import PlacingHub, agents_in, minding, note

pytestmark = pytest.mark.anyio

S = ManagedAgentStatus
LASTS = "echo here $$; exec sleep 1000"
SOON = SupervisionTimings(ending=timedelta(milliseconds=1), giving_back=timedelta(milliseconds=1))


async def test_what_a_program_finds(tmp_path: Path) -> None:
    """It runs in the folder that was ordered, with its own key and the hub's address, and none of our secrets."""
    os.environ["P7_SECRET"] = "hunter2"  # what it must not find
    async with minding(tmp_path) as here:
        await here.start("pwd; env | sort; sleep 1000")
        assert (await here.says(str(here.folder))).id == 1
        await here.says("HUBBUB_PROJECT=shop")
        await here.says("HUBBUB_TOKEN=key of coder")
        said = [line.text for line in here.agents.output("shop", "coder").recent(100)]
    del os.environ["P7_SECRET"]
    assert not [line for line in said if line.startswith("P7_SECRET")]
    assert "HUBBUB_URL=http://127.0.0.1:1" in said


async def test_it_is_started_again(tmp_path: Path) -> None:
    """A program that dies is started again, its hub hears of it, and it says how it ended."""
    async with minding(tmp_path) as here:
        await here.start("test -e again && exec sleep 1000; touch again; exit 3")
        found = await here.hub.until(lambda each: each.restarts == 1 and each.status is S.RUNNING)
        assert found.exit_code == 3
        await here.says("its program ended with exit code 3, and is started again in 0.001 s")


@pytest.mark.system
async def test_one_that_dies_again_and_again_is_given_up(tmp_path: Path) -> None:
    """After ten ends in a row, each within a minute, it has failed; it may be started anew then."""
    async with minding(tmp_path) as here:
        await here.start("echo dying; exit 7")
        failed = await here.hub.until_is(S.FAILED)
        assert (failed.restarts, failed.exit_code, failed.pid) == (9, 7, None)
        await here.says("10 times in a row; it is given up")
        assert (await here.start(LASTS)).status is S.RUNNING


async def test_a_long_life_forgives(tmp_path: Path) -> None:
    """An agent that has lived long enough begins to count anew, with the shortest pause."""
    healthy = SupervisionTimings(first=timedelta(milliseconds=1), healthy=timedelta(0), deaths=2)
    async with minding(tmp_path, pace=healthy) as here:
        await here.start("exit 1")
        assert (await here.hub.until(lambda each: each.restarts == 4)).status is not S.FAILED


async def test_stopping_ends_everything(tmp_path: Path) -> None:
    """Nothing that it started is left, not even what has left its group and heeds no signal."""
    child = "trap '' TERM; setsid sh -c 'echo child $$; sleep 1000' &"
    deaf = f"{child} echo parent $$; wait; sleep 1000"
    async with minding(tmp_path, pace=SOON) as here:
        begun = await here.start(deaf)
        pids = [int((await here.says(each)).text.split()[1]) for each in ("child", "parent")]
        await here.agents.stop("shop", "coder")
        assert all(ends(each) for each in [*pids, begun.pid or 0])
        await here.hub.until_is(S.STOPPED)
        with pytest.raises(NotFound):
            await here.agents.stop("shop", "coder")
        assert here.agents.output("shop", "coder").is_over


async def test_it_may_end_by_itself_when_it_is_asked(tmp_path: Path) -> None:
    """It is asked first, and what it says then is heard."""
    async with minding(tmp_path) as here:
        await here.start("trap 'echo good bye; exit 0' TERM; echo here; while :; do sleep 0.01; done")
        await here.says("here")
        await here.agents.stop("shop", "coder")
        await here.says("good bye")


async def test_it_can_be_stopped_between_two_lives(tmp_path: Path) -> None:
    """One that waits to be started again is stopped at once."""
    patient = SupervisionTimings(first=timedelta(hours=1), longest=timedelta(hours=1))
    async with minding(tmp_path, pace=patient) as here:
        await here.start("exit 1")
        await here.hub.until_is(S.RESTARTING)
        await here.agents.stop("shop", "coder")
        await here.hub.until_is(S.STOPPED)


async def test_it_runs_once(tmp_path: Path) -> None:
    """One of several that start the same agent at the same time does."""
    async with minding(tmp_path) as here:
        outcomes = await asyncio.gather(*(here.start(LASTS) for _ in range(4)), return_exceptions=True)
        assert sorted(type(each).__name__ for each in outcomes) == [*["Conflict"] * 3, "ProcessStatus"]
        with pytest.raises(Conflict, match="runs on this machine already"):
            await here.start(LASTS)


async def test_whom_the_hub_gives_no_key_does_not_start(tmp_path: Path) -> None:
    """Without a key there is nothing to act with: nothing runs, and nothing is noted."""
    async with minding(tmp_path) as here:
        here.hub.refuses_agents = Forbidden("it is not placed here")
        with pytest.raises(Forbidden):
            await here.start("touch made")
        assert not list(agent_records.every(tmp_path / "data"))
        assert not (here.folder / "made").exists()


@pytest.mark.parametrize("of", ["the program", "its keeper"])
async def test_whoever_kills_it_leaves_nothing_behind(tmp_path: Path, of: str) -> None:
    """Killed at its top or one below, all of it ends, and it is started again."""
    async with minding(tmp_path) as here:
        begun = await here.start("echo pid $$; sleep 1000 & echo child $!; wait")
        program, child = [int((await here.says(each)).text.split()[1]) for each in ("pid", "child")]
        os.kill(program if of == "the program" else begun.pid or 0, signal.SIGKILL)
        await here.hub.until(lambda each: each.restarts == 1 and each.status is S.RUNNING)
        assert ends(program)
        assert ends(child)


async def test_it_is_noted_without_its_key(tmp_path: Path) -> None:
    """The files on disk are for their user alone, and hold nothing to act with."""
    async with minding(tmp_path) as here:
        await here.start(LASTS)
        await here.says("here")
    files = [each for each in (tmp_path / "data").rglob("*") if each.is_file()]
    assert len(files) == 2
    assert {stat.S_IMODE(each.stat().st_mode) for each in files} == {0o600}
    assert not [each for each in files if b"key of" in each.read_bytes()]


async def test_what_ran_is_resumed(tmp_path: Path) -> None:
    """It ends with the machine's process and is started again with it, if the gate lets it, by the leave it had."""
    async with minding(tmp_path) as here:
        begun = await here.start(LASTS)
        await here.says("here")
    assert ends(begun.pid or 0)
    hub, seen = PlacingHub(), asyncio.get_running_loop().create_future()
    agents = agents_in(tmp_path / "data", hub)

    async def resume(order: NodeCall, digest: str) -> ToolResult:
        seen.set_result((order.tool, order.arguments["command"], digest))
        return refused(RefusalCode.DENIED, "permission_denied", reason="a rule forbids it")

    await agents.open(resume)
    assert await seen == ("agent_start", LASTS, "d")
    await hub.until_is(S.FAILED)
    assert "a rule forbids it" in str(agents.output("shop", "coder").last)
    await agents.close()
    again = agents_in(tmp_path / "data", PlacingHub())
    await again.open(resume)  # which could not be called twice
    await again.close()


async def test_a_note_that_makes_no_sense_is_none(tmp_path: Path) -> None:
    """A file that was cut short, or written by somebody else, starts nothing and holds up nobody."""
    folder = agent_records.home(tmp_path, "shop", "coder")
    agent_records.write(folder, note("true"))
    whole = json.loads((folder / agent_records.NOTE).read_text())
    for text in ("", "[]", "{", json.dumps({**whole, "status": "well"}), json.dumps({**whole, "who": {}})):
        (folder / agent_records.NOTE).write_text(text)
        assert list(agent_records.every(tmp_path)) == []
