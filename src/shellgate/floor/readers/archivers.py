"""Archives: their sources, their content, and its destination."""

import re
from collections.abc import Iterator

from shellgate.floor.arguments.actions import Action, OnlyReads, ProgramCall, RunShell, TouchPath, Use
from shellgate.floor.arguments.shell_words import beneath, plain, without
from shellgate.floor.arguments.usage_tables import Arguments, arguments
from shellgate.floor.dataflow import standard_input, unpacking, written_scripts
from shellgate.floor.programs import USAGES
from shellgate.floor.readers import by_table
from shellgate.shell.program import Word

_MAKES = frozenset({"c", "r", "u", "A", "create", "append", "update", "catenate", "concatenate"})
_TAKES = frozenset({"x", "extract", "get"})
_TO_OUTPUT = frozenset({"O", "to-stdout", "to-command"})
_OTHER_NAMES = frozenset({"transform", "xform", "s", "ignore-zeros", "i", "I", "M", "multi-volume", "T"})
_LISTS = frozenset({"t", "list", "d", "diff", "compare"})


def tar(call: ProgramCall) -> Iterator[Action]:
    """Read `tar`: it reads the packed files, and writes the unpacked ones; it may run programs on the way."""
    found = arguments(call.arguments, USAGES["tar"])
    for option, word in found.values:
        if option.name == "checkpoint-action":
            yield from _action(word)
    kept = [
        (option, word) for option, word in found.values if option.name not in ("checkpoint-action", "f", "C")
    ]
    folders = found.of("C")
    unpacks = bool(_TAKES & found.flags)
    packed = found.of("f")
    for word in packed:
        yield TouchPath(word, Use.WRITE if _MAKES & found.flags else Use.READ)
    found.values = kept
    yield from by_table.by_options(found)
    yield from (TouchPath(word, Use.WRITE if unpacks else Use.READ) for word in folders)
    if _LISTS & found.flags and not unpacks:
        yield OnlyReads()
    yield from _members(found.operands, folders, removes=found.has(("remove-files",)), unpacks=unpacks)
    if unpacks and not found.has(_TO_OUTPUT):
        yield from _unpacked(packed, found, folders, call)
    if found.has(found.usage.follows) and not unpacks:
        yield from (TouchPath(word, Use.READ, follows=True) for word in found.operands)


def _unpacked(
    packed: list[Word], found: Arguments, folders: list[Word], call: ProgramCall
) -> Iterator[Action]:
    """Yield the actions of files that `tar` unpacks, by names that only the archive contains."""
    folder = folders[-1] if folders else plain(".")
    for word in found.of("one-top-level"):
        folder = word if word.known_start.startswith("/") else beneath(folder, word)
    is_told = len(packed) == 1 and packed[0].value != "-" and not found.has(_OTHER_NAMES)
    archive = packed[0] if is_told else None
    members = [beneath(folder, word) for word in found.operands]
    is_absolute = found.has(("P", "absolute-names", "absolute-paths", "insecure"))
    yield from unpacking.unpacked(archive, folder, call.scene, members=members, is_absolute=is_absolute)


def _members(operands: list[Word], folders: list[Word], *, removes: bool, unpacks: bool) -> Iterator[Action]:
    for word in operands:
        where = beneath(folders[-1], word) if folders and not word.known_start.startswith("/") else word
        if unpacks:
            yield TouchPath(where, Use.WRITE)
        else:
            yield TouchPath(where, Use.DELETE if removes else Use.READ, descends=True)


def _action(word: Word) -> Iterator[Action]:
    if word.known_start.startswith("exec="):
        yield RunShell(without(word, len("exec=")))


def archive(call: ProgramCall) -> Iterator[Action]:
    """Read `zip`: it reads the packed files; with `-m` it deletes them."""
    found = arguments(call.arguments, USAGES["zip"])
    yield from by_table.by_options(found)
    for place, word in enumerate(call.arguments[:-1]):
        if word.value == "-TT":
            yield RunShell(call.arguments[place + 1])
    yield from (TouchPath(word, Use.WRITE) for word in found.operands[:1])
    use = Use.DELETE if found.has(("m", "move")) else Use.READ
    descends = found.has(found.usage.descends)
    follows = descends and not found.has(("y", "symlinks"))
    yield from (TouchPath(word, use, descends, follows=follows) for word in found.operands[1:])


