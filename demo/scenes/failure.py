"""A command fails, since what it needs is not there yet; when it is, the task is tried again."""

from demo.cast import LIBRARIAN, SURVEYOR
from demo.stage import Stage


def play(stage: Stage) -> None:
    """A task fails, as its input is missing; it is tried again when that is there."""
    commander = stage.commander
    binding = commander.task(LIBRARIAN, "bind reports on functions and imports")
    reason = commander.reply(binding, status="failed")["content"].splitlines()[-1]
    stage.note(f"{LIBRARIAN} says why: {reason}")
    commander.reply(commander.task(SURVEYOR, "rank imports of src/hubbub/core"))
    commander.retry(binding)
    commander.reply(binding)
