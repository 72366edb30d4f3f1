"""How things stand, as people see it: the state of a task and of an agent, and what waits for a person.

The dashboard says the same in its own language (`static/model/states.js`, `needs.js`); a test compares the two.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hubbub.model.pictures import Card, Picture

MINUTE = 60_000
UNBEGUN_FOR = 30 * MINUTE
SILENT_FOR = 60 * MINUTE
FAILED_WITHIN = 24 * 60 * MINUTE
UNDER_WAY = frozenset({"accepted", "working", "blocked"})
ENDED = frozenset({"completed", "failed", "cancelled", "expired"})

STATES = {
    "queued": "queued",
    "delivered": "delivered",
    "accepted": "acked",
    "working": "running",
    "blocked": "blocked",
    "in_review": "review",
    "completed": "done",
    "failed": "failed",
    "cancelled": "cancelled",
    "expired": "expired",
}
GLYPHS = {
    "queued": "◌",
    "delivered": "○",
    "acked": "◉",
    "running": "▶",
    "blocked": "‖",
    "waiting": "?",
    "review": "◎",
    "done": "✓",
    "failed": "✗",
    "cancelled": "⊘",
    "expired": "◷",
}
COLUMNS = {
    "Queued": ("queued", "delivered", "acked"),
    "Running": ("running",),
    "Blocked or waiting": ("blocked", "waiting"),
    "In review": ("review",),
    "Finished": ("done", "failed", "cancelled", "expired"),
}
URGENT_FIRST = ("approval", "question", "letter", "stale", "conflict", "failed", "late")
URGENCY = {"critical": 0, "high": 1, "medium": 2, "low": 3}


@dataclass(frozen=True, slots=True)
class Need:
    """Something that waits for a person; `card` is what it is about, of the kind that `kind` says."""

    kind: str  # one of URGENT_FIRST
    at: int
    card: Card
    task: Card | None = None

    @property
    def key(self) -> str:
        return f"{self.kind}:{self.card.get('id') or self.card.get('name') or self.card.get('agents')}"


class Standing:
    """One picture, asked how things stand in it at the moment `now`."""

    def __init__(self, picture: Picture, now: int) -> None:
        self.picture, self.now = picture, now
        self.asking = {approval["who"] for approval in picture["approvals"].values()}
        self.work: dict[str, list[Card]] = {}
        for task in picture["tasks"].values():
            if task["assignee"] and task["status"] not in ENDED:
                self.work.setdefault(task["assignee"], []).append(task)

    def state(self, task: Card) -> str:
        """One of the eleven states: what the hub calls its status, or `waiting` while its holder waits for a person."""
        state = STATES[task["status"]]
        return "waiting" if state == "running" and self._waits(task["assignee"]) else state

    def agent_state(self, agent: Card) -> str:
        """working, idle, blocked, waiting, error, stale or offline."""
        held = self.work.get(agent["name"], [])
        if not agent["live"]:
            is_stale = agent["end_reason"] == "silent" and any(task["status"] in UNDER_WAY for task in held)
            return "stale" if is_stale else "offline"
        if self._waits(agent["name"]):
            return "waiting"
        if agent["condition"] != "idle":
            return str(agent["condition"])
        statuses = {task["status"] for task in held}
        return "working" if "working" in statuses else "blocked" if "blocked" in statuses else "idle"

    def at_work_on(self, name: str) -> Card | None:
        """The task that the agent is at."""
        for status in ("working", "blocked", "accepted"):
            if found := [task for task in self.work.get(name, []) if task["status"] == status]:
                return max(found, key=lambda task: task["started_at"] or 0)
        return None

    def column(self, name: str) -> list[Card]:
        """The tasks of one column: the most urgent first, what has ended by when it did."""
        states = COLUMNS[name]
        tasks = [task for task in self.picture["tasks"].values() if self.state(task) in states]
        if name == "Finished":
            return sorted(tasks, key=lambda task: (-(task["ended_at"] or 0), -task["number"]))
        return sorted(tasks, key=lambda task: (URGENCY[task["priority"]], task["number"]))

    def needs(self) -> list[Need]:
        """List the things that wait for a person, the most urgent first."""
        kinds = (self._approvals, self._questions, self._letters, self._stale, self._conflicts, self._ended)
        found = [need for kind in kinds for need in kind()]
        return sorted(found, key=lambda need: (URGENT_FIRST.index(need.kind), need.at))

    def _waits(self, name: str | None) -> bool:
        agent: Any = self.picture["agents"].get(name or "")
        return name in self.asking or bool(agent and agent["live"] and agent["condition"] == "waiting")

    def _approvals(self) -> Iterator[Need]:
        for approval in self.picture["approvals"].values():
            if approval["expires_at"] > self.now:
                yield Need("approval", approval["created_at"], approval, self.at_work_on(approval["who"]))

    def _questions(self) -> Iterator[Need]:
        asked = set(self.asking)
        for task in self.picture["tasks"].values():
            is_approval = task["status"] != "blocked" and task["assignee"] in self.asking
            if self.state(task) in ("blocked", "waiting") and not is_approval:
                asked.add(task["assignee"])
                yield Need("question", self._asked_at(task), task, task)
        for agent in self.picture["agents"].values():
            if agent["name"] not in asked and self.agent_state(agent) == "waiting":
                yield Need("question", agent["since"] or 0, agent)

    def _asked_at(self, task: Card) -> int:
        """Since when the task waits: since it is blocked, else since its holder waits, too."""
        agent = self.picture["agents"].get(task["assignee"] or "")
        since = agent["since"] if agent and task["status"] != "blocked" else None
        return int(max(task["updated_at"], since or 0))

    def _letters(self) -> Iterator[Need]:
        for letter in self.picture["letters"].values():
            yield Need("letter", letter["created_at"], letter)

    def _stale(self) -> Iterator[Need]:
        for agent in self.picture["agents"].values():
            if self.agent_state(agent) == "stale":
                yield Need("stale", agent["ended_at"] or 0, agent, self.at_work_on(agent["name"]))

    def _conflicts(self) -> Iterator[Need]:
        for overlap in self.picture["overlaps"].values():
            yield Need("conflict", 0, overlap)

    def _ended(self) -> Iterator[Need]:
        """List the tasks that failed of late, and those that nobody gets on with."""
        for task in self.picture["tasks"].values():
            if task["status"] == "failed" and (task["ended_at"] or 0) > self.now - FAILED_WITHIN:
                yield Need("failed", task["ended_at"], task, task)
            elif (since := self._late_since(task)) is not None and since <= self.now:
                yield Need("late", since, task, task)

    def _late_since(self, task: Card) -> int | None:
        if task["status"] in ("queued", "delivered"):
            tasks = self.picture["tasks"]
            is_held = any(
                each in tasks and tasks[each]["status"] != "completed" for each in task["depends_on"]
            )
            return None if is_held else int(max(task["updated_at"], task["created_at"])) + UNBEGUN_FOR
        agent = self.picture["agents"].get(task["assignee"] or "")
        if self.state(task) != "running" or agent is None or not agent["live"]:
            return None
        return int(max(task["updated_at"], agent["since"] or 0)) + SILENT_FOR
