"""`hubbub work` when a budget is spent: what runs is told to end, and nothing new is begun."""

from tests.cli.processes import RunningHub

USED = {"id": "1", "conversation": "c", "model": "", "input": 9, "agent": "coder"}
ENDS_WHEN_TOLD = "trap 'echo half done; exit 0' TERM; echo begun; tail -f /dev/null & wait"


def test_a_command_is_told_to_end_when_its_budget_is_spent(hub: RunningHub) -> None:
    """The command has a moment to end by itself, which is its result; the next task waits until people raise it."""
    worker = hub.work("coder", ENDS_WHEN_TOLD)
    worker.says("ready")
    hub.run("budget", "set", "agent:coder", "--tokens", "5")
    hub.send("coder", "first")
    hub.until("task.started")

    hub.client().post("/cost/reports", {"used": [USED]})

    hub.until("task.completed")
    assert hub.task(1)["result"] == "begun\nhalf done"
    hub.send("coder", "second")
    worker.says("what comes waits until it goes on")
    assert hub.task(2)["status"] == "delivered"
