"""Zed: `context_servers` in `settings.json`, a JSON file full of comments.

Zed expands no variables in headers: the user's own file holds the token, and is readable for its owner alone from then
on. A project's file cannot hold one.
"""

from collections.abc import Sequence
from pathlib import Path

from hubbub.clients.install.client_installer import (
    SERVER,
    ClientInstaller,
    InstallRequest,
    UserFolders,
    bearer,
)
from hubbub.clients.install.install_plan import ConfigEntry, InstallStep


def changes(request: InstallRequest) -> Sequence[InstallStep]:
    """Return the step that puts the server into the user's settings."""
    entry = {"url": request.mcp, "headers": {"Authorization": bearer(request.token)}}
    file = _folder(request.machine) / "settings.json"
    return [ConfigEntry(file, "jsonc", ("context_servers", SERVER), entry, same="url", private=True)]


def notes(_request: InstallRequest) -> Sequence[str]:
    """Return no steps: none remain."""
    return ()


def _folder(machine: UserFolders) -> Path:
    return machine.applications / "Zed" if machine.platform == "win32" else machine.xdg / "zed"


CLIENT = ClientInstaller(
    "zed",
    "Zed",
    changes,
    notes,
    no_project="Zed puts no variables into headers, and a token has no place in a project's file; use --scope user",
)
