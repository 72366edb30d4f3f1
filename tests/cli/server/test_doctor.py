"""`hubbub doctor`."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from psycopg.conninfo import conninfo_to_dict

from hubbub.clients import install_record
from hubbub.clients.install.verify import verify
from tests.cli.processes import RunningHub, hubbub


def test_all_is_well(own_hub: RunningHub) -> None:
    """With a running hub each line is well, and the exit code is 0."""
    done = own_hub.run("doctor")
    assert done.returncode == 0, done.stdout
    assert {line[:4] for line in done.stdout.splitlines()} == {"ok  "}
    subjects = [each["subject"] for each in own_hub.json("doctor")]
    assert subjects == [
        "versions", "open files", "data folder", "rights", "disk", "database", "lock", "hub", "token", "quotas",
    ]  # fmt: skip


def test_says_what_to_do(tmp_path: Path) -> None:
    """A fault has a line that says what to do, and the exit code is 1."""
    data = tmp_path / "data"
    hubbub("migrate", data=data)
    data.chmod(0o755)
    done = hubbub("doctor", "--json", data=data)
    assert done.returncode == 1
    bad = {each["subject"]: each["do"] for each in json.loads(done.stdout) if not each["well"]}
    assert bad == {
        "rights": f"take their rights away with: chmod -R go= {data}",
        "hub": "start one with: hubbub up",
    }


def test_edits_that_went_on_unclaimed_are_told(own_hub: RunningHub, tmp_path: Path) -> None:
    """How often a hook did not wait for a slow hub, and so claimed nothing, is told, as bad while it is a day old."""
    counter = tmp_path / "hooks" / "unclaimed"
    counter.parent.mkdir()
    counter.write_text("...")
    told = "claims: 3 edits went on unclaimed, as the hub did not answer within 0.3 s; the last at "
    assert f"BAD  {told}" in own_hub.run("doctor", HUBBUB_DATA=str(tmp_path)).stdout
    os.utime(counter, (0, 0))
    assert f"ok   {told}" in own_hub.run("doctor", HUBBUB_DATA=str(tmp_path)).stdout


def test_bad_token_is_found(hub: RunningHub) -> None:
    """A token that is not valid is found out."""
    done = hub.run("doctor", "--token", "utok_nonsense")
    assert done.returncode == 1
    assert "BAD  token: a valid token is needed" in done.stdout


def test_own_lock(own_hub: RunningHub) -> None:
    """The lock that the running hub holds is its own, and not another hub's; what is well needs nothing done."""
    findings = own_hub.json("doctor")
    assert [each["found"] for each in findings if each["subject"] == "lock"] == [
        f"held by the hub at {own_hub.url}"
    ]
    assert {each["do"] for each in findings} == {None}


def test_folder_that_is_a_file(tmp_path: Path) -> None:
    """A data folder that is a file is found out."""
    file = tmp_path / "file"
    file.touch()
    done = hubbub("doctor", data=file)
    assert (done.returncode, done.stderr) == (1, "")
    assert "is a file; choose a folder with --data" in done.stdout


@pytest.mark.system
def test_looks_at_postgres(tmp_path: Path, postgres_url: str) -> None:
    """With HUBBUB_DATABASE that database is looked at, not one in the data folder."""
    data = tmp_path / "data"
    data.mkdir(mode=0o700)

    def database(url: str) -> tuple[bool, str]:
        done = hubbub("doctor", "--json", data=data, environment={"HUBBUB_DATABASE": url})
        return next(
            (each["well"], each["found"]) for each in json.loads(done.stdout) if each["subject"] == "database"
        )

    facts = conninfo_to_dict(postgres_url)
    query = urlencode({name: value for name, value in facts.items() if name != "dbname"})
    assert database(f"postgresql:///{facts['dbname']}?{query}") == (True, "PostgreSQL, at this version")
    nowhere = "postgresql://someone:secret@127.0.0.1:1/none"
    well, found = database(nowhere)
    assert (well, found.partition(";")[0]) == (False, "nothing answers at 127.0.0.1:1")


