"""Interpreters of other languages: scripts, one-liners, and code that comes through a pipe."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from shellgate.floor.arguments.actions import (
    Action,
    FloorVerdict,
    ProgramCall,
    RunCode,
    RunCommand,
    TouchPath,
    Use,
)
from shellgate.floor.arguments.shell_words import is_known, plain, without
from shellgate.floor.dataflow import standard_input, written_scripts
from shellgate.floor.programs import USAGES
from shellgate.floor.readers.shells import STANDARD_INPUT
from shellgate.shell.program import Word
from shellgate.verdicts import ask, deny


@dataclass(frozen=True, slots=True)
class Manner:
    """The options by which an interpreter gets its code."""

    code: tuple[str, ...]  # options whose value is code
    module: tuple[str, ...] = ()  # options whose value is a program of its own, with the words that follow
    valued: tuple[str, ...] = ()  # other options with a value
    read: tuple[str, ...] = ()  # of those, files that are run or read
    in_place: str = ""  # the letter with which its operands are rewritten
    command: tuple[str, ...] = ()  # subcommands behind which code or a script follows


_PYTHON = Manner(("-c",), ("-m",), ("-W", "-X", "-Q"))
_PERL = Manner(("-e", "-E"), valued=("-I",), in_place="i")
_RUBY = Manner(("-e",), valued=("-I", "-C", "-E", "-r"), in_place="i")
_NODE = Manner(
    ("-e", "-p", "-pe", "--eval", "--print"),
    valued=("-r", "--require", "--import", "--loader", "-C", "--env-file"),
    read=("-r", "--require", "--import", "--loader", "--env-file"),
    command=("run", "eval", "test"),
)
_PHP = Manner(("-r", "-R", "-B", "-E"), valued=("-c", "-d", "-z", "-S", "-t"), read=("-c", "-z", "-t"))
_LUA = Manner(("-e",), valued=("-l",))
_EVALUATE = Manner(("-e", "--eval", "-c", "-E", "-p"))

MANNERS: Mapping[str, Manner] = {
    **dict.fromkeys(("python", "pypy", "ipython", "jython", "micropython"), _PYTHON),
    "perl": _PERL,
    **dict.fromkeys(("ruby", "jruby"), _RUBY),
    **dict.fromkeys(("node", "nodejs", "deno", "bun", "tsx", "ts-node", "qjs"), _NODE),
    "php": _PHP,
    **dict.fromkeys(("lua", "luajit"), _LUA),
    **dict.fromkeys(
        (
            "Rscript",
            "rscript",
            "r",
            "elixir",
            "erl",
            "julia",
            "osascript",
            "groovy",
            "scala",
            "guile",
            "racket",
            "tclsh",
        ),
        _EVALUATE,
    ),
}


@dataclass(slots=True)
class InterpreterStart:
    """The start of an interpreter."""

    code: list[Word] = field(default_factory=list)
    module: tuple[Word, ...] = ()
    reads: list[Word] = field(default_factory=list)
    operands: list[Word] = field(default_factory=list)
    rewrites: bool = False
    only_asks: bool = False


def interpreter(call: ProgramCall) -> Iterator[Action]:
    """Read an interpreter: its code is searched; its script is read, and the words after it may be anything."""
    start = _start(list(call.arguments), MANNERS[call.name])
    yield from (RunCode(word) for word in start.code)
    yield from (TouchPath(word, Use.READ) for word in start.reads)
    if start.module:
        yield from _module(start.module)
    elif start.code:
        use = Use.WRITE if start.rewrites else Use.EITHER
        yield from (TouchPath(word, use) for word in start.operands)
    elif start.operands and start.operands[0].value not in STANDARD_INPUT:
        yield from _script(start.operands[0], call)
        if _is_the_product(start.operands[0]):
            yield RunCommand((plain("hubbub"), *start.operands[1:]))
        yield from (TouchPath(word, Use.EITHER) for word in start.operands[1:])
    elif not start.only_asks:
        yield from _from_input(call)


def _start(words: list[Word], manner: Manner) -> InterpreterStart:
    start = InterpreterStart()
    while words:
        word = words.pop(0)
        text = word.known_start
        if not text.startswith("-") or word.value == "-":
            if word.value == "eval" and "eval" in manner.command and words:
                start.code.append(words.pop(0))
                continue
            if word.value in manner.command and not start.operands:
                continue
            start.operands += [word, *words]
            break
        _option(word, words, manner, start)
        if start.module:
            break
    return start


def _option(word: Word, words: list[Word], manner: Manner, start: InterpreterStart) -> None:
    text = word.known_start
    if _takes(text, manner.code) and words:
        start.code.append(words.pop(0))
    elif (given := _attached(word, manner.code)) is not None:
        start.code.append(given)
    elif text in manner.module and words:
        start.module = tuple(words)
    elif text in manner.valued and words:
        taken = words.pop(0)
        start.reads += [taken] if text in manner.read else []
    elif any(text.startswith(f"{name}=") for name in manner.read):
        start.reads.append(without(word, text.index("=") + 1))
    elif text in ("-V", "-v", "--version", "-h", "--help"):
        start.only_asks = True
    start.rewrites |= (
        bool(manner.in_place) and not text.startswith("--") and manner.in_place in text[1:].partition("e")[0]
    )


def _takes(text: str, options: tuple[str, ...]) -> bool:
    """Tell whether an option takes the next word for its code: `-c`, `-ne`, `--eval`."""
    if text in options:
        return True
    is_cluster = not text.startswith("--") and text[1:].isalnum() and text.isascii()
    return is_cluster and any(len(option) == 2 and text.endswith(option[1]) for option in options)


def _attached(word: Word, options: tuple[str, ...]) -> Word | None:
    """The code that stands right behind its option."""
    text = word.known_start
    for option in options:
        if text.startswith(f"{option}=") and option.startswith("--"):
            return without(word, len(option) + 1)
    if text.startswith("--"):
        return None
    at = min(
        (place for option in options if len(option) == 2 and (place := text.find(option[1])) > 0), default=0
    )
    return without(word, at + 1) if at and text[1:at].isalnum() | (at == 1) else None


def _module(words: tuple[Word, ...]) -> Iterator[Action]:
    """`python -m MODULE …`: a program like any other, if it is known by that name."""
    name = words[0].value or ""
    known = name.partition(".")[0]
    if name in USAGES or known == "hubbub":
        yield RunCommand((plain(known if known == "hubbub" else name), *words[1:]))
    else:
        yield from (TouchPath(word, Use.EITHER) for word in words[1:])


def _is_the_product(script: Word) -> bool:
    names = (script.value or "").split("/")
    return names[-1] == "hubbub" or names[-2:] == ["hubbub", "__main__.py"]


def _script(word: Word, call: ProgramCall) -> Iterator[Action]:
    if word.value is None and re.search(r"\bhubbub\b", word.source):
        yield FloorVerdict(ask("F8", "It may run hubbub as a person."))
    if word.source.lstrip('"').startswith("<("):
        yield FloorVerdict(deny("F6", "What is piped into a bare interpreter runs unseen."))
    yield TouchPath(word, Use.READ)
    yield from (
        deed for deed in written_scripts.scripts_run(word, call.scene) if isinstance(deed, FloorVerdict)
    )


def _from_input(call: ProgramCall) -> Iterator[Action]:
    """Yield the actions of an interpreter that runs its input, which is read if the text determines it."""
    command = call.scene.command
    said = standard_input.text(command)
    if said is not None and is_known(said):
        yield RunCode(said)
    elif standard_input.takes_input(command) and said is None:
        return
    elif said is not None:
        yield RunCode(said)
    elif command.is_piped or command.reads_from is not None:
        if _is_fetched(call):
            yield FloorVerdict(
                deny("F6", "What is fetched from elsewhere and piped into an interpreter runs unseen.")
            )
        else:
            yield FloorVerdict(ask("F9", "Only running it tells which code is piped into the interpreter."))


def _is_fetched(call: ProgramCall) -> bool:
    before = call.scene.command.reads_from
    while before is not None:
        if any(word.value in standard_input.FETCHERS for word in before.words):
            return True
        before = before.reads_from
    return False


READERS = dict.fromkeys(MANNERS, interpreter)
