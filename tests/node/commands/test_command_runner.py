"""The order in which the machine's process, the hub and the keepers end."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hubbub.node.commands import job_folder
from tests.cli.processes import ends
from tests.node.commands.test_running_hub import holder
from tests.node.running_commands import WALLS, ask, begin, behind, eventually, marked, row
from tests.node.tool_contexts import place

CLIENT = """
import asyncio, sys
from pathlib import Path
from tests.node.tool_contexts import place
from tests.node.running_commands import behind, perform

async def main():
    here = behind(place(Path(sys.argv[1])), sys.argv[2])
    await perform(here, "execute_command", command=sys.argv[3], background=True)
    print("begun", flush=True)
    await perform(here, "execute_command", command=sys.argv[4])

asyncio.run(main())
"""


@pytest.mark.parametrize("wall", WALLS)
def test_commands_in_the_background_survive_their_client(tmp_path: Path, wall: str) -> None:
    """When a machine's process is killed its commands in the foreground end, and those in the background go on."""
    with marked() as foreground, marked() as background:
        arguments = [str(tmp_path), wall, f"{background.sleep}; true", f"{foreground.sleep}; true"]
        with subprocess.Popen([sys.executable, "-c", CLIENT, *arguments], stdout=subprocess.PIPE) as client:
            eventually(lambda: foreground.pids() and background.pids())
            client.kill()
        eventually(lambda: not foreground.pids())

        assert background.pids()
        here = place(tmp_path)
        (found,) = job_folder.every(here.data)
        assert row(here, found[0].task_id)["status"] == "running"
        assert ask(here, "shell_kill", task_id=found[0].task_id).value == {"killed": True}


@pytest.mark.system
def test_a_client_that_ends_leaves_nothing_open(tmp_path: Path) -> None:
    """The line to its forker is closed like all else, so that nobody is warned of it."""
    arguments = [str(tmp_path), "none", "true", "true"]
    client = subprocess.run(
        [sys.executable, "-W", "always::ResourceWarning", "-c", CLIENT, *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (client.stdout, client.stderr) == ("begun\n", "")


@pytest.mark.system
@pytest.mark.parametrize("wall", WALLS)
def test_nothing_is_left_of_a_command_whose_keepers_are_killed(tmp_path: Path, wall: str) -> None:
    """When its client and its keeper are killed a command in the background ends, and is told of as killed."""
    with marked() as processes:
        arguments = [str(tmp_path), wall, f"setsid {processes.sleep} & {processes.sleep}; true", "sleep 1000"]
        with subprocess.Popen([sys.executable, "-c", CLIENT, *arguments], stdout=subprocess.PIPE) as client:
            eventually(lambda: len(processes.pids()) == 2)
            keeper, forker = processes.keeper(), processes.forker()
            client.kill()
        os.kill(keeper, signal.SIGKILL)
        eventually(lambda: not processes.pids())
        assert ends(forker)

    here = place(tmp_path)
    (found,) = job_folder.every(here.data)
    assert row(here, found[0].task_id)["status"] == "killed"


@pytest.mark.parametrize("wall", WALLS)
def test_commands_end_when_their_forker_is_killed(tmp_path: Path, wall: str) -> None:
    """Nobody is left then who would follow up, so nothing is waited for."""
    here = behind(place(tmp_path), wall)
    with marked() as processes:
        task_id = begin(here, f"trap '' TERM; setsid {processes.sleep} & {processes.sleep}; true")
        eventually(lambda: len(processes.pids()) == 2)

        os.kill(processes.forker(), signal.SIGKILL)

        eventually(lambda: not processes.pids())
    eventually(lambda: row(here, task_id)["status"] == "killed")


@pytest.mark.parametrize("wall", WALLS)
def test_commands_in_the_background_end_with_the_hub(tmp_path: Path, wall: str) -> None:
    """The hub of the machine's data may be another process than the one that started them; it may be killed."""
    here = behind(place(tmp_path), wall)
    with marked() as processes, holder(here.data) as hub:
        task_id = begin(here, f"{processes.sleep}; true")
        eventually(processes.pids)

        hub.kill()

        eventually(lambda: not processes.pids())
        eventually(lambda: row(here, task_id)["status"] == "killed")
