"""Uses allowed for a path, under any settings: F4 and F5, the folders of F1, the devices of F3.

A path is judged as it is written and by its target: a link in it hides neither its target nor itself. The answer holds
for the moment only; the code that opens the path checks again the file that it has opened.
"""

import os
import posixpath
import re
import stat
from collections.abc import Iterator, Sequence
from enum import Enum, auto

from shellgate import globs, protected_names
from shellgate.decision import Decision
from shellgate.verdicts import deny
from shellgate.world import World

_LOOKED_AT = 20_000  # files in a root, for the names of F4 among them
LONGEST = 4096  # bytes of a path, as most systems have it

_STANDARD = re.compile(
    r"/dev/(stdin|stdout|stderr|fd(/[0-9]+)?)"
)  # links into /proc, and no way around anything
_SYSTEM_FOLDER = re.compile(
    r"applications|bin|boot|cores|dev|etc|home|lib|lib32|lib64|libx32|library|media|mnt|net|network|nix|opt|private"
    r"|proc|root|run|sbin|srv|snap|sys|system|tmp|users|usr|var|volumes"
)
_SHARED_FOLDERS = (
    ("tmp",),
    ("private", "tmp"),
    ("var", "tmp"),
)  # a pattern in them may be of one's own files
_HOMES = (("home", "*"), ("users", "*"), ("root",), ("var", "root"))
_BLOCK_DEVICE = re.compile(
    r"(?:sd[a-z]+|[hv]d[a-z]+|xvd[a-z]+|dasd[a-z]+|r?disk)\d*(?:s\d+)*|nvme\d+n\d+(?:p\d+)?|mmcblk\d+(?:(?:p|boot|rpmb)\d*)?"
    r"|(?:md|dm-|loop|ram|sr|scd|fd|nbd|rbd|zd|zram|bcache|drbd|mtdblock|pmem|ubiblock)_?d?\d+(?:p\d+)?"
    r"|cdrom|dvd|cdrw|dvdrw|root|(?:mapper|disk|block|md|loop|zvol|bcache|drbd|cciss|ida|vg[^/]*)/.+"
)


class Access(Enum):
    """The access to a path; WRITE includes creating, linking, moving and deleting."""

    READ = auto()
    WRITE = auto()
    LIST = auto()


def protected(path: str, access: Access, world: World) -> Decision | None:
    """Return the floor's decision on a path, absolute or seen from the working folder: F4 or F5 denies it, or None."""
    if fault := unusable(path):
        return deny("F5", f"The path is refused: {fault}.")
    absolute = posixpath.join(world.cwd, path)
    if _STANDARD.fullmatch(re.sub(r"/(\./|/)*", "/", absolute)):
        return None
    for form in forms(absolute, world):
        if (decision := forbidden(form, access, world)) is not None:
            return decision
    return _by_another_name(absolute, access, world)


def forbidden(path: str, access: Access, world: World) -> Decision | None:
    """Return the decision of F4 and F5 on an absolute path by its names alone, without the file system."""
    found = protected_names.components(path)
    if why := protected_names.unread(found):
        return deny("F5", f"`{path}` is closed to agents: {why}.")
    if any(_is_at_or_beneath(found, protected_names.components(folder)) for folder in world.own):
        return deny(
            "F5", f"`{path}` is closed to agents: it is hubbub's own: configuration, tokens, audit log."
        )
    if access is Access.WRITE and (why := protected_names.unwritten(found)):
        return deny("F4", f"`{path}` is changed by people only: {why}.")
    return None


def unusable(path: str) -> str | None:
    """Return why no system would take this for a path, as a clause; None if one would."""
    if "\0" in path:
        return "it holds a NUL character"
    try:
        length = len(path.encode())
    except UnicodeEncodeError:
        return "it holds half of a character"
    return f"it has {length:,} bytes, and {LONGEST:,} are allowed" if length > LONGEST else None


