"""Versions of this program and of its libraries: `hubbub --version`."""

import platform
import sys
from importlib.metadata import version

import apsw
import click

from hubbub import __version__
from hubbub.terminal import display

SDK = "mcp"  # the distribution of the official MCP SDK


def facts() -> dict[str, str]:
    """Return the versions of hubbub and of everything that affects its behaviour, by name."""
    return {
        "hubbub": __version__,
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "mcp_sdk": version(SDK),
        "platform": f"{sys.platform} {platform.machine()}",
    }


def line() -> str:
    """Return the versions on one line, for a bug report."""
    found = facts()
    on = (
        f"Python {found['python']}, SQLite {found['sqlite']}, MCP SDK {found['mcp_sdk']}, {found['platform']}"
    )
    return f"hubbub {found['hubbub']} ({on})"


def show(*, as_json: bool) -> None:
    """Print them."""
    if as_json:
        display.show_json(facts())
    else:
        click.echo(line())
