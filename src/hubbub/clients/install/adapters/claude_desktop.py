"""Claude Desktop: starts its servers itself, so it gets `hubbub mcp`, and the token stays in our folder.

It reaches servers with an address only from its maker's cloud, where a private hub is out of reach.
"""

from collections.abc import Sequence
from pathlib import Path

from hubbub.clients.install.client_installer import SERVER, ClientInstaller, InstallRequest, UserFolders
from hubbub.clients.install.install_plan import ConfigEntry, InstallStep
from hubbub.model.programs.launching import program
from hubbub.settings import variable


def changes(request: InstallRequest) -> Sequence[InstallStep]:
    """Return the step that puts the program into the user's configuration."""
    hub = ["--url", request.url] if request.data is None else ["--data", str(request.data)]
    command, *options = program()
    entry: dict[str, object] = {
        "command": command,
        "args": [*options, "mcp", "--as", request.agent, *hub],
    }
    if variable("config") in request.machine.environment:
        entry["env"] = {variable("config"): str(request.config)}
    file = _folder(request.machine) / "claude_desktop_config.json"
    return [ConfigEntry(file, "json", ("mcpServers", SERVER), entry)]


def notes(_request: InstallRequest) -> Sequence[str]:
    """Return no steps: none remain but the restart."""
    return ()


def _folder(machine: UserFolders) -> Path:
    return machine.applications / "Claude"


CLIENT = ClientInstaller(
    "claude-desktop",
    "Claude Desktop",
    changes,
    notes,
    no_project="Claude Desktop has no configuration for a project; use --scope user",
    is_bridged=True,
    restart=("restart Claude Desktop",),
)
