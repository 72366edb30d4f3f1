"""Copies of a SQLite database that is in use."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from uuid import UUID

import apsw
import pytest

from hubbub.model.errors import StoreRefused, StoreUnavailable
from hubbub.model.people.rights import SYSTEM
from hubbub.store.engine.sqlite import DATABASE, SQLite
from hubbub.store.tx import Operation
from tests.store.engine.test_engines import add_user, user_names


def opened(copy: Path, folder: Path) -> SQLite:
    folder.mkdir()
    copy.rename(folder / DATABASE)
    return SQLite.open(folder)


def add_two(one: str, other: str) -> Operation[tuple[UUID, UUID]]:
    return lambda tx: (add_user(one)(tx), add_user(other)(tx))


def test_a_backup_opens_as_a_store(sqlite_store: SQLite, tmp_path: Path) -> None:
    """A backup holds what was committed, is whole, and serves as the database of another hub."""
    sqlite_store.write_now(SYSTEM, add_user("ann"))

    sqlite_store.backup(tmp_path / "copy.db")
    sqlite_store.write_now(SYSTEM, add_user("bob"))

    with closing(opened(tmp_path / "copy.db", tmp_path / "elsewhere")) as copy:
        assert copy.read_now(SYSTEM, user_names) == ["ann"]
        assert copy.read_now(SYSTEM, lambda tx: tx.one("PRAGMA integrity_check")) == {"integrity_check": "ok"}


def test_a_backup_is_of_one_moment(sqlite_store: SQLite, tmp_path: Path) -> None:
    """A backup that is made while others write has each of their transactions whole or not at all."""
    stop = threading.Event()

    def write_pairs() -> int:
        number = 0
        while not stop.is_set():
            number += 1
            sqlite_store.write_now(SYSTEM, add_two(f"{number}a", f"{number}b"))
            if number == 20:
                begun.set()
        return number

    begun = threading.Event()
    with ThreadPoolExecutor(1) as thread:
        writing = thread.submit(write_pairs)
        begun.wait()
        sqlite_store.backup(tmp_path / "copy.db")
        stop.set()
        assert writing.result() >= 20

    with closing(opened(tmp_path / "copy.db", tmp_path / "elsewhere")) as copy:
        names = copy.read_now(SYSTEM, user_names)
    assert len(names) >= 40
    assert len([name for name in names if name.endswith("a")]) * 2 == len(names)


def test_only_the_owner_reads_what_is_kept(sqlite_store: SQLite, tmp_path: Path) -> None:
    """The data folder is of mode 0700, the database and its backups are of mode 0600."""
    sqlite_store.write_now(SYSTEM, add_user("ann"))
    sqlite_store.backup(tmp_path / "copy.db")

    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
    for file in [tmp_path / "copy.db", *(tmp_path / "data").iterdir()]:
        assert file.stat().st_mode & 0o777 == 0o600, file.name


def test_a_backup_overwrites_nothing(sqlite_store: SQLite, tmp_path: Path) -> None:
    """A name that is taken is refused with a sentence, and what was there stays."""
    (tmp_path / "copy.db").write_text("precious")

    with pytest.raises(StoreRefused, match=r"^copy\.db exists already"):
        sqlite_store.backup(tmp_path / "copy.db")
    with pytest.raises(StoreRefused, match="no folder"):
        sqlite_store.backup(tmp_path / "nowhere" / "copy.db")

    assert (tmp_path / "copy.db").read_text() == "precious"


def test_a_backup_that_fails_leaves_nothing(sqlite_store: SQLite, tmp_path: Path) -> None:
    """When the copy cannot be finished, there is no file that looks like one."""
    folder = tmp_path / "backups"
    folder.mkdir()
    sqlite_store.write_now(SYSTEM, add_user("ann"))
    sqlite_store.write_now(SYSTEM, lambda tx: tx.run("CREATE TABLE broken (x TEXT) STRICT"))
    damage(tmp_path / "data" / DATABASE)

    with pytest.raises(StoreUnavailable, match=r"^the database file is damaged; no backup was made$"):
        sqlite_store.backup(folder / "copy.db")

    assert list(folder.iterdir()) == []


def damage(file: Path) -> None:
    """Have the schema name a table where there is none."""
    with closing(apsw.Connection(str(file))) as db:
        db.pragma("writable_schema", True)
        db.execute("UPDATE sqlite_schema SET rootpage = 99999 WHERE name = 'broken'")
