"""Shells, and the commands of the shell that run text: `sh -c`, `eval`, `source`. F6 is here."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from shellgate.floor.arguments.actions import (
    Action,
    FloorVerdict,
    OnlyReads,
    ProgramCall,
    RunShell,
    TouchPath,
    Use,
)
from shellgate.floor.arguments.shell_words import is_known, without
from shellgate.floor.arguments.usage_tables import names
from shellgate.floor.dataflow import standard_input, written_scripts
from shellgate.floor.readers.by_table import spaced
from shellgate.shell.program import Place, SimpleCommand, Word
from shellgate.verdicts import ask, deny

_VALUED = frozenset({"--rcfile", "--init-file", "-O", "+O", "-o", "+o", "-C"})
_CODE = frozenset({"--command", "-command", "--commands"})
STANDARD_INPUT = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/proc/thread-self/fd/0"})
_PIPED = deny("F6", "What is piped into a bare shell runs unseen.")
_FETCHED = deny("F6", "What is fetched from elsewhere runs unseen.")


@dataclass(slots=True)
class ShellStart:
    """The start of a shell."""

    code: Word | None = None
    operands: list[Word] = field(default_factory=list)
    startup: list[Word] = field(default_factory=list)
    is_odd: bool = False  # an option has patterns read otherwise
    reads_input: bool = False  # with `-s`, whatever else is given


def shell(call: ProgramCall) -> Iterator[Action]:
    """`sh`, `bash` and their kin: with `-c` the code is read; without a script it is their input that runs."""
    start = _start(list(call.arguments))
    yield from (TouchPath(word, Use.READ) for word in start.startup)
    if start.is_odd:
        yield FloorVerdict(ask("F9", "It has its patterns fit more names than is looked at here."))
    if start.code is not None and start.code.value == "-":  # PowerShell: its input
        yield from from_input(call)
    elif start.code is not None:
        yield OnlyReads()
        yield RunShell(start.code)
        yield from _unseen(start.code, call)
        yield from (TouchPath(word, Use.EITHER) for word in start.operands)
    elif start.operands and not start.reads_input:
        yield from script(start.operands[0], call)
        yield from (TouchPath(word, Use.EITHER) for word in start.operands[1:])
    elif not _only_asks(call):
        yield from from_input(call)


def _start(words: list[Word]) -> ShellStart:
    start = ShellStart()
    wants_code = False
    while words:
        word = words.pop(0)
        value = word.value or word.known_start
        if value.lower() in _CODE:
            wants_code = True
        elif value.lower().partition("=")[0] in _CODE:
            start.code = without(word, value.index("=") + 1)
        elif value == "-O" and words and words[0].value in ("dotglob", "nocaseglob"):
            start.is_odd = True
        elif value in _VALUED and words:
            taken = words.pop(0)
            start.startup += [taken] if "file" in value else []
        elif value == "--":
            start.operands += words
            break
        elif value.startswith("--") or (value.startswith(("-", "+")) and value != "-"):
            letters = "" if value.startswith("--") else value[1:]
            wants_code |= "c" in letters and value[0] == "-"
            start.reads_input |= "s" in letters
            if letters.endswith(("o", "O")) and words:
                words.pop(0)
        else:
            start.operands += [word, *words]
            break
    if wants_code and start.operands:
        start.code = start.operands.pop(0)
    return start


def _only_asks(call: ProgramCall) -> bool:
    return any(word.value in ("--version", "--help", "-n") for word in call.arguments)


def _plainly(word: Word) -> str | None:
    return None if word.value is None else re.sub(r"/(\./|/)*", "/", word.value)


def script(word: Word, call: ProgramCall) -> Iterator[Action]:
    """Yield the actions of running a script: a file is read, an input is one like any other."""
    if _plainly(word) in STANDARD_INPUT:
        yield from from_input(call)
    elif word.source.lstrip('"').startswith(("<(", "/dev/fd/")):
        yield FloorVerdict(_PIPED)
    elif is_known(word):
        yield TouchPath(word, Use.READ)
        yield from written_scripts.scripts_run(word, call.scene)
    else:
        yield FloorVerdict(ask("F9", f"Only running it tells which script `{word.source}` is."))
        yield TouchPath(word, Use.READ)
    yield from _unseen(word, call)


def from_input(call: ProgramCall) -> Iterator[Action]:
    """Yield the actions of a shell that runs its standard input: F6."""
    command = call.scene.command
    if (told := standard_input.given(command)) is not None:
        yield from _redirected(told, call)
    elif command.is_piped or command.place is not Place.PLAIN:
        yield FloorVerdict(_PIPED)
    elif any("/dev/tcp" in each.target.source for each in command.redirects if each.target):
        yield FloorVerdict(_FETCHED)
    elif any(map(_sets_input, (*call.scene.around, *call.scene.program.commands))):
        yield FloorVerdict(ask("F6", "The shell's input was set before: only running it shows the commands."))


def _sets_input(command: SimpleCommand) -> bool:
    """Tell whether it is an `exec` of redirections alone, one of them of the standard input."""
    return (
        len(command.words) == 1 and command.words[0].value == "exec" and standard_input.takes_input(command)
    )


def _redirected(told: SimpleCommand, call: ProgramCall) -> Iterator[Action]:
    """Yield the actions of a shell whose input comes from a command's redirections."""
    for redirect in told.redirects:
        target = redirect.target
        if redirect.body is not None:
            yield RunShell(redirect.body)
            yield from _unseen(redirect.body, call)
        elif target is not None and redirect.operator in ("<", "<>", "<&"):
            if target.source.startswith("<("):
                yield FloorVerdict(_PIPED)
            elif "/dev/tcp" in target.source or "/dev/udp" in target.source:
                yield FloorVerdict(_FETCHED)
            elif redirect.operator == "<&" and target.value not in ("0", "-"):
                yield FloorVerdict(
                    ask("F6", f"Only running it tells what `{target.source}` gives the shell to run.")
                )
            elif not is_known(target):
                yield FloorVerdict(ask("F9", f"Only running it tells which script `{target.source}` is."))
            else:
                yield from written_scripts.scripts_run(target, call.scene)


