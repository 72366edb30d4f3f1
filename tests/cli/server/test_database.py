"""A hub whose data is in PostgreSQL: what it says when the server does not let it in, or nobody says where it is."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hubbub.prove.postgres import NoPostgres, Server
from tests.cli.processes import RunningHub, hubbub
from tests.conftest import NO_POSTGRES, address_of
from tests.support.tools import missing

SECRET = "wrong-word"
RULES = """\
host    all    hubbub     127.0.0.1/32 trust
host    other  nobody     127.0.0.1/32 trust
host    all    guarded    127.0.0.1/32 scram-sha-256
host    all    unknown    127.0.0.1/32 trust
hostssl all    encrypted  127.0.0.1/32 trust
"""


@pytest.fixture(scope="module")
def place() -> Iterator[str]:
    """The place, host:port, of a server that asks `guarded` for a password and `encrypted` for TLS."""
    user = "nobody" if os.geteuid() == 0 else None  # PostgreSQL does not run as root
    folder = Path(tempfile.mkdtemp(prefix="hubbub-guarded-"))
    if user is not None:
        shutil.chown(folder, user)
    try:
        server = Server(folder / "data", user)
    except NoPostgres:
        missing(NO_POSTGRES)
    server.make()
    (folder / "data" / "pg_hba.conf").write_text(RULES)
    server.start()
    server.ask("CREATE ROLE guarded LOGIN PASSWORD 'right-word'")
    server.ask("CREATE ROLE encrypted LOGIN")
    yield f"127.0.0.1:{server.port}"
    server.kill()
    shutil.rmtree(folder, ignore_errors=True)


FAULTS = {
    f"hubbub:{SECRET}@nowhere.invalid/hub": "no machine has the name nowhere.invalid; ",
    f"hubbub:{SECRET}@127.0.0.1:1/hub": "nothing answers at 127.0.0.1:1; ",
    f"guarded:{SECRET}@PLACE/hub": "the database server at PLACE does not take the password of guarded; ",
    "guarded@PLACE/hub": "the database server at PLACE asks for the password of guarded; ",
    f"unknown:{SECRET}@PLACE/hub": "the database server at PLACE has no user unknown; ",
    f"hubbub:{SECRET}@PLACE/hub": "the database server at PLACE has no database hub; ",
    f"stranger:{SECRET}@PLACE/hub": (
        "the database server at PLACE does not let stranger in without TLS; add ?sslmode=require "
    ),
    f"encrypted:{SECRET}@PLACE/hub": (
        "the database server at PLACE does not let encrypted in without TLS; add ?sslmode=require "
    ),
    f"hubbub:{SECRET}@PLACE/hub?sslmode=require": "the database server at PLACE offers no TLS, ",
    f"hub%:{SECRET}@PLACE/hub": "the database's address cannot be read; ",
}


@pytest.mark.system
@pytest.mark.parametrize(("address", "sentence"), FAULTS.items(), ids=FAULTS)
def test_each_fault_has_its_own_sentence(place: str, tmp_path: Path, address: str, sentence: str) -> None:
    """A wrong host, port, user, password or database, or missing TLS, is named; the password never is."""
    data = tmp_path / "data"
    hubbub("migrate", data=data)
    url = f"postgresql://{address.replace('PLACE', place)}"
    wanted = sentence.replace("PLACE", place)
    environment = {"HUBBUB_DATABASE": url, "PGPASSFILE": str(tmp_path / "none")}

    migrated = hubbub("migrate", data=data, environment=environment)
    copied = hubbub("copy", url, data=data, environment={"PGPASSFILE": str(tmp_path / "none")})
    looked_at = hubbub("doctor", "--json", data=data, environment=environment)

    [found] = [each["found"] for each in json.loads(looked_at.stdout) if each["subject"] == "database"]
    assert found.startswith(wanted)
    assert [migrated.stderr, copied.stderr] == [f"Error: {found}\n"] * 2
    assert SECRET not in found


@pytest.mark.system
def test_a_hub_knows_that_its_data_is_elsewhere(
    own_hub: RunningHub, postgres_url: str, tmp_path: Path
) -> None:
    """Without HUBBUB_DATABASE a hub whose data is in PostgreSQL does not start empty: it says what to set."""
    database, data = address_of(postgres_url), tmp_path / "new"
    elsewhere = RunningHub(data, settings={"HUBBUB_DATABASE": database})
    elsewhere.start()
    with closing(elsewhere):
        runs = {each["subject"]: each for each in json.loads(hubbub("doctor", "--json", data=data).stdout)}
    shown = (data / "database").read_text().strip()

    refusals = [
        hubbub(*words, data=data)
        for words in (["up"], ["serve"], ["migrate"], ["copy", str(tmp_path / "copy.db")])
    ]
    looked_at = {each["subject"]: each for each in json.loads(hubbub("doctor", "--json", data=data).stdout)}

    assert runs["database"]["well"]
    assert {each.returncode for each in refusals} == {1}
    for each in refusals:
        assert (
            f"this hub keeps its data in PostgreSQL, at {shown}: set HUBBUB_DATABASE to that " in each.stderr
        )
    assert not (data / "hubbub.db").exists()
    assert looked_at["database"]["do"].startswith("set HUBBUB_DATABASE to that address")


def test_what_is_remembered_has_no_password(tmp_path: Path, own_hub: RunningHub, postgres_url: str) -> None:
    """The line in the data folder says where the database is, and has neither a password nor further parameters."""
    own_hub.stop()
    database = f"{address_of(postgres_url)}&password={SECRET}&application_name=mine"
    assert own_hub.run("copy", database).returncode == 0
    remembered = (own_hub.data / "database").read_text()
    assert remembered.startswith("postgresql:///hubbub_")
    assert SECRET not in remembered
    assert "mine" not in remembered


def test_deleting_the_line_goes_back(own_hub: RunningHub, postgres_url: str) -> None:
    """After a move to PostgreSQL the old file is not taken up again by mistake, but is by who deletes that line."""
    own_hub.stop()
    assert own_hub.run("copy", address_of(postgres_url)).returncode == 0
    assert own_hub.run("up").returncode != 0
    (own_hub.data / "database").unlink()
    own_hub.start()
