"""The wire from a machine beside a client to a hub elsewhere: a POST for each request, with the client's own token.

While people think, the machine asks again and again, each time for as long as the hub lets it wait. An absent hub may
come back; if it does not in time, the answer is missing, which means no.
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import httpx2

from hubbub.client import refusal
from hubbub.client.transport import CONNECT_SECONDS, READ_SECONDS, WAIT_SECONDS
from hubbub.model.errors import HubError, Invalid, NotFound, StoreUnavailable
from hubbub.model.fleet.link_protocol import REFUSALS, HubRequest, Message
from hubbub.model.programs.proxy_trust import authorities, trusts_environment

RETRY_EVERY = 1.0  # seconds, while the hub is away
LATE = 3.0  # seconds that the hub may need to report that a question's time is over
OLDER = "the hub does not know what machines ask of it in this way: upgrade the hub"


class HttpTransport:
    """`address` returns the hub's URL for each request; `node` is the machine's name. Belongs to one event loop."""

    def __init__(
        self, address: Callable[[], str], token: str, node: str, *, project: str | None = None
    ) -> None:
        self._address, self._node = address, node
        self._query = {"project": project} if project is not None else {}
        self._http = httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {token}"},
            limits=httpx2.Limits(max_connections=None),
            verify=authorities(address()),
            trust_env=trusts_environment(address()),
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def request(self, need: HubRequest, content: Message, patience: timedelta | None = None) -> Message:
        """Return the hub's grant. Raises `StoreUnavailable` if it is out of reach, or people have not answered."""
        if patience is None:
            value = await self._post(need, content, READ_SECONDS)
            return {"url": self._address(), **(value or {})}
        loop = asyncio.get_running_loop()
        until = loop.time() + patience.total_seconds() + LATE
        while (left := until - loop.time()) > 0:
            try:
                value = await self._post(need, content, READ_SECONDS + WAIT_SECONDS)
            except StoreUnavailable:
                await asyncio.sleep(min(left, RETRY_EVERY))
                continue
            if value is not None:
                return value
        raise StoreUnavailable("nobody has answered in time")

    async def _post(self, need: HubRequest, content: Message, patience: float) -> Message | None:
        """Return the value of the hub's reply; None if the request is to be repeated."""
        try:
            response = await self._http.post(
                f"{self._address()}/api/v1/desk",
                params=self._query,
                json={"node": self._node, "need": need, "content": content},
                timeout=httpx2.Timeout(patience, connect=CONNECT_SECONDS, pool=None),
            )
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            raise StoreUnavailable("the hub cannot be reached") from error
        if response.is_error:
            raise _refused(need, response)
        value = response.json().get("value")
        if not isinstance(value, dict | None):
            raise Invalid("the hub's answer is not a reply")
        return value


def _refused(need: HubRequest, response: httpx2.Response) -> HubError:
    refused = refusal(response)
    if (
        refused.code == NotFound.code and need is not HubRequest.END_TASK
    ):  # the only request about things that may be missing
        return HubError(OLDER)
    if refused.is_temporary:
        return StoreUnavailable(str(refused))
    return REFUSALS.get(refused.code, HubError)(str(refused))
