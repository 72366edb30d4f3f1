"""The HTTP server: uvicorn, which ends open streams before it waits for them."""

import gc
import logging
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import uvicorn
from starlette.types import ASGIApp

from hubbub.model.fleet.link_protocol import LARGEST_FRAME
from hubbub.serve.http.whole_answers import HubConnection

KEEP_ALIVE = timedelta(seconds=75)  # of an idle connection; longer than clients reuse one
PATIENCE = timedelta(seconds=3)  # for calls under way when the hub is asked to stop
PING = timedelta(seconds=20)  # over a WebSocket; a peer that does not answer is cut off after
PONG = timedelta(seconds=10)
USUAL = gc.get_threshold()
YOUNG = 10 * USUAL[0]  # new objects, before a collection of the youngest: some 7,000
FALSE_ALARM = "ASGI callable returned without completing handshake."


class HubServer(uvicorn.Server):
    """Runs the hub until a signal. On its way down it first awaits `release`, which ends every open stream."""

    def __init__(self, config: uvicorn.Config, release: Callable[[], Awaitable[None]]) -> None:
        super().__init__(config)
        self.release = release

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self.release()
        await super().shutdown(sockets)


def server_config(app: ASGIApp, host: str, port: int, *, behind_proxy: bool = False) -> uvicorn.Config:
    """Return the server's configuration; `port` 0 takes any free one.

    Only with `behind_proxy` a proxy on this machine is trusted about a request's source; otherwise any program here
    could claim to be anybody, and try passwords for ever.
    """
    logging.getLogger("uvicorn.error").addFilter(_is_no_false_alarm)
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        loop="uvloop",
        http=HubConnection,
        ws="websockets-sansio",
        ws_max_size=LARGEST_FRAME,
        ws_ping_interval=PING.total_seconds(),
        ws_ping_timeout=PONG.total_seconds(),
        ws_per_message_deflate=False,  # it would cost memory for each watcher, and time of the event loop
        lifespan="on",
        access_log=False,  # the hub logs requests itself, without their secrets
        log_config=None,
        server_header=False,
        proxy_headers=behind_proxy,
        timeout_keep_alive=int(KEEP_ALIVE.total_seconds()),
        timeout_graceful_shutdown=int(PATIENCE.total_seconds()),
    )


@contextmanager
def gc_frozen() -> Iterator[None]:
    """Exclude the objects of the started hub, which stay as long as it runs, from garbage collections.

    There are 190,000: each full collection made every caller wait for 150 ms, twice a second on a busy day. One before
    the start would take as long, for a megabyte. Later objects are collected a tenth as often as usual in Python:
    calls under way hold hundreds, and a large answer is gone by then.
    """
    gc.freeze()
    gc.set_threshold(YOUNG, *USUAL[1:])
    try:
        yield
    finally:
        gc.set_threshold(*USUAL)
        gc.unfreeze()


def _is_no_false_alarm(record: logging.LogRecord) -> bool:
    """Tell whether to log the record: uvicorn takes a refused WebSocket with an answer for one without."""
    return record.msg != FALSE_ALARM
