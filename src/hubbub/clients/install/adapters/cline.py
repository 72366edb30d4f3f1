"""Cline: `mcpServers` in `cline_mcp_settings.json`, strict JSON, with the token in a variable of the environment."""

from collections.abc import Sequence
from pathlib import Path

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

SETTINGS = Path(".cline", "data", "settings", "cline_mcp_settings.json")


def changes(request: InstallRequest) -> Sequence[InstallStep]:
    """Return the step that puts the server into the user's settings."""
    entry = {
        "type": "streamableHttp",
        "url": request.mcp,
        "headers": {"Authorization": bearer(f"${{env:{VARIABLE}}}")},
    }
    file = request.machine.path("CLINE_MCP_SETTINGS_PATH", request.machine.home / SETTINGS)
    return [ConfigEntry(file, "json", ("mcpServers", SERVER), entry, same="url")]


CLIENT = ClientInstaller(
    "cline",
    "Cline",
    changes,
    export_notes,
    NAMED,
    no_project="Cline has no configuration for a project; use --scope user",
)
