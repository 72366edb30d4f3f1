"""Reads a piece of shell: every command in it that bash would run, or a doubt."""

from collections.abc import Iterable, Mapping

from shellgate.shell.code_arguments import may_hide_code
from shellgate.shell.findings import Findings, Frame
from shellgate.shell.known_state import OF_BASH, ShellState, Value
from shellgate.shell.program import Program, SimpleCommand, Text
from shellgate.shell.syntax.hidden_characters import first_hidden
from shellgate.shell.walk import ProgramWalker
from shellgate.world import World

SIZE_LIMIT = 64 * 1024  # bytes


def read(
    command: str,
    world: World,
    *,
    cwd: str | None = None,
    depth: int = 0,
    variables: Mapping[str, str] | None = None,
) -> Program:
    """Read every simple command in a piece of shell, and everything that makes it doubtful.

    To go on inside a program that was read already, as with the text of an `eval`: `cwd` is the folder it starts in,
    `depth` how deep in the other it is, `variables` the known ones besides the environment.
    """
    try:
        size = len(command.encode())
    except UnicodeEncodeError:
        size = len(command)
        command = command.encode("utf-8", "replace").decode()
        hidden: str | None = "half a character"
    else:
        hidden = first_hidden(command)
    if size > SIZE_LIMIT:
        return Program(too_large=f"it is larger than {SIZE_LIMIT // 1024} KiB")
    notes = Findings()
    if hidden is not None:
        notes.doubt(f"it has a character that is not seen or does not stand where it seems to: {hidden}")
    state = _beginning(world, cwd or world.cwd, variables or {})
    notes.beginning = state.variables
    for text in (variables or {}).values():  # evaluated, what they hold is code, too
        notes.has_bracket |= "[" in text
        notes.has_dormant_code |= may_hide_code(text)
    ProgramWalker(world, notes).text(command, state, Frame(depth=depth))
    if notes.too_large:
        return Program(too_large=notes.too_large)
    if notes.evaluates and notes.has_dormant_code and notes.has_bracket:
        notes.doubt("it evaluates arithmetic, and has a quoted text that would be run in a subscript")
    return _program(notes)


def _beginning(world: World, cwd: str, variables: Mapping[str, str]) -> ShellState:
    held: dict[str, Value] = {"HOME": (Text(world.home),)}
    for name, value in {**world.variables, **variables}.items():
        if name not in OF_BASH:
            held[name] = (Text(value),)
    return ShellState(held, (cwd,))


def _program(notes: Findings) -> Program:
    return Program(
        commands=_distinct(notes.commands),
        doubts=tuple(notes.doubts),
        functions=tuple(notes.functions),
        mentioned=tuple(dict.fromkeys(notes.mentioned)),
        calls=tuple(dict.fromkeys(call for call in notes.calls if call.callee in notes.functions)),
    )


def _distinct(commands: Iterable[SimpleCommand]) -> tuple[SimpleCommand, ...]:
    """Return each command once; a command's input distinguishes it, along the whole of its pipe."""
    numbers: dict[tuple[SimpleCommand, int], int] = {}
    known: dict[int, int] = {}  # by identity: each stage of a pipe is numbered once

    def number(command: SimpleCommand) -> int:
        stages: list[SimpleCommand] = []
        stage: SimpleCommand | None = command
        while stage is not None and id(stage) not in known:
            stages.append(stage)
            stage = stage.reads_from
        last = known[id(stage)] if stage is not None else 0
        for each in reversed(stages):
            last = known[id(each)] = numbers.setdefault((each, last), len(numbers) + 1)
        return last

    return tuple({number(command): command for command in commands}.values())
