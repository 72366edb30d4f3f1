"""Delivering what is to leave the hub: comments to GitHub, activities to webhooks."""

from hubbub.model.parcels import ParcelKind
from hubbub.serve.outbox.github import GitHub
from hubbub.serve.outbox.runner import Outbox
from hubbub.serve.outbox.webhooks import Webhooks
from hubbub.settings import Settings
from hubbub.store.tx import Store


def build(store: Store, settings: Settings, url: str) -> Outbox:
    """The outbox of a hub with these settings; `url` is where people find it."""
    return Outbox(
        store,
        {
            ParcelKind.COMMENT: GitHub(settings.github_api, settings.github_token),
            ParcelKind.WEBHOOK: Webhooks(allow_private=settings.webhook_private, url=url),
        },
    )
