"""`join`: an agent's identity and state of affairs; joining, reporting, declaring a scope, and leaving."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from hubbub.core.actions import inbox
from hubbub.core.agents import agents, connections, file_claims, scopes
from hubbub.core.presence import checkins
from hubbub.core.work import task_search
from hubbub.dialects.call import Call
from hubbub.dialects.dialect import Reply
from hubbub.dialects.hub import vocabulary
from hubbub.dialects.hub.token_budget import cost, fit_lists
from hubbub.dialects.hub.tool_set import DIALECT, Line, Name, OwnContext, Paths, act, shared_note, stay
from hubbub.model.agents.scopes import AgentConflict, Scope
from hubbub.model.errors import Invalid
from hubbub.model.lifecycle import HELD
from hubbub.model.people.rights import HUB
from hubbub.model.records import Condition, Presence, Profile, Task
from hubbub.store.tx import Tx

MOST = {"tasks": 4, "conflicts": 3, "here": 6, "claims": 4, "scope": 4}  # lines of each list
ROOM = 210  # tokens of all lines and names together; the rest of the reply takes some 70
BRIEFS = (30, 20, 12)  # tokens of a title or an occupation; the first that leaves room for all lines

ALL_OF_THEM = {"here": ": resource hubbub://agents"}  # where the rest of a list is

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
    """Get your name, unread mail, tasks and claims, who else is here, conflicts.

    Call it first, after a compaction, and when what you do changes. area, files: your scope; empty clears it.
    status offline: you leave, having done `doing`.
    """
    if name is not None:
        agents.require_nameable(name)
    here = act(tx, call, name)
    if here.name == HUB:
        raise Invalid("name is missing: say which name you join by")
    if name is not None:
        connections.remember(tx, call.connection, here.name)
    known = agents.presence(tx, here.project.id, here.name, lock=True)
    assert known is not None  # an agent that acts is present
    if status == "offline":
        checkins.end(tx, known, outcome=None, summary=doing, touched=None)
        return {"you": here.name, "status": "offline"}
    condition = _condition(known, doing, status)
    presence = stay(tx, here.project, here.name, condition, Profile(doing=doing))
    scope = _scope(tx, here, presence, area, files)
    held = [each.entry for each in file_claims.held(tx, here.project.id, here.name)]
    met = scopes.check(tx, here.project, Scope(scope.area, (*scope.files, *held)), but=presence.id)
    return {
        "you": here.name,
        "project": here.project.slug,
        **vocabulary.known(
            pending=inbox.pending(tx, here.project.id, here.name) or None,
            note=shared_note(tx, call, here.project),
        ),
        **_told(_standing(tx, here, scope, held, met), ROOM - cost(here.name) - cost(here.project.slug)),
    }


def _condition(known: Presence, doing: str | None, status: str | None) -> Condition:
    """Return the agent's new condition: as it says, else by what it does, else the old one."""
    if status is not None:
        return Condition(status)
    if doing is None:
        return known.condition
    return Condition.WORKING if doing else Condition.IDLE


def _scope(
    tx: Tx, here: OwnContext, presence: Presence, area: str | None, files: Sequence[str] | None
) -> Scope:
    """Declare the agent's scope; omitted parts stay."""
    before = scopes.declared(tx, presence)
    if area is None and files is None:
        return before
    scope = Scope.of(before.area if area is None else area or None, before.files if files is None else files)
    scopes.declare(tx, here.project, presence, scope)
    return scope


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing:
    """The state of affairs for an agent, for the lists of the reply."""

    tasks: Sequence[Task]
    conflicts: Sequence[AgentConflict]
    here: Sequence[Presence]
    claims: Sequence[str]
    scope: Sequence[str]

    def lines(self, brief: int) -> dict[str, list[str]]:
        """Return the lines of each list, with titles and the like cut to a cost of `brief`."""
        return {
            "tasks": [vocabulary.task_brief(each, brief) for each in self.tasks[: MOST["tasks"]]],
            "conflicts": [
                vocabulary.conflict_brief(each, brief) for each in self.conflicts[: MOST["conflicts"]]
            ],
            "here": [vocabulary.peer(each, brief) for each in self.here[: MOST["here"]]],
            "claims": [*self.claims[: MOST["claims"]]],
            "scope": [*self.scope[: MOST["scope"]]],
        }


def _standing(
    tx: Tx, here: OwnContext, scope: Scope, claimed: Sequence[str], met: Sequence[AgentConflict]
) -> _Standing:
    return _Standing(
        tasks=task_search.search(tx, [here.project.id], status=HELD, assignee=here.name, limit=50),
        conflicts=met,
        here=[
            each
            for each in agents.presences(tx, [here.project.id])
            if each.agent != here.name and each.is_live(tx.now)
        ],
        claims=claimed,
        scope=[*filter(None, [scope.area]), *scope.files],
    )


def _told(standing: _Standing, room: int) -> dict[str, list[str]]:
    """Return the first lines of each list, as many as there is room for, and the number of the rest."""
    tried = (standing.lines(brief) for brief in BRIEFS)
    lines = next((each for each in tried if _cost(each) <= room), standing.lines(BRIEFS[-1]))
    told = fit_lists(lines, room)
    for name, shown in told.items():
        if more := len(getattr(standing, name)) - len(shown):
            shown.append(f"and {more} more{ALL_OF_THEM.get(name, '')}")
    return {name: shown for name, shown in told.items() if shown}


def _cost(lists: Mapping[str, Sequence[str]]) -> int:
    return sum(cost(line) for lines in lists.values() for line in lines)
