"""Windsurf: `mcpServers` in its one `mcp_config.json`; the address is its `serverUrl`, and nothing else connects."""

from collections.abc import Sequence

from hubbub.clients.install.client import NAMED, SERVER, VARIABLE, Client, Request, bearer, export_note
from hubbub.clients.install.plan import Change, Entry


def changes(request: Request) -> Sequence[Change]:
    """The server in the configuration of the user."""
    file = request.machine.home / ".codeium" / "windsurf" / "mcp_config.json"
    entry = {"serverUrl": request.mcp, "headers": {"Authorization": bearer(f"${{env:{VARIABLE}}}")}}
    return [Entry(file, "json", ("mcpServers", SERVER), entry, same="serverUrl")]


def notes(request: Request) -> Sequence[str]:
    """What is left to do."""
    return (export_note(request),)


CLIENT = Client(
    "windsurf",
    "Windsurf",
    changes,
    notes,
    NAMED,
    no_project="Windsurf has no configuration for a project; use --scope user",
)
