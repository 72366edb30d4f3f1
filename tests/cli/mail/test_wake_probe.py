"""`hubbub doctor --wake`: its report on an agent that is woken, and on one that is not."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from hubbub.client import Hub
from tests.cli.processes import RunningHub

MONITOR = {"instance": "one", "client": "claude-code", "method": "monitor"}


def _wakes_and_reads(beside: Hub, name: str) -> None:
    """Act as a monitor, and then as its agent."""
    wake = beside.post(f"/agents/{name}/wakes", {**MONITOR, "wait": 45})["wake"]
    beside.post(f"/wakes/{wake['id']}", {"result": "woken", "took_ms": 3})
    beside.inbox(name)


@pytest.mark.system
def test_a_woken_agent_is_told_of_with_times(hub: RunningHub) -> None:
    """It says what took the wake, what came of it, and after how long the agent looked."""
    hub.meet("ember")
    token = hub.run("token", "create", "--project", hub.project, "--agent", "ember").stdout.strip()
    with closing(Hub(hub.url, token)) as beside, ThreadPoolExecutor() as threads:
        beside.post("/agents/ember/wakes", MONITOR)
        waking = threads.submit(_wakes_and_reads, beside, "ember")
        done = hub.run("doctor", "--wake", "ember", "--timeout", "30")
        waking.result()

    took, woken, looked = done.stdout.splitlines()
    assert done.returncode == 0
    assert took.startswith("claude-code (monitor) took the wake after ")
    assert woken.startswith("the client was woken after ")
    assert looked.startswith("ember looked into its inbox after ")


def test_an_agent_that_nothing_wakes_is_said_to_be_so_at_once(hub: RunningHub) -> None:
    """Without anything that would make it look, nothing is sent and nobody waits; the exit code is 1."""
    hub.meet("ash")
    done = hub.run("doctor", "--wake", "ash")
    told = json.loads(hub.run("doctor", "--wake", "ash", "--json").stdout)

    assert done.returncode == 1
    assert done.stdout.startswith("ash cannot be woken now. It is ")
    assert (told["status"], told["wake"], told["answered_at"]) == ("cannot", "none", None)
    assert told["note"] in done.stdout
    assert not hub.run("inbox", "ash").stdout.count("how you are woken")


def test_an_agent_that_does_not_look_in_time_is_said_not_to_have(hub: RunningHub) -> None:
    """Where something would wake it but nothing does in time, it says so; the exit code is 1."""
    hub.meet("oak")
    token = hub.run("token", "create", "--project", hub.project, "--agent", "oak").stdout.strip()
    with closing(Hub(hub.url, token)) as beside:
        beside.post("/agents/oak/wakes", MONITOR)
        done = hub.run("doctor", "--wake", "oak", "--timeout", "0")

    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "nothing beside oak asked for its wake",
        "oak has not looked into its inbox; the message waits there",
    ]


def test_an_agent_that_nobody_knows_is_not_woken(hub: RunningHub) -> None:
    """An unknown agent is refused in one sentence."""
    done = hub.run("doctor", "--wake", "emberr")

    assert done.returncode == 1
    assert "emberr" in done.stderr
