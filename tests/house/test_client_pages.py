"""The quickstarts of the clients, compared with what `hubbub install` does."""

import json
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from hubbub.clients.install.client_installer import ClientInstaller, InstallRequest, UserFolders
from hubbub.clients.install.install_plan import ConfigEntry, ConfigListItem
from hubbub.clients.install.known_clients import CLIENTS

PAGES = Path(__file__).resolve().parents[2] / "docs" / "clients"
SCREEN = 75  # lines
BLOCK = re.compile(r"^```(json|yaml|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
READERS: Mapping[str, Callable[[str], Any]] = {
    "json": json.loads,
    "yaml": yaml.safe_load,
    "toml": tomllib.loads,
}


def _page(client: ClientInstaller) -> str:
    return (PAGES / f"{client.name}.md").read_text("utf-8")


def _written(client: ClientInstaller) -> list[dict[str, Any]]:
    """Return the content that an install for the whole user puts into empty files, a value for each."""
    request = InstallRequest(
        scope="user",
        folder=Path("project"),
        agent="ember",
        url="http://127.0.0.1:8420",
        project="default",
        token="ntok_…",
        token_file=Path("ember.token"),
        config=Path("config"),
        data=Path("data"),
        machine=UserFolders(Path("home"), {}, "linux"),
    )
    files: dict[Path, dict[str, Any]] = {}
    for change in client.changes(request):
        match change:
            case ConfigEntry(file=file, keys=(*groups, key), value=value):
                _inside(files.setdefault(file, {}), groups)[key] = value
            case ConfigListItem(file=file, keys=(*groups, key), value=value):
                _inside(files.setdefault(file, {}), groups).setdefault(key, []).append(value)
    return [*files.values()]


def _inside(found: dict[str, Any], groups: list[str]) -> dict[str, Any]:
    for group in groups:
        found = found.setdefault(group, {})
    return found


def test_every_client_has_its_screen() -> None:
    """Each client has a quickstart of one screen, with the command that installs and the one that takes it back."""
    for client in CLIENTS.values():
        page = _page(client)
        assert page.startswith(f"# {client.title}\n"), client.name
        assert page.count("\n") <= SCREEN, client.name
        assert {f"hubbub install {client.name}", "--uninstall"} <= set(
            re.findall(r"hubbub install [\w-]+|--uninstall", page)
        ), client.name


def test_a_page_shows_what_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """A configuration on a page is that of a file which `hubbub install` writes, to the value."""
    monkeypatch.setattr(sys, "executable", "python")
    shown = [
        (client, READERS[language](block))
        for client in CLIENTS.values()
        for language, block in BLOCK.findall(_page(client))
    ]

    assert shown
    assert not [(client.name, block) for client, block in shown if block not in _written(client)]


def test_the_list_of_clients_is_whole() -> None:
    """The list of quickstarts leads to each client that can be installed."""
    listed = re.findall(r"\((\S+)\.md\) \| `hubbub install (\S+)`", (PAGES / "README.md").read_text("utf-8"))

    assert listed == [(name, name) for name, _ in listed]
    assert {name for name, _ in listed} == set(CLIENTS)
