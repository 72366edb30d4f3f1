"""`hubbub mcp`: for clients that start their MCP servers themselves."""

import asyncio
import signal
import time
from contextlib import suppress

import click

from hubbub.cli.bridge.bridge import BACK_OFF, PATIENCE, Bridge
from hubbub.cli.bridge.starter import require_hub
from hubbub.cli.bridge.stdio import Output, lines
from hubbub.cli.bridge.upstream import Upstream
from hubbub.cli.command import Choice, chooses_hub, command
from hubbub.cli.credentials import act
from hubbub.client import Hub, HubUnreachable, running_hub

DIALECTS = ("hub", "commhub", "relay", "golemxv", "cmdop")


@command(
    "mcp",
    short_help="An MCP server on stdio, bridged to the hub.",
    always_json=True,
    example="hubbub mcp commhub\nHUBBUB_PROJECT=shop hubbub mcp commhub",
)
@click.argument("dialect", type=click.Choice(DIALECTS), required=False)
@chooses_hub
def mcp(*, dialect: str | None, choice: Choice) -> None:
    """Speak MCP on standard input and output, in a DIALECT, else in the one the hub speaks at /mcp.

    Starts a hub for the data folder when none runs and no --url is given, and leaves it running. Acts in the project
    of --project, else in `default`. Ends when standard input ends.
    """
    if choice.url is None:
        require_hub(choice.data)
    hub = _act_patiently(choice)
    path = f"/mcp/{dialect}" if dialect else "/mcp"

    def address() -> str:
        return (choice.url or running_hub(choice.data) or hub.url).rstrip("/") + path

    with suppress(asyncio.CancelledError):  # by a signal
        try:
            asyncio.run(_bridge(Upstream(address, hub.token)))
        except* BrokenPipeError:
            pass  # the client is gone


def _act_patiently(choice: Choice) -> Hub:
    """As `act`; a hub that is just being restarted is waited for, as it is later on."""
    deadline = time.monotonic() + PATIENCE.total_seconds()
    while True:
        try:
            return act(choice)
        except HubUnreachable:
            if time.monotonic() > deadline:
                raise
            time.sleep(BACK_OFF[-1])


async def _bridge(upstream: Upstream) -> None:
    """Run the bridge until its input ends, or a signal."""
    this = asyncio.current_task()
    assert this is not None
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(each, this.cancel)
    await Bridge(upstream, Output()).run(lines())
