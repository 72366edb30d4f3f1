"""`hubbub doctor`."""

import json
from pathlib import Path

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
