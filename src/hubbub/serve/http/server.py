"""The HTTP server: uvicorn, which lets go of open streams before it waits for them."""

import gc
import logging
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import uvicorn
from starlette.types import ASGIApp

from hubbub.model.fleet.link_protocol import LARGEST_FRAME

KEEP_ALIVE = timedelta(seconds=75)  # of a connection on which nothing is asked; longer than clients reuse one
PATIENCE = timedelta(seconds=3)  # for calls that are still being answered when the hub is asked to stop
PING = timedelta(seconds=20)  # over a WebSocket; who answers none, as it reads nothing, is cut off after
PONG = timedelta(seconds=10)
USUAL = gc.get_threshold()
SELDOM = (
    10 * USUAL[2]
)  # collections of what is younger, before all garbage is looked for: some 700,000 objects
FALSE_ALARM = "ASGI callable returned without completing handshake."


class HubServer(uvicorn.Server):
    """Runs the hub until a signal. On its way down it first awaits `release`, which ends every stream held open."""

    def __init__(self, config: uvicorn.Config, release: Callable[[], Awaitable[None]]) -> None:
        super().__init__(config)
        self.release = release

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self.release()
        await super().shutdown(sockets)


def server_config(app: ASGIApp, host: str, port: int, *, behind_proxy: bool = False) -> uvicorn.Config:
    """How the hub is served; `port` 0 takes any free one.

    Only `behind_proxy` is a proxy on this machine believed about where a request comes from; else any program here
    could claim to be anybody, and try passwords for ever.
    """
    logging.getLogger("uvicorn.error").addFilter(_is_no_false_alarm)
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        loop="uvloop",
        http="httptools",
        ws="websockets-sansio",
        ws_max_size=LARGEST_FRAME,
        ws_ping_interval=PING.total_seconds(),
        ws_ping_timeout=PONG.total_seconds(),
        ws_per_message_deflate=False,  # it would cost memory for each watcher, and time of the event loop
        lifespan="on",
        access_log=False,  # requests are logged by the hub itself, without what is secret in them
        log_config=None,
        server_header=False,
        proxy_headers=behind_proxy,
        timeout_keep_alive=int(KEEP_ALIVE.total_seconds()),
        timeout_graceful_shutdown=int(PATIENCE.total_seconds()),
    )


@contextmanager
def gc_frozen() -> Iterator[None]:
    """Have what is there by now, and stays as long as the hub, looked through by no collection of garbage.

    It is 190,000 objects: each look at all of them had every caller wait for 150 ms, twice a second on a busy day. What
    comes later is looked through a tenth as often as Python would: not for each large answer, which is gone by then.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*USUAL[:2], SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*USUAL)
        gc.unfreeze()


def _is_no_false_alarm(record: logging.LogRecord) -> bool:
    """Whether to log it: uvicorn takes a WebSocket that was refused with an answer for one that got none."""
    return record.msg != FALSE_ALARM
