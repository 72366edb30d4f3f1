"""`hubbub serve`: the hub as a process."""

import signal
import socket
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.processes import RunningHub, hubbub


def test_a_hub_that_runs_already_is_shown(own_hub: RunningHub) -> None:
    """Where a hub of the data folder runs already, it is shown with the way to the dashboard, and that is code 0."""
    done = own_hub.run("serve")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(
        f"{own_hub.url}\nhubbub is already running at {own_hub.url}\n  dashboard    {own_hub.url}/login/"
    )
    assert own_hub.json("serve", "--port", str(own_hub.port))["started"] is False


def test_one_hub_a_folder(own_hub: RunningHub) -> None:
    """A second hub on the same data at another port is refused with one sentence that says who has it, and code 1."""
    done = own_hub.run("serve", "--port", "0")
    assert done.returncode == 1
    assert f"in use by another hub at {own_hub.url}" in done.stderr
    assert "Traceback" not in done.stderr


def test_port_taken(tmp_path: Path) -> None:
    """A port that is taken is said so, with code 1."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = hubbub("serve", "--port", str(taken.getsockname()[1]), data=tmp_path)
    assert done.returncode == 1
    assert "is in use" in done.stderr


def test_a_misspelt_variable_is_said(own_hub: RunningHub) -> None:
    """A variable that hubbub does not know is named where a hub is started, with the one meant; doctor finds it."""
    misspelt = {"HUBBUB_DATABSE": "postgresql://db/hub"}
    told = "HUBBUB_DATABSE is unknown and does nothing: HUBBUB_DATABASE is meant?"
    for starting in ("up", "serve"):
        assert own_hub.run(starting, **misspelt).stderr == f"Warning: {told}\n"
    assert f"BAD  environment: {told}; correct its name\n" in own_hub.run("doctor", **misspelt).stdout
    assert own_hub.run("doctor", HUBBUB_OF_OURS="1").returncode == 0


def test_bad_setting(tmp_path: Path) -> None:
    """A setting that will not do is wrong usage, also when it comes from the environment."""
    assert hubbub("serve", "--port", "many", data=tmp_path).returncode == 2
    done = hubbub("serve", data=tmp_path, environment={"HUBBUB_PORT": "many"})
    assert (done.returncode, "HUBBUB_PORT must be a whole number" in done.stderr) == (2, True)


def test_ends_cleanly(own_hub: RunningHub) -> None:
    """At SIGTERM it ends with code 0, and the data folder does not say any more that a hub runs."""
    process = own_hub.process
    assert process is not None
    own_hub.stop(signal.SIGTERM)
    assert process.returncode == 0
    assert not (own_hub.data / "hub.json").exists()


@pytest.mark.parametrize("words", [("migrate",), ("serve", "--port", "0")])
def test_an_address_of_a_database_that_cannot_be_read(tmp_path: Path, words: Sequence[str]) -> None:
    """A misspelt parameter in the database's address is one sentence, which does not repeat the password."""
    done = hubbub(*words, "--database", "postgresql://u:s3cret@127.0.0.1:1/hub?sslmod=disable", data=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "the database's address cannot be read; it has the form postgresql://" in done.stderr
    assert "Traceback" not in done.stderr
    assert "s3cret" not in done.stderr
