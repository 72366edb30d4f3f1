"""Managed agents, which people place on machines: their placements, keys and statuses.

The machine starts, supervises and ends them; the hub stores its reports. An agent runs once in a project. It acts with
a key that was made for this placement, and that ends with it.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from hubbub.core.agents import agents, last_activity
from hubbub.core.limits import accounts, budgets
from hubbub.core.people import access, tokens
from hubbub.core.snapshots import patches
from hubbub.model.errors import Conflict, Forbidden, Invalid, NeverPlaced, NotFound
from hubbub.model.fleet.managed_agents import LIVE, OVER, ManagedAgent, ManagedAgentStatus, ProcessStatus
from hubbub.model.fleet.nodes import NODE_PREFIX, Machine
from hubbub.model.people.rights import Role
from hubbub.model.records import Project
from hubbub.model.timestamps import milliseconds
from hubbub.store.agents.agents import lock_names
from hubbub.store.fleet import managed_agents as rows
from hubbub.store.fleet import nodes
from hubbub.store.people import projects
from hubbub.store.tx import Tx

ORDERED = timedelta(minutes=65)  # a machine asks people for an hour at most; then it gives up
LARGEST = 2**31  # number in a machine's report

# These need no rule of their own, so they are the store's functions.
of_project = rows.of_project
of_machine = rows.of_machine


def order(tx: Tx, project: Project, *, agent: str, machine: Machine, command: str) -> ManagedAgent:
    """Note that an agent is about to be started on a machine; the machine reports the result.

    Records `placement.ordered`. Raises `Forbidden` unless a person asks, `Invalid` for an impossible name, `NotFound`
    for a removed machine, `AccountPaused`, and `Conflict`, which says where, for an agent that runs already.
    """
    require_person(tx)
    if agent.startswith(NODE_PREFIX):
        raise Invalid(f"{agent!r} is the name of a machine's own work; choose another")
    if not nodes.refer_to(tx, machine.id):
        raise NotFound("machine", machine.name)
    agents.meet(tx, project.id, agent)
    lock_names(tx, project.id, agent)
    accounts.require_running(tx, project.id, agent)
    budgets.require_left(tx, project.id, agent)
    before = rows.find(tx, project.id, agent)
    if before is not None and _is_held(tx, before):
        raise Conflict(f"{agent!r} runs on {before.node!r} already; stop it there first")
    present = agents.presence(tx, project.id, agent)
    if before is None and present is not None and present.is_live(tx.now):
        where = f"on {present.hostname!r}" if present.hostname else "elsewhere"
        raise Conflict(f"{agent!r} is here already, {where}, and was not placed there; end it first")
    placed = ManagedAgent(
        project_id=project.id,
        agent=agent,
        machine=machine.id,
        node=machine.name,
        command=command,
        started_by=tx.actor.label,
        token_id=before.token_id if before is not None else None,
        status=ManagedAgentStatus.STARTING,
        since=tx.now,
        pid=None,
        restarts=0,
        exit_code=None,
        reported_at=tx.now,
    )
    rows.put(tx, placed)
    _record(tx, "placement.ordered", placed, command=command)
    return placed


def drop(tx: Tx, placed: ManagedAgent) -> None:
    """Forget a placement whose machine did not start the agent. The agent's key ends.

    Records `placement.dropped`.
    """
    lock_names(tx, placed.project_id, placed.agent)
    now = rows.find(tx, placed.project_id, placed.agent)
    if now is not None and (now.machine, now.since, now.status) == (
        placed.machine,
        placed.since,
        ManagedAgentStatus.STARTING,
    ):
        _revoke(tx, now)
        rows.delete(tx, placed.project_id, placed.agent)
        _record(tx, "placement.dropped", now)


def find(tx: Tx, project: Project, agent: str) -> ManagedAgent:
    """Return the agent's placement, or its last one.

    Raises `NeverPlaced`, or `UnknownAgent` with the present name of one that was renamed.
    """
    placed = rows.find(tx, project.id, agent)
    if placed is None:
        if agents.name_now(tx, project.id, agent) is not None:
            raise agents.unknown(tx, project.id, agent)
        raise NeverPlaced(agent)
    return placed


def issue_key(tx: Tx, machine: Machine, agent: str) -> str:
    """Issue a key for an agent on this machine; return its secret. The earlier key ends.

    Raises `Forbidden` unless the agent was ordered to this machine or runs there: a machine gets keys only for its own
    agents.
    """
    lock_names(tx, machine.project_id, agent)
    placed = rows.find(tx, machine.project_id, agent)
    if placed is None or placed.machine != machine.id or placed.status in OVER:
        raise Forbidden(f"{agent!r} is not placed on {machine.name!r}")
    _revoke(tx, placed)
    project = projects.find(tx, placed.project_id)
    assert project is not None  # the machine is in it
    token, secret = tokens.granted(tx, project, role=Role.MEMBER, agent=agent)
    rows.put(tx, replace(placed, token_id=token.id))
    return secret


def update_status(tx: Tx, machine: Machine, fares: Sequence[ProcessStatus]) -> None:
    """Store a machine's report on the agents placed on it; agents placed elsewhere are ignored.

    Records `placement.running`, `.restarting`, `.stopped` or `.failed` when that changes. The key of an agent that has
    stopped ends. Raises `Invalid`.
    """
    told = {each.agent: each for each in fares}
    for agent in sorted(told.keys() & {each.agent for each in rows.of_machine(tx, machine.id)}):
        _check(told[agent])
        lock_names(tx, machine.project_id, agent)
        placed = rows.find(tx, machine.project_id, agent)
        if placed is not None and placed.machine == machine.id and _is_news(placed, told[agent]):
            _keep(tx, placed, told[agent])


def started(tx: Tx, placed: ManagedAgent, pid: int | None) -> ManagedAgent:
    """Mark a placement as running once its machine says so. Records `placement.running`, the first time."""
    now = rows.find(tx, placed.project_id, placed.agent)
    if now is None or now.machine != placed.machine or now.status is not ManagedAgentStatus.STARTING:
        return now or placed
    running = replace(now, status=ManagedAgentStatus.RUNNING, pid=pid)
    rows.put(tx, running)
    _record(tx, "placement.running", running)
    return running


def stopped(tx: Tx, placed: ManagedAgent) -> None:
    """Note that the machine has ended the agent, or has none of that name. Records `placement.stopped`."""
    lock_names(tx, placed.project_id, placed.agent)
    now = rows.find(tx, placed.project_id, placed.agent)
    if now is None or (now.machine, now.since) != (placed.machine, placed.since) or now.status in OVER:
        return
    _revoke(tx, now)
    ended = replace(now, status=ManagedAgentStatus.STOPPED, since=tx.now, pid=None, token_id=None)
    rows.put(tx, ended)
    _record(tx, "placement.stopped", ended)


def forget_machine(tx: Tx, machine: UUID) -> list[str]:
    """Forget the agents placed on a removed machine and end their keys; return their names."""
    forgotten = rows.of_machine(tx, machine)
    for placed in forgotten:
        lock_names(tx, placed.project_id, placed.agent)
        _revoke(tx, placed)
        rows.delete(tx, placed.project_id, placed.agent)
    return [placed.agent for placed in forgotten]


def forget_agent(tx: Tx, project: Project, agent: str) -> None:
    """Forget the last placement of a removed agent and end its key. Raises `Conflict` while it runs."""
    lock_names(tx, project.id, agent)
    placed = rows.find(tx, project.id, agent)
    if placed is None:
        return
    if _is_held(tx, placed):
        raise Conflict(f"{agent!r} runs on {placed.node!r}; stop it there first")
    _revoke(tx, placed)
    rows.delete(tx, project.id, agent)


def require_person(tx: Tx) -> None:
    """Raise `Forbidden` unless a person asks: agents may not start, stop or read agents."""
    access.require_person(tx, "start, stop or read agents on machines")


def _is_held(tx: Tx, placed: ManagedAgent) -> bool:
    """Tell whether the placement still takes the name."""
    is_ordered = tx.now - placed.since < milliseconds(ORDERED)
    return placed.status in LIVE or (placed.status is ManagedAgentStatus.STARTING and is_ordered)


def _is_news(placed: ManagedAgent, fares: ProcessStatus) -> bool:
    """Tell whether the report is about this placement: just after the order it may be about the run before."""
    return placed.status is not ManagedAgentStatus.STARTING or fares.status not in OVER


def _keep(tx: Tx, placed: ManagedAgent, fares: ProcessStatus) -> None:
    is_changed = fares.status is not placed.status
    kept = replace(
        placed,
        status=fares.status,
        since=min(fares.since, tx.now) if is_changed else placed.since,
        pid=fares.pid,
        restarts=fares.restarts,
        exit_code=fares.exit_code,
        reported_at=tx.now,
    )
    if fares.status in OVER:
        _revoke(tx, kept)
        kept = replace(kept, token_id=None)
    rows.put(tx, kept)
    if is_changed:
        _record(tx, f"placement.{fares.status}", kept, restarts=kept.restarts, exit_code=kept.exit_code)
    last_activity.note(
        tx,
        kept.project_id,
        kept.agent,
        node=kept.node,
        output=fares.last_output,
        output_at=fares.last_output_at,
    )


def _check(fares: ProcessStatus) -> None:
    numbers = (fares.pid, fares.restarts, fares.exit_code)
    if any(each is not None and abs(each) >= LARGEST for each in numbers) or not 0 <= fares.since < 2**53:
        raise Invalid("the counts of a machine's agents are out of range")


def _revoke(tx: Tx, placed: ManagedAgent) -> None:
    if placed.token_id is not None:
        tokens.end(tx, placed.token_id)


def _record(tx: Tx, kind: str, placed: ManagedAgent, **more: object) -> None:
    tx.record(
        kind,
        project_id=placed.project_id,
        agent=placed.agent,
        detail={"node": placed.node, **more},
        patch=patches.agent(tx, placed.project_id, placed.agent),
    )
