"""Another name for an agent that is not there: what it has now moves to the new name.

Its past keeps the old name: ended tasks, read mail, earlier presences and the log. A thing that cannot move while it
lasts, such as a lease, refuses the rename.
"""

from dataclasses import dataclass, replace

from hubbub.core.agents import agents
from hubbub.core.fleet import managed_agents
from hubbub.core.limits import breakers
from hubbub.core.people import access
from hubbub.core.presence import agent_location, presences, wakes
from hubbub.core.snapshots import card_states, cards, patches
from hubbub.core.work import merge_radar, tasks, transfers
from hubbub.model.errors import Conflict, Invalid
from hubbub.model.fleet.nodes import NODE_PREFIX
from hubbub.model.lifecycle import OPEN, Status
from hubbub.model.limits.budgets import BudgetKind
from hubbub.model.log.projection import Card, Patch
from hubbub.model.people.rights import HUB, Right
from hubbub.model.records import Project, Task
from hubbub.store.agents import renaming as rows
from hubbub.store.limits import budgets
from hubbub.store.log import projection
from hubbub.store.tx import Tx
from hubbub.store.work import leases

MOST = 1_000  # open tasks and letters that move: everybody else waits meanwhile


@dataclass(frozen=True, slots=True, kw_only=True)
class Renamed:
    """An agent under its new name, and the machines on which its programs know the old one."""

    old: str
    new: str
    machines: tuple[str, ...]


def rename(tx: Tx, project: Project, old: str, new: str) -> Renamed:
    """Give an agent that is not there another name, which the project does not know yet.

    Its tokens, open tasks, unread mail, memory and limits move to the new name. Only people who manage the project may
    do this. Records `agent.renamed`, and `task.reassigned` for each task that it holds. Raises `Forbidden`,
    `UnknownAgent`, `Invalid` for a name that no agent may have, and `Conflict` with the reason that prevents it.
    """
    access.require_person(tx, "rename an agent")
    access.enter(tx, str(project.id), Right.MANAGE)
    if any(name.startswith(NODE_PREFIX) for name in (old, new)):
        raise Invalid(f"a name that begins with {NODE_PREFIX!r} is a machine's, and stays with it")
    agents.require_nameable(new)
    agents.require_choosable(new)
    rows.lock_all(tx)
    agents.require_known(tx, project.id, old)
    _require_free(tx, project, new)
    _require_still(tx, project, old)
    machines = _machines(tx, project, old)
    managed_agents.forget_agent(tx, project, old)
    merge_radar.forget_agent(tx, project.id, old)
    told = _move(tx, project, old, new)
    detail = {"old": old, "new": new}
    tx.record("agent.renamed", project_id=project.id, agent=new, detail=detail, patch=told)
    return Renamed(old=old, new=new, machines=machines)


def _require_free(tx: Tx, project: Project, new: str) -> None:
    """Raise `Conflict` unless nobody has, or had, anything by that name."""
    if agents.is_known(tx, project.id, new):
        raise Conflict(f"an agent of this project is called {new!r} already; choose another name")
    if projection.is_person(tx, project.id, new):
        raise Conflict(f"{new!r} is the name of a person in this project; choose another name")
    if (left := rows.left_by(tx, project.id, new)) is not None:
        raise Conflict(f"an earlier agent called {new!r} has left {left} here; choose another name")


def _require_still(tx: Tx, project: Project, old: str) -> None:
    """Raise `Conflict` if the agent is here, or something lasts that cannot move; end a presence that is over."""
    present = agents.presence(tx, project.id, old, lock=True)
    if present is not None and present.is_live(tx.now):
        where = f" on {present.hostname!r}" if present.hostname else ""
        raise Conflict(f"{old!r} is here now{where}; end its program first")
    if present is not None:
        presences.lapse(tx, present)
    reasons = (
        (wakes.wakers(tx, project.id, old), "its client waits for mail; end that first"),
        (projection.is_person(tx, project.id, old), "a person of this project has the same name"),
        (projection.asking(tx, project.id, old), "its call waits for an approval; answer that first"),
        (leases.of_holder(tx, project.id, old), "it has a lease; release that first"),
        (rows.has_orders(tx, project.id, old), "a machine works on its order; wait for the end"),
        (
            any(old in each.agents for each in breakers.of_project(tx, project.id)),
            "a breaker has stopped it; let it continue first",
        ),
        (
            rows.number_of_letters(tx, project.id, old) > MOST,
            f"more than {MOST:,} letters wait for it; let it read them first",
        ),
    )
    for prevents, reason in reasons:
        if prevents:
            raise Conflict(f"{old!r} cannot be renamed now: {reason}")


def _machines(tx: Tx, project: Project, name: str) -> tuple[str, ...]:
    """Return the machines on which the agent was seen last."""
    present = agents.presence(tx, project.id, name)
    found = {agent_location.of(tx, project.id, name).machine, present.hostname if present else None}
    return tuple(sorted(each for each in found if each is not None))


def _move(tx: Tx, project: Project, old: str, new: str) -> Patch:
    """Move what the agent has to the new name; return the patch for what no other record tells."""
    held = tasks.under_way(tx, project.id, old, OPEN)
    sent = rows.sent_by(tx, project.id, old)
    if len(held) + len(sent) > MOST:
        raise Conflict(f"{old!r} cannot be renamed now: it has more than {MOST:,} open tasks; end some first")
    if any(task.status is Status.IN_REVIEW for task in held):
        raise Conflict(f"{old!r} cannot be renamed now: its task is in review; end the review first")
    rows.rename(tx, project.id, old, new)
    sent = [rows.give_sent(tx, task, new) for task in sent]
    for task in held:
        transfers.pass_on(tx, task, new, by=HUB)
    begun = [task.started_at for task in held if task.started_at is not None]
    if begun:
        rows.give_sightings(tx, project.id, old, new, since=min(begun))
    rows.give_mail(tx, project.id, old, new)
    return {
        **patches.agents(tx, project.id, [old, new]),
        "tasks": _cards(tx, project, sent),
        "budgets": _budgets(tx, project, old, new),
    }


def _cards(tx: Tx, project: Project, sent: list[Task]) -> dict[str, Card | None]:
    """Return the cards of these tasks as they are now."""
    now = [tasks.find(tx, [project.id], str(task.id)) for task in sent]
    return {str(task.id): card for task, card in zip(now, card_states.of_tasks(tx, now), strict=True)}


def _budgets(tx: Tx, project: Project, old: str, new: str) -> dict[str, Card | None]:
    """Give the budgets of one agent to the other, with what is used of them; return their cards."""
    own = [
        each
        for each in budgets.of_project(tx, project.id, lock=True)
        if each.kind is BudgetKind.AGENT and each.whom == old
    ]
    return {str(each.id): cards.budget(budgets.put(tx, replace(each, whom=new, label=new))) for each in own}
