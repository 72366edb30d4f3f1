"""Delivery to webhooks: the activity as JSON, signed, to a checked address."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from http import HTTPStatus

import httpx2

from hubbub import __version__
from hubbub.core.log.outbox import OutboxJob
from hubbub.model.log.outbox_items import AttemptReport, AttemptResult
from hubbub.model.log.webhooks import Webhook, WebhookFormat, signature
from hubbub.model.records import Activity
from hubbub.serve.live.sse import activity_json
from hubbub.serve.outbox import delivery_results, push_notifications
from hubbub.serve.outbox.dns_pinning import PinnedAddress, PrivateAddress, UnknownHost, pinned_addresses

TIMEOUT = httpx2.Timeout(15, connect=5)  # seconds

GONE = "nothing is left to tell: the webhook or the activity is gone"
PRIVATE = "it leads to a private address; the setting webhook_private allows that"
UNKNOWN = "its host name cannot be resolved"
UNREADABLE = "its address cannot be understood"
MOVED = "redirects are not followed"


class WebhookDelivery:
    """The courier for webhooks."""

    def __init__(self, *, allow_private: bool, url: str) -> None:
        """Set up the courier; `url` is the hub's address for people, used in push notifications."""
        self._allow_private, self._url = allow_private, url

    async def deliver(self, errand: OutboxJob) -> AttemptReport:
        """Post the activity; only the status of the answer counts."""
        webhook, happened = errand.webhook, errand.activity
        if webhook is None or happened is None:
            return AttemptReport(fate=AttemptResult.REFUSED, reason=GONE)
        try:
            ways = await pinned_addresses(httpx2.URL(webhook.url), allow_private=self._allow_private)
            body, headers = self._letter(errand, webhook, happened)
            return await self._try(ways, errand, body, headers)
        except PrivateAddress:
            return AttemptReport(fate=AttemptResult.REFUSED, reason=PRIVATE)
        except UnknownHost:
            return AttemptReport(fate=AttemptResult.FAILED, reason=UNKNOWN)
        except httpx2.InvalidURL:
            return AttemptReport(fate=AttemptResult.REFUSED, reason=UNREADABLE)
        except httpx2.RequestError as error:
            return delivery_results.unanswered(error)

    async def close(self) -> None:
        if "_http" in self.__dict__:
            await self._http.aclose()

    def _letter(
        self, errand: OutboxJob, webhook: Webhook, happened: Activity
    ) -> tuple[bytes, Mapping[str, str]]:
        """Return the body to post, in the webhook's form, and its headers, which prove that the hub sent it."""
        if webhook.form is WebhookFormat.NTFY:
            push = push_notifications.notification_of(errand, happened, self._url)
            body, own = push.text.encode(), push.headers
        else:
            body, own = body_of(happened), {"Content-Type": "application/json"}
        return body, {**own, **_headers(errand, webhook, body)}

    async def _try(
        self, ways: Sequence[PinnedAddress], errand: OutboxJob, body: bytes, headers: Mapping[str, str]
    ) -> AttemptReport:
        """Post by the first open way: without a connection, nothing has arrived."""
        for way in ways[:-1]:
            with suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
                return await self._post(way, body, headers, errand.begun_at)
        return await self._post(ways[-1], body, headers, errand.begun_at)

    async def _post(
        self, way: PinnedAddress, body: bytes, headers: Mapping[str, str], now: int
    ) -> AttemptReport:
        async with self._http.stream(
            "POST",
            way.url,
            content=body,
            headers={**headers, **way.headers},
            extensions=dict(way.extensions),
        ) as response:
            return _report(response, now)

    @cached_property
    def _http(self) -> httpx2.AsyncClient:
        """Return the client; it is made when first needed, which in most hubs is never."""
        return httpx2.AsyncClient(
            verify=httpx2.create_ssl_context(),  # of the environment, whose authorities count here too
            timeout=TIMEOUT,
            # Connections are not kept: one was made for one host, and another may have the same address.
            limits=httpx2.Limits(max_keepalive_connections=0),
            follow_redirects=False,
            trust_env=False,  # a proxy would look up the name again
        )


def body_of(happened: Activity) -> bytes:
    """Encode the activity, as `/events` does."""
    return json.dumps(activity_json(happened), ensure_ascii=False, separators=(",", ":")).encode()


def _headers(errand: OutboxJob, webhook: Webhook, body: bytes) -> dict[str, str]:
    return {
        "User-Agent": f"hubbub/{__version__}",
        "Hubbub-Event": errand.parcel.event or "",
        "Hubbub-Delivery": str(errand.parcel.id),
        "Hubbub-Signature": signature(webhook.secret, errand.begun_at // 1000, body),
    }


def _report(response: httpx2.Response, now: int) -> AttemptReport:
    """Report an answer: a failure may be a receiver under repair, unless it says otherwise."""
    status = response.status_code
    if response.is_success:
        return AttemptReport(fate=AttemptResult.DELIVERED, status=status)
    if response.is_redirect or response.has_redirect_location:
        return delivery_results.refused(status, MOVED)
    if status == HTTPStatus.GONE:
        return delivery_results.refused(status, "it wants no more")
    return delivery_results.failed(status, response.headers, now)
