#!/usr/bin/env python3
"""Firefox as the systems ship it, for Playwright: it runs this file as if it were the browser.

Playwright begins a browser with arguments, and reads from its output where to connect. Here that is a place between
the two, where all messages of WebDriver BiDi pass. It answers the one command that Firefox does not know yet, by which
each context chooses between light and dark: the tests choose by the page's own setting.
"""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, STDOUT

from websockets import ConnectionClosed
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import Server, ServerConnection, serve

UNKNOWN = "emulation.setMediaFeaturesOverride"
LISTENING = "WebDriver BiDi listening on "


def tell(line: str) -> None:
    """Say it where Playwright reads what its browser says."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def carry(
    source: ClientConnection | ServerConnection, target: ClientConnection | ServerConnection
) -> None:
    """Pass all messages on, until one of the two ends; then end the other."""
    try:
        async for message in source:
            answer = _answer(message)
            await (source.send(answer) if answer else target.send(message))
    except ConnectionClosed:
        pass
    await target.close()


def _answer(message: str | bytes) -> str | None:
    """Return the answer to what Firefox does not know, and None for all else."""
    asked = json.loads(message) if UNKNOWN in str(message) else {}
    if asked.get("method") != UNKNOWN:
        return None
    return json.dumps({"type": "success", "id": asked["id"], "result": {}})


async def stand_between(address: str) -> Server:
    """Listen for Playwright, whose messages go to Firefox at that address, and tell it where."""

    async def meet(playwright: ServerConnection) -> None:
        async with connect(address + "/session", max_size=None, compression=None) as firefox:
            await asyncio.gather(carry(playwright, firefox), carry(firefox, playwright))

    server = await serve(meet, "127.0.0.1", 0, max_size=None, compression=None)
    port = server.sockets[0].getsockname()[1]
    tell(f"{LISTENING}ws://127.0.0.1:{port}")
    return server


async def main() -> None:
    """Begin Firefox and tell what it tells, until it ends; as soon as it listens, stand between."""
    firefox = await asyncio.create_subprocess_exec("firefox-esr", *sys.argv[1:], stdout=PIPE, stderr=STDOUT)
    assert firefox.stdout
    server: Server | None = None
    async for line in firefox.stdout:
        text = line.decode().strip()
        if text.startswith(LISTENING):
            server = await stand_between(text.removeprefix(LISTENING))
        else:
            tell(text)
    if server:
        server.close()


if __name__ == "__main__":
    asyncio.run(main())
