"""Cline: `mcpServers` in `cline_mcp_settings.json`, strict JSON, with the token in a variable of the environment."""

from collections.abc import Sequence
from pathlib import Path

from hubbub.clients.install.client import NAMED, SERVER, VARIABLE, Client, Request, bearer, export_note
from hubbub.clients.install.plan import Change, Entry

SETTINGS = Path(".cline", "data", "settings", "cline_mcp_settings.json")


def changes(request: Request) -> Sequence[Change]:
    """The server in the settings of the user."""
    entry = {
        "type": "streamableHttp",
        "url": request.mcp,
        "headers": {"Authorization": bearer(f"${{env:{VARIABLE}}}")},
    }
    file = request.machine.path("CLINE_MCP_SETTINGS_PATH", request.machine.home / SETTINGS)
    return [Entry(file, "json", ("mcpServers", SERVER), entry, same="url")]


def notes(request: Request) -> Sequence[str]:
    """What is left to do."""
    return (export_note(request),)


CLIENT = Client(
    "cline",
    "Cline",
    changes,
    notes,
    NAMED,
    no_project="Cline has no configuration for a project; use --scope user",
)
