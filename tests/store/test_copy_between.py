"""Moving everything from one engine to the other."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from uuid import UUID

import apsw
import psycopg
import pytest

from hubbub.model.errors import StoreRefused, StoreUnavailable
from hubbub.model.ids import new_id
from hubbub.model.people.rights import SYSTEM
from hubbub.store.engine import copy_between
from hubbub.store.engine.copy_between import Copied, OnPostgres, OnSQLite, Side, Values
from hubbub.store.engine.folder_lock import FolderLock
from hubbub.store.engine.postgres import Postgres
from hubbub.store.engine.sqlite import DATABASE, SQLite
from hubbub.store.log import activity
from hubbub.store.log.activity import Position
from tests.conftest import postgres_copy, url_of
from tests.store.engine.test_engines import add_user, user_names
from tests.support.migrated_database import migrated
from tests.support.waiting import until

AWKWARD = "a tab\tand a line\nand \\N, \"quotes\", 'more', 語 and 🙂"
SAMPLES: Mapping[str, Values] = {
    "BLOB": (new_id(), new_id()),
    "INTEGER": (1, 2**62),
    "REAL": (0.1, -1e300),
    "TEXT": (AWKWARD, ""),
}


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A data folder whose database has two rows in every table, as awkward as their columns allow.

    The values of one row are the same in all tables, so that what one refers to is there.
    """
    folder = migrated(tmp_path / "full")
    with closing(apsw.Connection(str(folder / DATABASE))) as db:
        for table in OnSQLite(db).tables():
            columns = list(db.execute(f"SELECT type, \"notnull\", pk FROM pragma_table_info('{table}')"))
            full_row = [SAMPLES[kind][0] for kind, _must, _key in columns]
            other = [SAMPLES[kind][1] if must or key else None for kind, must, key in columns]
            for row in [full_row] if table == "signing_key" else [full_row, other]:
                values = [value.bytes if isinstance(value, UUID) else value for value in row]
                db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", values)
    return folder


@pytest.fixture
def ann(tmp_path: Path) -> Path:
    """A data folder whose hub knows ann."""
    with closing(SQLite.open(migrated(tmp_path / "ann"))) as store:
        store.write_now(SYSTEM, add_user("ann"))
    return tmp_path / "ann"


def everything(side: Side) -> Mapping[str, list[Values]]:
    """All rows of all tables."""
    return {table: sorted(side.rows(table, columns), key=repr) for table, columns in side.tables().items()}


def in_folder(folder: Path) -> Mapping[str, list[Values]]:
    with closing(apsw.Connection(str(folder / DATABASE))) as db:
        return everything(OnSQLite(db))


def at_server(url: str) -> Mapping[str, list[Values]]:
    with psycopg.connect(url) as db:
        return everything(OnPostgres(db))


def references(url: str) -> list[Values]:
    """What the server checks whenever a row refers to another."""
    with psycopg.connect(url) as db:
        return sorted(
            db.execute(
                """SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
                   WHERE contype = 'f'"""
            ).fetchall()
        )


def test_every_table_arrives_as_it_was(full: Path, own_database: str) -> None:
    """PostgreSQL has every row of every table then, checks references as before, and SQLite is left as it was."""
    before, checked = in_folder(full), references(own_database)

    copied = copy_between.to_postgres(full, own_database)

    assert at_server(own_database) == before == in_folder(full)
    assert copied == Copied(len(before), sum(map(len, before.values())))
    assert references(own_database) == checked != []


def test_the_way_back(full: Path, own_database: str, tmp_path: Path) -> None:
    """A file copied from PostgreSQL has every row, except the pictures that are drawn anew, and is its owner's."""
    before = {**in_folder(full), "keyframes": []}
    copy_between.to_postgres(full, own_database)

    (tmp_path / "back").mkdir()
    copy_between.to_file(own_database, tmp_path / "back" / DATABASE)

    placed = ("activity", "webhooks")  # places in the log are others
    back = in_folder(tmp_path / "back")
    assert {each: back[each] for each in back if each not in placed} == {
        each: before[each] for each in before if each not in placed
    }
    assert [len(back[each]) for each in placed] == [2, 2]
    assert (tmp_path / "back" / DATABASE).stat().st_mode & 0o777 == 0o600
    assert [each.name for each in (tmp_path / "back").iterdir()] == [DATABASE]


