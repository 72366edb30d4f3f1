"""Cursor: `mcpServers` in `mcp.json`, with the token in a variable of the environment; and `hooks.json` beside it."""

from collections.abc import Sequence
from pathlib import Path

from hubbub.clients.install.client_installer import (
    NAMED,
    SERVER,
    ClientInstaller,
    InstallRequest,
    bearer,
    export_notes,
)
from hubbub.clients.install.install_plan import ConfigEntry, InstallStep
from hubbub.clients.install.plugin_files import hook_items

NAME = "cursor"
HOOKS = "cursor/hooks.json"
VERSION = 1  # of the file's form


def changes(request: InstallRequest) -> Sequence[InstallStep]:
    """Return the step that puts the server into the scope's configuration."""
    entry = {"url": request.mcp, "headers": {"Authorization": bearer(f"${{env:{request.variable}}}")}}
    hooks = _folder(request) / "hooks.json"
    return [
        ConfigEntry(_folder(request) / "mcp.json", "jsonc", ("mcpServers", SERVER), entry, same="url"),
        ConfigEntry(hooks, "jsonc", ("version",), VERSION),
        *hook_items(hooks, "jsonc", HOOKS, NAME),
    ]


def _folder(request: InstallRequest) -> Path:
    return (request.machine.home if request.is_user else request.folder) / ".cursor"


CLIENT = ClientInstaller(NAME, "Cursor", changes, export_notes, NAMED)
