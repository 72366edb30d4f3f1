"""Detection of clients on this machine: by a command on PATH, or the folder that a client makes when it first runs."""

import shutil
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from hubbub.clients.install.client_installer import UserFolders
from hubbub.clients.install.known_clients import CLIENTS
from hubbub.clients.install_record import Install


@dataclass(frozen=True, slots=True)
class ClientSigns:
    """The signs by which a client shows that it is there; `program` is the command that starts it in a terminal."""

    folder: Callable[[UserFolders], Path]
    commands: tuple[str, ...] = ()
    program: str | None = None

    def all_commands(self) -> tuple[str, ...]:
        return self.commands if self.program is None else (self.program, *self.commands)


SIGNS = {
    "claude-code": ClientSigns(
        lambda at: at.path("CLAUDE_CONFIG_DIR", at.home / ".claude"), program="claude"
    ),
    "claude-desktop": ClientSigns(lambda at: at.applications / "Claude"),
    "cursor": ClientSigns(lambda at: at.home / ".cursor", ("cursor", "cursor-agent")),
    "vscode": ClientSigns(lambda at: at.applications / "Code" / "User", ("code",)),
    "codex": ClientSigns(lambda at: at.path("CODEX_HOME", at.home / ".codex"), program="codex"),
    "gemini": ClientSigns(lambda at: at.home / ".gemini", program="gemini"),
    "opencode": ClientSigns(lambda at: at.xdg / "opencode", program="opencode"),
    "windsurf": ClientSigns(lambda at: at.home / ".codeium" / "windsurf", ("windsurf",)),
    "zed": ClientSigns(lambda at: at.xdg / "zed", ("zed", "zeditor")),
    "goose": ClientSigns(lambda at: at.xdg / "goose", program="goose"),
    "cline": ClientSigns(lambda at: at.home / ".cline", ("cline",)),
}


def found(at: UserFolders, installs: Sequence[Install] = ()) -> list[str]:
    """List the names of the clients that are there, in the order of the table; folders made by us are no sign."""
    changes = [change for install in installs for change in install.changes if change["do"] == "folders"]
    ours = {folder for change in changes for folder in change["folders"]}
    return [name for name in CLIENTS if _is_there(SIGNS[name], at, ours)]


def missing_program(client: str, at: UserFolders) -> str | None:
    """Return the command that starts a client of the terminal, if it is not on the PATH."""
    program = SIGNS[client].program
    return program if program is not None and not _is_on_path([program], at) else None


def _is_there(signs: ClientSigns, at: UserFolders, ours: Collection[str]) -> bool:
    folder = signs.folder(at)
    return (folder.is_dir() and str(folder) not in ours) or _is_on_path(signs.all_commands(), at)


def _is_on_path(commands: Sequence[str], at: UserFolders) -> bool:
    path = at.environment.get("PATH", "")
    return any(shutil.which(each, path=path) for each in commands)
