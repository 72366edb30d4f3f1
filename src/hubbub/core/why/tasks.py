"""Why a task is as it is: who has it, what it waits for, and what would move it on."""

from collections.abc import Iterator
from uuid import UUID

from hubbub.core import activity, agents, checks, dependencies, tasks
from hubbub.core.why import presence, waiting
from hubbub.core.why.account import Fact, ago, ahead, counted, listed, named, quoted
from hubbub.model.lifecycle import ENDED, NOT_BEGUN, Status
from hubbub.model.machines import AT, NODE_PREFIX
from hubbub.model.records import Presence, Task
from hubbub.store import artifacts, messages
from hubbub.store import tasks as rows
from hubbub.store.tx import Tx

SHOWN = 5  # names of agents, of tasks that are waited for
RESULT_LENGTH = 200
HISTORY = 200  # activities of a task that are looked through
TOLD = {
    Status.QUEUED: "is queued",
    Status.DELIVERED: "is delivered",
    Status.ACCEPTED: "is accepted",
    Status.WORKING: "is being worked on",
    Status.BLOCKED: "is blocked",
    Status.IN_REVIEW: "is in review",
    Status.COMPLETED: "is completed",
    Status.FAILED: "has failed",
    Status.CANCELLED: "is cancelled",
    Status.EXPIRED: "has expired",
}


def account(tx: Tx, task: Task) -> Iterator[Fact]:
    """Every fact that the hub has about how the task is."""
    yield _status(tx, task)
    if task.status in ENDED:
        yield from _end(tx, task)
        return
    yield from _needs(tx, task)
    yield from _way_back(tx, task)
    if task.assignee is None:
        yield from _free(tx, task)
    else:
        yield from _held(tx, task, task.assignee)
    if task.status is Status.IN_REVIEW:
        yield from _review(tx, task)
    if task.expires_at is not None and task.status in NOT_BEGUN:
        told = f"If nobody begins it, it expires at {ahead(task.expires_at, tx.now)}."
        yield Fact("task.expires", told, {"expires_at": task.expires_at})


def _status(tx: Tx, task: Task) -> Fact:
    whose = ""
    if task.assignee is not None and task.status in (Status.ACCEPTED, Status.WORKING, Status.BLOCKED):
        whose = f" by {named(task.assignee)}" if task.status is not Status.BLOCKED else ""
    since = _since(tx, task)
    told = f"Task #{task.number} {quoted(task.title)} {TOLD[task.status]}{whose} since {ago(since, tx.now)}."
    detail = {"id": str(task.id), "number": task.number, "title": task.title, "status": task.status}
    return Fact(f"task.{task.status}", told, {**detail, "assignee": task.assignee, "since": since})


def _since(tx: Tx, task: Task) -> int:
    """When the task came to be as it is."""
    for each in activity.latest(tx, task.project_id, task_id=task.id, limit=HISTORY):
        if each.detail.get("after") == task.status and each.detail.get("before") != task.status:
            return each.at
    return task.updated_at


def _end(tx: Tx, task: Task) -> Iterator[Fact]:
    happened = activity.latest(tx, task.project_id, task_id=task.id, limit=HISTORY)
    by = next((each.actor for each in happened if each.detail.get("after") == task.status), None)
    if task.status is Status.EXPIRED:
        told = "Nobody began it within its time."
        yield Fact("task.not_begun", told, {"expires_at": task.expires_at})
    elif by is not None:
        how = {Status.COMPLETED: "completed", Status.FAILED: "given up", Status.CANCELLED: "cancelled"}
        yield Fact("task.ended_by", f"It was {how[task.status]} by {named(by)}.", {"by": by})
    if task.result:
        word = "Its result" if task.status is Status.COMPLETED else "The reason"
        result = task.result[:RESULT_LENGTH]
        yield Fact("task.result", f"{word}: {quoted(task.result, RESULT_LENGTH)}.", {"result": result})
    if task.status is not Status.COMPLETED:
        told = f"It goes on if it is tried again: hubbub task retry {task.number}."
        yield Fact("task.retry", told, {"number": task.number})


