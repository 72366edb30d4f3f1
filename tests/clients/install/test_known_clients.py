"""Each client of the table: its file, its entry, and that nothing is left of either."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from hubbub.clients.install import detection
from hubbub.clients.install.client_installer import PROJECT, USER, UserFolders, own_variable
from hubbub.clients.install.install_plan import InstallPlan
from hubbub.clients.install.known_clients import CLIENTS
from hubbub.model.programs.launching import program
from shellgate.protected_names import components, unwritten
from tests.clients.install.conftest import SECRET, Place, each_sample, files_of, scopes

PLACES = [(name, scope) for name, client in CLIENTS.items() for scope in scopes(client)]
URL = "http://127.0.0.1:8420/mcp"

each_place = pytest.mark.parametrize(("name", "scope"), PLACES)

TABLE: list[tuple[str, str, str, dict[str, Any]]] = [
    (
        "claude-code",
        USER,
        "home/.claude.json",
        {
            "mcpServers": {
                "hubbub": {
                    "type": "http",
                    "url": URL,
                    "headers": {"Authorization": "Bearer ${HUBBUB_TOKEN}"},
                }
            }
        },
    ),
    (
        "cursor",
        USER,
        "home/.cursor/mcp.json",
        {"mcpServers": {"hubbub": {"url": URL, "headers": {"Authorization": "Bearer ${env:HUBBUB_TOKEN}"}}}},
    ),
    (
        "codex",
        USER,
        "home/.codex/config.toml",
        {"mcp_servers": {"hubbub": {"url": URL, "bearer_token_env_var": "HUBBUB_TOKEN"}}},
    ),
    (
        "gemini",
        PROJECT,
        "project/.gemini/settings.json",
        {
            "mcpServers": {
                "hubbub": {
                    "url": URL,
                    "type": "http",
                    "headers": {"Authorization": "Bearer $HUBBUB_TOKEN_OF_EMBER"},
                }
            }
        },
    ),
    (
        "opencode",
        PROJECT,
        "project/opencode.json",
        {
            "mcp": {
                "hubbub": {
                    "type": "remote",
                    "url": URL,
                    "headers": {"Authorization": "Bearer {env:HUBBUB_TOKEN_OF_EMBER}"},
                }
            }
        },
    ),
    (
        "windsurf",
        USER,
        "home/.codeium/windsurf/mcp_config.json",
        {
            "mcpServers": {
                "hubbub": {"serverUrl": URL, "headers": {"Authorization": "Bearer ${env:HUBBUB_TOKEN}"}}
            }
        },
    ),
    (
        "zed",
        USER,
        "home/.config/zed/settings.json",
        {"context_servers": {"hubbub": {"url": URL, "headers": {"Authorization": f"Bearer {SECRET}"}}}},
    ),
    (
        "cline",
        USER,
        "home/.cline/data/settings/cline_mcp_settings.json",
        {
            "mcpServers": {
                "hubbub": {
                    "type": "streamableHttp",
                    "url": URL,
                    "headers": {"Authorization": "Bearer ${env:HUBBUB_TOKEN}"},
                }
            }
        },
    ),
]


@pytest.mark.parametrize(("name", "scope", "file", "content"), TABLE, ids=lambda each: str(each)[:20])
def test_each_client_gets_the_entry_that_it_reads(
    place: Place, name: str, scope: str, file: str, content: dict[str, Any]
) -> None:
    """The entry is that of the table: its place, its keys, and the client's own word for the token."""
    place.install(CLIENTS[name], scope)
    text = (place.home.parent / file).read_text("utf-8")
    data = tomllib.loads(text) if file.endswith(".toml") else json.loads(text)

    assert _part(data, content) == content


def _part(data: Any, like: Any) -> Any:
    """Return the part of `data` with the keys that `like` has."""
    if not isinstance(like, dict):
        return data
    return {key: _part(data[key], each) for key, each in like.items()}


