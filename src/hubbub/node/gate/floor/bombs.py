"""F2: functions and loops that multiply without bound."""

from collections.abc import Iterator

from hubbub.node.gate.decision import Decision
from hubbub.node.gate.floor.programs import name_of
from hubbub.node.gate.floor.usage import names
from hubbub.node.gate.floor.verdicts import deny
from hubbub.node.gate.shell.program import Program, SimpleCommand

_PAUSES = names("sleep wait read inotifywait usleep select flock")


def judge(program: Program) -> Iterator[Decision]:
    """What is said of functions that call themselves side by side, and of loops that never stop starting more."""
    for call in program.calls:
        if (call.is_background or call.is_piped) and _comes_back(call.callee, call.caller, program):
            yield deny("F2", f"`{call.caller}` starts itself again and again, without bound.")
            return
    paused = any(_name(each) in _PAUSES and not each.is_background for each in program.commands)
    for command in program.commands:
        if command.is_background and command.is_looped and command.loop_is_endless and not paused:
            yield deny("F2", f"A loop starts `{command.source}` again and again, without bound.")
            return


def _comes_back(start: str, goal: str, program: Program) -> bool:
    """Whether calling one function leads to another."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name == goal:
            return True
        if name not in seen:
            seen.add(name)
            waiting += [call.callee for call in program.calls if call.caller == name]
    return False


def _name(command: SimpleCommand) -> str:
    return name_of(command.name.value or "") if command.name else ""
