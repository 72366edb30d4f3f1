"""The outbox: deliveries that leave the hub, from the transaction that requests them until they end.

Nothing leaves the hub within a transaction. A delivery is stored here with its subject, and sent after the commit, by
the hub that takes it. An attempt is a lease: if it ends without a report, as when the hub has died, another attempt is
made. So a parcel goes out at least once, and where it can, the sender first checks whether the parcel has arrived.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from hubbub.model.errors import Conflict, NotFound
from hubbub.model.ids import new_id, parse_id
from hubbub.model.log.outbox_items import (
    TRIES,
    AttemptReport,
    AttemptResult,
    DeliveryOutcome,
    OutboxItem,
    OutboxItemKind,
    wait_after,
)
from hubbub.model.log.webhooks import Webhook
from hubbub.model.people.rights import HUB
from hubbub.model.records import Activity, Task
from hubbub.model.timestamps import milliseconds
from hubbub.store.log import activity, outbox, webhooks
from hubbub.store.people import projects
from hubbub.store.tx import Tx
from hubbub.store.work import tasks

LEASE = timedelta(seconds=60)  # longer than any attempt may take
KEEP = timedelta(days=7)  # for delivered parcels
KEEP_DEAD = timedelta(days=60)  # for undelivered ones
COMMENT_LENGTH = 60_000  # characters; GitHub takes 65,536, and the mark has to fit in

KINDS = {
    DeliveryOutcome.DELIVERED: "outbox.delivered",
    DeliveryOutcome.DEAD: "outbox.dead",
    DeliveryOutcome.SKIPPED: "outbox.skipped",
}
ENDS = {
    AttemptResult.DELIVERED: DeliveryOutcome.DELIVERED,
    AttemptResult.REFUSED: DeliveryOutcome.DEAD,
    AttemptResult.FAILED: DeliveryOutcome.DEAD,
    AttemptResult.SKIPPED: DeliveryOutcome.SKIPPED,
}

# These need no rule of their own, so they are the store's functions.
of_project = outbox.of_project


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxJob:
    """A parcel that was taken, with everything needed to deliver it."""

    parcel: OutboxItem
    begun_at: int
    webhook: Webhook | None = None
    activity: Activity | None = None
    task: Task | None = None  # the subject
    project: str | None = None  # its slug


def put_comment(tx: Tx, task: Task, text: str, *, by: str) -> None:
    """Queue a comment on the task's issue, saying that the task is completed."""
    if task.issue is None:
        return
    said = text.strip() or "done"
    if len(said) > COMMENT_LENGTH:
        said = f"{said[:COMMENT_LENGTH]}\n\n… (the whole result is with the task)"
    outbox.insert(
        tx,
        new_id(),
        task.project_id,
        OutboxItemKind.COMMENT,
        issue=task.issue,
        text=f"{said}\n\n— {by}, task {task.number}: {task.title}",  # without a #, which GitHub would turn into a link
        task_id=task.id,
    )


def put_activity(tx: Tx, webhook: Webhook, happened: Activity) -> None:
    """Queue an activity for the webhook."""
    outbox.insert(
        tx,
        new_id(),
        webhook.project_id,
        OutboxItemKind.WEBHOOK,
        webhook_id=webhook.id,
        activity=happened.seq,
        event=happened.kind,
        task_id=happened.task_id,
    )


def next_in(tx: Tx) -> timedelta | None:
    """Return the time until the next parcel is due; None if nothing waits."""
    at = outbox.next_at(tx)
    return timedelta(milliseconds=max(0, at - tx.now)) if at is not None else None


