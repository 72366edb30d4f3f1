"""CommHub's vocabulary: its names of statuses and priorities, and its rows for the hub's records."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from hubbub.core.actions import inbox
from hubbub.core.people import access
from hubbub.model.lifecycle import ENDED, Status
from hubbub.model.people.accounts import User
from hubbub.model.people.rights import Role
from hubbub.model.records import (
    Activity,
    CompletionReport,
    Condition,
    Letter,
    LetterKind,
    Message,
    Presence,
    Priority,
    Project,
    ReportedNode,
    Task,
)
from hubbub.store.tx import Tx

Row = Mapping[str, object]

STATUS = {
    Status.QUEUED: "created", Status.DELIVERED: "delivered", Status.ACCEPTED: "acked",
    Status.WORKING: "running", Status.BLOCKED: "running", Status.IN_REVIEW: "running",
    Status.COMPLETED: "replied", Status.FAILED: "failed",
    Status.CANCELLED: "cancelled", Status.EXPIRED: "expired",
}  # fmt: skip
WORDS = tuple(dict.fromkeys(STATUS.values()))
PRIORITY = {
    Priority.CRITICAL: "high", Priority.HIGH: "high", Priority.MEDIUM: "normal", Priority.LOW: "low",
}  # fmt: skip
CONDITION = {
    Condition.WORKING: "working", Condition.IDLE: "idle", Condition.BLOCKED: "blocked",
    Condition.ERROR: "error", Condition.WAITING: "waiting_input", Condition.OFFLINE: "offline",
}  # fmt: skip
KIND = {
    LetterKind.TASK: "task", LetterKind.MESSAGE: "message", LetterKind.REPLY: "reply",
    LetterKind.BROADCAST: "broadcast",
}  # fmt: skip

EXACT = 2.0**53  # a float can hold every whole number up to here

PRIORITIES = {"high": Priority.HIGH, "normal": Priority.MEDIUM, "low": Priority.LOW}
CONDITIONS = {word: condition for condition, word in CONDITION.items()}


def statuses(word: str) -> list[Status]:
    """Return the statuses that CommHub calls `word`; none if it has no such word."""
    return [status for status, said in STATUS.items() if said == word]


def unheard(noun: str, word: str | None, words: Collection[str]) -> Row:
    """Say which statuses there are to who asks for one that CommHub does not have."""
    if word is None or word in words:
        return {}
    return {"message": f"no {noun} has this status: the statuses are {', '.join(words)}"}


def network_id(project: Project) -> str:
    """Return CommHub's id of a network: `net_` and 12 hex digits."""
    return access.short_name(project)


def moment(at: int | None) -> str | None:
    """Format a time as UTC text to the second, such as `2026-04-12 10:00:00`."""
    return _second(at // 1000) if at is not None else None


@lru_cache(maxsize=4096)  # agents that are there were heard of in the same few seconds
def _second(at: int) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}"


def number(value: float | None) -> float | int | None:
    """Return a number for JSON: whole ones without a fraction."""
    return int(value) if value is not None and value.is_integer() and abs(value) < EXACT else value


def session_row(presence: Presence, project: Project) -> Row:
    """Return a row of `get_all_status`."""
    return {
        "resume_id": presence.instance,
        "alias": presence.agent,
        "status": CONDITION[presence.condition],
        "task": presence.doing,
        "output": presence.output,
        "score": number(presence.score),
        "progress": number(presence.progress),
        "server": presence.server,
        "hostname": presence.hostname,
        "agent": presence.runtime,
        "project_dir": presence.workdir,
        "version": presence.version,
        "tmux_name": presence.terminal,
        "node_id": presence.node,
        "session_id": presence.thread,
        "config_path": presence.config_path,
        "channels": presence.channels,
        "model": presence.model,
        "registered_at": moment(presence.opened_at),
        "last_seen_at": moment(presence.seen_at),
        "network_id": network_id(project),
    }


def task_row(task: Task, project: Project) -> Row:
    """Return the full row of a task, for `get_task`."""
    return {
        "task_id": str(task.id),
        "from_name": task.sender,
        "to_name": task.assignee,
        "priority": PRIORITY[task.priority],
        "status": STATUS[task.status],
        "content": task.text,
        "context": task.context,
        "result": task.result,
        "requires_response": 1,
        "parent_task_id": str(task.parent_id) if task.parent_id else None,
        "created_at": moment(task.created_at),
        "delivered_at": moment(task.delivered_at),
        "acked_at": moment(task.accepted_at),
        "started_at": moment(task.started_at),
        "completed_at": moment(task.ended_at),
        "expires_at": moment(task.expires_at),
        "network_id": network_id(project),
        **({"edited_by": task.edited_by} if task.edited_by is not None else {}),
    }


LISTED = (
    "task_id", "from_name", "to_name", "priority", "status", "content", "result", "created_at", "completed_at",
)  # fmt: skip