class Desk:
    """A home in which Windsurf is installed as the agent `w`."""

    def __init__(self, hub: RunningHub, home: Path) -> None:
        home.mkdir()
        self.hub, self.file = hub, home / ".codeium" / "windsurf" / "mcp_config.json"
        self.environment = {"HOME": str(home), "HUBBUB_CONFIG": str(home / "config")}
        assert hub.run("install", "windsurf", "--as", "w", **self.environment).returncode == 0

    def change(self, change: Callable[[dict[str, Any]], object]) -> None:
        """Have the entry be another."""
        data = json.loads(self.file.read_text("utf-8"))
        change(data["mcpServers"]["hubbub"])
        self.file.write_text(json.dumps(data), "utf-8")

    def told(self, **environment: str) -> tuple[bool, str]:
        """Return doctor's report on the client that is started with these variables."""
        [install] = install_record.read(Path(self.environment["HUBBUB_CONFIG"]))
        verdict = verify(install, environment)
        return verdict.well, verdict.found

    def doctor(self, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.hub.run("doctor", **{**self.environment, **environment})


@pytest.fixture
def desk(hub: RunningHub, tmp_path: Path) -> Desk:
    return Desk(hub, tmp_path / "home")


NO_HEADER = "its entry has no header Authorization any more"
NO_TOKEN = "does not take its token"
BROKEN: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "no headers": (lambda entry: entry.pop("headers"), NO_HEADER),
    "another header": (lambda entry: entry.update(headers={"X-Auth": "1"}), NO_HEADER),
    "headers that are none": (lambda entry: entry.update(headers="x"), NO_HEADER),
    "no text": (lambda entry: entry.update(headers={"Authorization": 1}), NO_HEADER),
    "another key for the address": (
        lambda entry: entry.update(url=entry.pop("serverUrl")),
        "its entry has no address any more: serverUrl",
    ),
    "a misspelt variable": (
        lambda entry: entry.update(headers={"Authorization": "Bearer ${env:HUBBUB_TOKN}"}),
        "its token is in the variable HUBBUB_TOKN, which is not set",
    ),
    "another client's word": (
        lambda entry: entry.update(headers={"Authorization": "Bearer {env:HUBBUB_TOKEN}"}),
        NO_TOKEN,
    ),
    "a shell's word": (
        lambda entry: entry.update(headers={"Authorization": "Bearer $HUBBUB_TOKEN"}),
        NO_TOKEN,
    ),
    "nothing after Bearer": (
        lambda entry: entry.update(headers={"Authorization": "Bearer "}),
        "the header Authorization of its entry has no token after Bearer",
    ),
    "disabled": (lambda entry: entry.update(disabled=True), "its entry is switched off: disabled is true"),
    "not enabled": (lambda entry: entry.update(enabled=False), "its entry is switched off: enabled is false"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_an_entry_with_which_the_client_cannot_connect_is_found(desk: Desk, how: str) -> None:
    """Doctor takes an entry as the client does: what the client would not understand does not help."""
    change, found = BROKEN[how]
    desk.change(change)
    well, told = desk.told()

    assert not well
    assert found in told


def test_an_entry_that_is_none_is_told_in_a_line(desk: Desk) -> None:
    """Whatever is in the client's file, doctor goes on to its end."""
    desk.change(lambda entry: entry.update(headers="x"))
    done = desk.doctor()

    assert (done.returncode, done.stderr) == (1, "")
    assert f"BAD  client windsurf: {NO_HEADER}; install it again: hubbub install windsurf" in done.stdout


def test_names_of_headers_are_the_same_in_any_case(desk: Desk) -> None:
    """A header that somebody wrote in small letters is sent as well."""
    desk.change(lambda entry: entry.update(headers={"authorization": "Bearer ${env:HUBBUB_TOKEN}"}))

    assert desk.told()[0]


def test_a_variable_of_ones_own_is_found_in_the_environment(desk: Desk) -> None:
    """A person may keep the token under another name."""
    desk.change(lambda entry: entry.update(headers={"Authorization": "Bearer ${env:MINE}"}))
    token = (Path(desk.environment["HUBBUB_CONFIG"]) / "agents" / "w.token").read_text("ascii")

    assert desk.told(MINE=token.strip())[0]


def test_a_token_of_somebody_else_is_found(desk: Desk) -> None:
    """The client would connect, but as another agent than it was installed as."""
    other = desk.hub.secret("token", "create", "--agent", "zz")
    done = desk.doctor(HUBBUB_TOKEN=other)

    assert done.returncode == 1
    assert "BAD  client windsurf: its token is not that of w, but of zz; start the client with" in done.stdout


def test_whose_permission_prompts_come_to_the_hub_is_told(desk: Desk) -> None:
    """Doctor names the installed clients whose permission prompts come to the hub, and those whose do not."""
    assert (
        "ok   permission prompts: those of windsurf are answered at the client alone\n"
        in desk.doctor().stdout
    )

    assert desk.hub.run("install", "opencode", **desk.environment).returncode == 0
    told = "those of opencode come to the hub too; those of windsurf are answered at the client alone"
    assert f"ok   permission prompts: {told}\n" in desk.doctor().stdout


def test_whoever_installs_is_not_the_client(desk: Desk) -> None:
    """An install by a token in the environment is tried with the agent's own."""
    owner = (desk.hub.data / "owner-token").read_text("ascii").strip()
    done = desk.hub.run("install", "windsurf", "--as", "w", **desk.environment, HUBBUB_TOKEN=owner)

    assert (done.returncode, done.stderr) == (0, "")