def take(tx: Tx, limit: int) -> list[OutboxJob]:
    """Take up to `limit` due parcels; no other hub takes them until the lease ends.

    `doubtful` is returned as it was stored: an earlier attempt may have delivered the parcel.
    """
    errands = []
    for parcel in outbox.due(tx, limit):
        outbox.lease(tx, parcel.id, tx.now + milliseconds(LEASE))
        project = projects.find(tx, parcel.project_id)
        errands.append(
            OutboxJob(
                parcel=replace(parcel, attempts=parcel.attempts + 1),
                begun_at=tx.now,
                webhook=webhooks.find(tx, parcel.webhook_id) if parcel.webhook_id else None,
                activity=activity.find(tx, parcel.activity) if parcel.activity is not None else None,
                task=tasks.find(tx, parcel.task_id) if parcel.task_id else None,
                project=project.slug if project is not None else None,
            )
        )
    return errands


def note(tx: Tx, errand: OutboxJob, report: AttemptReport, chance: float) -> None:
    """Store the report of an attempt; after a failure, `chance` from 0 to 1 spreads the time of the next.

    Records `outbox.delivered`, `outbox.failed`, `outbox.dead` or `outbox.skipped`. Nothing changes if the parcel has
    ended, or another attempt has begun meanwhile.
    """
    parcel = errand.parcel
    if report.fate is AttemptResult.FAILED and parcel.attempts < TRIES:
        wait = max(wait_after(parcel.attempts, chance), report.wait or timedelta())
        again_at = tx.now + milliseconds(wait)
        if outbox.postpone(tx, parcel, again_at, doubtful=report.doubtful, reason=report.reason):
            _record(tx, "outbox.failed", errand, report, {"next_at": again_at})
    elif outbox.end(tx, parcel, ENDS[report.fate], reason=report.reason):
        _record(tx, KINDS[ENDS[report.fate]], errand, report, {})
    if report.holds_up_all and report.wait is not None:
        outbox.hold_up(tx, parcel.kind, tx.now + milliseconds(report.wait))


def let_go(tx: Tx, errands: Sequence[OutboxJob]) -> None:
    """Give up attempts that nobody will report on; others may begin new ones at once."""
    for errand in errands:
        outbox.let_go(tx, errand.parcel)


def retry(tx: Tx, project_id: UUID, ref: str) -> OutboxItem:
    """Queue a parcel again, now and with its full number of tries. Records `outbox.retried`.

    Raises `NotFound`, and `Conflict` if it has arrived, or its webhook was removed.
    """
    parcel_id = parse_id(ref)
    parcel = outbox.find(tx, parcel_id, lock=True) if parcel_id else None
    if parcel is None or parcel.project_id != project_id:
        raise NotFound("delivery", ref)
    if parcel.outcome is DeliveryOutcome.DELIVERED:
        raise Conflict("it has been delivered")
    if parcel.outcome is DeliveryOutcome.WITHDRAWN:
        raise Conflict("the webhook that it was for has been removed")
    outbox.revive(tx, parcel.id)
    tx.record(
        "outbox.retried",
        project_id=project_id,
        task_id=parcel.task_id,
        detail={
            "parcel_id": str(parcel.id),
            "kind": parcel.kind,
            "issue": parcel.issue,
            "event": parcel.event,
        },
    )
    return outbox.find(tx, parcel.id) or parcel


def forget(tx: Tx) -> None:
    """Drop parcels that ended a while ago."""
    outbox.forget(tx, tx.now - milliseconds(KEEP), DeliveryOutcome.DELIVERED)
    outbox.forget(tx, tx.now - milliseconds(KEEP_DEAD))


def _record(tx: Tx, kind: str, errand: OutboxJob, report: AttemptReport, more: Mapping[str, object]) -> None:
    """Record the result of an attempt with its destination, without the secret parts of the address."""
    parcel, webhook = errand.parcel, errand.webhook
    tx.record(
        kind,
        project_id=parcel.project_id,
        actor=HUB,
        task_id=parcel.task_id,
        detail={
            "parcel_id": str(parcel.id),
            "kind": parcel.kind,
            "target": parcel.issue or (webhook.host if webhook else None),
            "webhook_id": str(parcel.webhook_id) if parcel.webhook_id else None,
            "event": parcel.event,
            "attempt": parcel.attempts,
            "status": report.status,
            "reason": report.reason,
            **more,
        },
    )
