"""Editors of text that are languages: `sed`, `awk`, and editors that take commands: `ed`, `ex`, `vim -c`."""

import re
from collections.abc import Iterator

from shellgate.floor.arguments.actions import (
    Action,
    Concern,
    FloorVerdict,
    OnlyReads,
    ProgramCall,
    RunCode,
    RunShell,
    TouchPath,
    Use,
)
from shellgate.floor.arguments.shell_words import is_known, plain, without
from shellgate.floor.arguments.usage_tables import Arguments, arguments
from shellgate.floor.dataflow import standard_input
from shellgate.floor.dataflow.one_liners import LITERAL, literals
from shellgate.floor.programs import USAGES
from shellgate.floor.readers import by_table
from shellgate.floor.readers.sed_scripts import commands as sed_commands
from shellgate.shell.program import Unknown, Word
from shellgate.verdicts import ask

_RUNS = re.compile(r"\bsystem\s*\(\s*(\S?)|(?<!\|)\|(?!\|)&?\s*(\S)|(\S)\s*\|&?\s*getline\b")
_WRITES = re.compile(r"\bprintf?\b[^;}\n>]*>>?\s*(\S)")
_READS = re.compile(r"\bgetline\b[^;}\n<]*<\s*(\S)")
_LOADS = re.compile(r"@(load|include)\b")
_REACHES = re.compile(  # beyond the files that the command names
    r"\b(?:system|getline|ENVIRON|ARGV|ARGC|PROCINFO|SYMTAB|FUNCTAB|fflush|close)\b|(?<!\|)\|(?!\|)|@"
)
_TAKES_NAMES = re.compile(r"\bgetline\b|\bARGV\b|\bsystem\b")  # what is built in the program may be a path
_MARK = "\ufdd1"  # stands where a string was: a code point that is no character

_EX_SHELL = re.compile(r"^[:\s%.$,0-9']*(?:silent!?\s+)?(?:r(?:ead)?\s*|w(?:rite)?\s+)?!(.+)$")
_EX_WRITE = re.compile(
    r"^[:\s%.$,0-9']*(?:w|wq|write|saveas|sav|x|up|update|r|read|e|edit|so|source|sp|split|vs|vsp|vsplit|tabe|tabedit|tabnew|new|vnew|vie|view|badd?|fin|find|sv|sview)!?\s+(?:>>\s*)?(\S+)\s*$"
)
_EX_CODE = re.compile(
    r"\b(system|systemlist|py3?|python3?|lua|perl|ruby|tcl|term(inal)?|job_start|libcall|eval|exec?(ute)?)\b"
)


def sed(call: ProgramCall) -> Iterator[Action]:
    """Read `sed`: its script may write, read and run; with `-i` its files are rewritten."""
    found = arguments(call.arguments, USAGES["sed"])
    rewrites = found.has(("i", "in-place"))
    scripts, files = _scripts(found, "e", "f")
    if not rewrites:
        yield OnlyReads()
    yield from (TouchPath(word, Use.READ) for word in found.of("f"))
    for script in scripts:
        yield from _known(script)
        done = list(sed_commands(_text(script)))
        yield from done
        if any(isinstance(each, RunShell) for each in done):
            yield Concern("the script runs commands")
    yield from (TouchPath(word, Use.WRITE if rewrites else Use.READ) for word in files)


def awk(call: ProgramCall) -> Iterator[Action]:
    """Read `awk`: its program may write, read and run."""
    found = arguments(call.arguments, USAGES["awk"])
    yield OnlyReads()
    in_place = any("inplace" in (word.value or "") for word in found.of("i", "l"))
    options = [(option, word) for option, word in found.values if option.name not in ("e", "i")]
    scripts, files = _scripts(found, "e", "f", "E")
    found.values = options
    yield from by_table.by_options(found)
    for script in scripts:
        yield from _known(script)
        yield from _awk(_text(script))
        if _TAKES_NAMES.search(_text(script)):
            yield RunCode(script)
            yield from (TouchPath(_set_to(word), Use.READ) for word in found.of("v"))
    for word in files:
        yield TouchPath(word, Use.WRITE if in_place else Use.EITHER if "=" in word.known_start else Use.READ)