def _needs(tx: Tx, task: Task) -> Iterator[Fact]:
    """What must be completed before it."""
    if task.started_at is not None:
        return
    found = [rows.find(tx, each) for each in dependencies.of_task(tx, task)]
    unmet = [each for each in found if each is not None and each.status is not Status.COMPLETED]
    if not unmet:
        return
    told = [_need(each) for each in unmet[:SHOWN]]
    if len(unmet) > SHOWN:
        told.append(f"{len(unmet) - SHOWN} more")
    detail = [
        {"id": str(each.id), "number": each.number, "status": each.status, "assignee": each.assignee}
        for each in unmet
    ]
    yield Fact("task.waits", f"It waits for {listed(told)} to be completed first.", {"unmet": detail})
    over = [each for each in unmet if each.status in ENDED]
    if over:
        numbers = listed([f"#{each.number}" for each in over[:SHOWN]])
        told_so = f"That will not happen by itself: {numbers} must be tried again (hubbub task retry)."
        yield Fact("task.stuck", told_so, {"numbers": [each.number for each in over]})


def _need(task: Task) -> str:
    with_whom = f", with {named(task.assignee)}" if task.assignee is not None else ""
    return f"#{task.number} ({task.status.replace('_', ' ')}{with_whom})"


def _way_back(tx: Tx, task: Task) -> Iterator[Fact]:
    """How it came to be at the start again, where it has been further."""
    if task.status not in (Status.QUEUED, Status.DELIVERED) or task.attempt == 1:
        return
    for each in activity.latest(tx, task.project_id, task_id=task.id, limit=HISTORY):
        if each.kind in ("task.released", "task.reassigned", "task.retried", "task.reopened"):
            reason, taken_from = each.detail.get("reason"), each.detail.get("taken_from")
            why = f": {quoted(reason)}" if isinstance(reason, str) else ""
            whose = f" from {named(taken_from)}" if isinstance(taken_from, str) else ""
            how = each.kind.removeprefix("task.")
            told = f"It was {how}{whose} at {ago(each.at, tx.now)}{why}; this is attempt {task.attempt}."
            yield Fact(
                "task.again", told, {"how": how, "at": each.at, "reason": reason, "attempt": task.attempt}
            )
            return


def _free(tx: Tx, task: Task) -> Iterator[Fact]:
    """Who could take it."""
    here = [each.agent for each in agents.presences(tx, [task.project_id]) if each.is_live(tx.now)]
    if not tasks.is_ready(tx, task):
        return
    if not here:
        told = "It is free, and nobody is here: it begins when an agent comes and claims it."
    else:
        shown = [named(each) for each in sorted(here)[:SHOWN]]
        more = [f"{len(here) - SHOWN} more"] if len(here) > SHOWN else []
        told = f"It is free, and nobody has claimed it; {listed(shown + more)} could: they are here."
        if len(here) == 1:
            told = f"It is free, and nobody has claimed it; {shown[0]} could, being the only one here."
    yield Fact("task.free", told, {"here": sorted(here)})


def _held(tx: Tx, task: Task, holder: str) -> Iterator[Fact]:
    if task.status is Status.QUEUED:
        told = f"It is addressed to {named(holder)}, in whose inbox it is not yet."
        yield Fact("task.addressed", told, {"assignee": holder})
    elif task.status is Status.DELIVERED:
        yield _delivery(tx, task, holder)
    elif task.status is not Status.IN_REVIEW:
        yield from _hold(tx, task, holder)
    yield from presence.of_agent(tx, task.project_id, holder)
    if task.status in (Status.QUEUED, Status.DELIVERED):
        yield from _busy(tx, task, holder)
    else:
        yield from waiting.of_agent(tx, task.project_id, holder)


def _delivery(tx: Tx, task: Task, holder: str) -> Fact:
    """How far it got in the inbox of whom it is addressed to."""
    row = messages.find_delivery(tx, task.delivery_id) if task.delivery_id is not None else None
    stored_at = row.stored_at if row is not None else task.delivered_at or task.created_at
    seen_at = row.seen_at if row is not None else None
    notified_at = row.notified_at if row is not None else None
    if seen_at is not None:
        how = f"which read it at {ago(seen_at, tx.now)}, and has not accepted it"
    elif notified_at is not None:
        how = f"which was told of it at {ago(notified_at, tx.now)}, and has not read it"
    else:
        how = "which has not read it"
    told = f"It lies in the inbox of {named(holder)} since {ago(stored_at, tx.now)}, {how}."
    detail = {"assignee": holder, "stored_at": stored_at, "notified_at": notified_at, "seen_at": seen_at}
    return Fact("task.unread" if seen_at is None else "task.read", told, detail)


