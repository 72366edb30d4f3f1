"""Telling a webhook what happened: the activity as JSON, signed, to an address that was checked."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from http import HTTPStatus

import httpx2

from hubbub import __version__
from hubbub.core.outbox import Errand
from hubbub.model.parcels import Fate, Report
from hubbub.model.records import Activity
from hubbub.model.webhooks import Form, Webhook, signature
from hubbub.serve.events import content_of
from hubbub.serve.outbox import answers, pushes
from hubbub.serve.outbox.addresses import Pinned, PrivateAddress, UnknownHost, pinned

TIMEOUT = httpx2.Timeout(15, connect=5)  # seconds

GONE = "nothing is left to tell: the webhook or the activity is gone"
PRIVATE = "it leads to a private address; the setting webhook_private allows that"
UNKNOWN = "its host name cannot be resolved"
UNREADABLE = "its address cannot be understood"
MOVED = "redirects are not followed"


class Webhooks:
    """The courier of webhooks."""

    def __init__(self, *, allow_private: bool, url: str) -> None:
        """`url` is where people find the hub, for what is pushed to them."""
        self._allow_private, self._url = allow_private, url

    async def deliver(self, errand: Errand) -> Report:
        """Post the activity; what comes back is not read, its status says all."""
        webhook, happened = errand.webhook, errand.activity
        if webhook is None or happened is None:
            return Report(fate=Fate.REFUSED, reason=GONE)
        try:
            ways = await pinned(httpx2.URL(webhook.url), allow_private=self._allow_private)
            body, headers = self._letter(errand, webhook, happened)
            return await self._try(ways, errand, body, headers)
        except PrivateAddress:
            return Report(fate=Fate.REFUSED, reason=PRIVATE)
        except UnknownHost:
            return Report(fate=Fate.FAILED, reason=UNKNOWN)
        except httpx2.InvalidURL:
            return Report(fate=Fate.REFUSED, reason=UNREADABLE)
        except httpx2.RequestError as error:
            return answers.unanswered(error)

    async def close(self) -> None:
        if "_http" in self.__dict__:
            await self._http.aclose()

    def _letter(
        self, errand: Errand, webhook: Webhook, happened: Activity
    ) -> tuple[bytes, Mapping[str, str]]:
        """What is posted, in the form that the webhook has, and its headers, which prove that it was us."""
        if webhook.form is Form.NTFY:
            push = pushes.push(errand, happened, self._url)
            body, own = push.text.encode(), push.headers
        else:
            body, own = body_of(happened), {"Content-Type": "application/json"}
        return body, {**own, **_headers(errand, webhook, body)}

    async def _try(
        self, ways: Sequence[Pinned], errand: Errand, body: bytes, headers: Mapping[str, str]
    ) -> Report:
        """Post by the first way that is open: where there was no connection, nothing has arrived."""
        for way in ways[:-1]:
            with suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
                return await self._post(way, body, headers, errand.begun_at)
        return await self._post(ways[-1], body, headers, errand.begun_at)

    async def _post(self, way: Pinned, body: bytes, headers: Mapping[str, str], now: int) -> Report:
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
        """Made when it is needed, which in most hubs is never."""
        return httpx2.AsyncClient(
            verify=httpx2.create_ssl_context(),  # of the environment, whose authorities count here too
            timeout=TIMEOUT,
            # A connection is not kept: it was made for one host, and another may have the same address.
            limits=httpx2.Limits(max_keepalive_connections=0),
            follow_redirects=False,
            trust_env=False,  # a proxy would look the name up again
        )


def body_of(happened: Activity) -> bytes:
    """The activity, as `/events` tells it."""
    return json.dumps(content_of(happened), ensure_ascii=False, separators=(",", ":")).encode()


def _headers(errand: Errand, webhook: Webhook, body: bytes) -> dict[str, str]:
    return {
        "User-Agent": f"hubbub/{__version__}",
        "Hubbub-Event": errand.parcel.event or "",
        "Hubbub-Delivery": str(errand.parcel.id),
        "Hubbub-Signature": signature(webhook.secret, errand.begun_at // 1000, body),
    }


def _report(response: httpx2.Response, now: int) -> Report:
    """Anything but success may be a receiver that is being repaired, except where it says that it is not."""
    status = response.status_code
    if response.is_success:
        return Report(fate=Fate.DELIVERED, status=status)
    if response.is_redirect or response.has_redirect_location:
        return answers.refused(status, MOVED)
    if status == HTTPStatus.GONE:
        return answers.refused(status, "it wants no more")
    return answers.failed(status, response.headers, now)
