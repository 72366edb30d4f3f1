"""Targets of a command's words: a path, the files of a pattern, or a path known only when it runs."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from posixpath import normpath

from shellgate import globs
from shellgate.floor.arguments.actions import CommandContext
from shellgate.floor.dataflow import made_links
from shellgate.shell.program import Glob, Text, Unknown, Word

MOST = 500  # paths that one word is followed to

# Names that a pattern is assumed to match, even if they are not there yet.
_ANYWHERE = (".env", ".git", ".mcp.json")
_AT_THE_TOP = ("etc", "System", "private", "proc")
_IN_A_HOME = (".ssh", ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".claude.json", "Library")
_OF_A_PROCESS = ("self", "environ", "mem", "fd", "root", "cwd")

_CROWDED = 5_000  # names in a folder; in a larger one each pattern is looked up by itself
_SOMETHING = "_"  # stands for an unknown name
_HOLE = "\ufdd0"  # stands for an unknown part within a name: a code point that is no character


@dataclass(frozen=True, slots=True)
class PathLead:
    """One path that a word may lead to."""

    path: str  # absolute
    is_sure: bool = True  # False: only for a certain value of an unknown part


@dataclass(frozen=True, slots=True)
class PathLeads:
    """Everything known about the target of a word."""

    paths: tuple[PathLead, ...]
    pattern: str | None  # as written, absolute, if it has patterns
    is_known: bool
    is_whole: bool = True  # False: a pattern stands for more than was followed


def leads(word: Word, scene: CommandContext) -> PathLeads:
    """Return where the word leads, seen from the folder that the command runs in."""
    if (value := word.value) is not None:
        path = scene.world.absolute(value, scene.here)
        return PathLeads((PathLead(path), *_linked([PathLead(path)], scene)), None, is_known=True)
    shape = "".join(_shape(part) for part in word.parts)
    absolute = f"{scene.here.rstrip('/')}/{_escaped_start(shape)}" if not shape.startswith("/") else shape
    found = list(islice(_follow(absolute, scene), MOST + 1))
    known = _HOLE not in shape
    if shape.startswith(f"{_HOLE}/"):  # the unknown part may be empty
        rest = shape.lstrip(_HOLE)
        found += [PathLead(lead.path, is_sure=False) for lead in islice(_follow(rest, scene), MOST)]
    is_whole = len(found) <= MOST
    found += _linked(found[:MOST], scene)
    return PathLeads(tuple(found), absolute if known else None, known, is_whole=is_whole)


def _linked(found: list[PathLead], scene: CommandContext) -> list[PathLead]:
    """Return the targets by links that the program makes on the way."""
    return [
        PathLead(path, lead.is_sure)
        for lead in found
        for path in made_links.through(normpath(lead.path), scene)
    ]


def _shape(part: Text | Glob | Unknown) -> str:
    """Turn a part into a pattern: quoted text loses its magic, an unknown part is a hole."""
    if isinstance(part, Unknown):
        return _HOLE
    if isinstance(part, Glob):
        return part.text
    return "".join(f"\\{each}" if each in "*?[]\\!+@()" else each for each in part.text)


def _escaped_start(shape: str) -> str:
    return shape.removeprefix("./")


def _plain(shape: str) -> str:
    """Return the name of a pattern without matches: itself, as bash leaves it."""
    return shape.replace("\\", "")


def _follow(shape: str, scene: CommandContext) -> Iterator[PathLead]:
    """Yield the paths of an absolute pattern: existing ones, and protected ones that would match."""
    waiting = [PathLead("")]
    for name in filter(None, shape.split("/")):
        following: list[PathLead] = []
        for lead in waiting:
            following += _names(lead, name, scene)
            if len(following) > MOST:
                break
        waiting = following
    yield from (PathLead(lead.path or "/", lead.is_sure) for lead in waiting)


def _names(above: PathLead, name: str, scene: CommandContext) -> list[PathLead]:
    """Return the paths that one component of a pattern matches in a folder."""
    if _HOLE in name:
        bare = name.replace(_HOLE, "")
        placeholder = PathLead(f"{above.path}/{_plain(name.replace(_HOLE, _SOMETHING))}", above.is_sure)
        if not bare:
            at_the_top = [] if above.path else [PathLead(f"/{one}", is_sure=False) for one in _AT_THE_TOP]
            return [placeholder, *at_the_top]
        fits = globs.component(name.replace(_HOLE, "*"), is_wide=True)
        return [
            placeholder,
            *(
                PathLead(f"{above.path}/{one}", is_sure=False)
                for one in _protected_names(above.path, scene)
                if fits(one)
            ),
        ]
    if not globs.is_pattern(name) or (name == _plain(name) and not set(name) & set("*?[(")):
        return [PathLead(f"{above.path}/{_plain(name)}", above.is_sure)]
    is_wide = scene.is_swept or scene.shows_hidden
    fits = globs.component(name, is_wide=is_wide)
    there = _matches(above.path or "/", name, is_wide, scene)
    perhaps = _protected_names(above.path, scene) if name.strip("*?") or not above.path else ()
    names = [*there, *(one for one in perhaps if fits(one) and one not in there)]
    return [PathLead(f"{above.path}/{one}", above.is_sure) for one in names or [_plain(name)]]


def _matches(folder: str, pattern: str, is_wide: bool, scene: CommandContext) -> list[str]:
    fits = globs.component(pattern)
    listed = _listed(folder, scene)
    if len(listed) > _CROWDED:
        found = scene.world.files.matches(folder, pattern)
    else:
        found = [name for name in listed if fits(name)]
    if is_wide and not pattern.startswith("."):
        fits = globs.component(pattern, is_wide=True)
        found += [name for name in scene.world.files.matches(folder, ".*") if fits(name)]
    return found


def _listed(folder: str, scene: CommandContext) -> list[str]:
    """Return the names in a folder, read once for all the patterns of a call."""
    listed = scene.effort.listed
    if folder not in listed:
        listed[folder] = [name for each in ("*", ".*") for name in scene.world.files.matches(folder, each)]
    return listed[folder]


def _protected_names(folder: str, scene: CommandContext) -> tuple[str, ...]:
    if not folder:
        return _AT_THE_TOP
    if folder == "/proc" or folder.startswith("/proc/"):
        return _OF_A_PROCESS
    if folder in (scene.world.home, *scene.world.homes):
        return _ANYWHERE + _IN_A_HOME
    return _ANYWHERE