def forms(absolute: str, world: World) -> Iterator[str]:
    """Yield the readings of an absolute path: as written, as it leads, and as the name of the link itself."""
    written = itself = posixpath.normpath(absolute)
    yield written
    folder, name = posixpath.split(absolute.rstrip("/"))
    if name in ("", ".", ".."):
        led = world.files.resolve(absolute)
    else:
        itself = posixpath.join(world.files.resolve(folder or "/"), name)
        led = world.files.resolve(itself)
    if itself != written:
        yield itself
    if led not in (written, itself):
        yield led
    if len(led.encode(errors="replace")) > LONGEST:
        yield "/etc"  # links have made it too long to be followed: it might be anything


def with_home(path: str, world: World) -> str:
    """Return the path with a `~` or `~user` at its start replaced; one of an unknown user stays as it is."""
    if not path.startswith("~") or unusable(path):
        return path
    user, slash, rest = path[1:].partition("/")
    home = world.lookup(user) if user and user != world.user else world.home
    return path if home is None else f"{home}{slash}{rest}"


def named(argument: str, world: World) -> str:
    """Return the absolute path that an argument of a call names; the gate looks at it, and the machine opens it."""
    return posixpath.join(world.cwd, with_home(argument, world))


def root_of(path: str, world: World) -> str | None:
    """The root that an absolute path without links is in, links resolved; None if it is in none."""
    for root in map(world.files.resolve, world.roots):
        if path == root or path.startswith(root.rstrip("/") + "/"):
            return root
    return None


def is_inside(path: str, world: World) -> bool:
    """Tell whether a path, absolute or seen from the working folder, leads into a root."""
    if unusable(path):
        return False
    return root_of(world.files.resolve(posixpath.join(world.cwd, path)), world) is not None


def is_secret(path: str, world: World) -> bool:
    """Tell whether a file there may hold secrets, by any of its names or its target's: `.env`, keys."""
    if unusable(path):
        return True
    absolute = posixpath.join(world.cwd, path)
    if any(
        protected_names.may_be_secret(protected_names.components(form)) for form in forms(absolute, world)
    ):
        return True
    return is_guarded_elsewhere(absolute, world)


def is_guarded_elsewhere(absolute: str, world: World) -> bool:
    """Tell whether the file at an absolute path is one of F4 under another name, a hard link."""
    status = world.files.look(absolute)
    return status is not None and _is_of_guarded(status, absolute, world)


def vital(path: str, world: World) -> str | None:
    """Return why F1 forbids to delete, move or change the path with all its content, as a clause; else None.

    Any component may be a shell pattern. Its possible matches count.
    """
    if unusable(path):
        return None
    absolute = posixpath.join(world.cwd, path)
    for form in forms(absolute, world):
        if why := _vital_names(protected_names.components(form), _homes(world)):
            return why
    return None


def holds_home(path: str, world: World) -> bool:
    """Tell whether an absolute path is a home or a folder above one, as written or as it leads."""
    for found in map(protected_names.components, forms(path, world)):
        above = [home for home in _homes(world) if found not in _SHARED_FOLDERS and len(found) <= len(home)]
        if any(_may_be(found, home[: len(found)]) for home in above):
            return True
    return False


def is_block_device(path: str) -> bool:
    """Tell whether an absolute path is that of a disk or a partition (F3), by its name or by its file."""
    if unusable(path):
        return False
    for form in (posixpath.normpath(path), _led_to(path)):
        found = protected_names.components(form)
        if found[:1] == ("dev",) and _BLOCK_DEVICE.fullmatch("/".join(found[1:])):
            return True
    try:
        return stat.S_ISBLK(os.stat(path).st_mode)  # noqa: PTH116, a path is text here
    except OSError:
        return False


def _led_to(path: str) -> str:
    """Return where a path leads; itself, where that is not ours to see."""
    try:
        return os.path.realpath(path)
    except OSError:
        return path


def _by_another_name(absolute: str, access: Access, world: World) -> Decision | None:
    """Return the decision of F4 and F5 on a file that has several names, one of them protected."""
    status = world.files.look(absolute)
    return None if status is None else alias(status, absolute, access, world)


