"""Detection of clients on this machine: by a command on PATH, or the folder that a client makes when it first runs."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hubbub.clients.install.client_installer import UserFolders
from hubbub.clients.install.known_clients import CLIENTS


@dataclass(frozen=True, slots=True)
class ClientSigns:
    """The signs by which a client shows that it is there."""

    folder: Callable[[UserFolders], Path]
    commands: tuple[str, ...] = ()


SIGNS = {
    "claude-code": ClientSigns(lambda at: at.path("CLAUDE_CONFIG_DIR", at.home / ".claude"), ("claude",)),
    "claude-desktop": ClientSigns(lambda at: at.applications / "Claude"),
    "cursor": ClientSigns(lambda at: at.home / ".cursor", ("cursor", "cursor-agent")),
    "vscode": ClientSigns(lambda at: at.applications / "Code" / "User", ("code",)),
    "codex": ClientSigns(lambda at: at.path("CODEX_HOME", at.home / ".codex"), ("codex",)),
    "gemini": ClientSigns(lambda at: at.home / ".gemini", ("gemini",)),
    "opencode": ClientSigns(lambda at: at.xdg / "opencode", ("opencode",)),
    "windsurf": ClientSigns(lambda at: at.home / ".codeium" / "windsurf", ("windsurf",)),
    "zed": ClientSigns(lambda at: at.xdg / "zed", ("zed", "zeditor")),
    "goose": ClientSigns(lambda at: at.xdg / "goose", ("goose",)),
    "cline": ClientSigns(lambda at: at.home / ".cline", ("cline",)),
}


def found(at: UserFolders) -> list[str]:
    """List the names of the clients that are there, in the order of the table."""
    return [name for name in CLIENTS if _is_there(SIGNS[name], at)]


def _is_there(signs: ClientSigns, at: UserFolders) -> bool:
    path = at.environment.get("PATH", "")
    return signs.folder(at).is_dir() or any(shutil.which(each, path=path) for each in signs.commands)
