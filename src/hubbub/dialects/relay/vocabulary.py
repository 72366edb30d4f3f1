"""Relay's vocabulary: its names of statuses and priorities, and its rows for the hub's records."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from hubbub.model.lifecycle import Status
from hubbub.model.records import Artifact, Message, Priority, Review, Run, Task
from hubbub.model.work.listed_tasks import ListedTask

Row = Mapping[str, object]

STATUS = {
    Status.QUEUED: "todo", Status.DELIVERED: "todo", Status.ACCEPTED: "todo",
    Status.WORKING: "in_progress", Status.BLOCKED: "in_progress", Status.IN_REVIEW: "in_review",
    Status.COMPLETED: "done", Status.FAILED: "failed",
    Status.CANCELLED: "cancelled", Status.EXPIRED: "expired",
}  # fmt: skip
PRIORITY = {
    Priority.CRITICAL: "critical", Priority.HIGH: "high", Priority.MEDIUM: "medium", Priority.LOW: "low",
}  # fmt: skip
PRIORITIES = {word: priority for priority, word in PRIORITY.items()}
TODO, IN_PROGRESS, IN_REVIEW, DONE = "todo", "in_progress", "in_review", "done"
PENDING = "pending"  # of a review without a verdict
_UNDESCRIBED: Row = {}


def seconds(at: int) -> int:
    """Return a time as Unix seconds."""
    return at // 1000


def task_row(task: Task | ListedTask, run: Run, needs: Sequence[UUID], described: Row = _UNDESCRIBED) -> Row:
    """Return a row of `get_all_tasks`; `described` has the task's description, if that is asked for."""
    return {
        "id": str(task.id),
        "title": task.title,
        "status": STATUS[Status(task.status)],
        "assignee": task.assignee,
        "priority": PRIORITY[Priority(task.priority)],
        **described,
        "created_by": task.sender,
        "depends_on": [str(task_id) for task_id in needs],
        "external_id": task.external_id,
        "parent_task_id": str(task.parent_id) if task.parent_id else None,
        "depth": task.depth,
        "derived_reason": task.reason,
        "created_at": seconds(task.created_at),
        "updated_at": seconds(task.updated_at),
        "session_id": run.name,
    }


def described(task: Task) -> Row:
    """Return the description of a task, and its last editor."""
    edited = {"edited_by": task.edited_by} if task.edited_by is not None else {}
    return {"description": task.description or None, **edited}


def message_row(message: Message, run: Run) -> Row:
    """Return a row of `get_messages`."""
    return {
        "id": str(message.id),
        "seq": message.number,
        "from_agent": message.sender,
        "to_agent": message.recipient,
        "content": message.body,
        "thread_id": message.thread_name,
        "metadata": dict(message.metadata) if message.metadata else None,
        "created_at": seconds(message.created_at),
        "session_id": run.name,
    }


def artifact_row(artifact: Artifact, run: Run) -> Row:
    """Return the row of an artifact, without its content."""
    return {
        "id": str(artifact.id),
        "name": artifact.name,
        "type": artifact.kind,
        "created_by": artifact.creator,
        "task_id": artifact.task,
        "created_at": seconds(artifact.created_at),
        "session_id": run.name,
    }


def review_row(review: Review, run: Run) -> Row:
    """Return the row of a review, with the verdict as its status."""
    return {
        "id": str(review.id),
        "artifact_id": str(review.artifact_id),
        "requester": review.requester,
        "reviewer": review.reviewer,
        "status": review.verdict or PENDING,
        "comments": review.comments,
        "created_at": seconds(review.created_at),
        "session_id": run.name,
    }
