"""Programs with irregular arguments: `dd`, `test`, `gzip`, `fdisk`, `jq`."""

import re
from collections.abc import Iterator

from shellgate.floor.arguments.actions import Action, Concern, OnlyReads, ProgramCall, TouchPath, Use
from shellgate.floor.arguments.shell_words import is_known, plain, unknown, without
from shellgate.floor.arguments.usage_tables import arguments, names
from shellgate.floor.programs import USAGES
from shellgate.floor.readers import by_table
from shellgate.shell.program import Word

_PATHS = {"if": Use.READ, "of": Use.WRITE}
_LOOKS = {  # words with which programs for disks only look
    "fdisk": frozenset({"-l", "--list", "-x"}),
    "sfdisk": frozenset({"-l", "--list", "-d", "--dump", "-J", "--json"}),
    "sgdisk": frozenset({"-p", "--print"}),
    "gdisk": frozenset({"-l"}),
    "parted": frozenset({"-l", "--list", "-s", "-m", "print", "unit", "s", "free"}),
    "hdparm": frozenset({"-I", "-i", "-t", "-T"}),
    "tune2fs": frozenset({"-l"}),
    "losetup": frozenset({"-a", "-l", "--list", "--all"}),
    "blockdev": frozenset({"--getsize64", "--getsz", "--getss", "--getro", "--report"}),
    "nvme": frozenset({"list", "smart-log", "id-ctrl"}),
    "cryptsetup": frozenset({"luksDump", "isLuks", "status"}),
    "mdadm": frozenset({"-D", "--detail", "-E", "--examine", "-Q"}),
    "zpool": frozenset({"list", "status", "get"}),
    "zfs": frozenset({"list", "get"}),
    "wipefs": frozenset({"-n", "--no-act"}),
}
_REACHES = re.compile(r"\$ENV|\$__prog|\b(?:env|strenv|envsubst|import|include|modulemeta|load\w*|system)\b")
_DOT = re.compile(r"-\w*\.\w*")  # `rg -.`: hidden files too
_OF_INPUT = names("rg ripgrep ag ack ugrep")
_BUSY = names("-e -f -d -r -w -x -s -L -h -b -c -p -S -u -g -k -N -O -G -a")


def dd(call: ProgramCall) -> Iterator[Action]:
    """`dd if=… of=…`: F9 asks about a target that only running tells."""
    for word in call.arguments:
        name, equals, _ = word.known_start.partition("=")
        if equals and name in _PATHS:
            yield TouchPath(without(word, len(name) + 1), _PATHS[name], must_be_known=name == "of")
        elif not equals and not is_known(word):
            yield TouchPath(unknown(word.source), Use.WRITE, must_be_known=True)


def test(call: ProgramCall) -> Iterator[Action]:
    """`test`, `[`: only what a file operator stands before is a path."""
    yield OnlyReads()
    for operator, word in zip((plain(""), *call.arguments), call.arguments, strict=False):
        if operator.value in _BUSY:
            yield TouchPath(word, Use.LIST)


def compress(call: ProgramCall) -> Iterator[Action]:
    """`gzip` and the like: the file goes, unless it is kept or the result is printed."""
    found = arguments(call.arguments, USAGES[call.name])
    yield from by_table.by_options(found)
    is_kept = found.has(("c", "k", "keep", "stdout", "to-stdout", "t", "test", "l", "list"))
    for word in found.operands:
        yield TouchPath(word, Use.READ if is_kept else Use.DELETE, descends=found.has(("r", "recursive")))


def disk(call: ProgramCall) -> Iterator[Action]:
    """Programs for disks and their parts: many are asked only what is there."""
    found = arguments(call.arguments, USAGES[call.name])
    words = {word.value or "" for word in call.arguments}
    asked = {word for word in words if not word.startswith("/")}
    only_looks = asked <= _LOOKS[call.name] and bool(asked or call.name in ("wipefs", "losetup"))
    use = Use.READ if only_looks else Use.WRITE
    yield from (TouchPath(word, use) for word in found.operands)
    yield from by_table.by_options(found)


