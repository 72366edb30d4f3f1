"""Answers that are complete when they are sent: head and body are one message, and one write to the connection.

ASGI has two messages for them. Uvicorn writes each by itself and examines each header, which costs as much as all else
between a small call and its socket. So an application that finds `WHOLE` among the extensions may put the body into the
message that starts the answer; it vouches for the headers, among which is the length.
"""

from functools import partial
from typing import Any

from starlette.types import Message
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

WHOLE = "hubbub.whole"
EXTENSIONS: dict[str, dict[object, object]] = {WHOLE: {}}


class HubConnection(HttpToolsProtocol):
    """A connection of uvicorn's that takes whole answers."""

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        cycle.scope["extensions"] = EXTENSIONS
        send = partial(_send, cycle)
        super()._start_asgi_task(cycle, lambda scope, receive, _send: app(scope, receive, send))


def start_of_whole(status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> Message:
    """Return the only message of an answer."""
    return {"type": "http.response.start", "status": status, "headers": headers, WHOLE: body}


async def _send(cycle: RequestResponseCycle, message: Any) -> None:
    """Send a message of ASGI or, at once, a whole answer."""
    body = message.get(WHOLE)
    if body is None:
        await cycle.send(message)
        return
    if cycle.flow.write_paused and not cycle.disconnected:
        await cycle.flow.drain()
    if cycle.disconnected:
        return
    content = [STATUS_LINE[message["status"]]]
    for name, value in (*cycle.default_headers, *message["headers"]):
        content += (name, b": ", value, b"\r\n")
    content += (b"\r\n", body) if cycle.keep_alive else (b"connection: close\r\n\r\n", body)
    cycle.response_started = cycle.response_complete = True
    cycle.transport.write(b"".join(content))
    cycle.message_event.set()
    if not cycle.keep_alive:
        cycle.transport.close()
    cycle.on_response()