def test_goose_gets_an_extension_with_a_name(place: Place) -> None:
    """Goose reads no extension without a name and a description."""
    place.install(CLIENTS["goose"], USER)
    extension = yaml.safe_load((place.home / ".config/goose/config.yaml").read_text("utf-8"))["extensions"][
        "hub"
    ]

    assert extension["type"] == "streamable_http"
    assert extension["uri"] == URL
    assert extension["enabled"] is True
    assert extension["name"] == "hub"
    assert extension["description"]


def test_vs_code_asks_for_the_token(place: Place) -> None:
    """VS Code keeps secrets itself: the file has an input for the token, and a server that uses it."""
    place.install(CLIENTS["vscode"], PROJECT)
    data = json.loads((place.project / ".vscode/mcp.json").read_text("utf-8"))

    assert data["inputs"][0]["password"] is True
    assert data["servers"]["hub"]["headers"] == {
        "Authorization": f"Bearer ${{input:{data['inputs'][0]['id']}}}"
    }


def test_claude_desktop_starts_a_bridge(place: Place) -> None:
    """Claude Desktop reaches no private hub by an address: it starts `hubbub mcp`, with no token in its file."""
    place.install(CLIENTS["claude-desktop"], USER)
    text = (place.home / ".config/Claude/claude_desktop_config.json").read_text("utf-8")

    assert json.loads(text)["mcpServers"]["hubbub"]["args"][:9] == [*program()[1:], "mcp", "--as", "ember"]
    assert SECRET not in text


@each_place
def test_a_fresh_machine_is_as_fresh_again_after_the_uninstall(place: Place, name: str, scope: str) -> None:
    """Files and folders that were made for the install go with it (merge rule 7)."""
    place.uninstall(place.install(CLIENTS[name], scope))

    assert place.tree() == {}
    assert not place.config.exists()


@each_place
def test_a_token_never_lands_in_a_projects_file(place: Place, name: str, scope: str) -> None:
    """Files that may be shared hold no secret (merge rule 5); files with a secret are for their owner alone."""
    place.install(CLIENTS[name], scope)
    holding = {path: mode for path, (mode, held) in place.tree().items() if SECRET.encode() in _bytes(held)}

    assert not [path for path in holding if path.startswith("project")]
    assert not [path for path, mode in holding.items() if mode & 0o077]


def _bytes(held: bytes | str | None) -> bytes:
    return held if isinstance(held, bytes) else b""


@pytest.mark.system
@each_sample
def test_an_uninstall_leaves_the_bytes_that_were_there(place: Place, sample: Path) -> None:
    """Whatever a configuration looks like: after install and uninstall it is the same, to the byte (merge rule 7)."""
    client = CLIENTS[sample.parent.name]
    for scope in scopes(client):
        (_, wanted), *_ = files = files_of(place, client, scope)
        for file, language in files:
            if language == wanted:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(sample.read_bytes())
    for scope in scopes(client):
        before = place.tree()
        done = place.install(client, scope)
        assert place.tree() != before
        place.uninstall(done)
        assert place.tree() == before


@pytest.mark.system
@each_sample
def test_an_install_adds_only_what_is_ours(place: Place, sample: Path) -> None:
    """Order, indentation, comments and neighbours stay: every line that was there is there (merge rule 1)."""
    client = CLIENTS[sample.parent.name]
    file, _ = files_of(place, client, USER)[0]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(sample.read_bytes())
    place.install(client, USER)
    rest = iter("".join(file.read_bytes().decode().split()))
    there = sample.read_bytes().decode().replace("extensions: {}", "extensions:")  # which says the same

    assert all(character in rest for character in "".join(there.split()))


def test_a_second_install_changes_nothing(place: Place) -> None:
    """A second install of the same changes nothing."""
    for client in CLIENTS.values():
        place.install(client, USER)
    before = place.tree()
    for client in CLIENTS.values():
        plan = InstallPlan()
        plan.add(client.changes(place.request(USER)))
        assert plan.is_empty()
        assert not plan.conflicts

    assert place.tree() == before


def test_every_client_of_the_table_is_there() -> None:
    """The eleven of the table."""
    assert sorted(CLIENTS) == [
        "claude-code",
        "claude-desktop",
        "cline",
        "codex",
        "cursor",
        "gemini",
        "goose",
        "opencode",
        "vscode",
        "windsurf",
        "zed",
    ]


