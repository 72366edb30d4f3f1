"""Explanation of a file: the agents that declared it, or hold it because they edit it."""

from collections.abc import Iterator

from hubbub.core.agents import agents, file_claims, scopes
from hubbub.core.why.explanation import NOTHING, Fact, Value, ago, ahead, named, quoted, say
from hubbub.model.agents.file_claims import Claim
from hubbub.model.agents.pattern_automata import STEPS, StepBudget
from hubbub.model.agents.scopes import Scope, ScopeIndex, overlap
from hubbub.model.records import Presence, Project
from hubbub.store.tx import Tx

PATH_LENGTH = 200
EFFORT = 10 * STEPS  # of comparing patterns; it is a read, and covers all present agents
SHOWN = 5  # declared files, or claims, of an agent


def account(tx: Tx, project: Project, path: str) -> Iterator[Fact]:
    """Yield all facts about the agents at work on the file. Raises `Invalid` for a wrong path."""
    scope = Scope.of(None, [path])
    known = {area.slug: area for area in scopes.areas(tx, project.id)}
    file = quoted(scope.files[0], PATH_LENGTH)
    inside = sorted(each for each in known if overlap(scope, Scope(each), known) is not None)
    if inside:
        told = say("file_area", file=file, areas=list(map(named, inside)), count=len(inside))
        yield Fact("file.area", told, {"areas": inside})
    ground = ScopeIndex(scope, known, StepBudget(EFFORT))
    held = [
        fact
        for each in scopes.live(tx, project.id)
        if _meant(ground, each.scope)
        for fact in _held(tx, project, file, each.agent, ground)
    ]
    yield from held
    if held:
        mode = project.conflict_mode
        yield Fact("file.mode", say(f"mode_{mode}"), {"conflict_mode": mode})
    else:
        yield Fact("file.free", say("file_free", file=file), {"file": scope.files[0]})


def is_declared(tx: Tx, project: Project, path: str) -> bool:
    """Tell whether a present agent has named exactly that path."""
    return any(path in each.scope.files for each in scopes.live(tx, project.id))


def _meant(ground: ScopeIndex, declared: Scope) -> Scope:
    """Return the part of a declared scope that holds the file."""
    is_area = declared.area is not None and ground.overlap(Scope(declared.area)) is not None
    files = tuple(each for each in declared.files if ground.overlap(Scope(None, (each,))) is not None)
    return Scope(declared.area if is_area else None, files)


def _held(tx: Tx, project: Project, file: str, by: str, ground: ScopeIndex) -> Iterator[Fact]:
    """Yield facts about a present agent's claims and declarations around the file."""
    current = agents.presence(tx, project.id, by)
    assert current is not None  # an agent with a declaration is there
    claimed = [
        each
        for each in file_claims.of_presence(tx, current)
        if ground.overlap(Scope(None, (each.entry,))) is not None
    ]
    for each in claimed[:SHOWN]:
        yield _claimed(tx, current, each)
    if len(claimed) > SHOWN:
        told = say("file_claimed_more", by=named(by), count=len(claimed) - SHOWN)
        yield Fact(
            "file.claimed_more", told, {"agent": by, "entries": [each.entry for each in claimed[SHOWN:]]}
        )
    declared = _meant(ground, scopes.declared(tx, current))
    if declared:
        yield _declared(tx, current, file, declared)


def _claimed(tx: Tx, current: Presence, claim: Claim) -> Fact:
    """Tell what holds a claim and what ends it."""
    worktree = quoted(claim.worktree, PATH_LENGTH) if claim.worktree else ""
    told = say(
        "file_claimed_editing" if claim.instance is not None else "file_claimed",
        by=named(claim.agent),
        file=quoted(claim.entry, PATH_LENGTH),
        at=ago(claim.claimed_at, tx.now),
        branch=say("on_branch", branch=named(claim.branch)) if claim.branch else NOTHING,
        worktree=say("in_worktree", worktree=worktree) if worktree else NOTHING,
        until=ahead(claim.expires_at, tx.now),
        silent=ahead(current.expires_at, tx.now),
    )
    detail = {"agent": claim.agent, "file": claim.entry, "branch": claim.branch, "worktree": claim.worktree}
    times = {"since": claim.claimed_at, "edited_at": claim.edited_at, "expires_at": claim.expires_at}
    return Fact("file.claimed", told, {**detail, **times})


def _declared(tx: Tx, current: Presence, file: str, declared: Scope) -> Fact:
    by = current.agent
    what: list[Value] = [say("area", area=named(declared.area))] if declared.area is not None else []
    what += [quoted(each, PATH_LENGTH) for each in declared.files[:SHOWN]]
    told = say(
        "file_held",
        by=named(by),
        file=file,
        what=what,
        since=ago(current.opened_at, tx.now),
        until=ahead(current.expires_at, tx.now),
    )
    detail = {"agent": by, "area": declared.area, "files": list(declared.files)}
    return Fact("file.held", told, {**detail, "since": current.opened_at, "expires_at": current.expires_at})
