"""cmdop's vocabulary: its names of statuses, and its rows for the hub's records."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from hubbub.model.errors import Unmet
from hubbub.model.fleet.nodes import Machine
from hubbub.model.lifecycle import ENDED, OPEN, Status
from hubbub.model.people.rights import Role
from hubbub.model.records import Delivery, Message, Project, Task
from hubbub.model.work.todos import TodoItem

Row = Mapping[str, object]

TODO, IN_PROGRESS, BLOCKED, IN_REVIEW = "todo", "in_progress", "blocked", "in_review"
DONE, FAILED, CANCELLED = "done", "failed", "cancelled"
STATUS = {
    Status.QUEUED: TODO, Status.DELIVERED: TODO, Status.ACCEPTED: TODO,
    Status.WORKING: IN_PROGRESS, Status.BLOCKED: BLOCKED, Status.IN_REVIEW: IN_REVIEW,
    Status.COMPLETED: DONE, Status.FAILED: FAILED,
    Status.CANCELLED: CANCELLED, Status.EXPIRED: "expired",
}  # fmt: skip
ALSO = {"open": OPEN, "closed": ENDED}  # accepted by issue_list beside the statuses
WITHDRAWN = ("cancelled", "wontfix", "duplicate")  # beginnings of a reason that cancels an issue


def statuses(word: str) -> frozenset[Status]:
    """Return the statuses that cmdop calls `word`."""
    return ALSO.get(word) or frozenset(status for status, said in STATUS.items() if said == word)


def awaited(error: Unmet) -> str:
    """Return why an issue cannot be begun yet."""
    needs = (f"{need.number} ({STATUS[Status(need.status)]})" for need in error.needs)
    return f"the issue waits for others: {', '.join(needs)}"


def moment(at: int | None) -> str | None:
    """Format a time as UTC in ISO 8601 to the second, such as `2026-02-15T10:30:00Z`."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}" if at is not None else None


def issue_url(task: Task, hub: str) -> str:
    """Return the address of a task's page on the dashboard."""
    return f"{hub}/t/{task.id}"


def issue_row(task: Task, hub: str) -> Row:
    """Return a row of `issue_list`."""
    return {
        "id": str(task.number),
        "title": task.title,
        "status": STATUS[task.status],
        "assignee": task.assignee,
        "author": task.sender,
        "priority": task.priority.name.lower(),
        "created_at": moment(task.created_at),
        "updated_at": moment(task.updated_at),
        "closed_at": moment(task.ended_at),
        "url": issue_url(task, hub),
    }


def issue(task: Task, comments: Sequence[Message], deliveries: Sequence[Delivery], hub: str) -> Row:
    """Return the reply of `issue_get`."""
    return {
        **issue_row(task, hub),
        "body": task.description,
        **({"edited_by": task.edited_by} if task.edited_by is not None else {}),
        "result": task.result,
        "comments": [comment_row(each) for each in comments],
        "delivery": [delivery_row(each) for each in deliveries],
    }


def delivery_row(row: Delivery) -> Row:
    """Return an issue's progress with an assignee; a time is null until it is reached."""
    return {
        "assignee": row.recipient,
        "stored_at": moment(row.stored_at),
        "notified_at": moment(row.notified_at),
        "seen_at": moment(row.seen_at),
        "acked_at": moment(row.acked_at),
        "dead_at": moment(row.dead_at),
    }


def comment_row(message: Message) -> Row:
    return {
        "id": str(message.number),
        "author": message.sender,
        "body": message.body,
        "created_at": moment(message.created_at),
    }


def machine_row(machine: Machine, now: int) -> Row:
    """Return a row of `connect list`."""
    return {
        "hostname": machine.name,
        "name": machine.name,
        "online": machine.is_online(now),
        "last_seen": moment(machine.seen_at),
        "platform": machine.platform,
        "labels": list(machine.labels),
        "runtime": machine.runtime,
    }


def workspace_row(project: Project, role: Role, used: Project | None) -> Row:
    """Return a row of `connect workspace_list`."""
    return {
        "workspace": project.slug,
        "name": project.name,
        "role": role,
        "in_use": used is not None and project.id == used.id,
    }


def check_boxes(items: Sequence[TodoItem]) -> str:
    """Format a to-do list as Markdown; each item stays on its line."""
    boxes = (f"- [{'x' if item.done else ' '}] {' '.join(item.text.split())}" for item in items)
    return "\n".join(boxes)
