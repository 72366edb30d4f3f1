"""Explanation of a task: its holder, what it waits for, and what would move it on."""

from collections.abc import Iterator
from uuid import UUID

from hubbub.core.agents import agents
from hubbub.core.log import activity
from hubbub.core.mail.delivery_forecast import BUILT_IN
from hubbub.core.snapshots import card_states
from hubbub.core.why import presence, proof, waits
from hubbub.core.why.explanation import NOTHING, Fact, Phrase, Value, ago, ahead, named, quoted, say
from hubbub.core.work import completion_checks, dependencies, handovers, task_search, tasks
from hubbub.model.fleet.nodes import AT, NODE_PREFIX
from hubbub.model.lifecycle import ENDED, NOT_BEGUN, Status
from hubbub.model.log.attention import Need, NeedKind
from hubbub.model.records import Presence, Task
from hubbub.store.mail import messages
from hubbub.store.tx import Tx
from hubbub.store.work import artifacts
from hubbub.store.work import tasks as rows

SHOWN = 5  # names of agents, or of tasks
RESULT_LENGTH = 200
HISTORY = 200  # activities of a task that are searched


def account(tx: Tx, task: Task) -> Iterator[Fact]:
    """Yield all facts about the task's state."""
    yield _status(tx, task)
    if task.status in ENDED:
        yield from _end(tx, task)
        if task.status is Status.COMPLETED:
            yield from proof.of_task(tx, task)
        return
    yield from _needs(tx, task)
    yield from _way_back(tx, task)
    yield from _handed_over(tx, task)
    if task.assignee is None:
        yield from _free(tx, task)
    else:
        yield from _held(tx, task, task.assignee)
    if task.status is Status.IN_REVIEW:
        yield from _review(tx, task)
    yield from proof.of_task(tx, task)
    yield from _late(tx, task)
    if task.expires_at is not None and task.status in NOT_BEGUN:
        told = say("task_expires", at=ahead(task.expires_at, tx.now))
        yield Fact("task.expires", told, {"expires_at": task.expires_at})


def _late(tx: Tx, task: Task) -> Iterator[Fact]:
    """Say whether a person is needed because nobody works on it; blocked and failed tasks say so elsewhere."""
    need = Need.told(card_states.of_task(tx, task)["need"])
    if need is not None and need.kind is NeedKind.LATE and need.holds(tx.now):
        yield Fact("task.late", say("task_late", since=ago(need.since, tx.now)), {"since": need.since})


def _status(tx: Tx, task: Task) -> Fact:
    since = _since(tx, task)
    whose = say("by", name=named(task.assignee)) if task.assignee is not None else NOTHING
    cause = task.note if task.status is Status.BLOCKED else None
    told = say(
        "task",
        number=str(task.number),
        title=quoted(task.title),
        status=say(f"task_{task.status}", since=ago(since, tx.now), whose=whose),
        cause=say("reason", reason=quoted(cause, RESULT_LENGTH)) if cause else NOTHING,
    )
    detail = {"id": str(task.id), "number": task.number, "title": task.title, "status": task.status}
    return Fact(f"task.{task.status}", told, {**detail, "assignee": task.assignee, "since": since})


def _since(tx: Tx, task: Task) -> int:
    """Return the time since when the task has its status."""
    for each in activity.latest(tx, task.project_id, task_id=task.id, limit=HISTORY):
        if each.detail.get("after") == task.status and each.detail.get("before") != task.status:
            return each.at
    return task.updated_at


def _end(tx: Tx, task: Task) -> Iterator[Fact]:
    happened = activity.latest(tx, task.project_id, task_id=task.id, limit=HISTORY)
    by = next((each.actor for each in happened if each.detail.get("after") == task.status), None)
    if task.status is Status.EXPIRED:
        yield Fact("task.not_begun", say("task_not_begun"), {"expires_at": task.expires_at})
    elif by is not None:
        yield Fact("task.ended_by", say(f"ended_{task.status}", by=named(by)), {"by": by})
    if task.result:
        key = "task_result" if task.status is Status.COMPLETED else "task_reason"
        told = say(key, result=quoted(task.result, RESULT_LENGTH))
        yield Fact("task.result", told, {"result": task.result[:RESULT_LENGTH]})
    if task.status is not Status.COMPLETED:
        yield Fact("task.retry", say("task_retry", number=str(task.number)), {"number": task.number})


