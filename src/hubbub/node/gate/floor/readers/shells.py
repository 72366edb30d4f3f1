"""Shells, and the commands of the shell that run text: `sh -c`, `eval`, `source`. F6 is here."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from hubbub.node.gate.floor import inputs, written
from hubbub.node.gate.floor.deeds import Call, Deed, OnlyReads, Shell, Touch, Use, Verdict
from hubbub.node.gate.floor.readers.by_table import spaced
from hubbub.node.gate.floor.usage import names
from hubbub.node.gate.floor.verdicts import ask, deny
from hubbub.node.gate.floor.words import is_known
from hubbub.node.gate.shell.program import Place, Word

_VALUED = frozenset({"--rcfile", "--init-file", "-O", "+O", "-o", "+o", "-C"})
_CODE = frozenset({"--command", "-command", "--commands"})
STANDARD_INPUT = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/proc/thread-self/fd/0"})
_PIPED = deny("F6", "What is piped into a bare shell runs unseen.")
_FETCHED = deny("F6", "What is fetched from elsewhere runs unseen.")


@dataclass(slots=True)
class Start:
    """How a shell is started."""

    code: Word | None = None
    operands: list[Word] = field(default_factory=list)
    startup: list[Word] = field(default_factory=list)
    reads_input: bool = False  # with `-s`, whatever else is given


def shell(call: Call) -> Iterator[Deed]:
    """`sh`, `bash` and their kin: with `-c` the code is read; without a script it is their input that runs."""
    start = _start(list(call.arguments))
    yield from (Touch(word, Use.READ) for word in start.startup)
    if start.code is not None:
        yield OnlyReads()
        yield Shell(start.code)
        yield from _unseen(start.code, call)
        yield from (Touch(word, Use.EITHER) for word in start.operands)
    elif start.operands and not start.reads_input:
        yield from script(start.operands[0], call)
        yield from (Touch(word, Use.EITHER) for word in start.operands[1:])
    elif not _only_asks(call):
        yield from from_input(call)


def _start(words: list[Word]) -> Start:
    start = Start()
    wants_code = False
    while words:
        word = words.pop(0)
        value = word.value or word.known_start
        if value in _CODE:
            wants_code = True
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


def _only_asks(call: Call) -> bool:
    return any(word.value in ("--version", "--help", "-n") for word in call.arguments)


def script(word: Word, call: Call) -> Iterator[Deed]:
    """What comes of running a script: a file is read, an input is one like any other."""
    if word.value in STANDARD_INPUT:
        yield from from_input(call)
    elif word.source.lstrip('"').startswith(("<(", "/dev/fd/")):
        yield Verdict(_PIPED)
    elif is_known(word):
        yield Touch(word, Use.READ)
        yield from written.run(word, call.scene)
    else:
        yield Verdict(ask("F9", f"Only running it tells which script `{word.source}` is."))
        yield Touch(word, Use.READ)
    yield from _unseen(word, call)


def from_input(call: Call) -> Iterator[Deed]:
    """What comes of a shell that runs its standard input: F6."""
    command = call.scene.command
    if inputs.takes_input(command):
        body = next((each.body for each in command.redirects if each.body is not None), None)
        if body is not None:
            yield Shell(body)
            yield from _unseen(body, call)
        yield from _odd_source(call)
    elif command.is_piped or command.place is not Place.PLAIN:
        yield Verdict(_PIPED)
    elif any("/dev/tcp" in each.target.source for each in command.redirects if each.target):
        yield Verdict(_FETCHED)


def _odd_source(call: Call) -> Iterator[Deed]:
    for redirect in call.scene.command.redirects:
        target = redirect.target
        if target is not None and redirect.operator in ("<", "<>", "<&"):
            if target.source.startswith("<("):
                yield Verdict(_PIPED)
            elif "/dev/tcp" in target.source or "/dev/udp" in target.source:
                yield Verdict(_FETCHED)


def _unseen(word: Word, call: Call) -> Iterator[Deed]:
    if not is_known(word) and inputs.fetches(word, call.scene.program.commands):
        yield Verdict(_FETCHED)


def evaluate(call: Call) -> Iterator[Deed]:
    """`eval`: its words, joined, are shell code; F9 asks where they are not known."""
    yield OnlyReads()
    if call.arguments:
        code = spaced(list(call.arguments))
        if not is_known(code) or not _is_read_already(call):
            yield Shell(code)
        yield from _unseen(code, call)


def _is_read_already(call: Call) -> bool:
    """Whether the program's reader has gone into the `eval`: there it knows the variables, too."""
    name = call.scene.command.name
    return name is not None and name.value in ("eval", "command", "builtin")


def source(call: Call) -> Iterator[Deed]:
    """`source`, `.`: a file is run in this shell; F9 asks where nobody knows which."""
    words = [word for word in call.arguments if word.value != "--"]
    if not words:
        return
    if words[0].source.lstrip('"').startswith("<("):
        yield Verdict(ask("F9", f"Only running it tells what `{words[0].source}` prints."))
        yield from _unseen(words[0], call)
    else:
        yield from script(words[0], call)
    yield from (Touch(word, Use.EITHER) for word in words[1:])


READERS = {
    **dict.fromkeys(
        names("sh bash dash zsh ksh mksh ash rbash fish csh tcsh yash posh pwsh elvish nu xonsh osh"),
        shell,
    ),
    "eval": evaluate,
    "source": source,
    ".": source,
}
