"""Putting a backup in the place of the database of a data folder."""

from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

import apsw

from hubbub.model.errors import StoreRefused
from hubbub.store import backup, migrate
from hubbub.store.lock import FolderLock
from hubbub.store.sqlite import DATABASE

SIDE_FILES = ("-wal", "-shm")


def restore(folder: Path, source: Path) -> Path | None:
    """Make a copy of the backup `source` the database of `folder`; returns where the old one is kept, if there was one.

    Raises `StoreRefused`, and changes nothing, if a hub serves the folder, or `source` is no sound database of this
    version or an older one.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = FolderLock.take(folder)
    fresh = folder / f".{DATABASE}.restored"
    try:
        fresh.unlink(missing_ok=True)
        _copy_checked(source, fresh)
        kept = _set_aside(folder / DATABASE)
        fresh.replace(folder / DATABASE)
        return kept
    finally:
        fresh.unlink(missing_ok=True)
        lock.release()


def _copy_checked(source: Path, target: Path) -> None:
    if not source.is_file():
        raise StoreRefused(f"there is no file {source.name} to restore")
    try:
        with closing(apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY)) as db:
            if db.pragma("integrity_check") != "ok":
                raise StoreRefused(f"{source.name} is damaged; choose another backup")
            applied = migrate.applied_sqlite(db)
            if not applied:
                raise StoreRefused(f"{source.name} is not a database of hubbub")
            migrate.missing(migrate.known(), applied)
            backup.copy(db, target)
    except apsw.Error as error:
        raise StoreRefused(f"{source.name} is not a database that can be read") from error


def _set_aside(database: Path) -> Path | None:
    """Keep the old database under another name as well; it goes on being the database until it is replaced."""
    if not database.exists():
        return None
    # Of a damaged one, what is in the write-ahead log is kept beside it.
    with suppress(apsw.Error), closing(apsw.Connection(str(database))) as db:
        db.pragma("wal_checkpoint(truncate)")
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    kept = database.with_name(f"replaced-{moment}.db")
    kept.hardlink_to(database)
    for suffix in SIDE_FILES:
        side = database.with_name(database.name + suffix)
        if side.exists():
            side.rename(kept.with_name(kept.name + suffix))
    return kept
