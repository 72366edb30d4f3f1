"""An agent is killed in the middle of a task. Its command dies with it, and the task comes to it again."""

from demo.cast import LIBRARIAN
from demo.gate import HALFWAY
from demo.stage import Stage


def play(stage: Stage) -> None:
    """An agent is killed in the middle of a task, and started again."""
    commander = stage.commander
    task = commander.task(LIBRARIAN, "list open comments in tests/core", context=HALFWAY)
    first = stage.gate.arrival(task)
    stage.kill_agent(LIBRARIAN)
    first.wait_until_gone()
    stage.note("the command that it ran is gone with it")
    stage.start_agent(LIBRARIAN)
    again = stage.gate.arrival(task)
    said = stage.agents[LIBRARIAN].remark(f"attempt {again.attempt}")
    stage.note(f"{LIBRARIAN} says: {said.partition(': ')[2]}")
    again.let_go()
    commander.reply(task)
