"""Commands that run another for each word of their input or of a list: `xargs`, `parallel`."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from shellgate.floor.arguments.actions import (
    Action,
    FloorVerdict,
    OnlyReads,
    ProgramCall,
    RunCommand,
    RunShell,
)
from shellgate.floor.arguments.shell_words import filled, is_known, plain, unknown
from shellgate.floor.arguments.usage_tables import arguments, names
from shellgate.floor.dataflow.standard_input import given as given_to
from shellgate.floor.dataflow.standard_input import printed
from shellgate.floor.programs import USAGES, name_of
from shellgate.floor.readers import by_table, find_command
from shellgate.shell.program import Glob, SimpleCommand, Text, Word
from shellgate.verdicts import deny

_PLACES = re.compile(r"\{[-\d./#%]*\}")  # where `parallel` puts a word of its input, or a part of it
_COUNTERS = names("wc du stat ls file basename dirname cksum md5sum sha1sum sha256sum")
_ANYTHING = Word((Glob("*"),), "*")
_PRINTED = 20  # words that a group may print, which are checked
_SURELY_BAD = frozenset({"F1", "F3", "F4", "F5", "F8"})
_INPUT = '"$_"'  # a word of the input, as the shell is given it


def xargs(call: ProgramCall) -> Iterator[Action]:
    """Read `xargs`: its input becomes words of the command."""
    found = arguments(call.arguments, USAGES["xargs"])
    yield OnlyReads()
    yield from by_table.by_options(found)
    words = tuple(found.operands) or (plain("echo"),)
    marks = [mark.value or find_command.FOUND for mark in found.of("I", "i", "replace")]
    if not marks and found.has(("i", "replace")):
        marks = [find_command.FOUND]
    shown = _with(words, marks, [unknown("words of its input", many=True)])
    given, is_swept = _input(call)
    yield RunCommand(shown, tuple(_with(words, marks, each) for each in given), is_swept=is_swept)
    if loose := _printed_around(call):
        guesses = tuple(_with(words, marks, [each]) for each in loose)
        yield RunCommand(shown, guesses, is_guess=True, only=_SURELY_BAD)


def _printed_around(call: ProgramCall) -> list[Word]:
    """Return what a group, a loop or a shell may print into its pipe: of those, the last command is not known."""
    command = call.scene.command
    if not command.is_piped or command.reads_from is not None:
        return []
    said = [word for each in call.scene.program.commands for word in printed(each) or []]
    return list(dict.fromkeys(piece for word in said if is_known(word) for piece in _split(word)))[:_PRINTED]


def _with(words: tuple[Word, ...], marks: list[str], given: list[Word]) -> tuple[Word, ...]:
    if not marks:
        return (*words, *given)
    for each in given[:1]:
        words = filled(words, marks[-1], each)
    return words


def _input(call: ProgramCall) -> tuple[list[list[Word]], bool]:
    """Lists of words that the input may hold, if it can be told, and whether they are of a search."""
    source = call.scene.command.reads_from
    told = given_to(call.scene.command)
    body = next((each.body for each in told.redirects if each.body is not None), None) if told else None
    if body is not None:
        lines = [plain(line) for line in (body.value or "").splitlines()]
        return [_split(body), *([line] for line in lines)], False
    if source is None or source.name is None:
        return [], False
    if name_of(source.name.value or "") in find_command.READERS:
        found = find_command.search(source.words[1:])
        return [[word] for word in found.finds() + found.keys(call)], True
    said = printed(source)
    if said is not None and _is_made(source):
        return [_made(source)], False
    if said is None:
        return ([[_ANYTHING]], False) if _lists(source) and _counts(call) else ([], False)
    pieces = [piece for word in said for piece in _split(word)]
    return [pieces, *([word] for word in dict.fromkeys([*said, *pieces]))], False


def _lists(command: SimpleCommand) -> bool:
    """Tell whether it is a bare `ls`, which prints the names in its folder."""
    values = [word.value for word in command.words]
    return values[:1] == ["ls"] and all(
        value in ("-1", "-t", "-r", "-S", "-tr", "-1t") for value in values[1:]
    )


def _counts(call: ProgramCall) -> bool:
    """Tell whether the command only reports a file's size or type."""
    found = arguments(call.arguments, USAGES["xargs"])
    return bool(found.operands) and found.operands[0].value in _COUNTERS and not found.of("a")


def _is_made(source: SimpleCommand) -> bool:
    """Tell whether `printf` makes other words than its arguments."""
    form = (source.words[1].value or "") if len(source.words) > 1 else ""
    made = re.sub(r"%[sb]|\\[n0]$|\\n", "", form)
    return name_of((source.name.value if source.name else None) or "") == "printf" and (
        re.search(r"%|\\[0-7x]", made) is not None or ("%" in form and made.strip() != "")
    )


def _made(source: SimpleCommand) -> list[Word]:
    """Return the words that a format makes of its arguments; an unknown one if they are undetermined."""
    values = [word.value for word in source.words[1:]]
    known = [value for value in values if value is not None]
    if len(known) < len(values) or re.search(r"%[^sb%]", known[0]):
        return [unknown("what printf makes")]
    text, rest, count = "", known[1:], max(known[0].replace("%%", "").count("%"), 1)
    for at in range(0, max(len(rest), 1), count):
        taken = iter(rest[at : at + count])
        text += re.sub(r"%[sb%]", partial(_field, taken), known[0])
    text = re.sub(r"\\0?([0-7]{2,3})", lambda found: chr(int(found[1], 8)), text)
    text = re.sub(r"\\x([0-9a-fA-F]{1,2})", lambda found: chr(int(found[1], 16)), text)
    return _split(plain(re.sub(r"\\[nt0]", " ", text)))


def _field(taken: Iterator[str], found: re.Match[str]) -> str:
    return "%" if found[0] == "%%" else next(taken, "")


def _split(word: Word) -> list[Word]:
    value = word.value
    return [word] if value is None else [plain(piece) for piece in value.split()]


def parallel(call: ProgramCall) -> Iterator[Action]:
    """Read GNU `parallel`: the words behind `:::` become words of the command, which goes through a shell."""
    found = arguments(call.arguments, USAGES["parallel"])
    yield from by_table.by_options(found)
    words = found.operands
    at = next((place for place, word in enumerate(words) if word.known_start.startswith(":::")), len(words))
    template, given = tuple(words[:at]), words[at + 1 :]
    if not template and not given:
        yield FloorVerdict(deny("F6", "What is piped into it runs as commands."))
    from_file = at < len(words) and words[at].value == "::::"
    lines: list[Word | None] = [None] if from_file else [*given] or [None]
    yield from (RunShell(_line(template, each)) for each in lines)


def _line(template: tuple[Word, ...], given: Word | None) -> Word:
    """The command line for one word; one of the input is quoted by `parallel`, so that it stays one word."""
    if given is None:
        filled_in = tuple(_with_input(word) for word in template)
        return by_table.spaced([*filled_in] if filled_in != template else [*template, plain(_INPUT)])
    template = tuple(_with_input(word, find_command.FOUND) for word in template)
    whole = filled(template, find_command.FOUND, given)
    return by_table.spaced([*whole] if whole != template else [*template, given])


def _with_input(word: Word, mark: str = _INPUT) -> Word:
    parts = (Text(_PLACES.sub(mark, part.text)) if isinstance(part, Text) else part for part in word.parts)
    return replace(word, parts=tuple(parts))


READERS = {"xargs": xargs, "gxargs": xargs, "parallel": parallel}
