"""Choice of the hub and the identity that a client's hooks use."""

import json
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from hubbub import settings
from hubbub.clients.hook import hub_target
from hubbub.clients.hook.hub_target import Target

VARIABLES = ("HUBBUB_URL", "HUBBUB_TOKEN", "HUBBUB_AGENT", "HUBBUB_PROJECT", "HUBBUB_CONFIG", "HUBBUB_DATA")


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of configuration, and nothing about a hub in the environment."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "config"
    folder.mkdir()
    monkeypatch.setenv("HUBBUB_CONFIG", str(folder))
    return folder


def install(config: Path, *installs: dict[str, Any]) -> None:
    """Write down installs, each with a token of its own."""
    listed = []
    for number, each in enumerate(installs):
        token = config / f"{number}.token"
        token.write_text(f"ntok_{number}\n")
        usual = {"client": "codex", "scope": "user", "folder": None, "agent": f"agent-{number}"}
        usual |= {"url": "http://127.0.0.1:8420/", "project": "default", "token_file": str(token)}
        listed.append({**usual, **each})
    (config / "clients.json").write_text(json.dumps({"version": 1, "installs": listed}))


def chosen(cwd: Path, client: str = "codex") -> str | None:
    found = hub_target.find(client, str(cwd))
    return found.agent if found else None


def described(found: Target | None) -> tuple[str, str, str, str | None] | None:
    return (found.url, found.token, found.agent, found.project) if found else None


def test_the_environment_comes_first(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address and a token in the environment are taken, whatever was installed."""
    install(config, {})
    monkeypatch.setenv("HUBBUB_URL", "http://hub.example.org/")
    monkeypatch.setenv("HUBBUB_TOKEN", "ntok_x")

    assert described(hub_target.find("codex", "/")) == ("http://hub.example.org", "ntok_x", "codex", None)
    monkeypatch.setenv("HUBBUB_AGENT", "ember")
    monkeypatch.setenv("HUBBUB_PROJECT", "lab")
    assert described(hub_target.find("codex", "/")) == ("http://hub.example.org", "ntok_x", "ember", "lab")


def test_half_of_an_environment_is_none(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A token without an address, as installers put it where a client reads it, leaves the choice to the record."""
    install(config, {})
    monkeypatch.setenv("HUBBUB_TOKEN", "ntok_x")

    assert described(hub_target.find("codex", "/")) == (
        "http://127.0.0.1:8420",
        "ntok_0",
        "agent-0",
        "default",
    )


def test_the_nearest_folder_decides(config: Path, tmp_path: Path) -> None:
    """The install for the nearest folder above counts, else the one for the user."""
    shop = tmp_path / "shop"
    (shop / "web" / "src").mkdir(parents=True)
    (tmp_path / "shop-2").mkdir()
    install(
        config,
        {"agent": "anywhere"},
        {"scope": "project", "folder": str(shop), "agent": "shop"},
        {"scope": "project", "folder": str(shop / "web"), "agent": "web"},
        {"client": "gemini", "agent": "of another client"},
    )

    assert chosen(shop / "web" / "src") == "web"
    assert chosen(shop) == "shop"
    assert chosen(tmp_path / "shop-2") == "anywhere"
    assert chosen(shop, "gemini") == "of another client"
    assert chosen(shop, "cursor") is None


def test_a_folder_is_found_through_links(config: Path, tmp_path: Path) -> None:
    """The folder of an install is the same by whatever link one comes into it."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "shop")
    install(config, {"scope": "project", "folder": str(tmp_path / "link"), "agent": "shop"})

    assert chosen(tmp_path / "shop") == "shop"
    assert chosen(tmp_path / "link") == "shop"


def test_the_folders_are_those_of_the_settings(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hook finds configuration and data where the rest of the program does, set or not."""
    assert hub_target.config_folder() == str(settings.read(None).config)
    monkeypatch.delenv("HUBBUB_CONFIG")
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("", "relative", str(tmp_path / "xdg")):
        monkeypatch.setenv("XDG_CONFIG_HOME", variable)
        monkeypatch.setenv("XDG_DATA_HOME", variable)
        assert hub_target.config_folder() == str(
            Path(platformdirs.user_config_dir("hubbub", appauthor=False)).absolute()
        )
        assert hub_target.data_folder() == str(
            Path(platformdirs.user_data_dir("hubbub", appauthor=False)).absolute()
        )
