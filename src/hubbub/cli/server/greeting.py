"""The greeting of a running hub: its address, and how to connect."""

import shlex
import sys
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

from hubbub.cli.people.open_dashboard import link
from hubbub.client import OWNER_FILE, Hub, owner_token
from hubbub.daemons import hub_starter
from hubbub.dialects import addresses
from hubbub.model.data_folder import login
from hubbub.settings import Settings, read
from hubbub.terminal import display


def show(url: str, chosen: Settings, *, is_new: bool, as_json: bool) -> None:
    """Print the hub's address and how to connect; for a program, the bare address on a line of its own first."""
    if as_json:
        display.show_json({"url": url, "started": is_new, "log": str(chosen.data / hub_starter.LOG_FILE)})
        return
    if not sys.stdout.isatty():
        display.show(url)
    for line in _about(url, chosen.data, chosen.root_dialect, is_new=is_new):
        display.show(line)


def _about(url: str, data: Path, root_dialect: str, *, is_new: bool) -> list[str]:
    """Return the hub's address and how to connect, as lines."""
    dashboard, outside = _dashboard(url, data)
    mcp, *others = addresses(outside, root_dialect, in_full=not sys.stdout.isatty())
    there = f", from outside at {outside}" if outside != url else ""
    return [
        f"hubbub is {'ready' if is_new else 'already running'} at {url}{there}",
        f"  dashboard    {dashboard}",
        f"  docs         {outside}/docs",
        f"  to connect   hubbub install CLIENT{_where(data)}",
        f"  to stop      hubbub down{_where(data)}",
        f"  your token   in {data / OWNER_FILE}",
        *_elsewhere(url, data),
        f"  its log      in {data / hub_starter.LOG_FILE}",
        f"  MCP          {mcp}",
        *(f"               {each}" for each in others),
    ]


def _elsewhere(url: str, data: Path) -> list[str]:
    """Say that commands do not use this hub, while a login elsewhere is in use."""
    used = login(data)
    return [] if used is None or used.url == url else [f"  commands     use {used.url} until: hubbub logout"]


def _where(data: Path) -> str:
    """Return the option by which a command finds that data folder; empty if it does so by itself."""
    return "" if read().data == data else f" --data {shlex.quote(str(data))}"


def _dashboard(url: str, data: Path) -> tuple[str, str]:
    """Return a sign-in link of the owner, and the hub's public address in it, else its own.

    Without the owner's token to read, both are its own.
    """
    token = owner_token(data)
    if token is None:
        return url, url
    with closing(Hub(url, token)) as hub:
        made = link(hub)["url"]
    place = urlsplit(made)
    return made, f"{place.scheme}://{place.netloc}"
