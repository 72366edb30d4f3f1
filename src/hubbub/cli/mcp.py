"""`hubbub mcp`: for clients that start their MCP servers themselves."""

import asyncio
import signal
import time
from contextlib import suppress
from datetime import timedelta

import click

from hubbub.cli.bridge.bridge import PATIENCE, Bridge
from hubbub.cli.bridge.starter import require_hub
from hubbub.cli.bridge.stdio import Output, lines
from hubbub.cli.bridge.upstream import Upstream
from hubbub.cli.command import Choice, chooses_hub, command
from hubbub.cli.credentials import act, has_acted
from hubbub.client import Hub, HubUnreachable, running_hub

FIRST_PATIENCE = timedelta(seconds=1)  # with a hub that nobody has seen yet
PAUSE = 0.2  # seconds between tries to reach it
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
    hub = _act_patiently(choice, dialect)
    path = f"/mcp/{dialect}" if dialect else "/mcp"

    def address() -> str:
        return (choice.url or running_hub(choice.data) or hub.url).rstrip("/") + path

    with suppress(asyncio.CancelledError):  # by a signal
        try:
            asyncio.run(_bridge(Upstream(address, hub.token)))
        except* BrokenPipeError:
            pass  # the client is gone


def _act_patiently(choice: Choice, dialect: str | None) -> Hub:
    """As `act`, at a hub that speaks `dialect`; one that is just being restarted is waited for, as it is later on."""
    patience = PATIENCE if has_acted(choice) else FIRST_PATIENCE
    deadline = time.monotonic() + patience.total_seconds()
    while True:
        try:
            hub = act(choice)
            _require_spoken(hub, dialect)
            return hub
        except HubUnreachable:
            if time.monotonic() > deadline:
                raise
            time.sleep(PAUSE)


def _require_spoken(hub: Hub, dialect: str | None) -> None:
    """Raise `click.ClickException` for a dialect that the hub does not serve; contacts the hub in any case."""
    if dialect is None:
        hub.health()
    elif not hub.speaks(dialect):
        spoken = ", ".join(each for each in DIALECTS if hub.speaks(each))
        raise click.ClickException(f"this hub does not speak {dialect}; it speaks {spoken}")


async def _bridge(upstream: Upstream) -> None:
    """Run the bridge until its input ends, or a signal."""
    this = asyncio.current_task()
    assert this is not None
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(each, this.cancel)
    await Bridge(upstream, Output()).run(lines())
