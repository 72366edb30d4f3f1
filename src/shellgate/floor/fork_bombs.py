"""F2: functions and loops that multiply without bound."""

from collections.abc import Iterator

from shellgate.decision import Decision
from shellgate.floor.arguments.usage_tables import names
from shellgate.floor.programs import name_of
from shellgate.shell.program import Program, SimpleCommand
from shellgate.verdicts import deny

_STARTS = names("setsid coproc at batch")
_PAUSES = names("sleep wait read inotifywait usleep select flock")


def judge(program: Program) -> Iterator[Decision]:
    """Yield the decisions on functions that call themselves side by side, and on loops that start more without end."""
    for call in program.calls:
        if (call.is_background or call.is_piped) and _comes_back(call.callee, call.caller, program):
            yield deny("F2", f"`{call.caller}` starts itself again and again, without bound.")
            return
    endless = [each for each in program.commands if each.is_looped and each.loop_is_endless]
    if any(map(_pauses, endless)):
        return
    for command in endless:
        if command.loop_multiplies or _name(command) in _STARTS:
            yield deny("F2", f"A loop starts `{command.source}` again and again, without bound.")
            return


def _comes_back(start: str, goal: str, program: Program) -> bool:
    """Tell whether calling one function leads to another."""
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


def _pauses(command: SimpleCommand) -> bool:
    """Tell whether a loop waits for it, and so for the other commands that it started."""
    is_none = _name(command) == "sleep" and all(
        not (word.value or "1").strip("0.s") for word in command.words[1:]
    )
    return _name(command) in _PAUSES and not command.loop_multiplies and not is_none


def _name(command: SimpleCommand) -> str:
    return name_of(command.name.value or "") if command.name else ""
