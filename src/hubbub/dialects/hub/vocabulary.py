"""The hub's records in the words of its own tools, with short ids."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from hubbub.dialects.hub.short_ids import ARTIFACT, MESSAGE, TASK, short
from hubbub.dialects.hub.token_budget import cut
from hubbub.model.agents.scopes import AgentConflict
from hubbub.model.fleet.nodes import Machine
from hubbub.model.lifecycle import ENDED, LIFECYCLE, OPEN, Event, Status
from hubbub.model.mail.wakes import WakeResult
from hubbub.model.people.rights import EVERYONE
from hubbub.model.records import (
    Artifact,
    Condition,
    Delivery,
    Letter,
    LetterKind,
    Message,
    Presence,
    Priority,
    Review,
    Task,
)
from hubbub.model.work.leases import Lease

Row = Mapping[str, object]

STATUS = {status: str(status) for status in Status}
CONDITION = {condition: str(condition) for condition in Condition}
KIND = {kind: str(kind) for kind in LetterKind}
PRIORITY = {priority: priority.name.lower() for priority in Priority}
PRIORITIES = {word: priority for priority, word in PRIORITY.items()}
ACTION: Mapping[str, str] = {Event.ACCEPT: "claim"}  # where it is not called like its step
ACTIONS = frozenset(Event) - {Event.DELIVER, Event.EXPIRE, Event.REOPEN}  # steps that `task` has
ALSO = {"open": OPEN, "ended": ENDED}  # accepted by `board` beside the statuses

LISTED = 50  # entries of one agent in a list of holders
BEGINNING = frozenset({Status.ACCEPTED, Status.WORKING})  # replies with the description
WAITS_FOR_YOU = "It waits for your review: approve or revise it."
SHARED = 5  # entries that a conflict names


def statuses(word: str) -> frozenset[Status]:
    """Return the statuses that `board` means by `word`."""
    return ALSO.get(word) or frozenset({Status(word)})


def possible(status: str) -> list[str]:
    """Return the actions of `task` that somebody may do to a task in that status."""
    return [
        ACTION.get(event, str(event))
        for event, (allowed_from, _target) in LIFECYCLE.items()
        if status in allowed_from and event in ACTIONS
    ]


def known(**fields: object) -> dict[str, object]:
    """Return the fields that have a value."""
    return {name: value for name, value in fields.items() if value not in (None, "", (), [], {})}


def brief(text: str, most: int) -> str:
    """Return the beginning of a text, on one line, of at most the cost `most`."""
    return cut(" ".join(text.split()), most)


def state_of(delivery: Delivery) -> str:
    """Return the progress of a letter."""
    is_withdrawn = delivery.withdrawn_at is not None and delivery.dead_at is None
    return "withdrawn" if is_withdrawn else str(delivery.reached)


def delivery(row: Delivery, results: Mapping[UUID, WakeResult]) -> Row:
    """Return a letter's progress with its receiver, and the times; `results` are those of wakes, by their ids."""
    return known(
        to=row.recipient,
        state=state_of(row),
        wake=results.get(row.wake_id) if row.wake_id is not None else None,
        stored_at=row.stored_at,
        notified_at=row.notified_at,
        seen_at=row.seen_at,
        acked_at=row.acked_at,
        withdrawn_at=row.withdrawn_at,
        dead_at=row.dead_at,
    )


def lease(each: Lease) -> Row:
    """Return the row of a lease, held or waiting."""
    return known(
        things=list(each.things),
        status=each.status,
        holder=each.holder,
        fence=each.fence,
        units={thing: list(numbers) for thing, numbers in each.units.items()},
        expires_at=each.expires_at if each.by_tool else None,
    )


def letter(each: Letter, *, reply_to: str | None = None, seen_at: int | None = None) -> Row:
    """Return a letter for its receiver; `reply_to` is the answered one, `seen_at` the time of its first reading."""
    is_task = each.kind is LetterKind.TASK
    return known(
        id=short(TASK if is_task else MESSAGE, each.number),
        kind=KIND[each.kind],
        **{"from": each.sent_by},
        text=each.text,
        edited_by=each.edited_by,
        context=each.context,
        priority=PRIORITY[each.delivery.priority] if is_task else None,
        reply_to=reply_to,
        child=each.child,
        outcome=STATUS[each.outcome] if each.outcome is not None else None,
        note=WAITS_FOR_YOU if each.outcome is Status.IN_REVIEW else None,
        stored_at=each.delivery.stored_at,
        notified_at=each.delivery.notified_at,
        seen_at=seen_at,
    )


