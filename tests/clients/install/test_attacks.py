"""Attacks by somebody who wrote a project's files, or changed the record of what is installed."""

import json
import socket
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hubbub.clients import install_record
from hubbub.clients.install.client_installer import PROJECT, USER, export_note
from hubbub.clients.install.file_changes import is_backup
from hubbub.clients.install.install_plan import CannotInstall, ConfigEntry, Facts, InstallPlan, OwnedFile
from hubbub.clients.install.known_clients import CLIENTS
from hubbub.clients.install.undo import undo
from hubbub.clients.install.verify import verify
from hubbub.clients.install_record import BadRecord, Install
from tests.clients.install.conftest import SECRET, Place

OURS = {"url": "http://127.0.0.1:8420/mcp"}


def installed(place: Place, client: str, scope: str, **more: Any) -> Install:
    """Return the record's entry of an install that was just made."""
    file = place.config / "agents" / "ember.token"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(SECRET, "ascii")
    facts: dict[str, Any] = {"client": client, "scope": scope, "agent": "ember", "project": "default"}
    facts |= {"folder": str(place.project) if scope == PROJECT else None, "url": "http://127.0.0.1:8420"}
    facts |= {"token_file": str(file), "token_id": None, "installed_at": 1}
    return Install(**{**facts, "changes": place.install(CLIENTS[client], scope), **more})


@pytest.mark.parametrize("way", ["plainly", "by a link", "by steps"])
def test_a_record_has_no_file_for_its_token_but_ours(place: Place, way: str) -> None:
    """A token in a record is sent to a hub and deleted in the end, so the record lies in our folder."""
    key = place.home / "id_ed25519"
    key.write_text("secret")
    agents = place.config / "agents"
    agents.mkdir(parents=True)
    named = {
        "plainly": key,
        "by a link": agents / "a.token",
        "by steps": agents / ".." / ".." / "home" / key.name,
    }
    if way == "by a link":
        named[way].symlink_to(key)
    install_record.put(place.config, installed(place, "zed", USER, token_file=str(named[way])))

    with pytest.raises(BadRecord):
        install_record.read(place.config)
    assert key.read_text() == "secret"


@pytest.mark.parametrize(
    "backup",
    ["precious.txt", "settings.json", "settings.json.hubbub-x.bak", "sub/settings.json.hubbub-{}.bak"],
)
def test_an_uninstall_deletes_no_backup_that_is_none(place: Place, backup: str) -> None:
    """A record that names somebody's file as our backup of another does not get it deleted."""
    named = place.home / backup.format("20260101T000000Z")
    named.parent.mkdir(exist_ok=True)
    named.write_text("{}")
    place.uninstall([{"do": "backup", "file": str(place.home / "settings.json"), "backup": str(named)}])

    assert named.read_text() == "{}"


def test_a_backup_is_known_by_its_name(place: Place) -> None:
    """One that we made of a file is recognised, beside the place that a link leads to."""
    (place.home / "real.json").write_text("{}")
    (place.home / "link.json").symlink_to(place.home / "real.json")

    assert is_backup(place.home / "real.json.hubbub-20260101T000000Z.bak", place.home / "link.json")


def test_an_uninstall_leaves_a_file_of_ours_that_somebody_changed(place: Place) -> None:
    """Neither deleted nor overwritten is what is no longer what we wrote, whatever the record says."""
    file = place.home / "hub.ts"
    plan = InstallPlan()
    plan.add([OwnedFile(file, "ours")])
    plan.apply(place.config, lambda: None)
    file.write_text("theirs")
    undoing = InstallPlan()
    undo(undoing, [{**facts, "old": "evil"} for facts in plan.done])

    undoing.apply(place.config, lambda: None)
    assert file.read_text() == "theirs"
    assert undoing.notes == [f"{file} was changed since, and stays"]


@pytest.mark.parametrize("do", ["command", "run", "", None])
def test_an_uninstall_runs_nothing_that_a_record_names(place: Place, do: str | None) -> None:
    """Facts that no install leaves are refused, before anything is changed."""
    facts: Facts = {"do": do, "undo": ["touch", str(place.home / "pwned")], "environment": {}}

    with pytest.raises(CannotInstall, match="which install never writes"):
        place.uninstall([facts])
    assert not (place.home / "pwned").exists()


def test_a_link_does_not_lead_a_project_install_out_of_the_project(place: Place) -> None:
    """A repository may have a link where we write: what it leads to outside belongs to nobody's project."""
    mine = place.home / ".claude.json"
    mine.write_text("{}")
    (place.project / ".mcp.json").symlink_to(mine)
    plan = InstallPlan()
    plan.add(CLIENTS["claude-code"].changes(place.request(PROJECT)))

    with pytest.raises(CannotInstall, match="leads out of the project"):
        plan.require_inside(place.project)


@pytest.mark.parametrize("name", [name for name, client in CLIENTS.items() if not client.no_project])
def test_a_project_install_stays_in_the_project(place: Place, name: str) -> None:
    """Each client's files of a project are in its folder."""
    plan = InstallPlan()
    plan.add(CLIENTS[name].changes(place.request(PROJECT)))

    plan.require_inside(place.project)
    assert plan.files.changed()


def test_trying_an_install_sends_the_token_nowhere_else(place: Place) -> None:
    """An entry of a project, which others may have changed, is not tried at another address than the hub's."""
    install = installed(place, "claude-code", PROJECT)
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        server.settimeout(0)
        theirs = f"http://127.0.0.1:{server.getsockname()[1]}/mcp"
        file = place.project / ".mcp.json"
        file.write_text(file.read_text().replace(OURS["url"], theirs))
        found = verify(install, {"HUBBUB_TOKEN_OF_EMBER": SECRET})

        with pytest.raises(BlockingIOError):
            server.accept()
    assert not found.well
    assert f"leads to {theirs}, and not to http://127.0.0.1:8420" in found.found


def test_trying_an_install_starts_no_program_of_a_project(place: Place) -> None:
    """An entry that says what to start, in a file that others may have changed, has nothing started."""
    install = installed(place, "claude-code", PROJECT)
    entry = {"command": "touch", "args": [str(place.home / "pwned")]}
    (place.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"hubbub": entry}}))

    assert not verify(install, {}).well
    assert not (place.home / "pwned").exists()


@pytest.mark.parametrize("name", ["a b", "it's", "$(touch pwned)", "`touch pwned`", '"; touch pwned; "'])
def test_the_line_to_export_runs_nothing_else(tmp_path: Path, name: str) -> None:
    """People paste the line into a shell, wherever our folder of configuration is."""
    place = Place(tmp_path, tmp_path, tmp_path / name)
    request = place.request(PROJECT)
    request.token_file.parent.mkdir(parents=True)
    request.token_file.write_text(SECRET)
    line = export_note(request).partition(": ")[2]

    said = subprocess.run(
        ["/bin/sh", "-c", f'{line}; printf %s "$HUBBUB_TOKEN_OF_EMBER"'],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == SECRET
    assert not (tmp_path / "pwned").exists()


def test_a_backup_of_what_holds_a_secret_is_as_private(place: Place) -> None:
    """A copy kept beside a file has the permissions of it, and no more."""
    file = place.home / "settings.json"
    file.write_text('{"mcpServers": {}}')
    file.chmod(0o600)
    plan = InstallPlan()
    plan.add([ConfigEntry(file, "json", ("mcpServers", "hubbub"), OURS)])
    plan.apply(place.config, lambda: None)
    [backup] = place.home.glob("*.bak")

    assert backup.stat().st_mode & 0o777 == 0o600
