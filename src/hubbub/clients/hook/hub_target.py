"""The hub of a client's hooks, and the identity they use there.

The environment comes first (`HUBBUB_URL` with `HUBBUB_TOKEN`, and `HUBBUB_AGENT`, `HUBBUB_PROJECT`), else the record of
`hubbub install` in `clients.json`: the install of the client whose folder is the nearest above, else the one for the
whole user.

Some clients let a project's own files set variables. So a token of the record, which installers put into the
environment of clients, goes only to the address that it was made for, whatever `HUBBUB_URL` says; and a record can name
only tokens beside itself, wherever `HUBBUB_CONFIG` leads.
"""

from __future__ import annotations

import json
import os
import sys

APP = "hubbub"
RECORD = "clients.json"
LONGEST = 1_000_000  # bytes of the record that are read


class Target:
    """A hub, and the identity used there."""

    __slots__ = ("agent", "project", "token", "url")

    def __init__(self, *, url: str, token: str, agent: str, project: str | None = None) -> None:
        self.url = url.rstrip("/")
        self.token = token
        self.agent = agent
        self.project = project


def find(client: str, cwd: str) -> Target | None:
    """Find the hub for the hooks of a client that works in `cwd`; None if nothing was installed for it."""
    given = _of_environment(client)
    return given if given is not None and not _is_recorded(given.token) else _of_record(client, cwd)


def config_folder() -> str:
    """Return the folder of configuration files, like `settings.py`."""
    given = os.environ.get("HUBBUB_CONFIG")
    return os.path.abspath(os.path.expanduser(given or _users_folder("XDG_CONFIG_HOME", "~/.config")))


def data_folder() -> str:
    """Return the folder of data, like `settings.py`."""
    given = os.environ.get("HUBBUB_DATA")
    return os.path.abspath(os.path.expanduser(given or _users_folder("XDG_DATA_HOME", "~/.local/share")))


def _users_folder(variable: str, usual: str) -> str:
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA") or "~/AppData/Local", APP)
    given = os.environ.get(variable, "").strip()
    if os.path.isabs(given):
        return os.path.join(given, APP)
    return os.path.join("~/Library/Application Support" if sys.platform == "darwin" else usual, APP)


def _of_environment(client: str) -> Target | None:
    url, token = os.environ.get("HUBBUB_URL"), os.environ.get("HUBBUB_TOKEN")
    if not url or not token:
        return None
    agent = os.environ.get("HUBBUB_AGENT") or client
    return Target(url=url, token=token, agent=agent, project=os.environ.get("HUBBUB_PROJECT") or None)


def _is_recorded(token: str) -> bool:
    """Tell whether `hubbub install` made the token, for any client."""
    try:
        files = {each["token_file"] for each in _installs()}
    except FileNotFoundError:
        return False
    return token in (_kept(each) for each in files)


def _kept(file: str) -> str | None:
    try:
        return _token(file)
    except FileNotFoundError:
        return None


def _installs() -> list[dict[str, str]]:
    with open(os.path.join(config_folder(), RECORD), "rb") as file:
        installs: list[dict[str, str]] = json.loads(file.read(LONGEST))["installs"]
    return installs


def _token(file: str) -> str:
    """Read the token in a file of ours. Raises `PermissionError` for a file elsewhere."""
    real = os.path.realpath(file)
    if not _is_inside(real, config_folder()):
        raise PermissionError(file)
    with open(real, encoding="ascii") as opened:
        return opened.read(1000).strip()


def _of_record(client: str, cwd: str) -> Target | None:
    installs = [each for each in _installs() if each["client"] == client]
    here = os.path.realpath(cwd)
    around = [each for each in installs if each["folder"] and _is_inside(here, each["folder"])]
    around.sort(key=lambda each: len(each["folder"]))
    chosen = around[-1:] or [each for each in installs if not each["folder"]][-1:]
    if not chosen:
        return None
    install = chosen[0]
    token = _token(install["token_file"])
    return Target(url=install["url"], token=token, agent=install["agent"], project=install.get("project"))


def _is_inside(path: str, folder: str) -> bool:
    folder = os.path.realpath(folder)
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