def message(
    each: Message,
    deliveries: Sequence[Delivery],
    results: Mapping[UUID, WakeResult],
    *,
    reply_to: str | None = None,
) -> Row:
    """Return a message as everyone in the project may read it, with its delivery."""
    return known(
        id=short(MESSAGE, each.number),
        kind=KIND[each.kind],
        **{"from": each.sent_by},
        to=each.sent_to or EVERYONE,
        text=each.body,
        reply_to=reply_to,
        outcome=STATUS[each.outcome] if each.outcome is not None else None,
        sent_at=each.created_at,
        delivery=[delivery(row, results) for row in deliveries],
    )


def task_brief(task: Task, most: int) -> str:
    """Return a task on one line, with as much of its title as `most` allows."""
    return f"{short(TASK, task.number)} {STATUS[task.status]}: {brief(task.title, most)}"


def task_row(task: Task) -> Row:
    """Return a row of the board."""
    return known(
        id=short(TASK, task.number),
        title=task.title,
        status=STATUS[task.status],
        to=task.assignee,
        **{"from": task.sent_by},
        priority=PRIORITY[task.priority],
        area=task.area,
        updated_at=task.updated_at,
    )


def task_whole(
    task: Task,
    needs: Sequence[Task],
    deliveries: Sequence[Delivery],
    results: Mapping[UUID, WakeResult],
    said: Sequence[Message],
    progress: int | None = None,
) -> Row:
    """Return everything about a task; `progress` is its holder's, in percent."""
    return {
        **task_row(task),
        **known(
            text=task.text,
            edited_by=task.edited_by,
            context=task.context,
            result=task.result,
            progress=progress,
            note=task.note,
            files=task.files,
            issue=task.issue,
            attempt=task.attempt if task.attempt > 1 else None,
            needs=[f"{short(TASK, need.number)} {STATUS[need.status]}" for need in needs],
            created_at=task.created_at,
            accepted_at=task.accepted_at,
            started_at=task.started_at,
            ended_at=task.ended_at,
            expires_at=task.expires_at,
            delivery=[delivery(row, results) for row in deliveries],
            said=[comment(each) for each in said],
        ),
    }


def comment(each: Message) -> Row:
    """Return a comment on a task."""
    return {
        "id": short(MESSAGE, each.number),
        "from": each.sent_by,
        "text": each.body,
        "sent_at": each.created_at,
    }


def peer(presence: Presence, most: int) -> str:
    """Return another present agent, on one line, with as much of its occupation as `most` allows."""
    doing = f": {brief(presence.doing, most)}" if presence.doing else ""
    return f"{presence.agent} ({CONDITION[presence.condition]}){doing}"


def conflict_brief(conflict: AgentConflict, most: int) -> str:
    """Return a conflict on one line, with as much of its first entry as `most` allows."""
    met = [*conflict.overlap.areas, *conflict.overlap.files]
    more = f" and {len(met) - 1} more" if len(met) > 1 else ""
    return f"{conflict.agent}: {brief(met[0], most)}{more}"


def conflicts(found: Sequence[AgentConflict]) -> list[Row]:
    """Return the agents whose scopes overlap, and the common part."""
    return [
        {"agent": each.agent, "on": [*each.overlap.areas, *each.overlap.files][:SHARED]} for each in found
    ]


def artifact_row(artifact: Artifact) -> Row:
    """Return an artifact in a list."""
    return known(
        id=short(ARTIFACT, artifact.number),
        name=artifact.name,
        kind=artifact.kind,
        **{"from": artifact.creator},
        task=artifact.task,
        length=artifact.length,
        created_at=artifact.created_at,
    )


def review_row(review: Review, artifact: Artifact) -> Row:
    """Return a review, for its requester or reviewer."""
    return known(
        review=str(review.id),
        artifact=short(ARTIFACT, artifact.number),
        reviewer=review.reviewer,
        verdict=str(review.verdict) if review.verdict is not None else "pending",
        text=review.comments,
    )


def machine_row(machine: Machine, now: int) -> Row:
    """Return a machine that can be asked."""
    return known(
        name=machine.name, is_online=machine.is_online(now), platform=machine.platform, agent=machine.runtime
    )
