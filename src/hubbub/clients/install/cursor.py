"""Cursor: `mcpServers` in `mcp.json`, with the token in a variable of the environment; and `hooks.json` beside it."""

from collections.abc import Sequence
from pathlib import Path

from hubbub.clients.install.client import NAMED, SERVER, VARIABLE, Client, Request, bearer, export_note
from hubbub.clients.install.plan import Change, Entry
from hubbub.clients.install.shipped import hook_items

NAME = "cursor"
HOOKS = "cursor/hooks.json"
VERSION = 1  # of the form of the file


def changes(request: Request) -> Sequence[Change]:
    """The server in the configuration of the scope."""
    entry = {"url": request.mcp, "headers": {"Authorization": bearer(f"${{env:{VARIABLE}}}")}}
    hooks = _folder(request) / "hooks.json"
    return [
        Entry(_folder(request) / "mcp.json", "jsonc", ("mcpServers", SERVER), entry, same="url"),
        Entry(hooks, "jsonc", ("version",), VERSION),
        *hook_items(hooks, "jsonc", HOOKS, NAME),
    ]


def notes(request: Request) -> Sequence[str]:
    """What is left to do."""
    return (export_note(request),)


def _folder(request: Request) -> Path:
    return (request.machine.home if request.is_user else request.folder) / ".cursor"


CLIENT = Client(NAME, "Cursor", changes, notes, NAMED)
