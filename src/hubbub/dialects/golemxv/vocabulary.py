"""GolemXV's vocabulary: its names of statuses and events, and its rows for the hub's records."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from hubbub.core.presence import presences
from hubbub.model.agents.scopes import AgentConflict, Area
from hubbub.model.lifecycle import Status
from hubbub.model.records import Activity, Intent, Message, Presence, Priority, Project, Task
from hubbub.model.timestamps import EPOCH, exact_microseconds

Row = Mapping[str, object]

STATUS = {
    Status.QUEUED: "pending", Status.DELIVERED: "assigned", Status.ACCEPTED: "assigned",
    Status.WORKING: "in_progress", Status.IN_REVIEW: "in_progress", Status.BLOCKED: "blocked",
    Status.COMPLETED: "completed", Status.FAILED: "failed", Status.EXPIRED: "failed",
    Status.CANCELLED: "cancelled",
}  # fmt: skip
PRIORITY = {
    Priority.CRITICAL: "critical", Priority.HIGH: "high", Priority.MEDIUM: "medium", Priority.LOW: "low",
}  # fmt: skip
PRIORITIES = {word: priority for priority, word in PRIORITY.items()}
ENDED = {
    "active": (None,),
    "checked_out": (presences.LEFT, presences.REPLACED),
    "timed_out": (presences.SILENT,),
}
BROADCAST = "broadcast"  # the receiver that means everyone
EVERYONE = "all"  # the receiver that a broadcast shows

STEP = ("before", "after", "outcome", "child_status")  # details that are statuses of tasks
SAID = tuple(Status)

EVENTS = {
    "agent.checkin": "checkin", "agent.checkout": "checkout", "agent.timeout": "timeout",
    "agent.heartbeat": "heartbeat", "agent.scope_change": "scope_change",
    "message.sent": "message",
    "task.sent": "task_created", "task.accepted": "task_claimed", "task.completed": "task_completed",
    "task.started": "task_updated", "task.blocked": "task_updated", "task.submitted": "task_updated",
    "task.failed": "task_updated", "task.cancelled": "task_updated", "task.expired": "task_updated",
    "task.released": "task_updated", "task.retried": "task_updated", "task.reassigned": "task_updated",
    "task.reopened": "task_updated", "task.delivered": "task_updated", "task.ready": "task_updated",
    "task.noted": "task_updated",
}  # fmt: skip


def event_type(kind: str) -> str:
    """Return GolemXV's word for a kind of activity; for an unknown kind, the kind in its spelling."""
    return EVENTS.get(kind, kind.replace(".", "_"))


def kinds(word: str) -> list[str]:
    """Return the kinds of activity that GolemXV calls `word`."""
    return [kind for kind, said in EVENTS.items() if said == word] or [word.replace("_", ".", 1)]


def statuses(word: str) -> list[Status]:
    """Return the statuses that GolemXV calls `word`."""
    return [status for status, said in STATUS.items() if said == word]


def moment(at: int | None) -> str | None:
    """Format a time as UTC in ISO 8601 to the second, such as `2026-02-15T10:30:00`."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%dT%H:%M:%S}" if at is not None else None


def exact_moment(message: Message) -> str:
    """Return the exact time of a message, different from all others, from which `since` can go on."""
    exact = timedelta(microseconds=exact_microseconds(message.created_at, message.number))
    return f"{EPOCH + exact:%Y-%m-%dT%H:%M:%S.%f}"


def project_brief(project: Project) -> Row:
    return {"id": project.number, "name": project.name, "slug": project.slug}


def project_row(project: Project) -> Row:
    """Return the full row of a project."""
    return {
        **project_brief(project),
        "description": project.description,
        "repo_url": project.repo_url,
        "conflict_mode": project.conflict_mode,
        "heartbeat_interval_seconds": project.heartbeat_interval,
        "heartbeat_ttl_seconds": project.heartbeat_ttl,
    }


def area_row(area: Area) -> Row:
    return {
        "id": area.number,
        "name": area.name,
        "slug": area.slug,
        "file_patterns": list(area.patterns),
        "description": area.description,
    }


def conflict_rows(conflicts: Sequence[AgentConflict]) -> list[Row]:
    return [
        {
            "agent_name": conflict.agent,
            "overlapping_areas": list(conflict.overlap.areas),
            "overlapping_files": list(conflict.overlap.files),
        }
        for conflict in conflicts
    ]


def presence_row(presence: Presence) -> Row:
    """Return a row of `presence`."""
    return {
        "agent_name": presence.agent,
        "declared_area": presence.area,
        "declared_files": list(presence.files) if presence.files else None,
        "started_at": moment(presence.opened_at),
        "last_heartbeat_at": moment(presence.seen_at),
    }


def stay_row(presence: Presence) -> Row:
    """Return a row of `sessions`."""
    ended = next((word for word, reasons in ENDED.items() if presence.end_reason in reasons), "checked_out")
    row = presence_row(presence)
    return {
        "agent_name": row["agent_name"],
        "status": ended,
        **{name: value for name, value in row.items() if name != "agent_name"},
        "ended_at": moment(presence.ended_at),
        "outcome_status": presence.outcome,
        "work_summary": presence.summary,
        "files_touched": list(presence.touched) if presence.touched is not None else None,
    }


def task_row(task: Task) -> Row:
    """Return a row of `list_tasks`."""
    return {
        "id": task.number,
        "title": task.title,
        "status": STATUS[task.status],
        "priority": PRIORITY[task.priority],
        "area": task.area,
        "assigned": task.assignee,
    }


def claimed_task(task: Task, area: Area | None) -> Row:
    """Return the reply to the claim of a task."""
    edited = {"edited_by": task.edited_by} if task.edited_by is not None else {}
    return {
        "id": task.number,
        "title": task.title,
        "description": task.description,
        "priority": PRIORITY[task.priority],
        "area": task.area,
        "work_area_paths": list(area.patterns) if area else [],
        **edited,
    }


def message_row(message: Message) -> Row:
    """Return a row of `get_messages`."""
    return {
        "id": message.number,
        "from": message.sender,
        "to": message.recipient or EVERYONE,
        "type": message.intent or Intent.TEXT,
        "content": message.body,
        "at": exact_moment(message),
    }


def _is_internal(name: str) -> bool:
    """Tell whether a detail is an id of the hub's own, which no row of this dialect has."""
    return name.endswith("_id") or name == "in_reply_to"


def activity_row(activity: Activity) -> Row:
    """Return a row of `activity_log`."""
    return {
        "id": activity.seq,
        "event_type": event_type(activity.kind),
        "agent_name": activity.actor,
        "details": {
            name: STATUS[Status(str(value))] if name in STEP and value in SAID else value
            for name, value in activity.detail.items()
            if not _is_internal(name)
        },
        "at": moment(activity.at),
    }
