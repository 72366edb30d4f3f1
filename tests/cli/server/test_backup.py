"""`hubbub backup`, `restore`, `copy` and `migrate`."""

import re
import signal
import stat
from pathlib import Path

import apsw
import pytest

from tests.cli.processes import RunningHub, hubbub
from tests.conftest import address_of


def test_there_and_back(own_hub: RunningHub, tmp_path: Path) -> None:
    """A backup of the running hub, restored, is the hub as it was then; what it replaced is kept beside."""
    copy = tmp_path / "monday.db"
    own_hub.meet("ada")
    assert own_hub.json("backup", str(copy)) == {"file": str(copy), "bytes": copy.stat().st_size}
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    own_hub.send("ada", "too late for the copy")
    assert "exists already" in own_hub.run("backup", str(copy)).stderr
    refused = own_hub.run("restore", str(copy))
    assert (refused.returncode, "in use by another hub" in refused.stderr) == (1, True)
    assert own_hub.run("restore", "nope.db").stderr == "Error: there is no file nope.db to restore\n"
    own_hub.stop(signal.SIGKILL)  # which leaves the write-ahead log behind
    restored = own_hub.json("restore", str(copy))
    own_hub.start()
    assert own_hub.client().get("/tasks")["tasks"] == []
    assert [each["name"] for each in own_hub.client().get("/agents")["agents"]] == ["ada"]
    with_task = apsw.Connection(restored["kept"]).execute("SELECT title FROM tasks").fetchall()
    assert with_task == [("too late for the copy",)]


def test_what_was_revoked_since_stays_so(own_hub: RunningHub, tmp_path: Path) -> None:
    """A restore makes no revoked token valid again, and says so; it tells of members that it brought back."""
    copy, ben = tmp_path / "monday.db", own_hub.secret("user", "create", "ben", "--project", "default")
    stolen, good = own_hub.secret("token", "create"), own_hub.secret("token", "create")
    own_hub.json("backup", str(copy))
    own_hub.client().acting_with(stolen).delete(f"/tokens/{_newest_but_one(own_hub)}")
    own_hub.client().delete("/projects/default/members/ben")
    own_hub.stop()

    told = own_hub.run("restore", str(copy)).stdout

    assert "1 tokens that were revoked since the backup stay revoked" in told
    assert "1 members who were removed since" in told
    own_hub.start()
    refused = own_hub.run("agents", "--token", stolen)
    assert (refused.returncode, own_hub.run("agents", "--token", good).returncode) == (1, 0)
    assert own_hub.run("agents", "--token", ben).returncode == 0


def _newest_but_one(hub: RunningHub) -> str:
    """The id of the token that was made before the last one."""
    made = sorted(hub.json("token", "list"), key=lambda each: each["created_at"])
    return str(made[-2]["id"])


@pytest.mark.system
def test_a_hub_moves_to_postgresql_and_back(own_hub: RunningHub, postgres_url: str, tmp_path: Path) -> None:
    """Who outgrows one machine copies the stopped hub to PostgreSQL: tokens, tasks and numbers go on; and back."""
    database = address_of(postgres_url)
    ben = own_hub.secret("user", "create", "ben", "--project", "default")
    own_hub.meet("ada")
    own_hub.send("ada", "one")
    refused = own_hub.run("copy", database)
    assert (refused.returncode, "in use by another hub" in refused.stderr) == (1, True)
    own_hub.stop()

    told = own_hub.run("copy", database).stdout

    assert re.fullmatch(r"copied [\d,]+ rows of \d+ tables to PostgreSQL, and compared .*\n", told)
    own_hub.settings = {"HUBBUB_DATABASE": database}
    own_hub.start()
    own_hub.send("ada", "two")
    assert [(each["number"], each["title"]) for each in own_hub.json("tasks", "--token", ben)] == [
        (2, "two"),
        (1, "one"),
    ]
    own_hub.stop()

    back = str(tmp_path / "back.db")
    assert own_hub.json("copy", back, "--database", database)["to"] == back
    own_hub.settings = {}
    own_hub.json("restore", back)
    own_hub.start()
    own_hub.send("ada", "three")
    assert [each["number"] for each in own_hub.json("tasks", "--token", ben)] == [3, 2, 1]


def test_a_file_is_copied_from_postgresql_only(tmp_path: Path) -> None:
    """Without a PostgreSQL database on either side, the command names `hubbub backup`."""
    done = hubbub("copy", str(tmp_path / "back.db"), data=tmp_path)
    assert (done.returncode, "hubbub backup copies that to a file" in done.stderr) == (2, True)


def not_a_database(file: Path) -> None:
    file.write_text("hello")


def of_another_program(file: Path) -> None:
    apsw.Connection(str(file)).execute("CREATE TABLE things (id INTEGER)")


def of_a_newer_version(file: Path) -> None:
    db = apsw.Connection(str(file))
    db.execute("CREATE TABLE migrations (number INTEGER, name TEXT, checksum TEXT, applied_at INTEGER)")
    db.execute("INSERT INTO migrations VALUES (9999, 'future.sql', 'x', 0)")


def nothing(_file: Path) -> None:
    pass


@pytest.mark.parametrize("make", [not_a_database, of_another_program, of_a_newer_version, nothing])
def test_restores_only_what_is_whole(tmp_path: Path, make: object) -> None:
    """A file that is no database of this version or an older one is refused with a sentence, and nothing changes."""
    assert callable(make)
    bad, data = tmp_path / "bad.db", tmp_path / "data"
    make(bad)
    assert hubbub("migrate", data=data).stdout.startswith("the database is at version ")
    before = (data / "hubbub.db").read_bytes()
    done = hubbub("restore", str(bad), data=data)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert (data / "hubbub.db").read_bytes() == before
    assert [file.name for file in data.glob("*replaced*")] == []


def test_member_may_not_take_everything(hub: RunningHub, tmp_path: Path) -> None:
    """A backup holds everyone's secrets, so only the owner of the hub may make one."""
    secret = hub.client().post("/tokens", {})["secret"]
    done = hub.run("backup", str(tmp_path / "mine.db"), "--token", secret)
    assert done.returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_nothing_to_restore_in_postgres(tmp_path: Path) -> None:
    """With HUBBUB_DATABASE there is no file to put in the place of another: refused, with what to do."""
    elsewhere = {"HUBBUB_DATABASE": "postgresql://127.0.0.1:1/none"}
    done = hubbub("restore", str(tmp_path / "monday.db"), data=tmp_path / "data", environment=elsewhere)
    assert (done.returncode, "with pg_restore" in done.stderr) == (1, True)
    assert list(tmp_path.iterdir()) == []


def test_way_into_a_restored_hub(own_hub: RunningHub, tmp_path: Path) -> None:
    """Restored into a folder without the owner's token, it says how to get in."""
    copy = tmp_path / "monday.db"
    own_hub.run("backup", str(copy))
    assert "hubbub serve makes a new one" in hubbub("restore", str(copy), data=tmp_path / "new").stdout
