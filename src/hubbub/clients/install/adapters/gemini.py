"""Gemini CLI: `mcpServers` in `settings.json`, a JSON file with comments.

`gemini mcp add` keeps comments, but rewrites the whole file in its own indentation: we splice instead. In a project the
token is a variable of the environment. Gemini 0.61 reads `~/.gemini/.env` too late for its own settings, and then sends
no token at all: so the user's own file holds it, and is readable for its owner alone from then on.
"""

from collections.abc import Sequence
from pathlib import Path

from hubbub.clients.install.client_installer import (
    SERVER,
    ClientInstaller,
    InstallRequest,
    bearer,
    export_notes_in_project,
)
from hubbub.clients.install.install_plan import ConfigEntry, InstallStep
from hubbub.clients.install.plugin_files import hook_items, skill_files

NAME = "gemini"
HOOKS = "hooks/hooks.json"
WORDS = r"\$(?P<brace>\{)?(?P<variable>\w+)(?(brace)\})"


def changes(request: InstallRequest) -> Sequence[InstallStep]:
    """Return the steps for server and hooks in the scope's settings, and the skills beside them."""
    entry = {
        "url": request.mcp,
        "type": "http",
        "headers": {"Authorization": bearer(request.token if request.is_user else f"${request.variable}")},
    }
    settings = _folder(request) / "settings.json"
    return [
        ConfigEntry(settings, "jsonc", ("mcpServers", SERVER), entry, same="url", private=request.is_user),
        *hook_items(settings, "jsonc", HOOKS, NAME),
        *skill_files(_folder(request) / "skills"),
    ]


def _folder(request: InstallRequest) -> Path:
    return (request.machine.home if request.is_user else request.folder) / ".gemini"


CLIENT = ClientInstaller(NAME, "Gemini CLI", changes, export_notes_in_project, WORDS)
