"""The transport to a hub on another machine: httpx2, with TLS, and the proxies of the environment."""

from collections.abc import AsyncIterator, Callable, Mapping
from types import TracebackType

import httpx2

from hubbub.bridge.transport.transport import Away
from hubbub.client.transport import CONNECT_SECONDS, QUIET_SECONDS
from hubbub.model.programs.proxy_trust import authorities, trusts_environment


class HttpxTransport:
    """A `Transport` to the URL that `address` returns, anew for each request; `headers` go with every one."""

    def __init__(self, address: Callable[[], str], headers: Mapping[str, str]) -> None:
        self.address = address
        self._http = httpx2.AsyncClient(
            headers=headers,
            timeout=httpx2.Timeout(QUIET_SECONDS, connect=CONNECT_SECONDS, pool=None),
            limits=httpx2.Limits(max_connections=None),
            verify=authorities(address()),
            trust_env=trusts_environment(address()),
        )

    async def ask(
        self, method: str, headers: Mapping[str, str], content: bytes | None = None
    ) -> "_FarAnswer":
        request = self._http.build_request(method, self.address(), headers=headers, content=content)
        try:
            return _FarAnswer(await self._http.send(request, stream=True))
        except httpx2.LocalProtocolError as error:
            raise ValueError(str(error)) from error
        except httpx2.TransportError as error:
            raise Away(str(error)) from error

    async def aclose(self) -> None:
        await self._http.aclose()


class _FarAnswer:
    """A response of httpx2 as an `Answer`."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self.status: int = response.status_code

    def header(self, name: bytes) -> str:
        value: str = self._response.headers.get(name.decode(), "")
        return value

    async def whole(self) -> bytes:
        try:
            content: bytes = await self._response.aread()
        except httpx2.TransportError as error:
            raise Away(str(error)) from error
        return content

    async def chunks(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._response.aiter_bytes():
                yield chunk
        except httpx2.TransportError as error:
            raise Away(str(error)) from error

    async def __aenter__(self) -> "_FarAnswer":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._response.aclose()
