"""Who works on a file, as far as agents have said where they work."""

from collections.abc import Iterator, Mapping

from hubbub.core import agents, scopes
from hubbub.core.why.account import Fact, ago, ahead, listed, named, quoted
from hubbub.model.records import Project
from hubbub.model.scopes import Area, Ground, Scope, overlap
from hubbub.store.tx import Tx

PATH_LENGTH = 200
SHOWN = 5  # declared files of an agent
MODES = {
    "block": "Others who declare that they work there are refused meanwhile.",
    "warn": "Others may declare the same, and are told of it.",
    "off": "The project does not mind overlaps.",
}


def account(tx: Tx, project: Project, path: str) -> Iterator[Fact]:
    """Every fact that the hub has about who works on the file. Raises `Invalid` for what can be no path."""
    scope = Scope.of(None, [path])
    known = {area.slug: area for area in scopes.areas(tx, project.id)}
    file = quoted(scope.files[0], PATH_LENGTH)
    inside = sorted(each for each in known if overlap(scope, Scope(each), known) is not None)
    if inside:
        told = f"{file} lies in the area{'s' if len(inside) > 1 else ''} {listed(map(named, inside))}."
        yield Fact("file.area", told, {"areas": inside})
    held = [
        _held(tx, project, file, each.agent, meant)
        for each in scopes.live(tx, project.id)
        if (meant := _meant(scope, each.scope, known))
    ]
    yield from held
    if held:
        mode = project.conflict_mode
        yield Fact("file.mode", MODES[mode], {"conflict_mode": mode})
    else:
        told = f"Nobody who is here has said that they work on {file}: it is free."
        yield Fact("file.free", told, {"file": scope.files[0]})


def is_declared(tx: Tx, project: Project, path: str) -> bool:
    """Whether somebody who is there has named exactly that."""
    return any(path in each.scope.files for each in scopes.live(tx, project.id))


def _meant(file: Scope, declared: Scope, known: Mapping[str, Area]) -> Scope:
    """What of a declared scope the file is in."""
    ground = Ground(file, known)
    is_area = declared.area is not None and ground.overlap(Scope(declared.area)) is not None
    files = tuple(each for each in declared.files if ground.overlap(Scope(None, (each,))) is not None)
    return Scope(declared.area if is_area else None, files)


def _held(tx: Tx, project: Project, file: str, by: str, declared: Scope) -> Fact:
    what = [f"the area {named(declared.area)}"] if declared.area is not None else []
    what += [quoted(each, PATH_LENGTH) for each in declared.files[:SHOWN]]
    current = agents.presence(tx, project.id, by)
    assert current is not None  # who has declared something is there
    told = (
        f"{named(by)} says that it works on {file}: it has declared {listed(what)}, and is here since"
        f" {ago(current.opened_at, tx.now)}. That ends when it leaves, declares something else, or is silent"
        f" until {ahead(current.expires_at, tx.now)}."
    )
    detail = {"agent": by, "area": declared.area, "files": list(declared.files)}
    return Fact("file.held", told, {**detail, "since": current.opened_at, "expires_at": current.expires_at})
