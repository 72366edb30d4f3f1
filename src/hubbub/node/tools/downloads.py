"""`download_file`: a file from the internet, from exactly the addresses that the gate has checked.

A name is looked up once for each connection, and the connection goes to an address from that look-up, by number; the
server is still asked for the name, and its certificate has to match it. Each redirect is judged like the first
address. The file is stored as it comes, and takes its place only when it is whole.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from http import HTTPStatus
from typing import BinaryIO

import httpx2

from hubbub import __version__
from hubbub.model.fleet.calls import NodeCall, RefusalCode, ToolResult, refused
from hubbub.node.system import safe_open
from hubbub.node.system.safe_open import NotOpened
from hubbub.node.tools.tool_context import Tool, ToolContext
from shellgate.analysis import Analysis
from shellgate.decide import decide
from shellgate.decision import Decision, Effect
from shellgate.floor import downloads
from shellgate.floor.downloads import INTERNET, REDIRECTS, TOOL, DownloadSite, Network, ResolvedSite

CAP = 100 * 1024 * 1024  # bytes
PATIENCE = timedelta(minutes=10)  # for a whole download
TIMEOUT = {"connect": 10.0, "read": 30.0, "write": 30.0, "pool": 10.0}  # seconds
MOVED = frozenset(
    {
        HTTPStatus.MOVED_PERMANENTLY,
        HTTPStatus.FOUND,
        HTTPStatus.SEE_OTHER,
        HTTPStatus.TEMPORARY_REDIRECT,
        HTTPStatus.PERMANENT_REDIRECT,
    }
)


class NotFetched(Exception):
    """There is no file; the outcome says why."""

    def __init__(self, outcome: ToolResult) -> None:
        super().__init__()
        self.outcome = outcome


@cache
def _certificates() -> ssl.SSLContext:
    return httpx2.create_ssl_context()  # of the environment, whose authorities count here too


def _direct() -> httpx2.AsyncBaseTransport:
    """Connect to the address itself: a proxy would look the name up again. No cookies, no passwords, no reuse."""
    limits = httpx2.Limits(max_keepalive_connections=0)
    return httpx2.AsyncHTTPTransport(verify=_certificates(), trust_env=False, limits=limits)


@dataclass(frozen=True, slots=True)
class DownloadTool:
    """The tool, with its access to the network."""

    network: Network = INTERNET
    transport: Callable[[], httpx2.AsyncBaseTransport] = _direct
    cap: int = CAP

    async def download(self, place: ToolContext, order: NodeCall) -> ToolResult:
        """Download; return `{path, bytes}`: the file's place and size."""
        dest = str(order.arguments.get("dest", ""))
        if dest.endswith("/"):
            return refused(RefusalCode.INVALID, "dest ends in a slash, so it names a folder; name a file")
        reading = place.reading or await downloads.read(order.arguments, place.world, self.network)
        try:
            async with (
                asyncio.timeout(PATIENCE.total_seconds()),
                self.transport() as transport,
                self._answer(place, order, reading, transport) as response,
            ):
                size = await self._save(response, reading.target, place)
        except NotFetched as error:
            return error.outcome
        except NotOpened as error:
            return refused(error.code, f"`{dest or '.'}` {error.clause}")
        except (TimeoutError, httpx2.TimeoutException):
            return refused(RefusalCode.TIMEOUT, "the server took too long; nothing was saved")
        except httpx2.RequestError as error:
            return refused(RefusalCode.FAILED, f"the download broke off: {_reason(error)}; nothing was saved")
        return ToolResult(value={"path": reading.target, "bytes": size})

    @asynccontextmanager
    async def _answer(
        self, place: ToolContext, order: NodeCall, reading: Analysis, transport: httpx2.AsyncBaseTransport
    ) -> AsyncIterator[httpx2.Response]:
        """Yield the final server's response, after redirects."""
        site = downloads.understood(str(order.arguments.get("url", "")))
        found = None if isinstance(site, Decision) else downloads.checked(site, reading.addresses)
        for _ in range(REDIRECTS + 1):
            if isinstance(site, Decision):
                raise _denied(site, reading.target)
            if found is None:
                found = await self._allowed(site, place)
            elif found.floor is not None:
                raise _denied(found.floor, reading.target)
            response = await _connect(transport, site, found.addresses)
            try:
                if response.status_code not in MOVED or "Location" not in response.headers:
                    yield _successful(response)
                    return
                site = downloads.understood(response.headers["Location"], base=site.url)
                found = None
            finally:
                await response.aclose()
        raise _denied(downloads.ENDLESS, reading.target)

    async def _allowed(self, site: DownloadSite, place: ToolContext) -> ResolvedSite:
        """Return the addresses of a redirect's site, if the floor and the rules allow it; nobody is asked."""
        found = await downloads.looked_up(site, self.network)
        reading = Analysis(parts=(downloads.part_of(site, found),), target=str(site.url))
        decision = decide(reading, place.policy, TOOL, sandboxed=False, attended=False)
        if decision.effect is not Effect.ALLOW:
            raise _denied(decision, str(site.url))
        return found

    async def _save(self, response: httpx2.Response, path: str, place: ToolContext) -> int:
        """Write the content, up to the cap; return the number of bytes."""
        size = 0
        if _announced(response) > self.cap:
            raise self._too_large()
        async with _replacing(path, place) as file:
            async for chunk in response.aiter_raw():
                size += len(chunk)
                if size > self.cap:
                    raise self._too_large()
                with safe_open.failures():
                    file.write(chunk)
        return size

    def _too_large(self) -> NotFetched:
        return NotFetched(
            refused(RefusalCode.TOO_LARGE, f"it is larger than {self.cap} bytes; nothing was saved")
        )


