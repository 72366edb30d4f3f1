"""Programs with sources and a destination: what lies in a folder afterwards has its source's name."""

import re
from collections.abc import Iterable, Iterator

from shellgate.floor.arguments.actions import Action, ProgramCall, TouchPath, Use
from shellgate.floor.arguments.shell_words import beneath, is_known, last_name, may_be_many, plain, without
from shellgate.floor.arguments.usage_tables import Arguments, arguments
from shellgate.floor.dataflow import unpacking
from shellgate.floor.programs import USAGES
from shellgate.floor.readers import by_table
from shellgate.shell.program import Word

_LINKS = ("l", "s", "link", "symbolic-link")  # with these `cp` makes links, which F4 is about
_DELETES = (
    "delete",
    "del",
    "delete-before",
    "delete-during",
    "delete-after",
    "delete-delay",
    "delete-excluded",
)


def copy(call: ProgramCall) -> Iterator[Action]:
    """`cp`, `install`, `ditto`."""
    found = _found(call)
    sources, target = ends(found)
    yield from by_table.by_options(found)
    descends = by_table.goes_down(found, call)
    use = Use.WRITE if found.has(_LINKS) and call.name == "cp" else Use.READ
    if found.has(("d", "directory")) and call.name == "install":
        use = Use.WRITE
    for word in sources:
        goes_down = descends and use is Use.READ
        yield TouchPath(word, use, goes_down, follows=goes_down and found.has(found.usage.follows))
    yield from arrivals(sources, target, call)
    if target is not None and descends:
        is_whole = found.has(("T", "no-target-directory")) or call.name == "ditto"
        for word in sources:
            if is_whole or re.search(r"(^|/)\.\.?/*$", word.value or ""):
                yield from unpacking.poured(word, target, call.scene)
    if target is not None and found.has(("parents",)):
        yield from (TouchPath(beneath(target, word), Use.WRITE) for word in sources)


def move(call: ProgramCall) -> Iterator[Action]:
    """Read `mv`: each source goes away, with all its content."""
    found = _found(call)
    sources, target = ends(found)
    yield from by_table.by_options(found)
    yield from (TouchPath(word, Use.DELETE, descends=True) for word in sources)
    yield from arrivals(sources, target, call)


def link(call: ProgramCall) -> Iterator[Action]:
    """Read `ln`: the target counts as much as the link; a link to a folder counts for everything visible through it."""
    found = _found(call)
    sources, target = ends(found)
    yield from by_table.by_options(found)
    if target is None or (len(found.operands) == 1 and not found.of("t")):
        sources, target = found.operands, plain(".")
    yield from (TouchPath(word, Use.WRITE) for word in sources)
    if found.has(("s", "symbolic")):  # a relative link is read from where it lies
        yield from (
            TouchPath(beneath(_folder(target), word), Use.WRITE) for word in sources if _is_relative(word)
        )
    yield from arrivals(sources, target, call)


def synchronize(call: ProgramCall) -> Iterator[Action]:
    """`rsync`, `scp`: like a copy, but either side may be another machine's."""
    found = _found(call)
    yield from by_table.by_options(found)
    sources, target = ends(found)
    descends = by_table.goes_down(found, call)
    goes = found.has(("remove-source-files", "remove-sent-files"))
    for word in filter(is_local, sources):
        yield TouchPath(
            word,
            Use.DELETE if goes else Use.READ,
            descends or goes,
            follows=descends and found.has(found.usage.follows),
        )
    if target is None or not is_local(target):
        return
    if found.has(_DELETES):
        yield TouchPath(target, Use.DELETE, descends=True, must_be_known=True)
    yield from arrivals([_of_remote(word) for word in sources], target, call)
    for word in sources:
        is_here = is_local(word)
        is_whole = (word.value or "").endswith(("/", "/.")) and call.name == "rsync"
        if is_whole or (not is_here and (word.value is None or set(word.value) & set("*?["))):
            yield from unpacking.poured(word if is_here else None, target, call.scene)


def ends(found: Arguments) -> tuple[list[Word], Word | None]:
    """The sources and the destination."""
    if targets := found.of("t"):
        return found.operands, targets[-1]
    if len(found.operands) < 2:  # one that may become several has the destination in it
        many = [word for word in found.operands if not is_known(word) and may_be_many(word)]
        return found.operands, next(iter(many), None)
    return found.operands[:-1], found.operands[-1]


def arrivals(sources: Iterable[Word], target: Word | None, call: ProgramCall) -> Iterator[Action]:
    """Yield what is there afterwards: the destination, and in it, if it is a folder, a file for each source."""
    if target is None:
        return
    yield TouchPath(target, Use.WRITE)
    value = target.value
    if value is not None and not _is_folder(value, call):
        return
    for name in filter(None, map(last_name, sources)):
        yield TouchPath(beneath(target, name), Use.WRITE)


def is_local(word: Word) -> bool:
    """Tell whether a place to copy from or to is on this machine: no `host:path`, no address."""
    head, colon, _ = word.known_start.partition(":")
    return not colon or "/" in head


def _of_remote(word: Word) -> Word:
    head, colon, _ = word.known_start.partition(":")
    return without(word, len(head) + 1) if colon and not is_local(word) else word


def _is_folder(path: str, call: ProgramCall) -> bool:
    world = call.scene.world
    return (
        path.endswith(("/", "/.", "/.."))
        or path in (".", "..")
        or world.files.is_folder(world.absolute(path, call.scene.here))
    )


def _folder(target: Word) -> Word:
    """The folder of a link that is made at `target`."""
    value = target.value
    if value is None:
        return target
    return plain(value.rpartition("/")[0] or (value and "/" if value.startswith("/") else "."))


def _is_relative(word: Word) -> bool:
    return not word.known_start.startswith("/")


def _found(call: ProgramCall) -> Arguments:
    return arguments(call.arguments, USAGES[call.name])


READERS = {
    "cp": copy,
    "gcp": copy,
    "install": copy,
    "ginstall": copy,
    "ditto": copy,
    "mv": move,
    "ln": link,
    "link": link,
    "rsync": synchronize,
    "scp": synchronize,
}