def _needs(tx: Tx, task: Task) -> Iterator[Fact]:
    """Say which tasks must be completed before it."""
    if task.started_at is not None:
        return
    found = [rows.find(tx, each) for each in dependencies.of_task(tx, task)]
    unmet = [each for each in found if each is not None and each.status is not Status.COMPLETED]
    if not unmet:
        return
    told: list[Value] = [_need(each) for each in unmet[:SHOWN]]
    if len(unmet) > SHOWN:
        told.append(say("more", count=len(unmet) - SHOWN))
    detail = [
        {"id": str(each.id), "number": each.number, "status": each.status, "assignee": each.assignee}
        for each in unmet
    ]
    yield Fact("task.waits", say("task_waits", needs=told), {"unmet": detail})
    over = [each for each in unmet if each.status in ENDED]
    if over:
        stuck = say("task_stuck", numbers=[f"T-{each.number}" for each in over[:SHOWN]])
        yield Fact("task.stuck", stuck, {"numbers": [each.number for each in over]})


def _need(task: Task) -> Phrase:
    return _named(task, say("with", name=named(task.assignee)) if task.assignee is not None else NOTHING)


def _named(task: Task, whom: Value = NOTHING) -> Phrase:
    """Name a task by its number and status."""
    return say("named_task", number=str(task.number), status=say(f"state_{task.status}"), whom=whom)


def _handed_over(tx: Tx, task: Task) -> Iterator[Fact]:
    """Say by whom, and why, a task was handed over that was begun since."""
    handover = handovers.of_task(tx, task.id)
    if handover is None or task.status in (Status.QUEUED, Status.DELIVERED):
        return
    told = say(
        "again_reassigned",
        whose=say("from", name=named(handover.taken_from)),
        at=ago(handover.at, tx.now),
        reason=say("reason", reason=quoted(handover.reason)),
        attempt=str(task.attempt),
    )
    yield Fact("task.handed_over", told, {"taken_from": handover.taken_from, "at": handover.at})


def _way_back(tx: Tx, task: Task) -> Iterator[Fact]:
    """Say how a task that had got further came back to the start."""
    if task.status not in (Status.QUEUED, Status.DELIVERED) or task.attempt == 1:
        return
    for each in activity.latest(tx, task.project_id, task_id=task.id, limit=HISTORY):
        if each.kind in ("task.released", "task.reassigned", "task.retried", "task.reopened"):
            reason, taken_from = each.detail.get("reason"), each.detail.get("taken_from")
            how = each.kind.removeprefix("task.")
            told = say(
                f"again_{how}",
                whose=say("from", name=named(taken_from)) if isinstance(taken_from, str) else NOTHING,
                at=ago(each.at, tx.now),
                reason=say("reason", reason=quoted(reason)) if isinstance(reason, str) else NOTHING,
                attempt=str(task.attempt),
            )
            yield Fact(
                "task.again", told, {"how": how, "at": each.at, "reason": reason, "attempt": task.attempt}
            )
            return


def _free(tx: Tx, task: Task) -> Iterator[Fact]:
    """Say who could take the task; or that it is under way without a holder, as a sender can leave it in Relay."""
    if task.status is not Status.QUEUED:
        yield Fact("task.unheld", say("task_unheld"), {"number": task.number})
        return
    here = [
        each.agent
        for each in agents.presences(tx, [task.project_id])
        if each.is_live(tx.now) and each.runtime != BUILT_IN  # the echo takes only what is sent to it
    ]
    if not tasks.is_ready(tx, task):
        return
    if not here:
        told = say("free_nobody")
    elif len(here) == 1:
        told = say("free_alone", name=named(here[0]))
    else:
        names: list[Value] = [named(each) for each in sorted(here)[:SHOWN]]
        if len(here) > SHOWN:
            names.append(say("more", count=len(here) - SHOWN))
        told = say("free_several", names=names)
    yield Fact("task.free", told, {"here": sorted(here)})


def _held(tx: Tx, task: Task, holder: str) -> Iterator[Fact]:
    if task.status is Status.QUEUED:
        told = say("task_addressed", name=named(holder))
        yield Fact("task.addressed", told, {"assignee": holder})
    elif task.status is Status.DELIVERED:
        yield _delivery(tx, task, holder)
    elif task.status is not Status.IN_REVIEW:
        yield from _hold(tx, task, holder)
    yield from presence.of_agent(tx, task.project_id, holder)
    if task.status in (Status.QUEUED, Status.DELIVERED):
        yield from _busy(tx, task, holder)
    else:
        yield from waits.of_agent(tx, task.project_id, holder)


