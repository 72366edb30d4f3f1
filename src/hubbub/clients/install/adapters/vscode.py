"""VS Code: `servers` in `mcp.json`, with the token in an input that it asks for once and keeps as a secret."""

from collections.abc import Sequence
from pathlib import Path

from hubbub.clients.install.client_installer import NAMED, ClientInstaller, InstallRequest, bearer
from hubbub.clients.install.install_plan import ConfigEntry, ConfigListItem, InstallStep

NAME = "hub"
INPUT = "hubbub-token"
WORDS = rf"{NAMED}|\$\{{input:(?P<secret>[\w-]+)\}}"


def changes(request: InstallRequest) -> Sequence[InstallStep]:
    """Return the steps for the server in the scope's configuration, and the input that asks for its token."""
    headers = {"Authorization": bearer(f"${{input:{INPUT}}}")}
    server = {"type": "http", "url": request.mcp, "headers": headers}
    asked = {
        "type": "promptString",
        "id": INPUT,
        "description": "The token of this agent at hubbub",
        "password": True,
    }
    file = _file(request)
    return [
        ConfigEntry(file, "jsonc", ("servers", NAME), server, same="url"),
        ConfigListItem(file, "jsonc", ("inputs",), asked, mark=INPUT),
    ]


def notes(request: InstallRequest) -> Sequence[str]:
    """Return the person's remaining steps."""
    return (f"VS Code will ask for the token once; it is in {request.token_file}",)


def _file(request: InstallRequest) -> Path:
    if request.is_user:
        return request.machine.applications / "Code" / "User" / "mcp.json"
    return request.folder / ".vscode" / "mcp.json"


CLIENT = ClientInstaller("vscode", "VS Code", changes, notes, WORDS)
