"""Claude Code: its server entry, its plugin for the whole user, or its hooks for one project.

We merge all of it ourselves, though there are `claude mcp add` and `claude plugin install`: they rewrite the files in
their own form, and add notes of their own to them at each start. The settings are enough: the client reads
marketplaces and plugins from there at its next start, without a network.

For a user the plugin brings hooks, skills, commands and the monitor that wakes the client. In a project there are only
hooks, in the settings that nobody shares, and one of them waits and wakes (`asyncRewake`): a project's install leaves
nothing outside of its folder. So mail has one way to each client and wakes it once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from hubbub.clients import plugin
from hubbub.clients.install import metered
from hubbub.clients.install.client_installer import (
    BRACED,
    SERVER,
    UNATTENDED,
    VARIABLE,
    ClientInstaller,
    InstallRequest,
    bearer,
    export_note,
    grant_note,
    prompts_note,
)
from hubbub.clients.install.file_changes import missing_folders
from hubbub.clients.install.hook_command import hook_command
from hubbub.clients.install.install_plan import (
    ConfigEntry,
    ConfigListItem,
    InstallPlan,
    InstallStep,
    OwnedFile,
)
from hubbub.clients.install.plugin_files import hook_items, rendered
from spliceconf import Trace

NAME = "claude-code"
JSON = "json"
# Its marketplace, and the parts of the plugin that it reads, without the plugin's server entry: there would be two.
SHIPPED = (".claude-plugin", "plugins/hubbub")
NOT_RENDERED = (".mcp.json", ".codex-plugin")
HOOKS = "plugins/hubbub/hooks/hooks.json"
WAITING = ("SessionStart", "Stop")  # after each of them the client is idle
DAY = 86_400  # seconds for one that waits; the end of the next turn starts another
ALLOWED = tuple(f"mcp__{SERVER}__{tool}" for tool in UNATTENDED)


@dataclass(frozen=True, slots=True)
class ClientNotes:
    """Notes that the client itself will make about us, to be removed with the rest."""

    file: Path
    keys: tuple[str, ...]

    def make(self, plan: InstallPlan) -> None:
        where = {"file": str(self.file), "language": JSON, "keys": [*self.keys], "same": None}
        if folders := missing_folders(self.file):
            plan.done.append({"do": "folders", "folders": [str(each) for each in folders]})
        if plan.whole(self.file) is None:
            plan.done.append({"do": "create", "file": str(self.file)})
        plan.done.append({"do": "entry", **where, **Trace().facts()})


def changes(request: InstallRequest) -> Sequence[InstallStep]:
    """Return the steps for the user, or for the project in the request's folder."""
    return [*(_for_user(request) if request.is_user else _for_project(request))]


def notes(request: InstallRequest) -> Sequence[str]:
    """Return the client's new permissions, and the person's remaining steps."""
    told = [grant_note("Claude Code"), prompts_note("Claude Code")]
    return told if request.is_user else [*told, export_note(request)]


def _for_user(request: InstallRequest) -> Iterator[InstallStep]:
    given = request.machine.environment.get("CLAUDE_CONFIG_DIR")
    folder = request.machine.path("CLAUDE_CONFIG_DIR", request.machine.home / ".claude")
    servers = (folder if given else request.machine.home) / ".claude.json"
    settings, market = folder / "settings.json", request.config / "marketplace" / NAME
    yield ConfigEntry(servers, JSON, ("mcpServers", SERVER), _server(request), same="url", private=True)
    yield ConfigEntry(settings, JSON, ("env", VARIABLE), request.token, private=True)
    yield metered.claude_code(request, settings)
    yield from (OwnedFile(market / place, text) for place, text in _rendered(files(plugin)))
    source = {"source": {"source": "directory", "path": str(market)}}
    yield ConfigEntry(settings, JSON, ("extraKnownMarketplaces", SERVER), source)
    yield ConfigEntry(settings, JSON, ("enabledPlugins", f"{SERVER}@{SERVER}"), value=True)
    yield from _allowed(settings)
    yield ClientNotes(folder / "plugins" / "known_marketplaces.json", (SERVER,))
    yield ClientNotes(servers, ("pluginUsage", f"{SERVER}@{SERVER}"))


def _for_project(request: InstallRequest) -> Iterator[InstallStep]:
    settings = request.folder / ".claude" / "settings.local.json"
    yield ConfigEntry(
        request.folder / ".mcp.json", JSON, ("mcpServers", SERVER), _server(request), same="url"
    )
    yield ConfigListItem(settings, JSON, ("enabledMcpjsonServers",), SERVER, mark=SERVER)
    yield from _allowed(settings)
    yield from hook_items(settings, JSON, HOOKS, NAME)
    command = hook_command(NAME, "rewake")
    waiting = {"hooks": [{"type": "command", "command": command, "asyncRewake": True, "timeout": DAY}]}
    yield from (ConfigListItem(settings, JSON, ("hooks", event), waiting, mark=command) for event in WAITING)


def _server(request: InstallRequest) -> dict[str, object]:
    return {
        "type": "http",
        "url": request.mcp,
        "headers": {"Authorization": bearer(f"${{{request.variable}}}")},
    }


def _allowed(settings: Path) -> Iterator[InstallStep]:
    return (ConfigListItem(settings, JSON, ("permissions", "allow"), tool, mark=tool) for tool in ALLOWED)


def _rendered(shipped: Traversable) -> Iterator[tuple[str, str]]:
    """Yield each file of the marketplace: its place, and its text with the absolute commands of this installation."""
    for part in SHIPPED:
        for place, file in _below(shipped.joinpath(part), part):
            yield place, rendered(file.read_text("utf-8"), NAME)


def _below(folder: Traversable, place: str) -> Iterator[tuple[str, Traversable]]:
    for each in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if each.name in NOT_RENDERED:
            continue
        if each.is_dir():
            yield from _below(each, f"{place}/{each.name}")
        else:
            yield f"{place}/{each.name}", each


CLIENT = ClientInstaller(
    name=NAME,
    title="Claude Code",
    changes=changes,
    notes=notes,
    words=BRACED,
    restart=("start Claude Code anew if it runs already",),
)
