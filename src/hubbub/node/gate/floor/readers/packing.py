"""Archives: what goes in, what comes out, and where."""

from collections.abc import Iterator

from hubbub.node.gate.floor.deeds import Call, Deed, OnlyReads, Shell, Touch, Use
from hubbub.node.gate.floor.programs import USAGES
from hubbub.node.gate.floor.readers import by_table
from hubbub.node.gate.floor.usage import arguments
from hubbub.node.gate.floor.words import beneath, plain, without
from hubbub.node.gate.shell.program import Word

_MAKES = frozenset({"c", "r", "u", "A", "create", "append", "update", "catenate", "concatenate"})
_TAKES = frozenset({"x", "extract", "get"})
_LISTS = frozenset({"t", "list", "d", "diff", "compare"})


def tar(call: Call) -> Iterator[Deed]:
    """`tar`: it reads what it packs, and writes what it unpacks; it may run programs on the way."""
    usage = USAGES["tar"]
    found = arguments(call.arguments, usage)
    for option, word in found.values:
        if option.name == "checkpoint-action":
            yield from _action(word)
    kept = [
        (option, word) for option, word in found.values if option.name not in ("checkpoint-action", "f", "C")
    ]
    folders = found.of("C")
    unpacks = bool(_TAKES & found.flags)
    for word in found.of("f"):
        yield Touch(word, Use.WRITE if _MAKES & found.flags else Use.READ)
    found.values = kept
    yield from by_table.by_options(found, usage)
    yield from (Touch(word, Use.WRITE if unpacks else Use.READ) for word in folders)
    if _LISTS & found.flags and not unpacks:
        yield OnlyReads()
    yield from _members(found.operands, folders, removes=found.has(("remove-files",)), unpacks=unpacks)
    if found.has(usage.follows) and not unpacks:
        yield from (Touch(word, Use.READ, follows=True) for word in found.operands)


def _members(operands: list[Word], folders: list[Word], *, removes: bool, unpacks: bool) -> Iterator[Deed]:
    for word in operands:
        where = beneath(folders[-1], word) if folders and not word.known_start.startswith("/") else word
        if unpacks:
            yield Touch(where, Use.WRITE)
        else:
            yield Touch(where, Use.DELETE if removes else Use.READ, descends=True)


def _action(word: Word) -> Iterator[Deed]:
    if word.known_start.startswith("exec="):
        yield Shell(without(word, len("exec=")))


def archive(call: Call) -> Iterator[Deed]:
    """`zip`: it reads what it packs; with `-m` that goes away."""
    usage = USAGES["zip"]
    found = arguments(call.arguments, usage)
    yield from by_table.by_options(found, usage)
    for place, word in enumerate(call.arguments[:-1]):
        if word.value == "-TT":
            yield Shell(call.arguments[place + 1])
    yield from (Touch(word, Use.WRITE) for word in found.operands[:1])
    use = Use.DELETE if found.has(("m", "move")) else Use.READ
    descends = found.has(usage.descends)
    follows = descends and not found.has(("y", "symlinks"))
    yield from (Touch(word, use, descends, follows=follows) for word in found.operands[1:])


def copy_in_and_out(call: Call) -> Iterator[Deed]:
    """`cpio`, `unzip`: where they unpack is where they are, unless they are told."""
    usage = USAGES[call.name]
    found = arguments(call.arguments, usage)
    yield from by_table.by_usage(found, usage, call)
    if call.name == "cpio" and found.has(("p", "pass-through")):
        yield from (Touch(word, Use.WRITE) for word in found.operands)
    if call.name == "unzip" and found.has(("l", "t", "v", "Z")):
        yield OnlyReads()
    elif call.name == "unzip" and not found.of("d"):
        yield Touch(plain("."), Use.WRITE)


READERS = {
    **dict.fromkeys(("tar", "bsdtar", "gtar"), tar),
    "zip": archive,
    "cpio": copy_in_and_out,
    "unzip": copy_in_and_out,
}