def copy_in_and_out(call: ProgramCall) -> Iterator[Action]:
    """Read `cpio`, `pax`: they unpack into the present folder, unless they are given one."""
    found = arguments(call.arguments, USAGES[call.name])
    yield from by_table.by_usage(found, call)
    if found.has(("p", "pass-through")):
        yield from (TouchPath(word, Use.WRITE) for word in found.operands)
    if found.has(("i", "extract", "r", "p", "pass-through")) and not found.has(("t", "list", "to-stdout")):
        folders = found.of("D") or (found.operands[-1:] if found.has(("p", "pass-through")) else [])
        is_absolute = call.name == "pax" or found.has(("absolute-filenames", "insecure"))
        folder = next(iter(folders), plain("."))
        yield from unpacking.unpacked(None, folder, call.scene, is_absolute=is_absolute)


def unzip(call: ProgramCall) -> Iterator[Action]:
    """Read `unzip`: its members are written, unless it only lists or prints them."""
    found = arguments(call.arguments, USAGES["unzip"])
    yield from by_table.by_usage(found, call)
    if found.has(("l", "t", "v", "Z", "p", "c", "z")):
        if not found.has(("p", "c")):
            yield OnlyReads()
        return
    folder = next(iter(found.of("d")), plain("."))
    if not found.of("d"):
        yield TouchPath(plain("."), Use.WRITE)
    members = [beneath(folder, word) for word in found.operands[1:]]
    archive = next(iter(found.operands), None)
    is_absolute = any(re.fullmatch(r"-\w*:\w*", word.value or "") for word in call.arguments)
    yield from unpacking.unpacked(archive, folder, call.scene, members=members, is_absolute=is_absolute)


def seven(call: ProgramCall) -> Iterator[Action]:
    """Read `7z`, `rar`, `unar`: `x` and `e` write the archive's content, with `-o` into another folder."""
    found = arguments(call.arguments, USAGES[call.name])
    yield from by_table.by_usage(found, call)
    verb = found.operands[0].value if found.operands else None
    if verb not in ("x", "e", None):
        return
    folders = found.of("o")
    if not folders and call.name in ("rar", "unrar"):
        folders = [word for word in found.operands[2:] if word.known_start.endswith("/")]
    is_absolute = any(re.match(r"-spf", word.known_start) for word in call.arguments)
    folder = next(iter(folders), plain("."))
    yield from unpacking.unpacked(None, folder, call.scene, is_absolute=is_absolute)


def others(call: ProgramCall) -> Iterator[Action]:
    """Read programs that unpack into the folder that an option names, or the present one."""
    found = arguments(call.arguments, USAGES[call.name])
    yield from by_table.by_usage(found, call)
    yield from unpacking.unpacked(None, next(iter(found.of("o", "d", "C")), plain(".")), call.scene)


def of_python(call: ProgramCall) -> Iterator[Action]:
    """Read `python -m zipfile -e ARCHIVE FOLDER`, and `tarfile` likewise."""
    yield from (TouchPath(word, Use.EITHER) for word in call.arguments)
    words = [word for word in call.arguments if word.value not in ("-v", "--verbose")]
    if words and words[0].value in ("-e", "--extract"):
        yield from unpacking.unpacked(None, words[2] if len(words) > 2 else plain("."), call.scene)


def patch(call: ProgramCall) -> Iterator[Action]:
    """Read `patch`: it changes the files that its input names, unless it is given one."""
    found = arguments(call.arguments, USAGES["patch"])
    yield from by_table.by_usage(found, call)
    if found.operands or found.has(("dry-run", "o")):
        return
    folder = next(iter(found.of("d")), plain("."))
    yield from unpacking.patched(_text_of(next(iter(found.of("i")), None), call), folder, call.scene)


def _text_of(patched: Word | None, call: ProgramCall) -> str | None:
    """Return the text of a patch on the disk or in the command; None if it is known only when it runs."""
    command, scene = call.scene.command, call.scene
    if patched is None:
        said = standard_input.text(command)
        if said is not None:
            return said.value
        given = [
            each.target
            for each in command.redirects
            if each.operator == "<" and each.descriptor in (None, "0")
        ]
        patched = given[-1] if given else None
    if patched is None or patched.value is None or scene.cwd is None or written_scripts.may_be_changed(scene):
        return None
    data = scene.world.files.contents(scene.world.absolute(patched.value, scene.here), unpacking.MOST)
    return None if data is None else data.decode("utf-8", "replace")


READERS = {
    **dict.fromkeys(("tar", "bsdtar", "gtar"), tar),
    "zip": archive,
    **dict.fromkeys(("cpio", "bsdcpio", "pax"), copy_in_and_out),
    "unzip": unzip,
    **dict.fromkeys(("7z", "7za", "7zz", "7zr", "rar", "unrar"), seven),
    **dict.fromkeys(("zipfile", "tarfile"), of_python),
    "patch": patch,
    **dict.fromkeys(("unar", "unsquashfs", "bsdunzip", "ouch"), others),
}