def _unseen(word: Word, call: ProgramCall) -> Iterator[Action]:
    if not is_known(word) and standard_input.fetches(word, call.scene.program.commands):
        yield FloorVerdict(_FETCHED)


def evaluate(call: ProgramCall) -> Iterator[Action]:
    """`eval`: its words, joined, are shell code; F9 asks where they are not known."""
    if call.arguments:
        words = call.arguments[1:] if call.arguments[0].value == "--" else call.arguments
        code = spaced(list(words))
        if not is_known(code) or not _is_read_already(call):
            yield RunShell(code)
        yield from _unseen(code, call)


def _is_read_already(call: ProgramCall) -> bool:
    """Tell whether the program's reader has gone into the `eval`: there it knows the variables, too."""
    name = call.scene.command.name
    return name is not None and name.value in ("eval", "command", "builtin")


def source(call: ProgramCall) -> Iterator[Action]:
    """Read `source`, `.`: a file is run in this shell; F9 asks if the file is unknown."""
    words = [word for word in call.arguments if word.value != "--"]
    if not words:
        return
    if words[0].source.lstrip('"').startswith("<("):
        yield FloorVerdict(ask("F9", f"Only running it tells what `{words[0].source}` prints."))
        yield from _unseen(words[0], call)
    else:
        yield from script(words[0], call)
    yield from (TouchPath(word, Use.EITHER) for word in words[1:])


READERS = {
    **dict.fromkeys(
        names("sh bash dash zsh ksh mksh ash rbash fish csh tcsh yash posh pwsh elvish nu xonsh osh"),
        shell,
    ),
    "eval": evaluate,
    "source": source,
    ".": source,
}
