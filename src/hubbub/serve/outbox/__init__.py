"""Deliveries that leave the hub: comments to GitHub, activities to webhooks."""

from hubbub.model.log.outbox_items import OutboxItemKind
from hubbub.serve.outbox.github_comments import GitHubComments
from hubbub.serve.outbox.runner import Outbox
from hubbub.serve.outbox.webhook_delivery import WebhookDelivery
from hubbub.settings import Settings
from hubbub.store.tx import Store


def build(store: Store, settings: Settings, url: str) -> Outbox:
    """Build the outbox of a hub with these settings; `url` is the hub's address for people."""
    return Outbox(
        store,
        {
            OutboxItemKind.COMMENT: GitHubComments(settings.github_api, settings.github_token),
            OutboxItemKind.WEBHOOK: WebhookDelivery(allow_private=settings.webhook_private, url=url),
        },
    )