def _hold(tx: Tx, task: Task, holder: str) -> Iterator[Fact]:
    """By what the holder has it, and when that ends."""
    if task.status is Status.BLOCKED:
        said = (
            f"what was said of that is {quoted(task.note, RESULT_LENGTH)}"
            if task.note
            else "says that it cannot go on"
        )
        told = (
            f"{named(holder)} holds it, and {said}; it goes on when {named(holder)} or a person unblocks it, or it is"
            " released or reassigned."
        )
        yield Fact("task.holder_waits", told, {"assignee": holder, "reason": task.note})
    if holder.startswith(NODE_PREFIX):
        whose = "the work of a program beside its sender" if AT in holder else "the machine's own work"
        told = f"It is {whose}, done for {named(task.sender)}; it ends when that work does."
        yield Fact("task.machine_work", told, {"sender": task.sender})
        return
    current = agents.presence(tx, task.project_id, holder)
    detail: dict[str, object] = {"assignee": holder}
    if not task.leased or not _lease_counts(task, current):
        told = f"{named(holder)} holds it without a lease: silence does not end that; it can be reassigned."
        yield Fact("task.held", told, detail)
    elif current is not None and current.is_live(tx.now):
        where = "waits for it to come back" if task.addressed else "goes back to the open queue"
        told = (
            f"{named(holder)} holds it by a lease until {ahead(current.expires_at, tx.now)}, renewed by each"
            f" heartbeat; after that it {where}."
        )
        yield Fact("task.leased", told, {**detail, "expires_at": current.expires_at})
    else:
        told = (
            f"It is addressed to {named(holder)}, and is delivered again when that is back; or reassign it."
        )
        yield Fact("task.lease_ended", told, detail)


def _lease_counts(task: Task, presence: Presence | None) -> bool:
    """Whether the holder was there when it began, or is now: what it took without a heartbeat no silence ends."""
    if presence is None:
        return False
    return presence.ended_at is None or max(task.accepted_at or 0, task.started_at or 0) <= presence.ended_at


def _busy(tx: Tx, task: Task, holder: str) -> Iterator[Fact]:
    """What else the one to whom it is addressed works on."""
    others = tasks.search(tx, [task.project_id], status=[Status.WORKING], assignee=holder, limit=SHOWN)
    if others:
        numbers = [each.number for each in others]
        told = f"{named(holder)} works on {listed([f'#{each}' for each in numbers])} meanwhile."
        yield Fact("agent.busy", told, {"numbers": numbers})


def _review(tx: Tx, task: Task) -> Iterator[Fact]:
    """Who looks at it."""
    check = checks.running(tx, task)
    if check is not None:
        told = f"{named(check.agent)} is checking it, until {ahead(check.expires_at, tx.now)} at the latest."
        yield Fact("task.checked", told, {"agent": check.agent, "expires_at": check.expires_at})
    pending = list(_reviews(tx, task))
    yield from pending
    if check is None and not pending:
        told = "It was handed in, and nobody was asked by name to look at it; whoever does completes it."
        yield Fact("task.handed_in", told, {"number": task.number})


def _reviews(tx: Tx, task: Task) -> Iterator[Fact]:
    """The reviews that are asked for of what was made for it."""
    names: set[str] = {str(task.id), str(task.number), f"#{task.number}", task.external_id or str(task.id)}
    for review in artifacts.reviews_of_run(tx, task.run_id) if task.run_id is not None else []:
        artifact = artifacts.find(tx, review.artifact_id) if review.verdict is None else None
        if artifact is None or artifact.task not in names:
            continue
        told = (
            f"{named(review.reviewer)} was asked to review {quoted(artifact.name)} for it at"
            f" {ago(review.created_at, tx.now)}, and has not answered."
        )
        detail = {"review_id": str(review.id), "reviewer": review.reviewer, "asked_at": review.created_at}
        yield Fact("review.pending", told, {**detail, "artifact": artifact.name})


def of_agent(tx: Tx, project_id: UUID, name: str) -> Iterator[Fact]:
    """What an agent holds, and what waits for it."""
    held = tasks.search(
        tx, [project_id], status=[Status.ACCEPTED, Status.WORKING, Status.BLOCKED], assignee=name, limit=50
    )
    if held:
        told = [f"#{each.number} ({each.status})" for each in held[:SHOWN]]
        more = [f"{len(held) - SHOWN} more"] if len(held) > SHOWN else []
        numbers = [each.number for each in held]
        yield Fact(
            "agent.holds",
            f"It holds {counted(len(held), 'task')}: {listed(told + more)}.",
            {"numbers": numbers},
        )