def test_the_log_goes_on(own_database: str, tmp_path: Path) -> None:
    """What happens after the move comes after all that happened before, there and back, also after old lines went."""
    with closing(SQLite.open(migrated(tmp_path / "here"))) as here:
        for _ in range(5):
            here.write_now(SYSTEM, lambda tx: tx.record("before", project_id=None))
        here.write_now(SYSTEM, lambda tx: tx.run("DELETE FROM activity WHERE seq > 3"))

    copy_between.to_postgres(tmp_path / "here", own_database)
    with closing(Postgres.open(own_database)) as there:
        there.write_now(SYSTEM, lambda tx: tx.record("between", project_id=None))
        there.write_now(SYSTEM, lambda tx: tx.run("DELETE FROM activity WHERE kind = 'between'"))
        there.write_now(SYSTEM, lambda tx: tx.record("there", project_id=None))
        page = there.read_now(SYSTEM, lambda tx: activity.tail(tx, Position(0, 0), 9)).activities
    assert [(each.kind, each.seq) for each in page] == [*[("before", n) for n in (1, 2, 3)], ("there", 7)]

    (tmp_path / "back").mkdir()
    copy_between.to_file(own_database, tmp_path / "back" / DATABASE)
    with closing(SQLite.open(tmp_path / "back")) as back:
        back.write_now(SYSTEM, lambda tx: tx.record("back", project_id=None))
        page = back.read_now(SYSTEM, lambda tx: activity.tail(tx, Position(0, 0), 9)).activities
    assert [(each.kind, each.seq) for each in page][-2:] == [("there", 7), ("back", 8)]


def test_an_empty_server_is_prepared_first(postgres_server: str, ann: Path) -> None:
    """A database without tables gets those of this version."""
    with postgres_copy(postgres_server, "template0") as url:
        copy_between.to_postgres(ann, url)

        with closing(Postgres.open(url)) as there:
            assert there.read_now(SYSTEM, user_names) == ["ann"]


def test_only_an_empty_database_is_filled(ann: Path, own_database: str) -> None:
    """A database that has rows is refused, and stays as it was."""
    with closing(Postgres.open(own_database)) as there:
        there.write_now(SYSTEM, add_user("bob"))
        with pytest.raises(StoreRefused, match="its table users has rows; make a new one"):
            copy_between.to_postgres(ann, own_database)
        assert there.read_now(SYSTEM, user_names) == ["bob"]


def test_no_hub_may_run_meanwhile(ann: Path, own_database: str, tmp_path: Path) -> None:
    """As long as a hub runs on what is to be copied, it is refused: what it does then would be lost."""
    lock = FolderLock.take(ann)
    with pytest.raises(StoreRefused, match="in use by another hub"):
        copy_between.to_postgres(ann, own_database)
    lock.release()

    with closing(Postgres.open(own_database)) as hub:
        hub.on_activity(lambda: None)
        hub.be_seen("one")
        until(lambda: _is_refused(own_database, tmp_path / "back.db"), "the refusal")
    copy_between.to_file(own_database, tmp_path / "back.db")


def _is_refused(url: str, file: Path) -> bool:
    try:
        copy_between.to_file(url, file)
    except StoreRefused as refusal:
        return str(refusal) == "a hub is running on the database; stop every hub of it first"
    file.unlink()
    return False


def test_a_copy_that_fails_leaves_nothing(ann: Path, own_database: str) -> None:
    """What the server does not take is told, and it has none of the rows before it."""
    with closing(apsw.Connection(str(ann / DATABASE))) as db:
        db.execute("UPDATE users SET password = char(0)")
    before = at_server(own_database)

    with pytest.raises(StoreRefused, match=r"does not take what is in the database .*; nothing was copied"):
        copy_between.to_postgres(ann, own_database)

    assert at_server(own_database) == before


def test_what_does_not_arrive_whole_is_noticed(ann: Path, own_database: str) -> None:
    """What is there after copying is compared with what was read; if a row is another, nothing is kept."""
    with psycopg.connect(own_database, autocommit=True) as server:
        server.execute(
            """CREATE FUNCTION other() RETURNS trigger LANGUAGE plpgsql AS
               $$BEGIN NEW.name = upper(NEW.name); RETURN NEW; END$$"""
        )
        server.execute("CREATE TRIGGER t BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION other()")

    with pytest.raises(
        StoreRefused, match="the rows of users did not arrive as they were; nothing was copied"
    ):
        copy_between.to_postgres(ann, own_database)

    assert at_server(own_database)["users"] == []


def test_what_cannot_be_copied_is_said(
    ann: Path, own_database: str, postgres_server: str, tmp_path: Path
) -> None:
    """No database, one of another version, one that is not on its server, a file that is: each is one sentence."""
    with pytest.raises(StoreRefused, match=f"there is no {DATABASE} in"):
        copy_between.to_postgres(tmp_path, own_database)
    with pytest.raises(StoreUnavailable, match="has no database not_there"):
        copy_between.to_postgres(ann, url_of(postgres_server, "not_there"))
    with pytest.raises(StoreRefused, match="exists already"):
        copy_between.to_file(own_database, ann / DATABASE)
    with (
        postgres_copy(postgres_server, "template0") as url,
        pytest.raises(StoreRefused, match="hubbub migrate"),
    ):
        copy_between.to_file(url, tmp_path / "back.db")
    with closing(apsw.Connection(str(ann / DATABASE))) as db:
        db.execute("DELETE FROM migrations WHERE number = (SELECT max(number) FROM migrations)")
    with pytest.raises(StoreRefused, match="hubbub migrate"):
        copy_between.to_postgres(ann, own_database)
    assert not (tmp_path / "back.db").exists()
