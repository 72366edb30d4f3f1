"""Breakers stop agents that repeat themselves, with the reason, until a person lets them go on.

A stopped agent's next tool is denied; it begins nothing and is not woken. It loses nothing: it keeps what it holds
for as long as it would otherwise.
"""

from uuid import UUID

from hubbub.core.agents.agents import OWN_DOORS
from hubbub.core.snapshots import cards
from hubbub.model.errors import AgentStopped, Invalid, existing
from hubbub.model.ids import new_id, parse_id
from hubbub.model.limits.breakers import (
    LARGEST,
    RULES,
    BreakerRules,
    Loop,
    LoopKind,
    Stop,
    reason,
)
from hubbub.model.people.rights import HUB
from hubbub.model.records import Project
from hubbub.store.agents import agents as agent_rows
from hubbub.store.limits import breakers as rows
from hubbub.store.tx import Tx

# These need no rule of their own, so they are the store's functions.
rules = rows.rules
all_rules = rows.all_rules
of_project = rows.of_project


def put_rules(tx: Tx, project: Project, new: BreakerRules) -> BreakerRules:
    """Set a project's limits of repetition. Records `project.breakers`. Raises `Invalid`."""
    values = {name: getattr(new, name) for name in RULES}
    for name, value in values.items():
        if not (value == 0 or 2 <= value <= LARGEST):
            raise Invalid(f"{name}: must be 0 (never) or from 2 to {LARGEST:,}")
    rows.put_rules(tx, project.id, new)
    tx.record("project.breakers", project_id=project.id, detail=values)
    return new


def trip(tx: Tx, loop: Loop) -> Stop | None:
    """Stop the agents of a loop, unless they are stopped for it or its rule is off now. Records `breaker.tripped`."""
    limit = rows.rules(tx, loop.project_id).most(loop.kind)
    names = tuple(sorted(loop.agents))
    agent_rows.lock_names(tx, loop.project_id, *names)
    if not limit or loop.count < limit or rows.same(tx, loop.project_id, loop.kind, names, loop.task_id):
        return None
    stop = rows.put(
        tx,
        Stop(
            id=new_id(),
            project_id=loop.project_id,
            kind=loop.kind,
            agents=names,
            count=loop.count,
            task_id=loop.task_id,
            refs=loop.refs,
            stopped_at=tx.now,
        ),
    )
    _record(tx, "tripped", stop, by=HUB)
    return stop


def is_too_often(tx: Tx, project: Project, times: int) -> bool:
    """Tell whether making the same call so many times in a row breaks the project's rule."""
    most = rows.rules(tx, project.id).repeating
    return bool(most) and times >= most


def repeated(tx: Tx, project: Project, agent: str, times: int) -> Stop | None:
    """Stop an agent that has made the same call so many times in a row, if the project's rule forbids it."""
    loop = Loop(project_id=project.id, kind=LoopKind.REPEATING, agents=(agent,), count=times)
    return trip(tx, loop)


def lift(tx: Tx, project: Project, ref: str) -> Stop:
    """Let stopped agents go on; their counts restart. Records `breaker.lifted`. Raises `NotFound`."""
    stop_id = parse_id(ref)
    stop = existing(rows.take(tx, project.id, stop_id) if stop_id is not None else None, "stop", ref)
    _record(tx, "lifted", stop, by=tx.actor.label, is_gone=True)
    return stop


def stopping(tx: Tx, project_id: UUID, agent: str) -> Stop | None:
    """Return why an agent is stopped now, if it is."""
    return next((each for each in rows.of_project(tx, project_id) if agent in each.agents), None)


def require_going(tx: Tx, project_id: UUID, agent: str) -> None:
    """Raise `AgentStopped` if a breaker has stopped the agent.

    The documented tool sets know no breakers: there, only a project that has set rules of its own stops anybody.
    """
    stop = stopping(tx, project_id, agent)
    if stop is not None and (tx.door in OWN_DOORS or rows.are_set(tx, project_id)):
        raise AgentStopped(f"{reason(stop)}; {agent} cannot begin anything until a person lets it go on")


def denial(tx: Tx, project_id: UUID, agent: str) -> str | None:
    """Return why an agent may use no other tool, in words for its model; None if it may."""
    stop = stopping(tx, project_id, agent)
    if stop is None:
        return None
    return (
        f"hubbub: {reason(stop)}. You are stopped until a person lets you go on. Say with the hub's tools, which go on"
        " working, what you were about to reach and what stands in the way: a message to `hub` is read by a person."
    )


def _record(tx: Tx, what: str, stop: Stop, *, by: str, is_gone: bool = False) -> None:
    tx.record(
        f"breaker.{what}",
        project_id=stop.project_id,
        actor=by,
        agent=stop.agents[0],
        task_id=stop.task_id,
        detail={
            "rule": stop.kind,
            "agents": list(stop.agents),
            "count": stop.count,
            "reason": reason(stop),
            "refs": list(stop.refs),
        },
        patch={"stops": {str(stop.id): None if is_gone else cards.stop(stop)}},
    )
