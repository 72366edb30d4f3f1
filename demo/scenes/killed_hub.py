"""The hub is killed while both agents work, and while the commander has more to say."""

from demo.cast import LIBRARIAN, SURVEYOR
from demo.gate import HALFWAY
from demo.stage import Stage


def play(stage: Stage) -> None:
    """The hub is killed while everyone is at work, and started again; everyone carries on."""
    commander = stage.commander
    one = commander.task(SURVEYOR, "list open comments in src/hubbub/core", context=HALFWAY)
    other = commander.task(LIBRARIAN, "rank functions in tests/core", context=HALFWAY)
    at_work = [stage.gate.arrival(task) for task in (one, other)]
    waiting = commander.task(LIBRARIAN, "count lines in demo", priority="high")
    stage.kill_hub()
    commander.give("send_task", alias=SURVEYOR, task="rank imports of tests/core")
    stage.note(f"{SURVEYOR} says: {stage.agents[SURVEYOR].remark('cannot be reached').partition(': ')[2]}")
    for halt in at_work:
        halt.let_go()
        halt.wait_until_gone()
    stage.note("both commands end while there is no hub, and the commander has one more task to send")
    stage.reopen_hub()
    late = commander.promise()
    for task in (one, other, waiting, late):
        commander.reply(task)
