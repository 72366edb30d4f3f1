"""Location of agents: their machines, their statuses there, and their last activity, beyond a heartbeat."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from hubbub.core.agents import last_activity
from hubbub.core.work import task_search
from hubbub.model.fleet.managed_agents import LastActivity, ManagedAgent
from hubbub.model.fleet.nodes import NODE_PREFIX
from hubbub.model.lifecycle import Status
from hubbub.model.records import Task
from hubbub.store.fleet import managed_agents
from hubbub.store.tx import Tx

NOTHING = LastActivity(agent="")
MOST_WORK = 500  # tasks searched for those that agents work on


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLocation:
    """Everything known of one agent's location and work."""

    agent: str
    placed: ManagedAgent | None = None  # where people started it through the hub
    evidence: LastActivity = NOTHING
    work: Task | None = None  # the task that it began last, of those it works on

    @property
    def machine(self) -> str | None:
        """Return the machine that it runs on; None if it never said, and was not placed on one."""
        if self.placed is not None:
            return self.placed.node
        return _itself(self.agent) or self.evidence.node


def of(tx: Tx, project_id: UUID, agent: str) -> AgentLocation:
    """Return the location of an agent."""
    work = task_search.search(tx, [project_id], status=[Status.WORKING], assignee=agent, limit=MOST_WORK)
    return AgentLocation(
        agent=agent,
        placed=managed_agents.find(tx, project_id, agent),
        evidence=last_activity.of(tx, project_id, agent),
        work=max(work, key=_begun_at, default=None),
    )


def of_project(tx: Tx, project_id: UUID) -> dict[str, AgentLocation]:
    """Return the known locations of the project's agents, by their names."""
    placed = {each.agent: each for each in managed_agents.of_project(tx, project_id)}
    seen = last_activity.of_project(tx, project_id)
    begun = sorted(
        task_search.search(tx, [project_id], status=[Status.WORKING], limit=MOST_WORK), key=_begun_at
    )
    work = {task.assignee: task for task in begun if task.assignee is not None}
    return {
        name: AgentLocation(
            agent=name,
            placed=placed.get(name),
            evidence=seen.get(name, NOTHING),
            work=work.get(name),
        )
        for name in {*placed, *seen, *work}
    }


def machine(tx: Tx, project_id: UUID, agent: str) -> str | None:
    """Return the machine that the agent runs on; None if that is not known."""
    placed = managed_agents.find(tx, project_id, agent)
    return (
        placed.node if placed is not None else _itself(agent) or last_activity.of(tx, project_id, agent).node
    )


def machines(tx: Tx, project_id: UUID, assignees: Iterable[str]) -> dict[str, str]:
    """Return the known machines of these agents, by the agents' names."""
    seen = {each.agent: each.node for each in last_activity.of_project(tx, project_id).values() if each.node}
    known = seen | {each.agent: each.node for each in managed_agents.of_project(tx, project_id)}
    found = {name: known.get(name) or _itself(name) for name in set(assignees)}
    return {name: node for name, node in found.items() if node is not None}


def _itself(agent: str) -> str | None:
    """Return the machine whose own work this name stands for; None for an agent's name."""
    return agent.removeprefix(NODE_PREFIX) if agent.startswith(NODE_PREFIX) else None


def _begun_at(task: Task) -> tuple[int, int]:
    return task.started_at or 0, task.number
