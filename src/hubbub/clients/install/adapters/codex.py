"""Codex: a table in `config.toml`, with the token in a variable that it reads from its own `.env`.

`codex mcp add` keeps neighbours and comments, but takes no entry for a project: we splice in both scopes. The hooks
are in a file of their own beside it; Codex runs them after the person has trusted them, and nobody else can do that.
The skills of the plugin are put into Codex's own folder of skills: a plugin would bring hooks and server twice.

All windows of Codex share one server, which reads its variables when it starts. So that an open window finds the token
too, that server is restarted, unless it is busy: the windows stay.
"""

from collections.abc import Sequence
from pathlib import Path

from hubbub.clients.install import metered
from hubbub.clients.install.client_installer import (
    SERVER,
    UNATTENDED,
    VARIABLE,
    ClientInstaller,
    InstallRequest,
    export_note,
    grant_note,
    prompts_note,
)
from hubbub.clients.install.install_plan import ClientCommand, ConfigEntry, InstallStep
from hubbub.clients.install.plugin_files import hook_items, skill_files
from hubbub.clients.wake.codex import CodexChannel

NAME = "codex"
HOOKS = "plugins/hubbub/.codex-plugin/hooks.json"
ALLOWED = {tool: {"approval_mode": "approve"} for tool in UNATTENDED}


def changes(request: InstallRequest) -> Sequence[InstallStep]:
    """Return the steps for the server in the scope's configuration; for the whole user also the token's variable."""
    entry = {"url": request.mcp, "bearer_token_env_var": request.variable, "tools": ALLOWED}
    file = _folder(request) / "config.toml"
    made: list[InstallStep] = [ConfigEntry(file, "toml", ("mcp_servers", SERVER), entry, same="url")]
    if request.is_user:
        made.append(metered.codex(request, file))
        made.append(ConfigEntry(_folder(request) / ".env", "env", (VARIABLE,), request.token, private=True))
    made.extend(hook_items(_folder(request) / "hooks.json", "json", HOOKS, NAME))
    made.extend(skill_files(_folder(request) / "skills"))
    if request.is_user and (command := _door(request).renewal()):
        made.append(ClientCommand(command, environment={"CODEX_HOME": str(_folder(request))}))
    return made


def notes(request: InstallRequest) -> Sequence[str]:
    """Return the client's new permissions, and the person's remaining steps."""
    told = grant_note("Codex"), prompts_note("Codex")
    trust = "Codex will ask you once to trust hubbub's hooks (or run /hooks there): they claim the files that it edits"
    if request.is_user:
        busy = "Codex is in a turn: start it anew when it is done, or run: codex app-server daemon restart"
        return (*told, trust, busy) if _door(request).is_busy() else (*told, trust)
    return (
        *told,
        trust,
        export_note(request),
        "Codex reads a project's configuration only where you said that you trust it",
    )


def _door(request: InstallRequest) -> CodexChannel:
    return CodexChannel(_folder(request), request.machine.environment)


def _folder(request: InstallRequest) -> Path:
    if request.is_user:
        return request.machine.path("CODEX_HOME", request.machine.home / ".codex")
    return request.folder / ".codex"


CLIENT = ClientInstaller(NAME, "Codex", changes, notes)