def _delivery(tx: Tx, task: Task, holder: str) -> Fact:
    """Say how far the task got in its addressee's inbox."""
    row = messages.find_delivery(tx, task.delivery_id) if task.delivery_id is not None else None
    stored_at = row.stored_at if row is not None else task.delivered_at or task.created_at
    seen_at = row.seen_at if row is not None else None
    notified_at = row.notified_at if row is not None else None
    lies: dict[str, Value] = {"name": named(holder), "since": ago(stored_at, tx.now)}
    if seen_at is not None:
        told = say("inbox_read", **lies, at=ago(seen_at, tx.now))
    elif notified_at is not None:
        told = say("inbox_told", **lies, at=ago(notified_at, tx.now))
    else:
        told = say("inbox_unread", **lies)
    detail = {"assignee": holder, "stored_at": stored_at, "notified_at": notified_at, "seen_at": seen_at}
    return Fact("task.unread" if seen_at is None else "task.read", told, detail)


def _hold(tx: Tx, task: Task, holder: str) -> Iterator[Fact]:
    """Say by which right the holder has the task, and when that ends."""
    if task.status is Status.BLOCKED:
        told = say("holder_waits", name=named(holder))
        yield Fact("task.holder_waits", told, {"assignee": holder, "reason": task.note})
    if holder.startswith(NODE_PREFIX):
        told = say("work_of_program" if AT in holder else "work_of_machine", name=named(task.sender))
        yield Fact("task.machine_work", told, {"sender": task.sender})
        return
    current = agents.presence(tx, task.project_id, holder)
    detail: dict[str, object] = {"assignee": holder}
    if not task.leased or not _lease_counts(task, current):
        yield Fact("task.held", say("task_held", name=named(holder)), detail)
    elif current is not None and current.is_live(tx.now):
        key = "task_leased_to" if task.addressed else "task_leased"
        told = say(key, name=named(holder), until=ahead(current.expires_at, tx.now))
        yield Fact("task.leased", told, {**detail, "expires_at": current.expires_at})
    else:
        yield Fact("task.lease_ended", say("lease_ended", name=named(holder)), detail)


def _lease_counts(task: Task, presence: Presence | None) -> bool:
    """Tell whether silence ends the hold: the holder was present when it began, or is now."""
    if presence is None:
        return False
    return presence.ended_at is None or max(task.accepted_at or 0, task.started_at or 0) <= presence.ended_at


def _busy(tx: Tx, task: Task, holder: str) -> Iterator[Fact]:
    """Name the other tasks that the addressee works on."""
    others = task_search.search(tx, [task.project_id], status=[Status.WORKING], assignee=holder, limit=SHOWN)
    if others:
        numbers = [each.number for each in others]
        told = say("agent_busy", name=named(holder), numbers=[f"T-{each}" for each in numbers])
        yield Fact("agent.busy", told, {"numbers": numbers})


def _review(tx: Tx, task: Task) -> Iterator[Fact]:
    """Say who reviews or checks the task."""
    check = completion_checks.running(tx, task)
    if check is not None:
        told = say("task_checked", name=named(check.agent), until=ahead(check.expires_at, tx.now))
        yield Fact("task.checked", told, {"agent": check.agent, "expires_at": check.expires_at})
    pending = list(_reviews(tx, task))
    yield from pending
    if check is None and not pending:
        yield Fact("task.handed_in", say("task_handed_in"), {"number": task.number})


def _reviews(tx: Tx, task: Task) -> Iterator[Fact]:
    """Yield facts about the pending reviews of the task's artifacts."""
    names: set[str] = {str(task.id), str(task.number), f"#{task.number}", task.external_id or str(task.id)}
    for review in artifacts.reviews_of_run(tx, task.run_id) if task.run_id is not None else []:
        artifact = artifacts.find(tx, review.artifact_id) if review.verdict is None else None
        if artifact is None or artifact.task not in names:
            continue
        told = say(
            "review_pending",
            name=named(review.reviewer),
            artifact=quoted(artifact.name),
            at=ago(review.created_at, tx.now),
        )
        detail = {"review_id": str(review.id), "reviewer": review.reviewer, "asked_at": review.created_at}
        yield Fact("review.pending", told, {**detail, "artifact": artifact.name})


def of_agent(tx: Tx, project_id: UUID, name: str) -> Iterator[Fact]:
    """Yield facts about the tasks that an agent holds, and those that wait for it."""
    held = task_search.search(
        tx, [project_id], status=[Status.ACCEPTED, Status.WORKING, Status.BLOCKED], assignee=name, limit=50
    )
    if held:
        told: list[Value] = [_named(each) for each in held[:SHOWN]]
        if len(held) > SHOWN:
            told.append(say("more", count=len(held) - SHOWN))
        numbers = [each.number for each in held]
        yield Fact("agent.holds", say("agent_holds", count=len(held), tasks=told), {"numbers": numbers})
