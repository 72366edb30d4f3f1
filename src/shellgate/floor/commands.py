"""The floor's and the shipped policy's view of a shell command: F1 to F6, F8 and F9, for each command in it."""

from itertools import islice

from shellgate.analysis import Analysis, CallPart
from shellgate.floor import judgement, shipped_policy
from shellgate.floor.arguments.actions import ReadingBudget
from shellgate.shell.read import read as read_shell
from shellgate.verdicts import deny
from shellgate.world import World

MOST = 500  # simple commands in all, also in code within them

SHOWN = 4_000  # characters of a command that is too large: searching all of it for secrets would take seconds
_MARK = 40  # characters at most of the note on how much is missing

MOST_READ = 12_000  # words, also of commands in commands, and of possible results of a search


def read(command: str, world: World) -> Analysis:
    """Read a command of `execute_command` as the gate sees it; nothing is run.

    Each simple command is a part, and so is each that a wrapper, a shell or a search runs.
    """
    program = read_shell(command, world)
    if program.too_large:
        why = f"The command is too much to be read: {program.too_large}."
        return Analysis(floor=(deny("F9", why),), target=_shown(command))
    parts = tuple(islice(judgement.of_program(program, world, ReadingBudget(MOST_READ)), MOST + 1))
    floor = tuple(judgement.whole(program))
    if len(parts) > MOST:
        floor = (deny("F9", f"The command is too much to be read: it has more than {MOST} commands in it."),)
    if clause := next(
        filter(None, (shipped_policy.concern_of_test(each, world) for each in program.mentioned)), None
    ):
        parts += (CallPart(tool=judgement.TOOL, target=command, concern=clause),)
    if not parts and not floor:  # only the shell's own tests and sums
        parts = (CallPart(tool=judgement.TOOL, target=command, is_harmless=True),)
    return Analysis(parts=parts, floor=floor, target=command)


def _shown(command: str) -> str:
    """Return the command, or its beginning and how much is missing: at most `SHOWN` characters in all."""
    if len(command) <= SHOWN:
        return command
    kept = SHOWN - _MARK
    return f"{command[:kept]}… ({len(command) - kept} characters more)"
