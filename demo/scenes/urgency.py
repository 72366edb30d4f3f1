"""While an agent is busy, more work comes for it; the last is the most urgent."""

from demo.cast import SURVEYOR
from demo.gate import HALFWAY
from demo.stage import Stage


def play(stage: Stage) -> None:
    """The most urgent task comes last, and is done first."""
    send = stage.commander.task
    busy = stage.gate.arrival(send(SURVEYOR, "rank functions in src/hubbub/core", context=HALFWAY))
    low = send(SURVEYOR, "rank functions in demo", priority="low")
    normal = send(SURVEYOR, "count lines in tests/core", priority="normal")
    high = send(SURVEYOR, "count lines in src/hubbub/core", priority="high")
    busy.let_go()
    for task in (high, normal, low):
        stage.commander.reply(task)
    starts = [stage.chronicle.wait("task.started", task=task)["id"] for task in (high, normal, low)]
    if starts != sorted(starts):
        stage.complain("out of order: a more urgent task was begun later than a less urgent one")
