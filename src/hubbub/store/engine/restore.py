"""Restoring a backup as the database of a data folder."""

from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw

from hubbub.model.errors import StoreRefused
from hubbub.model.timestamps import milliseconds
from hubbub.processes import durable_files
from hubbub.store import backup, migrate
from hubbub.store.engine.folder_lock import FolderLock
from hubbub.store.engine.sqlite import DATABASE
from hubbub.store.engine.sqlite_connection import explaining

SIDE_FILES = ("-wal", "-shm", "-journal")
NOTHING = "nothing was restored"
LOOK = "look whether the backup was restored"
REVOKED_SINCE = """t.revoked_at IS NULL
    AND EXISTS (SELECT 1 FROM old.tokens o WHERE o.id = t.id AND o.revoked_at IS NOT NULL)"""
CHANGED_MEMBERS = """SELECT count(*) FROM members m
    JOIN old.users u ON u.id = m.user_id JOIN old.projects p ON p.id = m.project_id
    LEFT JOIN old.members o ON o.user_id = m.user_id AND o.project_id = m.project_id
    WHERE o.role IS NULL OR o.role <> m.role"""
PATIENCE = timedelta(seconds=5)  # for another program that reads the database


@dataclass(frozen=True, slots=True)
class Restored:
    """The outcome: the replaced database, if there was one, and what the backup did not know of it."""

    kept: Path | None
    revoked: int = 0  # tokens that were revoked since the backup, and stay so
    members: int = 0  # who were removed, or had another role since, and are back as they were


def restore(folder: Path, source: Path) -> Restored:
    """Copy the backup `source` to the database of `folder`. Tokens that the replaced database has as revoked stay so.

    Raises `StoreRefused`, and changes nothing, if a hub serves the folder, or `source` is not a sound database of this
    version or an older one; `StoreUnavailable` if the disk fails.
    """
    if not source.is_file():
        raise StoreRefused(f"there is no file {source.name} to restore")
    with explaining(NOTHING):
        durable_files.make_folder(folder, 0o700)
        lock = FolderLock.take(folder)
    fresh = folder / f".{DATABASE}.restored"
    try:
        with explaining(NOTHING):
            fresh.unlink(missing_ok=True)
            _copy_checked(source, fresh)
            kept = _set_aside(folder / DATABASE)
            outcome = _carry_over(kept, fresh) if kept is not None else Restored(None)
            fresh.replace(folder / DATABASE)
        with explaining(LOOK):
            durable_files.sync(folder)
        return outcome
    finally:
        fresh.unlink(missing_ok=True)
        lock.release()


def _copy_checked(source: Path, target: Path) -> None:
    try:
        with closing(apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY)) as db:
            if db.pragma("integrity_check") != "ok":
                raise StoreRefused(f"{source.name} is damaged; choose another backup")
            applied = migrate.applied_sqlite(db)
            if not applied:
                raise StoreRefused(f"{source.name} is not a database of hubbub")
            migrate.missing(migrate.known(), applied)
            backup.copy(db, target)
    except (apsw.FullError, apsw.IOError, apsw.CantOpenError):
        raise  # of the disk, not of the backup
    except apsw.Error as error:
        raise StoreRefused(f"{source.name} is not a database that can be read") from error


def _carry_over(kept: Path, fresh: Path) -> Restored:
    """Revoke in `fresh` the tokens that `kept` has as revoked, and count the members that differ.

    Of a replaced database that cannot be read nothing is carried over.
    """
    with closing(apsw.Connection(str(fresh))) as db:
        db.pragma("journal_mode", "memory")  # nothing beside the file: it is made anew after a crash
        try:
            db.execute("ATTACH ? AS old", (str(kept),))
            ((members,),) = db.execute(CHANGED_MEMBERS)
            ((revoked,),) = db.execute(f"SELECT count(*) FROM tokens AS t WHERE {REVOKED_SINCE}")
        except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError):
            return Restored(kept)
        if revoked:
            db.execute(
                f"""UPDATE tokens AS t SET revoked_at = (SELECT revoked_at FROM old.tokens WHERE id = t.id)
                    WHERE {REVOKED_SINCE}"""
            )
    durable_files.sync(fresh)
    return Restored(kept, revoked, members)


def _set_aside(database: Path) -> Path | None:
    """Keep the old database under another name as well; it stays the database until it is replaced.

    When this returns, the files beside it are renamed, durably: otherwise, after a power cut, the new
    database could find them, and take the old database's log for its own.
    """
    if not database.exists():
        return None
    _gather(database)
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    kept = database.with_name(f"replaced-{moment}.db")
    kept.hardlink_to(database)
    for suffix in SIDE_FILES:
        side = database.with_name(database.name + suffix)
        if side.exists():
            side.rename(kept.with_name(kept.name + suffix))
    durable_files.sync(database.parent)
    return kept


def _gather(database: Path) -> None:
    """Move everything that a database holds into its own file; for a damaged one, the files beside it are kept.

    If the disk fails, it raises: the files beside the database may still belong to it.
    """
    try:
        with closing(apsw.Connection(str(database))) as db:
            db.set_busy_timeout(milliseconds(PATIENCE))
            ((is_busy, *_pages),) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except (apsw.CorruptError, apsw.NotADBError):
        return
    if is_busy:
        raise StoreRefused("another program is using the database; end it, and restore then")
