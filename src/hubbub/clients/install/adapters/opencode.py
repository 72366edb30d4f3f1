"""opencode: `mcp` in `opencode.json`, or in `opencode.jsonc` if that one exists.

`opencode mcp add` rewrites the file: we splice. opencode can read a value from another file, so the token stays
in ours. Our plugin, a file in its folder of plugins, claims files and wakes it; the skills are beside it.
"""

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from hubbub.clients import plugin
from hubbub.clients.install.client_installer import (
    SERVER,
    ClientInstaller,
    InstallRequest,
    bearer,
    export_notes_in_project,
    prompts_note,
)
from hubbub.clients.install.hook_command import program
from hubbub.clients.install.install_plan import ConfigEntry, InstallStep, OwnedFile
from hubbub.clients.install.plugin_files import skill_files

WORDS = r"\{env:(?P<variable>\w+)\}|\{file:(?P<file>[^}]+)\}"
SHIPPED = 'const HOOK = ["hubbub-hook"]'  # in the plugin as it is shipped


def changes(request: InstallRequest) -> Sequence[InstallStep]:
    """Return the step that puts the server into the scope's configuration."""
    word = f"{{file:{request.token_file}}}" if request.is_user else f"{{env:{request.variable}}}"
    entry = {"type": "remote", "url": request.mcp, "headers": {"Authorization": bearer(word)}}
    return [
        ConfigEntry(_file(request), "jsonc", ("mcp", SERVER), entry, same="url"),
        OwnedFile(_own(request) / "plugin" / "hubbub.ts", _rendered()),
        *skill_files(_own(request) / "skills"),
    ]


def notes(request: InstallRequest) -> Sequence[str]:
    """Return the client's questions at the hub, and the person's remaining step."""
    return [prompts_note("opencode"), *export_notes_in_project(request)]


def _rendered() -> str:
    """Return the plugin, with the absolute command of this installation."""
    text = files(plugin).joinpath("opencode", "hub.ts").read_text("utf-8")
    return text.replace(SHIPPED, f"const HOOK = {json.dumps(program())}")


def _own(request: InstallRequest) -> Path:
    """Return opencode's own folder."""
    return request.machine.xdg / "opencode" if request.is_user else request.folder / ".opencode"


def _file(request: InstallRequest) -> Path:
    folder = request.machine.xdg / "opencode" if request.is_user else request.folder
    names = [folder / name for name in ("opencode.json", "opencode.jsonc")]
    return next((each for each in names if each.exists()), names[0])


CLIENT = ClientInstaller("opencode", "opencode", changes, notes, WORDS)
