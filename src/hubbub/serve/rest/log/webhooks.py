"""Webhooks of a project, and the deliveries that leave the hub. For those who manage the project."""

from http import HTTPStatus
from typing import Annotated

import httpx2
from fastapi import Query, Request
from pydantic import Field

from hubbub.core.log import outbox, webhooks
from hubbub.model.errors import Invalid
from hubbub.model.log.outbox_items import DeliveryOutcome
from hubbub.model.log.webhooks import EVERYTHING, NEEDS, URL_LENGTH, WebhookFormat, require_url
from hubbub.model.people.rights import Right
from hubbub.serve.outbox.dns_pinning import PrivateAddress, UnknownHost, pinned_addresses
from hubbub.serve.rest.base.call import Answer, Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Body, Model, Name, ParcelShape, Text, WebhookShape, told
from hubbub.store.tx import Tx

router = Router("webhooks")

MOST_EVENTS = 50


class Webhooks(Model):
    webhooks: list[WebhookShape]


class OneWebhook(Model):
    webhook: WebhookShape


class CreatedWebhook(OneWebhook):
    """A webhook, and the secret that signs its deliveries, which is shown only now."""

    secret: str


class NewWebhook(Body):
    url: Annotated[Text, told(maxLength=URL_LENGTH, pattern="^https?://[^/]")]
    events: list[Name] | None = Field(
        None,
        max_length=MOST_EVENTS,
        description="kinds such as task.completed, groups such as task.*, needs for what waits for people, or * for"
        " all; by default needs in the form ntfy, else *",
    )
    form: WebhookFormat = Field(
        WebhookFormat.JSON, description="json: the activity, for programs; ntfy: one sentence for a telephone"
    )
    answers: bool = Field(
        False, description="for the form ntfy: true if its receivers may answer questions, in your name"
    )


class Deliveries(Model):
    deliveries: list[ParcelShape]


class OneDelivery(Model):
    delivery: ParcelShape


@router.get("/webhooks")
async def list_webhooks(call: Call) -> Webhooks:
    """List the project's webhooks, oldest first, without their secrets."""
    found = await call.read(lambda tx: webhooks.of_project(tx, call.enter(tx, Right.MANAGE)))
    return Webhooks(webhooks=[WebhookShape.of(webhook) for webhook in found])


@router.post("/webhooks", status_code=HTTPStatus.CREATED)
async def add_webhook(call: Call, request: Request, body: NewWebhook) -> CreatedWebhook:
    """Add a webhook: an address that is sent all matching activities from now on."""
    await call.read(lambda tx: call.enter(tx, Right.MANAGE))  # before a name is looked up for the caller
    await _require_allowed(request, body.url)

    def add(tx: Tx) -> tuple[Answer, str]:
        usual = [NEEDS if body.form is WebhookFormat.NTFY else EVERYTHING]
        events = body.events if body.events is not None else usual
        project = call.enter(tx, Right.MANAGE)
        webhook, secret = webhooks.add(tx, project, body.url, events, body.form, answers=body.answers)
        return WebhookShape.of(webhook), secret

    reply, secret = await call.create_secret(add)
    return CreatedWebhook(webhook=WebhookShape.model_validate(reply), secret=secret)


@router.get("/webhooks/deliveries")
async def list_deliveries(
    call: Call,
    *,
    outcome: DeliveryOutcome | None = None,
    before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> Deliveries:
    """List deliveries that have left the hub, or will leave it, newest first; `before` is the `seq` to go on from.

    With `outcome=dead` the undeliverable ones. Comments on GitHub are among them.
    """

    def look(tx: Tx) -> Deliveries:
        project = call.enter(tx, Right.MANAGE)
        found = outbox.of_project(tx, project.id, outcome=outcome, before=before, limit=limit)
        return Deliveries(deliveries=[ParcelShape.of(parcel) for parcel in found])

    return await call.read(look)


@router.post("/webhooks/deliveries/{delivery_id}/retry")
async def retry_delivery(call: Call, delivery_id: str) -> OneDelivery:
    """Queue a delivery again, now and with its full number of tries."""
    parcel = await call.write(lambda tx: outbox.retry(tx, call.enter(tx, Right.MANAGE).id, delivery_id))
    return OneDelivery(delivery=ParcelShape.of(parcel))


@router.delete("/webhooks/{webhook_id}")
async def remove_webhook(call: Call, webhook_id: str) -> OneWebhook:
    """Delete a webhook and discard its pending deliveries."""
    removed = await call.write(lambda tx: webhooks.remove(tx, call.enter(tx, Right.MANAGE), webhook_id))
    return OneWebhook(webhook=WebhookShape.of(removed))


async def _require_allowed(request: Request, url: str) -> None:
    """Raise `Invalid` for an address that would be refused in any case; one that leads nowhere now may do so later."""
    allow_private = request.app.state.webhook_private
    try:
        await pinned_addresses(httpx2.URL(require_url(url)), allow_private=allow_private)
    except PrivateAddress:
        raise Invalid(
            "a webhook's address must not be private, unless the hub runs with HUBBUB_WEBHOOK_PRIVATE=1"
        ) from None
    except httpx2.InvalidURL:
        raise Invalid("the webhook's address is not a URL") from None
    except UnknownHost:
        return
