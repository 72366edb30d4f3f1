"""The effects of the tools that read, write and search files, and the floor's decisions on them: F3, F4 and F5."""

import posixpath
import stat
from collections.abc import Iterator, Mapping

from shellgate import globs, paths, protected_names
from shellgate.analysis import Analysis, CallPart
from shellgate.decision import Decision
from shellgate.paths import Access
from shellgate.verdicts import deny
from shellgate.world import World

ACCESS: Mapping[str, Access] = {
    "read_file": Access.READ,
    "write_file": Access.WRITE,
    "open_file": Access.READ,
    "list_dir": Access.LIST,
    "grep": Access.LIST,
    "glob": Access.LIST,
}
SEARCHES = ("grep", "glob")
_LOOKS = ("list_dir", *SEARCHES)  # at folders
_ACTS = ("write_file", "open_file")


def read(tool: str, arguments: Mapping[str, object], world: World) -> Analysis:
    """Read a call of one of the tools in `ACCESS`. Its target is the resolved path: exactly that must be opened."""
    path = named(tool, arguments, world)
    if fault := paths.unusable(path):
        return Analysis(floor=(deny("F5", f"The path is refused: {fault}."),), target=repr(path[:80]))
    led = world.files.resolve(path)
    is_inside = paths.root_of(led, world) is not None
    is_secret = tool != "list_dir" and paths.is_secret(path, world)
    part = CallPart(
        tool=tool,
        target=led,
        paths=(posixpath.normpath(path), led),
        floor=(*_floor(tool, path, led, world), *_of_pattern(tool, path, arguments, world)),
        is_harmless=tool not in _ACTS and is_inside and not is_secret,
        concern=_concern(is_inside=is_inside, is_secret=is_secret),
    )
    return Analysis(parts=(part,), target=led)


def named(tool: str, arguments: Mapping[str, object], world: World) -> str:
    """Return the absolute path of a call, `~` replaced; for `glob` the folder that its pattern begins in."""
    if tool != "glob":
        return paths.named(str(arguments.get("path", "")), world)
    folder, _ = globs.split(str(arguments.get("pattern", "")))
    cwd = paths.with_home(str(arguments.get("cwd") or ""), world)
    return posixpath.join(world.cwd, cwd, paths.with_home(folder, world))


def _floor(tool: str, path: str, led: str, world: World) -> Iterator[Decision]:
    if (decision := paths.protected(path, ACCESS[tool], world)) is not None:
        yield decision
    if tool in _LOOKS:
        return
    status = world.files.look(led)
    if tool == "write_file" and any(map(paths.is_block_device, (path, led))):
        yield deny("F3", f"`{led}` is a disk: writing to it destroys its content.")
    elif _is_device(path) or _is_device(led) or (status is not None and _is_special(status.st_mode)):
        yield deny("F5", f"`{led}` is a device, a pipe or a socket: file tools open regular files only.")
    elif tool == "write_file" and status is not None and stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        yield deny("F4", f"`{led}` has {status.st_nlink} names: who writes to one of them writes to all.")


def _of_pattern(tool: str, folder: str, arguments: Mapping[str, object], world: World) -> Iterator[Decision]:
    """Yield the floor's decisions on a pattern: no name at all, a way up, a protected place."""
    if tool != "glob":
        return
    _, rest = globs.split(str(arguments.get("pattern", "")))
    chosen = globs.braces(rest)
    if any(".." in each.split("/") for each in chosen):
        yield deny("F5", "The pattern goes up by `..` from folders that only a search would tell.")
    for each in chosen:
        path = posixpath.join(folder, each)
        if (why := paths.unusable(path)) is not None:
            yield deny("F5", f"The pattern is that of no path: {why}.")
        elif (said := paths.forbidden(path, Access.LIST, world)) is not None:
            yield said


def _is_device(path: str) -> bool:
    found = protected_names.components(path)
    return found[:1] == ("dev",) and found[:2] != ("dev", "shm")


def _is_special(mode: int) -> bool:
    """Tell whether it is neither a file nor a folder; the tool itself refuses a folder as a file."""
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _concern(*, is_inside: bool, is_secret: bool) -> str | None:
    if is_secret:
        return "it may hold secrets"
    return None if is_inside else "it is outside the folders that agents work in"