def _set_to(word: Word) -> Word:
    """Return the value in `NAME=value`."""
    return without(word, len(word.known_start.partition("=")[0]) + 1)


def _scripts(found: Arguments, code: str, *files: str) -> tuple[list[Word], list[Word]]:
    """Return the code of the call, and its operands without it."""
    given = found.of(code)
    if given or found.of(*files):
        return given, found.operands
    return found.operands[:1], found.operands[1:]


def _known(script: Word) -> Iterator[Action]:
    if not is_known(script):
        yield Concern("only running it tells the whole of the script")


def _text(word: Word) -> str:
    """Return the word as text; unknown parts become a meaningless mark."""
    return "".join("_" if isinstance(part, Unknown) else part.text for part in word.parts)


def _awk(program: str) -> Iterator[Action]:
    strings = literals(program, quotes='"')
    bare = re.sub(r"#[^\n]*", "", LITERAL['"'].sub(_MARK, _without_patterns(program)))
    order = iter(strings)
    given = [next(order, "") if sign == _MARK else "" for sign in bare]
    for found in _RUNS.finditer(bare):
        place = next((found.start(group) for group in (1, 2, 3) if found.group(group)), found.start())
        if bare[place] == _MARK:
            yield RunShell(plain(given[place]))
        elif found[3] is None or found[3] != _MARK:
            yield FloorVerdict(ask("F9", "Only running it tells what the awk program runs."))
    for found in _WRITES.finditer(bare):
        yield from _file(bare, given, found.start(1), Use.WRITE)
    for found in _READS.finditer(bare):
        yield from _file(bare, given, found.start(1), Use.READ)
    if _REACHES.search(bare):
        yield Concern("the awk program does more than to read its files")
    if _LOADS.search(bare):
        yield FloorVerdict(ask("F9", "The awk program loads another."))


def _file(bare: str, given: list[str], place: int, use: Use) -> Iterator[Action]:
    if bare[place] == _MARK:
        yield TouchPath(plain(given[place]), use)
    elif use is Use.WRITE:
        yield FloorVerdict(ask("F9", "Only running it tells which file the awk program writes."))


def _without_patterns(program: str) -> str:
    """Return the program without its regular expressions, in which characters have other meanings."""
    return re.sub(r"(?<![\w)\]\"\s])\s*/(?:\\.|[^/\\\n\"])+/", " 0 ", program)


def editor(call: ProgramCall) -> Iterator[Action]:
    """Read `ed`, `ex`, `vim`: their files are written, their commands may write others and run programs."""
    found = arguments(call.arguments, USAGES[call.name])
    given = [word for word in found.operands if word.known_start.startswith("+")]
    found.operands = [word for word in found.operands if not word.known_start.startswith("+")]
    codes = found.of("c", "e") + given
    pairs = zip(call.arguments, call.arguments[1:], strict=False)
    codes += [code for option, code in pairs if re.fullmatch(r"-[a-zA-Z]+c", option.value or "")]
    found.values = [(option, word) for option, word in found.values if word not in codes]
    yield from by_table.by_usage(found, call)
    for word in codes:
        yield from _ex(_text(word).lstrip("+"))
    said = standard_input.text(call.scene.command)
    if said is not None:
        yield from _ex(_text(said))
    before = call.scene.command.reads_from
    if before is not None and standard_input.printed(before) is not None:
        yield from (deed for word in before.words[1:] for deed in _ex(_text(word)))


def _ex(text: str) -> Iterator[Action]:
    for line in re.split(r"\n|\\n|(?<!\\)\|", text):
        if found := _EX_SHELL.match(line):
            yield RunShell(plain(found[1]))
        elif found := _EX_WRITE.match(line):
            yield TouchPath(plain(found[1]), Use.WRITE)
        elif found := _EX_CODE.search(line):
            yield FloorVerdict(ask("F9", f"The editor is told to run code: `{found[0]}`."))


READERS = {
    **dict.fromkeys(("sed", "gsed", "ssed"), sed),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), awk),
    **dict.fromkeys(("ed", "ex", "vi", "vim", "nvim", "view", "gvim", "rvim"), editor),
}
