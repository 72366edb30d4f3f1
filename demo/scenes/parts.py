"""An agent hands parts of its task to another, which its sender hears of as well."""

from demo.cast import SURVEYOR
from demo.stage import Stage


def play(stage: Stage) -> None:
    """An agent hands two parts of its task to another; the sender hears of each part, and of the whole."""
    survey = stage.commander.task(SURVEYOR, "survey src/hubbub/core")
    stage.commander.reply(survey)
    stage.chronicle.wait("task.completed", task=survey)
