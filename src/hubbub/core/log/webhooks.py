"""Webhooks: addresses that receive a project's activities.

Each has a place in the activity log. Activities that match are put into the outbox in the transaction that moves
that place, so that none is lost and none is put twice. Only a few are put ahead: while a receiver is away, the
rest waits in the log.
"""

import secrets
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice
from uuid import UUID

from hubbub.core.log import outbox
from hubbub.core.people import access
from hubbub.model.errors import Conflict, Invalid, NotFound
from hubbub.model.ids import new_id, parse_id
from hubbub.model.log.webhooks import NEEDS, Webhook, WebhookFormat, require_events, require_url
from hubbub.model.records import Project
from hubbub.store.log import activity
from hubbub.store.log import outbox as parcels
from hubbub.store.log import webhooks as rows
from hubbub.store.log.activity import Position
from hubbub.store.tx import Tx

SECRET = "whsec_"
MOST = 50  # webhooks of a project
AHEAD = 20  # parcels of one webhook in the outbox at a time
PAGE = 100  # activities read in one transaction
NEAR = 20  # activities before each that may be of the same moment

# These need no rule of their own, so they are the store's functions.
of_project = rows.of_project


def add(
    tx: Tx,
    project: Project,
    url: str,
    events: Iterable[str],
    form: WebhookFormat = WebhookFormat.JSON,
    *,
    answers: bool = False,
) -> tuple[Webhook, str]:
    """Send an address all matching activities from now on, in that form; return the webhook with its signing secret.

    With `answers` its notifications have buttons, which answer in the caller's name. Records
    `webhook.added`, which may be the first delivery. Raises `Invalid`, `Forbidden` to an agent that wants buttons, and
    `Conflict` if the project has too many.
    """
    if answers:
        access.require_person(tx, "have a telephone answer in their name")
        if form is not WebhookFormat.NTFY:
            raise Invalid("only notifications on a telephone have buttons: form must be ntfy")
    if len(rows.of_project(tx, project)) >= MOST:
        raise Conflict(f"a project has at most {MOST} webhooks; remove one first")
    place = activity.head(tx)
    webhook = Webhook(
        id=new_id(),
        project_id=project.id,
        url=require_url(url),
        events=require_events(events),
        secret=f"{SECRET}{secrets.token_hex(24)}",
        after_tx=place.tx,
        after_seq=place.seq,
        created_by=tx.actor.label,
        created_at=tx.now,
        form=form,
        answers_by=tx.actor.user_id if answers else None,
    )
    rows.insert(tx, webhook)
    _record(tx, "webhook.added", webhook)
    return webhook, webhook.secret


def remove(tx: Tx, project: Project, ref: str) -> Webhook:
    """Delete a webhook and withdraw its pending deliveries. Records `webhook.removed`.

    Raises `NotFound`, also for one of another project.
    """
    webhook_id = parse_id(ref)
    webhook = rows.find(tx, webhook_id, lock=True) if webhook_id else None
    if webhook is None or webhook.project_id != project.id or webhook.removed_at is not None:
        raise NotFound("webhook", ref)
    rows.remove(tx, webhook.id)
    parcels.withdraw(tx, webhook.id)
    _record(tx, "webhook.removed", webhook)
    return webhook


def behind(tx: Tx) -> Sequence[UUID]:
    """List the webhooks for which `advance` may find something."""
    return rows.behind(tx, AHEAD)


def advance(tx: Tx, webhook_id: UUID) -> bool:
    """Put the matching activities of the log's next page into the outbox; True if there may be another page."""
    webhook = rows.find(tx, webhook_id, lock=True)
    if webhook is None or webhook.removed_at is not None:
        return False
    place = Position(webhook.after_tx, webhook.after_seq)
    page = activity.since(tx, webhook.project_id, place, PAGE)
    room = AHEAD - parcels.number_open(tx, webhook.id)
    is_of_needs = NEEDS in webhook.events
    before = deque(activity.until(tx, webhook.project_id, place, NEAR) if is_of_needs else (), NEAR)
    for number, happened in enumerate(page.activities, 1):
        if webhook.wants(happened, islice(page.activities, number, None), before):
            if room <= 0:
                break
            room -= 1
            outbox.put_activity(tx, webhook, happened)
        before.append(happened)
        place = Position(happened.tx, happened.seq)
    rows.move_on(tx, webhook.id, place)
    return room > 0 and len(page.activities) == PAGE


def _record(tx: Tx, kind: str, webhook: Webhook) -> None:
    tx.record(
        kind,
        project_id=webhook.project_id,
        detail={"webhook_id": str(webhook.id), "host": webhook.host, "events": list(webhook.events)},
    )
