"""Goose: an extension in `config.yaml`, which needs a name and a description for every extension.

Goose looks up the variables in `env_keys` in its environment, then among its own secrets, and puts them into the
headers.
"""

from collections.abc import Sequence
from pathlib import Path

from hubbub.clients.install.client_installer import (
    BRACED,
    VARIABLE,
    ClientInstaller,
    InstallRequest,
    UserFolders,
    bearer,
    export_notes,
)
from hubbub.clients.install.install_plan import ConfigEntry, InstallStep

EXTENSION = "hub"


def changes(request: InstallRequest) -> Sequence[InstallStep]:
    """Return the step that puts the extension into the user's configuration."""
    entry = {
        "enabled": True,
        "type": "streamable_http",
        "name": EXTENSION,
        "description": "The hub where this agent meets the others",
        "uri": request.mcp,
        "headers": {"Authorization": bearer(f"${{{VARIABLE}}}")},
        "env_keys": [VARIABLE],
        "timeout": 300,
    }
    file = _folder(request.machine) / "config.yaml"
    return [ConfigEntry(file, "yaml", ("extensions", EXTENSION), entry, same="uri")]


def _folder(machine: UserFolders) -> Path:
    if machine.platform == "win32":
        return machine.applications / "Block" / "goose" / "config"
    return machine.xdg / "goose"


CLIENT = ClientInstaller(
    "goose",
    "Goose",
    changes,
    export_notes,
    BRACED,
    no_project="Goose has no configuration for a project; use --scope user",
)
