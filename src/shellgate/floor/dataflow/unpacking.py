"""Unpacking of archives and the like, whose names are unknown beforehand, or on the disk."""

import re
from collections.abc import Iterator, Sequence
from posixpath import join, normpath

from shellgate import paths, protected_names
from shellgate.floor.arguments.actions import Action, CommandContext, FloorVerdict
from shellgate.floor.dataflow import archive_names, written_scripts
from shellgate.floor.dataflow.path_resolution import leads
from shellgate.paths import Access
from shellgate.shell.program import Word
from shellgate.verdicts import ask
from shellgate.world import World

_MOST_FILES = 2_000  # in a folder whose content is put into another
_PER_ARCHIVE = 400  # words of a command take as long to read as the names in an archive
_PATCHED = re.compile(r"(?m)^(?:\+\+\+|---|\*\*\*|Index:|rename to|copy to)[ \t]+([^\t\n]+)")
MOST = 8 * 1024 * 1024  # bytes of an archive whose names are read


def into(folder: Word, scene: CommandContext) -> Iterator[Action]:
    """Yield the actions of putting files with unknown names into a folder: questions, if they may be protected."""
    for lead in leads(folder, scene).paths:
        if why := _may_protect(lead.path, scene.world):
            reason = f"Only running it tells which files it puts into `{folder.source}`: {why}."
            yield FloorVerdict(ask("F9", reason))
            return


def unpacked(
    archive: Word | None,
    folder: Word,
    scene: CommandContext,
    *,
    members: Sequence[Word] = (),
    is_absolute: bool = False,
) -> Iterator[Action]:
    """Yield the actions of unpacking an archive, or some of it; `is_absolute` if its names may lead anywhere."""
    listed = None if archive is None else _listed(archive, scene)
    if listed is not None:
        yield from _arrivals(listed, folder, scene, is_absolute=is_absolute)
        return
    if is_absolute:
        yield FloorVerdict(
            ask("F9", "Only running it tells which files it writes: names in the archive may lead anywhere.")
        )
    for place in members or [folder]:
        yield from into(place, scene)


def poured(source: Word | None, folder: Word, scene: CommandContext) -> Iterator[Action]:
    """Yield the actions of putting one folder's content into another; no source if it is on another machine."""
    asked = [*into(folder, scene)]
    if not asked:
        return
    listed = None
    if (
        source is not None
        and source.value is not None
        and scene.cwd is not None
        and not written_scripts.may_be_changed(scene)
    ):
        place = normpath(scene.world.absolute(source.value, scene.here))
        if scene.world.files.is_folder(place):
            listed = scene.world.files.beneath(place, _MOST_FILES)
        if listed is not None:
            listed = [path.removeprefix(f"{place}/") for path in listed]
    yield from asked if listed is None else _arrivals(listed, folder, scene, is_absolute=False, what="folder")


def patched(text: str | None, folder: Word, scene: CommandContext) -> Iterator[Action]:
    """Yield the actions of a patch on the files that it names, in a folder; no text if it is unknown."""
    found = None if text is None else [name.strip() for name in _PATCHED.findall(text)]
    if found is None or any(name.startswith('"') and "\\" in name for name in found):
        yield from into(folder, scene)
        return
    told = [name.strip('"') for name in dict.fromkeys(found) if name != "/dev/null"]
    yield from _arrivals(told, folder, scene, is_absolute=False, what="patch")


def _listed(archive: Word, scene: CommandContext) -> Sequence[str] | None:
    """Return the names in an archive on the disk, if it will be unpacked unchanged; None if they are unknown."""
    if archive.value is None or scene.cwd is None or written_scripts.may_be_changed(scene):
        return None
    path = scene.world.absolute(archive.value, scene.here)
    if paths.protected(path, Access.READ, scene.world) or not scene.effort.spend(_PER_ARCHIVE):
        return None
    data = scene.world.files.contents(path, MOST)
    return None if data is None else archive_names.names(data)


def _arrivals(
    listed: Sequence[str], folder: Word, scene: CommandContext, *, is_absolute: bool, what: str = "archive"
) -> Iterator[Action]:
    """Yield questions about entries that would land, cut short or not, on a protected path."""
    if folder.value is None:
        yield from into(folder, scene)
        return
    here = scene.world.absolute(folder.value, scene.here)
    for name in listed:
        whole = join(here, name if is_absolute else name.lstrip("/"))
        steps = [step for step in name.split("/") if step]
        for path in (whole, *(join(here, *steps[cut:]) for cut in range(1, len(steps)))):
            if said := paths.forbidden(normpath(path), Access.WRITE, scene.world):
                yield FloorVerdict(ask(said.rule_id, f"`{name}` is in the {what}. {said.reason}"))
                return


def _may_protect(path: str, world: World) -> str | None:
    """Return why a folder of such names may come to hold protected files, as a clause; else None."""
    if paths.unusable(path):
        return None
    if paths.holds_home(path, world):
        return "it is a home, or above one"
    found = (protected_names.leads_on(protected_names.components(form)) for form in paths.forms(path, world))
    return next(filter(None, found), None)
