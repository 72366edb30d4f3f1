"""The picture as it is shown: the columns of the board, the needs of people, and the links between cards.

States are the hub's word: each card says its state, and why it needs a person (`model/log/attention.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from hubbub.model.log.attention import Needed, NeedKind, TaskState, needed
from hubbub.model.log.projection import Card, Projection

COLUMNS: Mapping[str, tuple[TaskState, ...]] = {
    "Queued": (TaskState.QUEUED, TaskState.DELIVERED, TaskState.ACKED),
    "Running": (TaskState.RUNNING,),
    "Blocked or waiting": (TaskState.BLOCKED, TaskState.WAITING),
    "In review": (TaskState.REVIEW,),
    "Finished": (TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED, TaskState.EXPIRED),
}
URGENCY = {"critical": 0, "high": 1, "medium": 2, "low": 3}


@dataclass(frozen=True, slots=True)
class ViewModel:
    """One picture at the moment `now`."""

    picture: Projection
    now: int

    def needs(self) -> list[Needed]:
        """Return everything that needs a person, the most urgent first."""
        return needed(self.picture, self.now)

    def column(self, name: str) -> list[Card]:
        """Return the tasks of one column: the most urgent first, finished ones by their end, the last first."""
        tasks = [task for task in self.picture["tasks"].values() if task["state"] in COLUMNS[name]]
        if name == "Finished":
            return sorted(tasks, key=lambda task: (-(task["ended_at"] or 0), -task["number"]))
        return sorted(tasks, key=lambda task: (URGENCY[task["priority"]], task["number"]))

    def at_work_on(self, name: str) -> Card | None:
        """Return the task that the agent works on."""
        agent = self.picture["agents"].get(name)
        return self.picture["tasks"].get(agent["holds"][0]) if agent and agent["holds"] else None

    def pausing(self, task: Card) -> Card | None:
        """The account that keeps a task from going on now, if its agent's is paused."""
        agent = self.picture["agents"].get(task["assignee"] or "")
        account = self.picture["accounts"].get((agent and agent["account"]) or "")
        is_paused = task["ended_at"] is None and account is not None and account["paused_at"] is not None
        return account if is_paused else None

    def task_of(self, need: Needed) -> Card | None:
        """Return the task that a need is about, if it is about one."""
        match need.noun:
            case "tasks":
                return need.card
            case "approvals":
                return self.at_work_on(need.card["who"])
            case "agents" if need.need.kind is NeedKind.STALE:
                return self.at_work_on(need.card["name"])
            case _:
                return None
