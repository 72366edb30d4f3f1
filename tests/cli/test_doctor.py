"""`hubbub doctor`."""

import json
from pathlib import Path
from urllib.parse import urlencode

from psycopg.conninfo import conninfo_to_dict

from tests.cli.processes import RunningHub, hubbub


def test_all_is_well(own_hub: RunningHub) -> None:
    """With a running hub each line is well, and the exit code is 0."""
    done = own_hub.run("doctor")
    assert done.returncode == 0, done.stdout
    assert {line[:4] for line in done.stdout.splitlines()} == {"ok  "}
    subjects = [each["subject"] for each in own_hub.json("doctor")]
    assert subjects == [
        "versions", "open files", "data folder", "rights", "disk", "database", "lock", "hub", "token",
    ]  # fmt: skip


def test_says_what_to_do(tmp_path: Path) -> None:
    """What is wrong has a line that says what to do, and the exit code is 1."""
    data = tmp_path / "data"
    hubbub("migrate", data=data)
    data.chmod(0o755)
    done = hubbub("doctor", "--json", data=data)
    assert done.returncode == 1
    bad = {each["subject"]: each["do"] for each in json.loads(done.stdout) if not each["well"]}
    assert bad == {
        "rights": "take their rights away with: chmod -R go= FOLDER",
        "hub": "start it with: hubbub serve",
    }


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
    assert database(nowhere) == (False, "PostgreSQL does not let us in")
