"""The line: one WebSocket that this machine opens to its hub, and reopens.

Only outbound: nobody connects to a machine. A hub's message is bounded before it is parsed; a hub that breaks the
protocol loses the line, never the machine.
"""

import asyncio
import json
import logging
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.http11 import Response

import hubbub
from hubbub.model.errors import Invalid, Unauthorized
from hubbub.model.fleet import link_protocol
from hubbub.model.fleet.link_protocol import LARGEST_FRAME, Message, MessageAssembler
from hubbub.model.programs.proxy_trust import trusts_environment
from hubbub.model.visible_text import visible

WAITING_FRAMES = 16  # from the hub, before it has to wait
MOST_WAITING = 256  # waiting messages; beyond that progress is not reported
LONGEST_REASON = 300  # characters of a hub's refusal
FINAL = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})

_quiet = logging.getLogger("hubbub.line")  # at its most verbose level the library would log the machine's key
_quiet.setLevel(logging.WARNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTimings:
    """All times of a link."""

    ping: timedelta = timedelta(seconds=20)  # between two heartbeats
    pong: timedelta = timedelta(seconds=10)  # for the answer to one, or the line is dead
    opening: timedelta = timedelta(seconds=10)  # from the first packet to the hub's welcome, each
    closing: timedelta = timedelta(seconds=1)
    shortest_pause: timedelta = timedelta(milliseconds=500)  # before the second attempt; doubled from there
    longest_pause: timedelta = timedelta(seconds=30)
    steady: timedelta = timedelta(seconds=10)  # a line that stood so long is reopened at once
    need: timedelta = timedelta(seconds=30)  # for the hub to serve a request
    act: timedelta = timedelta(minutes=75)  # the same for another machine, where people may be asked
    late: timedelta = timedelta(seconds=1)  # for a person's answer to be on its way
    parting: timedelta = timedelta(seconds=5)  # to send the remaining messages when this machine stops
    load: timedelta = timedelta(seconds=30)  # between two reports of this machine's load


class LinkRefused(Exception):
    """The hub rejects this machine, and coming back would change nothing. The message says why."""


class SocketLost(Exception):
    """There is no line, or it broke. The message says why."""


def pauses(pace: LinkTimings) -> Iterator[float]:
    """Yield the seconds before each attempt to reopen the line: none at first, then random below a doubling bound."""
    chance = secrets.SystemRandom()
    top, longest = pace.shortest_pause.total_seconds(), pace.longest_pause.total_seconds()
    yield 0.0
    while True:
        yield chance.uniform(0, top)
        top = min(top * 2, longest)


class HubSocket:
    """An open line. Messages go out whole, one after the other."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._waiting: asyncio.Queue[tuple[str, asyncio.Future[bool]]] = asyncio.Queue()
        self._saying: asyncio.Future[bool] | None = None
        self._is_lost = False

    @property
    def is_crowded(self) -> bool:
        """Tell whether so many messages wait that optional ones should be left out."""
        return self._waiting.qsize() >= MOST_WAITING

    async def say(self, text: str) -> bool:
        """Send a message; returns when it has gone out, or False when the line was lost before that.

        A caller cancelled while it waits for its turn has sent nothing; a message that was begun is sent to its end.
        """
        if self._is_lost:
            return False
        said: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.put_nowait((text, said))
        return await said

    async def hear(self) -> AsyncIterator[tuple[Message, int]]:
        """Yield the hub's messages and their sizes in characters. Ends by `SocketLost`, also for a malformed one."""
        assembly, size = MessageAssembler(), 0
        try:
            async for piece in self._socket:
                if not isinstance(piece, str):
                    raise SocketLost("the hub does not speak the protocol of links")
                size += len(piece)
                message = assembly.add(piece)
                if message is not None:
                    yield message, size
                    size = 0
        except WebSocketException as error:
            raise SocketLost(_shown(error)) from None
        except Invalid as error:
            raise SocketLost(f"the hub does not speak the protocol of links: {error}") from None
        raise SocketLost("the hub closed it")

    async def write(self) -> None:
        """Send the waiting messages, until the line is lost or this is cancelled."""
        try:
            while True:
                text, self._saying = await self._waiting.get()
                if self._saying.done():
                    continue
                for piece in link_protocol.pieces(text):
                    await self._socket.send(piece)
                _settle(self._saying, went_out=True)
        except WebSocketException:
            pass  # the reader is told why
        finally:
            self.lose()

    def lose(self) -> None:
        """Stop sending, and tell the senders that wait."""
        self._is_lost = True
        if self._saying is not None:
            _settle(self._saying, went_out=False)
        while not self._waiting.empty():
            _settle(self._waiting.get_nowait()[1], went_out=False)


def _settle(said: "asyncio.Future[bool]", *, went_out: bool) -> None:
    if not said.done():
        said.set_result(went_out)


class LinkSender:
    """Sends messages over the present line, whichever it is."""

    def __init__(self) -> None:
        self.line: HubSocket | None = None

    async def say(self, text: str) -> bool:
        """Send a message; False if it did not go out, or there is no line."""
        return self.line is not None and await self.line.say(text)

    async def mention(self, text: str) -> None:
        """Send an optional message."""
        if self.line is not None and not self.line.is_crowded:
            await self.line.say(text)

    def hush(self) -> None:
        """Stop sending."""
        spoken, self.line = self.line, None
        if spoken is not None:
            spoken.lose()


@asynccontextmanager
async def opened(url: str, token: str, pace: LinkTimings) -> AsyncIterator[HubSocket]:
    """Open a line to the hub at `url`, whose certificate has to be valid if it has one.

    Raises `LinkRefused` if the hub does not know the key, `SocketLost` if there is no line just now.
    """
    try:
        socket = await _Connect(
            _address(url),
            additional_headers={"Authorization": f"Bearer {token}"},
            user_agent_header=f"hubbub/{hubbub.__version__}",
            compression=None,
            proxy=True if trusts_environment(url) else None,
            open_timeout=pace.opening.total_seconds(),
            ping_interval=pace.ping.total_seconds(),
            ping_timeout=pace.pong.total_seconds(),
            close_timeout=pace.closing.total_seconds(),
            max_size=LARGEST_FRAME,
            max_queue=WAITING_FRAMES,
            logger=_quiet,
        )
    except InvalidStatus as error:
        if error.response.status_code in FINAL:
            raise LinkRefused(_reason(error.response)) from None
        raise SocketLost(f"the hub answered with status {error.response.status_code}") from None
    except OSError as error:  # no hub there, or none to be trusted
        why = visible(error.strerror).lower() if error.strerror else _shown(error)
        raise SocketLost(f"the hub cannot be reached: {why}") from None
    except (ValueError, WebSocketException) as error:  # not the address of a hub
        raise SocketLost(_shown(error)) from None
    line = HubSocket(socket)
    writing = asyncio.create_task(line.write())
    try:
        yield line
    finally:
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        await socket.close()


class _Connect(connect):
    """Connects without following redirects: the key is for the named hub."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


def _address(url: str) -> str:
    scheme, _, rest = url.rstrip("/").partition("://")
    return f"{'wss' if scheme.casefold() == 'https' else 'ws'}://{rest}{link_protocol.PATH}"


def _reason(response: Response) -> str:
    """Return the hub's reason for a refusal, in its own words if it has any."""
    try:
        said = json.loads(response.body or b"")
    except (ValueError, RecursionError):
        said = None
    message = said.get("message") if isinstance(said, dict) else None
    if isinstance(said, dict) and said.get("error") == Unauthorized.code:
        message = "it does not know its key, or not any more"
    if not isinstance(message, str):
        message = f"status {response.status_code}"
    return f"the hub does not let this machine in: {visible(message[:LONGEST_REASON])}"


def _shown(error: Exception) -> str:
    return visible(str(error)[:LONGEST_REASON]) or type(error).__name__
