"""Windsurf: `mcpServers` in its one `mcp_config.json`; its `serverUrl` is the address, and no other key works."""

from collections.abc import Sequence

from hubbub.clients.install.client_installer import (
    NAMED,
    SERVER,
    VARIABLE,
    ClientInstaller,
    InstallRequest,
    bearer,
    export_notes,
)
from hubbub.clients.install.install_plan import ConfigEntry, InstallStep


def changes(request: InstallRequest) -> Sequence[InstallStep]:
    """Return the step that puts the server into the user's configuration."""
    file = request.machine.home / ".codeium" / "windsurf" / "mcp_config.json"
    entry = {"serverUrl": request.mcp, "headers": {"Authorization": bearer(f"${{env:{VARIABLE}}}")}}
    return [ConfigEntry(file, "json", ("mcpServers", SERVER), entry, same="serverUrl")]


CLIENT = ClientInstaller(
    "windsurf",
    "Windsurf",
    changes,
    export_notes,
    NAMED,
    no_project="Windsurf has no configuration for a project; use --scope user",
)