def clock(call: ProgramCall) -> Iterator[Action]:
    """`date`, `hostname`: they set what they are given, and else they say it."""
    found = arguments(call.arguments, USAGES[call.name])
    yield from by_table.by_options(found)
    if not found.of("s", "f", "F", "b") and all(word.known_start.startswith("+") for word in found.operands):
        yield OnlyReads()


def processes(call: ProgramCall) -> Iterator[Action]:
    """`ps`: with `E`, or an `e` without a dash, it shows the environment of others."""
    found = arguments(call.arguments, USAGES[call.name])
    if "E" in found.flags or any(
        "e" in word.known_start for word in found.operands if word.known_start.isalpha()
    ):
        yield Concern("it dumps the environment of other processes")
    elif all(map(is_known, call.arguments)):
        yield OnlyReads()


def jq(call: ProgramCall) -> Iterator[Action]:
    """`jq`, `yq`: some options take two values, the second a file; some filters reach beyond the files."""
    words = list(call.arguments)
    kept: list[Word] = []
    while words:
        word = words.pop(0)
        if word.value in ("--slurpfile", "--rawfile") and len(words) > 1:
            yield TouchPath(words[1], Use.READ)
        if word.value in ("--slurpfile", "--rawfile", "--arg", "--argjson"):
            del words[:2]
        else:
            kept.append(word)
    if any(_REACHES.search(word.source) for word in kept):
        yield Concern("the filter may read other files, or dump the environment")
    found = arguments(kept, USAGES[call.name])
    if not all(map(is_known, found.operands[:1])):
        yield Concern("only running it tells the whole of the filter")
    yield from by_table.by_usage(found, call)


def search(call: ProgramCall) -> Iterator[Action]:
    """`grep`, `rg`: without a file they look through the folder, unless there is an input to look through."""
    shows_hidden = any(_DOT.fullmatch(word.value or "") for word in call.arguments)
    found = arguments([*[plain("--hidden")] * shows_hidden, *call.arguments], USAGES[call.name])
    yield from by_table.by_usage(found, call)
    named = len(found.operands) - (not found.has(found.usage.given))
    if (
        named <= 0
        and found.has(found.usage.descends)
        and not (call.name in _OF_INPUT and call.scene.command.is_piped)
    ):
        yield TouchPath(plain("."), Use.READ, descends=True)


def listing(call: ProgramCall) -> Iterator[Action]:
    """`cd` and `pushd`: without a folder, to the home or to one that only running tells."""
    yield OnlyReads()
    operands = [word for word in call.arguments if word.value == "-" or not word.known_start.startswith("-")]
    if not operands and call.name == "cd":
        operands = [plain(call.scene.world.home)]
    elif not operands or operands[0].value == "-" or operands[0].known_start.startswith("+"):
        yield Concern("only running it tells which folder it goes to")
        return
    yield from (TouchPath(word, Use.LIST) for word in operands)


def pager(call: ProgramCall) -> Iterator[Action]:
    """`less`, `more`: a word that begins with `+` is a command to them, and some commands run others."""
    found = arguments(call.arguments, USAGES[call.name])
    if any(word.known_start.startswith("+") for word in call.arguments):
        yield Concern("the pager is told to run a command")
    yield from by_table.by_usage(found, call)


READERS = {
    "dd": dd,
    "dcfldd": dd,
    "dc3dd": dd,
    "date": clock,
    "hostname": clock,
    "ps": processes,
    **dict.fromkeys(_LOOKS, disk),
    **dict.fromkeys(names("jq gojq jaq yq xq tomlq"), jq),
    **dict.fromkeys(names("grep egrep fgrep zgrep pcregrep rg ripgrep ag ack ugrep"), search),
    **dict.fromkeys(names("less more"), pager),
    **dict.fromkeys(names("cd chdir pushd popd"), listing),
    "test": test,
    "[": test,
    "[[": test,
    **dict.fromkeys(
        names("gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 compress uncompress brotli"),
        compress,
    ),
}