@asynccontextmanager
async def _replacing(path: str, place: ToolContext) -> AsyncIterator[BinaryIO]:
    """Replace a file like `safe_open.replacing`, off the event loop."""
    block = safe_open.replacing(path, place.world)
    file = await asyncio.to_thread(block.__enter__)
    try:
        yield file
    except BaseException as error:
        block.__exit__(type(error), error, error.__traceback__)
        raise
    await asyncio.to_thread(block.__exit__, None, None, None)


async def _connect(
    transport: httpx2.AsyncBaseTransport, site: DownloadSite, addresses: Sequence[str]
) -> httpx2.Response:
    """Return the answer of the first address that accepts the connection."""
    *others, last = addresses
    for address in others:
        try:
            return await _get(transport, site, address)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            continue
    return await _get(transport, site, last)


async def _get(transport: httpx2.AsyncBaseTransport, site: DownloadSite, address: str) -> httpx2.Response:
    request = httpx2.Request(
        "GET",
        site.url.copy_with(host=address),
        headers={
            "Host": site.url.netloc.decode("ascii"),
            "User-Agent": f"hubbub/{__version__}",
            "Accept": "*/*",
            "Accept-Encoding": "identity",  # the saved bytes are those that were sent
        },
        extensions={"timeout": TIMEOUT, "sni_hostname": site.literal or site.host},
    )
    response = await transport.handle_async_request(request)
    response.request = request
    return response


def _successful(response: httpx2.Response) -> httpx2.Response:
    if not response.is_success:
        raise NotFetched(
            refused(RefusalCode.FAILED, f"the server answered with status {response.status_code}")
        )
    return response


def _announced(response: httpx2.Response) -> int:
    """Return the announced number of bytes; 0 if there is none."""
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isascii() and length.isdigit() else 0


def _denied(decision: Decision, target: str) -> NotFetched:
    return NotFetched(
        refused(
            RefusalCode.DENIED,
            "permission_denied",
            tool=TOOL,
            target=target,
            decision=Effect.DENY.word,
            source=str(decision.source),
            rule_id=decision.rule_id,
            reason=decision.reason,
        )
    )


def _reason(error: httpx2.RequestError) -> str:
    """Return the reason of a failure, without the libraries' own words."""
    match error:
        case httpx2.ConnectError():
            return "no connection to the server was possible"
        case httpx2.ProtocolError():
            return "the server sent less or more than it announced"
    return "the connection was lost"


TOOLS: Mapping[str, Tool] = {TOOL: DownloadTool().download}
