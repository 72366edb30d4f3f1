"""`join`: who one is and how things stand; coming, staying, saying where one works, and going."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import Field

from hubbub.core import agents, claims, inbox, scopes, stays, tasks
from hubbub.dialects.call import Call
from hubbub.dialects.dialect import Reply
from hubbub.dialects.hub import words
from hubbub.dialects.hub.tongue import DIALECT, NAME, Here, Line, Name, Paths, act, stay
from hubbub.model.errors import Invalid
from hubbub.model.lifecycle import HELD
from hubbub.model.records import Condition, Presence, Profile
from hubbub.model.rights import HUB
from hubbub.model.scopes import Scope
from hubbub.store.tx import Tx

MOST_TASKS, MOST_FILES, MOST_PEERS, MOST_CONFLICTS = 4, 4, 6, 3
MOST_SHOWN = 220  # characters of a list, however long the names in it are

Area = Annotated[str, Field(max_length=64)]


@DIALECT.tool()
def join(
    tx: Tx,
    call: Call,
    name: Name | None = None,
    doing: Line | None = None,
    status: Literal["working", "idle", "blocked", "waiting", "error", "offline"] | None = None,
    area: Area | None = None,
    files: Paths | None = None,
) -> Reply:
    """Who you are, your unread mail, tasks and claims, who else is here, conflicts.

    Call it first, after a compaction, and when what you do changes. area, files: your scope; empty clears it.
    status offline: you leave, having done `doing`.
    """
    here = act(tx, call, name)
    if here.name == HUB:
        raise Invalid("name is missing: say by which name you join")
    if name is not None and call.is_lasting:
        call.then(lambda: call.connection.__setitem__(NAME, here.name))
    known = agents.presence(tx, here.project.id, here.name, lock=True)
    assert known is not None  # whoever acts is there
    if status == "offline":
        stays.end(tx, known, outcome=None, summary=doing, touched=None)
        return {"you": here.name, "status": "offline"}
    condition = _condition(known, doing, status)
    presence = stay(tx, here.project, here.name, condition, Profile(doing=doing))
    scope = _scope(tx, here, presence, area, files)
    held = [each.entry for each in claims.held(tx, here.project.id, here.name)]
    met = scopes.check(tx, here.project, Scope(scope.area, (*scope.files, *held)), but=presence.id)
    return {
        "you": here.name,
        "project": here.project.slug,
        **_standing(tx, here, scope, held),
        **words.known(conflicts=_first(map(words.conflict_brief, met), MOST_CONFLICTS)),
    }


def _condition(known: Presence, doing: str | None, status: str | None) -> Condition:
    """How the agent is from now on: as it says, or as what it does says, else as it was."""
    if status is not None:
        return Condition(status)
    if doing is None:
        return known.condition
    return Condition.WORKING if doing else Condition.IDLE


def _scope(tx: Tx, here: Here, presence: Presence, area: str | None, files: Sequence[str] | None) -> Scope:
    """Where the agent works; what it leaves out stays as it was."""
    before = scopes.declared(tx, presence)
    if area is None and files is None:
        return before
    scope = Scope.of(before.area if area is None else area or None, before.files if files is None else files)
    scopes.declare(tx, here.project, presence, scope)
    return scope


def _standing(tx: Tx, here: Here, scope: Scope, claimed: Sequence[str]) -> Reply:
    """How things stand for the agent, in few words: counts, and the first of each."""
    held = tasks.search(tx, [here.project.id], status=HELD, assignee=here.name, limit=50)
    others = [
        each
        for each in agents.presences(tx, [here.project.id])
        if each.agent != here.name and each.is_live(tx.now)
    ]
    return words.known(
        pending=inbox.pending(tx, here.project.id, here.name) or None,
        tasks=_first(map(words.task_brief, held), MOST_TASKS),
        scope=_first([*filter(None, [scope.area]), *scope.files], MOST_FILES),
        claims=_first(claimed, MOST_FILES),
        here=_first(map(words.peer, others), MOST_PEERS),
    )


def _first(lines: Iterable[str], most: int) -> list[str]:
    """The first of the lines, as many as fit, and how many more there are."""
    every = list(lines)
    shown: list[str] = []
    for line in every[:most]:
        if sum(map(len, shown)) + len(line) > MOST_SHOWN:
            break
        shown.append(line)
    more = len(every) - len(shown)
    return [*shown, f"and {more} more"] if more else shown
