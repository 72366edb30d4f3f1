"""What comes out of archives and their like, where nobody knows its names beforehand, or where the disk tells them."""

from collections.abc import Iterator, Sequence
from posixpath import join, normpath

from hubbub.node.gate import names, paths
from hubbub.node.gate.floor import archives, written
from hubbub.node.gate.floor.deeds import Deed, Scene, Verdict
from hubbub.node.gate.floor.targets import leads
from hubbub.node.gate.floor.verdicts import ask
from hubbub.node.gate.paths import Access
from hubbub.node.gate.shell.program import Word
from hubbub.node.gate.world import World

MOST = 8 * 1024 * 1024  # bytes of an archive whose names are read

# Of what is protected wherever it is, or beneath a home: what a folder may be on the way to.
_ON_THE_WAY = (
    (".claude", "settings.json"),
    (".codex", "config.toml"),
    (".gemini", "settings.json"),
    (".cursor", "mcp.json"),
    (".vscode", "mcp.json"),
    (".zed", "settings.json"),
    (".goose", "config.yaml"),
    (".relay", "agents.pool.yml"),
    (".git", "hooks", "pre-commit"),
    (".ssh", "authorized_keys"),
    (".config", "fish", "config.fish"),
    (".config", "hubbub", "node.toml"),
    (".config", "systemd", "user", "x.service"),
    (".local", "share", "hubbub", "x"),
    (".local", "state", "hubbub", "x"),
    ("Library", "Keychains", "x"),
    ("Library", "Application Support", "hubbub", "x"),
)


def into(folder: Word, scene: Scene) -> Iterator[Deed]:
    """Files with names that nobody knows are put into a folder: asked about where protected ones may be among them."""
    for lead in leads(folder, scene).paths:
        if why := _may_protect(lead.path, scene.world):
            reason = f"Only running it tells which files it puts into `{folder.source}`: {why}."
            yield Verdict(ask("F9", reason))
            return


def unpacked(
    archive: Word | None, folders: Sequence[Word], scene: Scene, *, is_absolute: bool = False
) -> Iterator[Deed]:
    """An archive is unpacked into folders; `is_absolute` where its names may lead anywhere."""
    listed = None if archive is None else _listed(archive, scene)
    if listed is not None:
        for folder in folders:
            yield from _arrivals(listed, folder, scene, is_absolute=is_absolute)
        return
    if is_absolute:
        yield Verdict(
            ask("F9", "Only running it tells which files it writes: names in the archive may lead anywhere.")
        )
    for folder in folders:
        yield from into(folder, scene)


def _listed(archive: Word, scene: Scene) -> list[str] | None:
    """The names in an archive that lies on the disk as it will be unpacked; None where they cannot be told."""
    if archive.value is None or scene.cwd is None or written.may_be_changed(scene):
        return None
    path = scene.world.absolute(archive.value, scene.here)
    if paths.protected(path, Access.READ, scene.world):
        return None
    data = scene.world.files.contents(path, MOST)
    return None if data is None else archives.names(data)


def _arrivals(listed: list[str], folder: Word, scene: Scene, *, is_absolute: bool) -> Iterator[Deed]:
    """What is asked of an archive with something in it that is protected where it comes to lie, cut short or not."""
    if folder.value is None:
        yield from into(folder, scene)
        return
    here = scene.world.absolute(folder.value, scene.here)
    for name in listed:
        whole = join(here, name if is_absolute else name.lstrip("/"))
        steps = [step for step in name.split("/") if step]
        for path in (whole, *(join(here, *steps[cut:]) for cut in range(1, len(steps)))):
            if said := paths.forbidden(normpath(path), Access.WRITE, scene.world):
                yield Verdict(ask(said.rule_id, f"`{name}` is in the archive. {said.reason}"))
                return


def _may_protect(path: str, world: World) -> str | None:
    """Why a folder may come to hold what is protected by what its names are, as a clause; else None."""
    if paths.unusable(path):
        return None
    if paths.holds_home(path, world):
        return "it is a home, or above one"
    for form in paths.forms(path, world):
        found = names.components(form)
        for way in _ON_THE_WAY:
            if any(_leads_on(found, way, length, form, world) for length in range(1, len(way))):
                return "what tells programs what to run may be kept there"
    return None


def _leads_on(found: tuple[str, ...], way: tuple[str, ...], length: int, path: str, world: World) -> bool:
    """Whether a folder is `length` steps on a way that ends at something protected."""
    if found[-length:] != tuple(map(names.folded, way[:length])):
        return False
    return paths.forbidden(join(path, *way[length:]), Access.WRITE, world) is not None