def test_variables_say_where_a_client_keeps_its_files(place: Place) -> None:
    """A client that was told another folder is installed there."""
    codex = CLIENTS["codex"].changes(place.request(USER, CODEX_HOME=str(place.home / "elsewhere")))
    cline = CLIENTS["cline"].changes(place.request(USER, CLINE_MCP_SETTINGS_PATH=str(place.home / "c.json")))
    goose = CLIENTS["goose"].changes(place.request(USER, XDG_CONFIG_HOME=str(place.home / "xdg")))
    files = [str(each.file.relative_to(place.home)) for each in (codex[0], cline[0], goose[0])]  # type: ignore[attr-defined]

    assert files == ["elsewhere/config.toml", "c.json", "xdg/goose/config.yaml"]


def test_a_file_that_a_variable_names_from_here_is_found_from_everywhere(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An uninstall is started in any folder: what was done has the whole path."""
    monkeypatch.chdir(place.project)
    changes = CLIENTS["cline"].changes(place.request(USER, CLINE_MCP_SETTINGS_PATH="servers.json"))
    plan = InstallPlan()
    plan.add(changes)
    plan.apply(place.config, lambda: None)
    monkeypatch.chdir(place.home)
    place.uninstall(plan.done)

    assert changes[0].file == place.project / "servers.json"  # type: ignore[attr-defined]
    assert place.tree() == {}


@pytest.mark.parametrize(
    ("name", "platform", "file"),
    [
        ("claude-desktop", "darwin", "Library/Application Support/Claude/claude_desktop_config.json"),
        ("claude-desktop", "win32", "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("vscode", "darwin", "Library/Application Support/Code/User/mcp.json"),
        ("zed", "darwin", ".config/zed/settings.json"),
        ("goose", "win32", "AppData/Roaming/Block/goose/config/config.yaml"),
    ],
)
def test_each_platform_has_its_own_places(place: Place, name: str, platform: str, file: str) -> None:
    """Files are where the client looks for them on that system."""
    change = CLIENTS[name].changes(place.request(USER, platform=platform))[0]

    assert str(change.file.relative_to(place.home)) == file  # type: ignore[attr-defined]


@each_place
def test_what_an_install_writes_is_kept_by_the_floor(place: Place, name: str, scope: str) -> None:
    """No agent writes what an installer does: what a client starts with is what a person has put there."""
    plan = InstallPlan()
    plan.add(CLIENTS[name].changes(place.request(scope)))
    written = {str(each["file"]) for each in plan.done if "file" in each}

    ours = str(place.config)
    assert written
    assert [each for each in written if not each.startswith(ours) and not unwritten(components(each))] == []


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_is_found_where_it_shows(name: str, tmp_path: Path) -> None:
    """A client is on a machine where its folder is, or a command of it on PATH; and not on an empty one."""
    at = UserFolders(tmp_path / "home", {"PATH": str(tmp_path / "bin")}, "linux")
    assert detection.found(at) == []
    signs = detection.SIGNS[name]
    for each in signs.all_commands():
        command = tmp_path / "bin" / each
        command.parent.mkdir(exist_ok=True)
        command.touch(0o755)
        assert detection.found(at) == [name]
        command.unlink()
    signs.folder(at).mkdir(parents=True)
    assert detection.found(at) == [name]


def test_each_agent_has_a_variable_of_its_own() -> None:
    """Whatever agents are called, two never share a variable, and each variable is one for every shell."""
    names = [
        "cedar",
        "cedar2",
        "cedar-2",
        "cedar_2",
        "cedar.2",
        "Cedar",
        "cedarx5f2",
        "CEDAR_2",
        "été",
        "rate",
    ]
    variables = [own_variable(each) for each in names]

    assert variables[:4] == [
        "HUBBUB_TOKEN_OF_CEDAR",
        "HUBBUB_TOKEN_OF_CEDAR2",
        "HUBBUB_TOKEN_OF_CEDAR_2",
        "HUBBUB_TOKEN_OF_CEDARx5f2",
    ]
    assert len({*variables}) == len(names)
    assert all(re.fullmatch("[A-Za-z0-9_]+", each) for each in variables)