def alias(status: os.stat_result, path: str, access: Access, world: World) -> Decision | None:
    """Return the decision of F4 and F5 on a file, seen or opened, that may be a protected one under another name."""
    if status.st_nlink < 2 or not stat.S_ISREG(status.st_mode):
        return None
    identity = (status.st_dev, status.st_ino)
    if identity in world.files.identities(closed_folders(world)):
        return deny("F5", f"`{path}` is closed to agents: it is another name of a protected file.")
    if access is Access.WRITE and _is_of_guarded(status, path, world):
        return deny("F4", f"`{path}` is changed by people only: it is another name of a protected file.")
    return None


def _is_of_guarded(status: os.stat_result, path: str, world: World) -> bool:
    """Tell whether a file is one of F4 under another name."""
    if status.st_nlink < 2 or not stat.S_ISREG(status.st_mode):
        return False
    return (status.st_dev, status.st_ino) in world.files.identities(_guarded_places(path, world))


def closed_folders(world: World) -> list[str]:
    """Return the folders of F5 on this machine, as far as they can be named; any other may be one by its name."""
    beneath_homes = (
        f"{home}/{name}" for home in (world.home, *world.homes) for name in protected_names.CLOSED_IN_HOMES
    )
    return [*beneath_homes, *world.own, "/etc", "/private/etc"]


def _guarded_places(absolute: str, world: World) -> Iterator[str]:
    """The files of F4 where another name of them would be made: in the roots, the home, and beside it."""
    for folder in {*world.roots, world.home, posixpath.dirname(absolute)}:
        for name in world.files.matches(folder, ".*"):
            if protected_names.folded(name) == ".git":
                inside = world.files.matches(f"{folder}/{name}", "*")
                yield from (f"{folder}/{name}/{each}" for each in inside if each != "objects")
            elif protected_names.unwritten((protected_names.folded(name),)):
                yield f"{folder}/{name}"
    for root in world.roots:  # further down, too
        for path in world.files.beneath(root, _LOOKED_AT) or ():
            if protected_names.unwritten(protected_names.components(path)):
                yield path


def _homes(world: World) -> list[tuple[str, ...]]:
    return [*_HOMES, *(protected_names.components(home) for home in (world.home, *world.homes))]


def _vital_names(found: Sequence[str], homes: Sequence[tuple[str, ...]]) -> str | None:
    if not found:
        return "it is the whole file system"
    if len(found) == 1 and _is_of_system(found[0]):
        return "it is a folder of the system"
    if any(_may_be(found, home[: len(found)]) for home in homes if len(found) <= len(home)):
        return "somebody's home is there"
    return _vital_pattern(found[:-1], found[-1], homes) if globs.is_pattern(found[-1]) else None


def _vital_pattern(above: Sequence[str], pattern: str, homes: Sequence[tuple[str, ...]]) -> str | None:
    """Return why the matches of a pattern in a folder are vital."""
    if any(_may_be(above, home) for home in homes):
        return "it is what is in a home"
    if any(_may_be(above, shared) for shared in _SHARED_FOLDERS) and pattern.strip("*?."):
        return None
    is_of_system = (len(above) == 1 and _is_of_system(above[0])) or tuple(above) in _SHARED_FOLDERS
    return "it is what is in a folder of the system" if is_of_system else None


def _is_of_system(name: str) -> bool:
    return _SYSTEM_FOLDER.fullmatch(name) is not None or globs.is_pattern(name)


def _may_be(found: Sequence[str], wanted: Sequence[str]) -> bool:
    """Tell whether names, some of them patterns, may be the wanted ones; a wanted `*` is any name."""
    return len(found) == len(wanted) and all(
        one in (name, "*") or (globs.is_pattern(name) and globs.component(name, is_wide=True)(one))
        for name, one in zip(found, wanted, strict=True)
    )


def _is_at_or_beneath(found: Sequence[str], folder: Sequence[str]) -> bool:
    return bool(folder) and tuple(found[: len(folder)]) == tuple(folder)
