"""Consoles with a way out to the shell: of databases, of debuggers."""

import re
from collections.abc import Iterator

from shellgate.floor.arguments.actions import (
    Action,
    FloorVerdict,
    ProgramCall,
    RunCode,
    RunShell,
    TouchPath,
    Use,
)
from shellgate.floor.arguments.shell_words import plain
from shellgate.floor.arguments.usage_tables import arguments, names
from shellgate.floor.dataflow import standard_input
from shellgate.floor.programs import USAGES
from shellgate.floor.readers import by_table
from shellgate.shell.program import Word
from shellgate.verdicts import ask

_SHELL = re.compile(r"\s*(?:\.(?:shell|system)|(?:platform\s+)?shell|system|make|\\!|!|pipe .*\|)\s*(\S.*)")
_FILE = re.compile(r"\s*(?:\.(?:output|once|backup|save|log|excel|clone|open|dump)|\\o|\\w|tee|\\g)\s+(\S+)")
_SOURCE = re.compile(r"\s*(?:\.(?:read|import|load|restore)|\\i|\\ir|source)\s+(\S+)")
_PIPE = re.compile(r"\s*(?:\.(?:output|once|read)|\\o|\\g)\s*\|\s*(.+)")
_PROGRAM = re.compile(r"(?i)\bfrom\s+program\b|\bto\s+program\b|\bsystem\s*\(|\bpython\b|\bload_extension\b")
_CODE = ("c", "cmd", "command", "e", "ex", "iex", "O", "o")


def console(call: ProgramCall) -> Iterator[Action]:
    """Read `sqlite3`, `psql`, `mysql`, `gdb`: their commands are searched for files and for a shell."""
    found = arguments(call.arguments, USAGES[call.name])
    codes = found.of(*(_CODE if call.name in ("gdb", "lldb") else _CODE[:4]))
    if call.name in ("sqlite3", "duckdb"):
        yield from (TouchPath(word, Use.WRITE) for word in found.operands[:1] if word.value != ":memory:")
        codes = codes + found.operands[1:]
    elif call.name in ("gdb", "lldb"):
        yield from (TouchPath(word, Use.READ) for word in found.operands)
    found.values = [(option, word) for option, word in found.values if word not in codes]
    yield from by_table.by_options(found)
    said = standard_input.text(call.scene.command)
    for word in [*codes, *([said] if said is not None else [])]:
        yield from _commands(word)


def _commands(word: Word) -> Iterator[Action]:
    yield RunCode(word)
    for line in re.split(r"[\n;]", word.value or word.known_start):
        if out := _PIPE.match(line) or _SHELL.match(line):
            yield RunShell(plain(out[1]))
        elif written := _FILE.match(line):
            yield TouchPath(plain(written[1].strip("\"'")), Use.WRITE)
        elif read := _SOURCE.match(line):
            yield TouchPath(plain(read[1].strip("\"'")), Use.READ)
        elif _PROGRAM.search(line):
            yield FloorVerdict(ask("F9", "It runs a program that it names in a language of its own."))


READERS = dict.fromkeys(names("sqlite3 duckdb psql mysql mariadb gdb lldb"), console)
