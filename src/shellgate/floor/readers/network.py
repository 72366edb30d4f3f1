"""Programs that speak to other machines: what they send, store here, and run."""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from shellgate.floor.arguments.actions import (
    Action,
    Concern,
    FloorVerdict,
    ProgramCall,
    RunShell,
    TouchPath,
    Use,
)
from shellgate.floor.arguments.shell_words import beneath, last_name, plain, without
from shellgate.floor.arguments.usage_tables import arguments
from shellgate.floor.dataflow import standard_input
from shellgate.floor.programs import USAGES
from shellgate.floor.readers import by_table, unknown_programs
from shellgate.floor.readers.shells import STANDARD_INPUT
from shellgate.shell.program import Text, Word
from shellgate.verdicts import ask, deny

_APPROVALS = re.compile(r"/api/v1/(approvals|nodes|tokens|users)\b")
_UPLOADS = ("d", "data-urlencode", "json", "F", "H", "w", "variable", "b")
_INNER = re.compile(
    r"(?:^|//|@)\[?(?:localhost|127\.|0\.0\.0\.0|::1|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d"
    r"|12[0-7])\.|fd[0-9a-f]{2}:|fe80:|metadata\.)",
    re.IGNORECASE,
)
_SOCAT = re.compile(r"(?:exec|system|shell)(?=:)", re.IGNORECASE)
_SOCAT_FILES = re.compile(r"(?:open|create|gopen|file)(?=:)", re.IGNORECASE)
_EVERYWHERE = frozenset({"F1", "F2", "F3"})  # decisions about another machine, whose files are not ours
_OWN_SHELL = deny("F6", "It gives a shell to another machine.")


def fetch(call: ProgramCall) -> Iterator[Action]:
    """Read `curl`, `wget`: the files they send, and those in which they store their downloads."""
    found = arguments(call.arguments, USAGES[call.name])
    yield from by_table.by_options(found)
    for option, word in found.values:
        if option.name in _UPLOADS and call.name == "curl":
            yield from _upload(word)
        if option.name == "b" and "=" not in word.source:
            yield TouchPath(word, Use.READ)
        if (option.name == "K" and word.value in STANDARD_INPUT) or (
            option.name == "e" and call.name == "wget"
        ):
            yield FloorVerdict(ask("F9", "Only running it tells how it is set up."))
    addresses = found.operands + found.of("url")
    folder = next(iter(found.of("output-dir", "P", "d")), plain("."))
    is_named_there = found.has(("O", "remote-name", "remote-name-all")) is (call.name == "curl")
    for word in addresses:
        yield from _address(word)
        name = last_name(_path(word)) if is_named_there else None
        if name is not None:
            yield TouchPath(beneath(folder, name), Use.WRITE)
    yield Concern("it speaks to other machines")


def _upload(word: Word) -> Iterator[Action]:
    """`@FILE`, `name=@FILE`, `name=<FILE`: a file that is sent."""
    for sign in re.finditer(r"(?:^|=)[@<]|^[^=@]*@", word.known_start):
        yield TouchPath(without(word, sign.end()), Use.READ)


def _address(word: Word) -> Iterator[Action]:
    text = unquote("".join(part.text for part in word.parts if isinstance(part, Text)))
    if text.lower().startswith("file:"):
        path = re.sub(r"(?i)^file:(//(localhost)?)?", "", text)
        yield TouchPath(plain(path), Use.READ)
    if _APPROVALS.search(text):
        yield FloorVerdict(deny("F8", "Approvals, people and machines are managed only by a person's hand."))
    if _INNER.search(text):
        yield Concern("it speaks to a private, local or metadata address")


def talk(call: ProgramCall) -> Iterator[Action]:
    """`http`, `xh`: an address like any other, and files by `@`."""
    found = arguments(call.arguments, USAGES[call.name])
    yield from by_table.by_options(found)
    for word in found.operands:
        yield from _address(word)
        yield from _upload(word)
    yield Concern("it speaks to other machines")


def _path(word: Word) -> Word:
    """The path of an address, without its query."""
    value = word.value
    if value is None:
        return word
    return plain(re.sub(r"^[a-z+]+://[^/]*", "", value.partition("?")[0].partition("#")[0]))


def ssh(call: ProgramCall) -> Iterator[Action]:
    """Read `ssh`: the other machine guards its commands; those that run here are read."""
    found = arguments(call.arguments, USAGES["ssh"])
    yield Concern("it acts on another machine")
    yield from by_table.by_options(found)
    for word in found.of("o"):
        name, _, _ = word.known_start.replace(" ", "=", 1).partition("=")
        if name.lower() in (
            "proxycommand",
            "localcommand",
            "knownhostscommand",
            "sendenv",
            "permitlocalcommand",
        ):
            yield RunShell(without(word, len(name) + 1))
    rest = arguments(found.operands[1:], found.usage)  # options may follow the host
    yield from by_table.by_options(rest)
    if rest.operands:
        yield RunShell(by_table.spaced(rest.operands), is_guess=True, only=_EVERYWHERE)
    elif (said := standard_input.text(call.scene.command)) is not None:
        yield RunShell(said, is_guess=True, only=_EVERYWHERE)
    elif call.scene.command.is_piped:
        yield FloorVerdict(ask("F6", "What is piped into it runs on the other machine."))


def netcat(call: ProgramCall) -> Iterator[Action]:
    """Read `nc`, `ncat`: with `-e` or `-c` any peer that connects gets a program."""
    found = arguments(call.arguments, USAGES["nc"])
    yield Concern("it speaks to other machines")
    yield from by_table.by_options(found)
    if found.of("e", "c"):
        yield FloorVerdict(_OWN_SHELL)
    if (said := standard_input.text(call.scene.command)) is not None:
        yield from _address(said)


def socat(call: ProgramCall) -> Iterator[Action]:
    """`socat`: addresses may be files, and commands."""
    yield Concern("it speaks to other machines")
    for word in call.arguments:
        text = word.known_start
        if _SOCAT.match(text):
            yield FloorVerdict(_OWN_SHELL)
        elif (found := _SOCAT_FILES.match(text)) is not None:
            yield TouchPath(plain(text[found.end() + 1 :].partition(",")[0]), Use.EITHER)
        elif text.startswith(("/", ".", "~")):
            yield TouchPath(plain(text.partition(",")[0]), Use.EITHER)


def multiplexer(call: ProgramCall) -> Iterator[Action]:
    """`tmux`, `screen`: the commands that they are told to run."""
    words = call.arguments
    yield Concern("it runs where nobody looks")
    yield from (RunShell(word) for word in words if " " in (word.value or ""))
    yield from unknown_programs.guess(call)
    yield from by_table.by_options(arguments(words, USAGES[call.name]))


READERS = {
    **dict.fromkeys(("curl", "wget", "wget2", "aria2c", "axel"), fetch),
    **dict.fromkeys(("http", "https", "xh", "httpie"), talk),
    "ssh": ssh,
    **dict.fromkeys(("nc", "ncat", "netcat"), netcat),
    "socat": socat,
    **dict.fromkeys(("tmux", "screen"), multiplexer),
}
