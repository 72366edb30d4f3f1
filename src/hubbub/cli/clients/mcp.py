"""`hubbub mcp`: for clients that start their MCP servers themselves."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import click
import uvloop

from hubbub.bridge.bridge import PATIENCE, Bridge
from hubbub.bridge.companions.companion import Companion, NoCompanion
from hubbub.bridge.hub_locator import HubLocator
from hubbub.bridge.stdio import StdinLines, StdoutLines, unblocked
from hubbub.bridge.transport.mcp_upstream import Upstream
from hubbub.client import Hub, HubUnreachable
from hubbub.daemons import membership
from hubbub.daemons.hub_starter import ensure_hub
from hubbub.dialects import names
from hubbub.model.fleet import call_chain
from hubbub.model.programs import loading
from hubbub.terminal.command import Choice, chooses_hub, command
from hubbub.terminal.credentials import act, has_acted, installed
from hubbub.terminal.wrong_words import OneOf

FIRST_PATIENCE = timedelta(seconds=1)  # for a hub that was not seen yet
PAUSE = 0.2  # seconds between tries to reach it
Beside = Callable[[Callable[[], Hub]], AbstractAsyncContextManager[Companion]]  # given the present hub


@command(
    "mcp",
    short_help="Serve MCP on standard input and output.",
    always_json=True,
    example="hubbub mcp\nhubbub mcp relay --tools send_message,get_messages\nHUBBUB_PROJECT=shop hubbub mcp commhub",
)
@click.argument("dialect", type=OneOf(names()), required=False)
@click.option("--tools", metavar="NAMES", help="Offer only these tools, separated by commas.")
@click.option("--unread", is_flag=True, help="Mention unread mail beside each answer.")
@click.option("--as", "agent", metavar="NAME", help="Agent to act as: one that hubbub install connected.")
@chooses_hub
def mcp(*, dialect: str | None, tools: str | None, unread: bool, agent: str | None, choice: Choice) -> None:
    """Serve MCP on standard input and output, with the tools of DIALECT, else of the one at /mcp.

    Starts a hub if none is running and no --url is given, and leaves it running. Acts in the project
    of --project, else in `default`. Ends when standard input ends.
    """
    choice, beside = _local(installed(choice, agent).signed_in(), dialect)
    if choice.url is None:
        ensure_hub(choice.data)
    place = HubLocator(choice, _act_patiently(choice, dialect))
    path = _path(dialect, tools, unread=unread)
    with unblocked(), suppress(asyncio.CancelledError):  # by a signal
        try:
            uvloop.run(_bridge(place, path, beside(place.hub)))
        except* BrokenPipeError:
            pass  # the client is gone


def _path(dialect: str | None, tools: str | None, *, unread: bool) -> str:
    """Return the hub's path for the dialect, with the options."""
    asked = {"tools": tools, "unread": "true" if unread else None}
    query = urlencode({name: value for name, value in asked.items() if value is not None})
    return (f"/mcp/{dialect}" if dialect else "/mcp") + (f"?{query}" if query else "")


def _local(choice: Choice, dialect: str | None) -> tuple[Choice, Beside]:
    """Return the choice, and the dialect's part on this machine. Raises `Invalid` for a bad environment.

    Each dialect imports only its own modules.
    """
    if dialect == "relay":
        from hubbub.bridge.companions import relay_companion

        return choice, partial(
            relay_companion.companion, relay_companion.find_context(os.environ, Path.cwd(), choice.data)
        )
    if dialect == "golemxv":
        from hubbub.bridge.companions import golemxv_companion

        alone = golemxv_companion.companion(os.environ)
        return golemxv_companion.chosen(choice, os.environ), lambda _hub: nullcontext(alone)
    if dialect == "cmdop":
        with loading.at_once():
            from hubbub.bridge.companions import cmdop_companion

        chain, joined = call_chain.read(os.environ.get(call_chain.VARIABLE)), membership.read(choice.data)
        return choice, partial(cmdop_companion.companion, choice.data, chain=chain, joined=joined)
    if dialect == "commhub":
        return choice, lambda _hub: nullcontext(NoCompanion())
    from hubbub.bridge.companions import hub_companion

    return choice, lambda _hub: nullcontext(hub_companion.HubCompanion())


def _act_patiently(choice: Choice, dialect: str | None) -> Hub:
    """Act at a hub that speaks `dialect`; wait for one that is just being restarted, like later calls."""
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
        spoken = ", ".join(each for each in names() if hub.speaks(each))
        raise click.ClickException(f"this hub does not speak {dialect}; it speaks {spoken}")


async def _bridge(place: HubLocator, path: str, beside: AbstractAsyncContextManager[Companion]) -> None:
    """Run the bridge until its input ends, or a signal."""
    this = asyncio.current_task()
    assert this is not None
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(each, this.cancel)
    upstream = Upstream(lambda: place.address() + path, place.hub().token)
    async with beside as companion:
        await Bridge(upstream, StdoutLines(), companion).run(StdinLines())
