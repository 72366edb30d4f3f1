"""`hubbub webhook`: addresses that receive a project's events, and their deliveries."""

from urllib.parse import urlsplit

import click

from hubbub.cli import Group
from hubbub.client import Hub, segment
from hubbub.model.log.outbox_items import DeliveryOutcome
from hubbub.model.log.webhooks import WebhookFormat
from hubbub.terminal import display, short_ids
from hubbub.terminal.command import command, uses_project
from hubbub.terminal.wrong_words import OneOf

LOOPBACK = ("localhost", "127.0.0.1", "::1")
OUTCOMES = OneOf([str(outcome) for outcome in DeliveryOutcome])


@click.group("webhook", cls=Group, short_help="Send events to other programs.")
def webhook() -> None:
    """Add, list and remove webhooks, and list their deliveries."""


@command(
    "add", example="hubbub webhook add https://example.org/hook --events task.completed --events 'message.*'"
)
@click.argument("address", metavar="URL")
@click.option(
    "--events",
    multiple=True,
    metavar="E",
    help="A kind, a group such as task.*, needs for everything that needs a person, or * for all; may be repeated, or"
    " separated by commas. [default: *; needs with --form ntfy]",
)
@click.option(
    "--form",
    type=OneOf([str(form) for form in WebhookFormat]),
    default=str(WebhookFormat.JSON),
    show_default=True,
    help="Form of the events: json for programs, ntfy for a telephone.",
)
@click.option(
    "--answers",
    is_flag=True,
    help="With --form ntfy: give notifications buttons. Their receivers answer questions in your name.",
)
@uses_project
def add(*, hub: Hub, address: str, events: tuple[str, ...], form: str, answers: bool, as_json: bool) -> None:
    """Send events to URL from now on, and print the secret that signs them."""
    wanted = [each.strip() for group in events for each in group.split(",")]
    made = hub.post("/webhooks", {"url": address, "events": wanted or None, "form": form, "answers": answers})
    if as_json:
        display.show_json(made)
    else:
        display.show(made["secret"])
        if answers and _is_plain(address):
            click.echo(
                "Warning: plain http lets anybody on the way answer questions in your name; use https",
                err=True,
            )
        display.advise(
            "Shown only now. With it the receiver checks the header Hubbub-Signature of each delivery."
        )


def _is_plain(address: str) -> bool:
    """Tell whether others on the network can read what is sent there."""
    url = urlsplit(address)
    return url.scheme == "http" and url.hostname not in LOOPBACK


@command("list", example="hubbub webhook list", names="id")
@uses_project
def list_(*, hub: Hub, as_json: bool) -> None:
    """List the project's webhooks. Their secrets are not shown again."""
    columns: display.Columns = {
        "id": "id",
        "address": "url",
        "events": lambda each: ",".join(each["events"]),
        "by": "created_by",
        "added": lambda each: display.brief(each["created_at"]),
        "form": "form",
    }
    empty = "No webhooks. Add one: hubbub webhook add URL"
    display.show_list(hub.get("/webhooks")["webhooks"], columns, as_json=as_json, empty=empty)


@command("remove", example="hubbub webhook remove 0199a7c4")
@click.argument("webhook_id", metavar="ID")
@uses_project
def remove(*, hub: Hub, webhook_id: str, as_json: bool) -> None:
    """Delete the webhook ID and drop its pending deliveries. The beginning of an id is enough."""
    whole = short_ids.whole(webhook_id, [hub.get("/webhooks")["webhooks"]])
    removed = hub.delete(f"/webhooks/{segment('webhook', whole)}")["webhook"]
    display.show_result(removed, f"removed {removed['id']}", as_json=as_json)


@command("deliveries", example="hubbub webhook deliveries --outcome dead", names="id")
@click.option("--outcome", type=OUTCOMES, help="List only deliveries that ended like this.")
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="How many to list.")
@uses_project
def deliveries(*, hub: Hub, outcome: str | None, limit: int, as_json: bool) -> None:
    """List deliveries, newest first, comments on GitHub included."""
    found = hub.get("/webhooks/deliveries", outcome=outcome, limit=limit)["deliveries"]
    if len(found) == limit and not as_json:
        click.echo(f"the newest {limit}; there may be more with --limit", err=True)
    columns: display.Columns = {
        "id": "id",
        "outcome": lambda each: each["outcome"] or "waiting",
        "to": lambda each: each["issue"] or each["webhook_id"],
        "what": lambda each: each["event"] or each["kind"],
        "tries": "attempts",
        "put": lambda each: display.brief(each["created_at"]),
        "next": lambda each: display.brief(None if each["outcome"] else each["next_at"]),
        "reason": "last_error",
    }
    display.show_list(found, columns, as_json=as_json, empty="No deliveries.")


@command("retry", example="hubbub webhook retry 0199a7c4")
@click.argument("delivery_id", metavar="ID")
@uses_project
def retry(*, hub: Hub, delivery_id: str, as_json: bool) -> None:
    """Retry the delivery ID now. The beginning of an id is enough."""
    whole = short_ids.whole(delivery_id, [hub.get("/webhooks/deliveries", limit=500)["deliveries"]])
    again = hub.post(f"/webhooks/deliveries/{segment('delivery', whole)}/retry")["delivery"]
    display.show_result(again, f"trying {again['id']} again", as_json=as_json)


for each in (add, list_, remove, deliveries, retry):
    webhook.add_command(each)
