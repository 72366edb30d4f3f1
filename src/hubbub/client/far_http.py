"""Requests to a hub on another machine: httpx2, with TLS, and the proxies of the environment."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpx2

from hubbub.client.transport import CONNECT_SECONDS, READ_SECONDS, Reply, TooLate, Unreachable, Untrusted
from hubbub.model.programs.proxy_trust import authorities, trusts_environment

UNTRUSTED = "CERTIFICATE_VERIFY_FAILED"  # OpenSSL's word


class FarHttp:
    """A `Transport` to the hub at an address."""

    def __init__(self, url: str) -> None:
        self._http = httpx2.Client(
            base_url=url,
            limits=httpx2.Limits(max_connections=None),
            verify=authorities(url),
            trust_env=trusts_environment(url),
        )

    def request(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        content: bytes | None = None,
        *,
        timeout: float = READ_SECONDS,
    ) -> Reply:
        with _told():
            response = self._http.request(
                method, target, headers=headers, content=content, timeout=_patience(timeout)
            )
        return _reply(response)

    @contextmanager
    def stream(
        self, target: str, headers: Mapping[str, str], *, timeout: float | None
    ) -> "Iterator[_FarAnswer]":
        with (
            _told(),
            self._http.stream("GET", target, headers=headers, timeout=_patience(timeout)) as response,
        ):
            yield _FarAnswer(response)

    def close(self) -> None:
        self._http.close()


class _FarAnswer:
    """A response of httpx2 as an `Answer`."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self.status_code: int = response.status_code
        self.headers: Mapping[str, str] = response.headers

    def chunks(self) -> Iterator[bytes]:
        with _told():
            yield from self._response.iter_bytes()

    def reply(self) -> Reply:
        with _told():
            self._response.read()
        return _reply(self._response)


def _reply(response: httpx2.Response) -> Reply:
    return Reply(response.status_code, response.headers, response.content, str(response.url))


def _patience(timeout: float | None) -> httpx2.Timeout:
    return httpx2.Timeout(timeout, connect=CONNECT_SECONDS, pool=None)


@contextmanager
def _told() -> Iterator[None]:
    """Turn failures on the way into `Unreachable`."""
    try:
        yield
    except httpx2.TimeoutException as error:
        raise TooLate(str(error)) from error
    except (httpx2.TransportError, httpx2.InvalidURL) as error:
        kind = Untrusted if UNTRUSTED in str(error) else Unreachable
        raise kind(str(error)) from error