def listed_task(task: Task, project: Project) -> Row:
    """Return the nine columns of a task in `list_tasks`."""
    row = task_row(task, project)
    return {column: row[column] for column in LISTED}


def letter_row(letter: Letter, project: Project) -> Row:
    """Return a row of `get_inbox`. The context of a reply names its subject and outcome, that of a note its task."""
    context = letter.context
    if letter.in_reply_to is not None:
        context = f"in_reply_to: {letter.in_reply_to}"
    if letter.in_reply_to is not None and letter.outcome is not None and letter.outcome in ENDED:
        whose = "status" if letter.child is None else f"child_task_id: {letter.child}, child_status"
        context = f"{context}, {whose}: {STATUS[letter.outcome]}"
    return {
        "id": str(letter.delivery.id),
        "type": KIND[letter.kind],
        "priority": PRIORITY[letter.delivery.priority],
        "content": letter.text,
        "context": context,
        "from_session": letter.sender,
        "created_at": moment(letter.delivery.stored_at),
        "network_id": network_id(project),
        **({"edited_by": letter.edited_by} if letter.edited_by is not None else {}),
    }


def completion_row(completion: CompletionReport, project: Project) -> Row:
    """Return the nine columns of a completion."""
    return {
        "id": str(completion.id),
        "session_name": completion.agent,
        "task": completion.task,
        "result": completion.result,
        "artifacts": completion.artifacts,
        "score": number(completion.score),
        "duration_minutes": number(completion.duration_minutes),
        "network_id": network_id(project),
        "completed_at": moment(completion.completed_at),
    }


def message_row(message: Message, project: Project) -> Row:
    """Return a row of the message history."""
    return {
        "id": str(message.id),
        "type": KIND[message.kind],
        "from_session": message.sender,
        "to_session": message.recipient,
        "content": message.body,
        "in_reply_to": str(message.in_reply_to) if message.in_reply_to else None,
        "created_at": moment(message.created_at),
        "network_id": network_id(project),
    }


def node_row(node: ReportedNode, project: Project) -> Row:
    """Return the row of a machine, as the agents on it describe it."""
    return {
        "node_id": node.key,
        "node_name": node.name,
        "model": node.model,
        "runtime": node.runtime,
        "last_seen_at": moment(node.seen_at),
        "network_id": network_id(project),
    }


def user_row(user: User) -> Row:
    """Return the row of a person."""
    return {"user_id": str(user.id), "username": user.name, "created_at": moment(user.created_at)}


def network_row(project: Project, role: Role) -> Row:
    """Return the row of a network, with the caller's role in it."""
    return {"network_id": network_id(project), "name": project.name, "slug": project.slug, "role": role}


def grouped(words: Iterable[tuple[str, int]]) -> list[Row]:
    """Return counts by status, the most frequent first."""
    total: Counter[str] = Counter()
    for word, count in words:
        total[word] += count
    return [{"status": word, "count": count} for word, count in total.most_common()]


def greeting(name: str, project: Project) -> Row:
    """Return the first frame of an event stream."""
    return {"type": "connected", "session": name, "network_id": network_id(project)}


def inbox_event(tx: Tx, activity: Activity) -> Row | None:
    """Return the event about an activity for an inbox's followers; None if it does not concern them."""
    detail: Mapping[str, Any] = activity.detail
    if activity.project_id is None or activity.agent is None:
        return None
    if activity.kind == "task.chained":
        return {
            "type": "chained_reply",
            "parent_task_id": str(activity.task_id),
            "child_task_id": detail["child_id"],
            "child_alias": detail["child_assignee"],
        }
    if activity.kind in ("message.sent", "message.delivered"):
        return _message_event(tx, activity, detail)
    if activity.kind.startswith("task.") and detail.get("delivery_id"):
        return {
            "type": "new_task",
            "inbox_count": inbox.pending(tx, activity.project_id, activity.agent),
            "priority": PRIORITY[Priority[str(detail["priority"]).upper()]],
            "from": detail["sender"],
            "task_id": str(activity.task_id),
        }
    return None


def _message_event(tx: Tx, activity: Activity, detail: Mapping[str, Any]) -> Row | None:
    assert activity.project_id is not None and activity.agent is not None  # noqa: PT018 - the caller looked
    if detail["kind"] == LetterKind.BROADCAST:
        return {"type": "broadcast", "inbox_count": inbox.pending(tx, activity.project_id, activity.agent)}
    event = {"from": detail["sender"], "message_id": detail["delivery_id"]}
    if detail["kind"] == LetterKind.MESSAGE or detail["outcome"] not in ENDED:  # a note does not end a task
        return {"type": "new_message", **event}
    status = STATUS[Status(detail["outcome"])]
    child = {"child_task_id": detail["child_id"]} if "child_id" in detail else {}
    return {"type": "new_reply", **event, "in_reply_to": detail["in_reply_to"], "status": status, **child}
