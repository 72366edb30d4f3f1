"""Migrations bring a database to the program's version by numbered SQL files, each applied once, all or none.

The files are written for SQLite and translated for PostgreSQL by the table below. Each applied file is recorded with
its checksum, so that a database of a newer program, or one made by other files, is refused instead of damaged.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, LiteralString

import apsw

from hubbub.model.errors import StoreRefused
from hubbub.processes import durable_files
from hubbub.store import backup
from hubbub.store.tx import unix_ms

if TYPE_CHECKING:  # a hub on SQLite does not load PostgreSQL's driver
    import psycopg
    from psycopg.rows import TupleRow

FOLDER = Path(__file__).parent / "migrations"
BACKUPS = "backups"

TABLE = """CREATE TABLE migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT"""
APPLIED = "SELECT number, checksum FROM migrations"

SPELLING = (  # SQLite's words, and PostgreSQL's; the first match counts
    (r"-- On SQLite only:[^;]*;", ""),
    (r"\bINTEGER PRIMARY KEY AUTOINCREMENT\b", "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
    (r"\bINTEGER\b", "bigint"),
    (r"\bREAL\b", "double precision"),
    (r"\bBLOB\b", "uuid"),
    (r"\bCOLLATE BINARY\b", 'COLLATE "C"'),
    (r"\) STRICT(, WITHOUT ROWID)?", ")"),
)

NOT_PREPARED = "the database is not prepared for this version of hubbub; run: hubbub migrate"

# Puts a log that another server has numbered into the order of `seq` alone, as on SQLite: keyframes are places in the
# old order, and mean nothing in the new one; a webhook is told again rather than not at all.
ONE_ORDER: tuple[LiteralString, ...] = (
    """UPDATE webhooks SET after_tx = 0, after_seq = COALESCE(
           (SELECT min(seq) - 1 FROM activity
            WHERE project_id = webhooks.project_id AND (tx, seq) > (webhooks.after_tx, webhooks.after_seq)),
           (SELECT max(seq) FROM activity), 0)""",
    "UPDATE activity SET tx = 0 WHERE tx <> 0",
    "DELETE FROM keyframes",
)

# Two programs that migrate one PostgreSQL database take turns by this lock; any fixed number will do.
_ADVISORY_LOCK = 0x687562627562


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file."""

    number: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def row(self) -> tuple[int, str, str, int]:
        """Return its row in the table `migrations`."""
        return self.number, self.name, self.checksum, unix_ms()


def spell_for_postgres(text: str) -> str:
    """Translate the table definitions into PostgreSQL's dialect."""
    for pattern, word in SPELLING:
        text = re.sub(pattern, word, text)
    return text


def known(folder: Path = FOLDER) -> Sequence[Migration]:
    """List the migrations in the package, in order. These do not change while it runs, so they are read once."""
    return _packaged() if folder == FOLDER else _read(folder)


@cache
def _packaged() -> Sequence[Migration]:
    return _read(FOLDER)


def _read(folder: Path) -> Sequence[Migration]:
    return [
        Migration(int(file.name.split("_", 1)[0]), file.name, file.read_text("utf-8"))
        for file in sorted(folder.glob("[0-9][0-9][0-9][0-9]_*.sql"))
    ]


def missing(migrations: Sequence[Migration], applied: Mapping[int, str]) -> list[Migration]:
    """List those of `migrations` that are not among `applied`, which maps numbers to checksums.

    Raises `StoreRefused` if the database is newer than the program, or was made by another text.
    """
    newest = max((migration.number for migration in migrations), default=0)
    if max(applied, default=0) > newest:
        raise StoreRefused(
            f"the database is at version {max(applied)} and this program knows versions up to {newest}; "
            "update hubbub, or restore a backup of that age"
        )
    for migration in migrations:
        if applied.get(migration.number, migration.checksum) != migration.checksum:
            raise StoreRefused(
                f"the database was made with a different {migration.name} from this program's; "
                "use the hubbub it was made with"
            )
    return [migration for migration in migrations if migration.number not in applied]


def migrate_sqlite(db: apsw.Connection, folder: Path, *, migrations: Path = FOLDER) -> None:
    """Apply the missing migrations in one transaction, after a backup into `folder`/backups unless the database is new.

    The caller holds the lock of the folder. On any error the database is as it was.
    """
    applied = applied_sqlite(db)
    todo = missing(known(migrations), applied)
    if not todo:
        return
    if applied:
        _back_up(db, folder, max(applied))
    with db:
        if not applied:
            db.execute(TABLE)
        for migration in todo:
            db.execute(migration.text)
            db.execute("INSERT INTO migrations VALUES (?, ?, ?, ?)", migration.row())
        db.pragma("user_version", todo[-1].number)


def applied_sqlite(db: apsw.Connection) -> dict[int, str]:
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if not tables:
        return {}
    if "migrations" not in tables:
        raise StoreRefused("the database holds tables that hubbub did not make; choose another data folder")
    return {int(number): str(checksum) for number, checksum in db.execute(APPLIED)}


def _back_up(db: apsw.Connection, folder: Path, version: int) -> None:
    backups = folder / BACKUPS
    durable_files.make_folder(backups, 0o700)
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    backup.copy(db, backups / f"version-{version:04}-{moment}.db")


def migrate_postgres(db: psycopg.Connection[TupleRow], *, migrations: Path = FOLDER) -> int:
    """Apply the missing migrations in one transaction, and return the database's version.

    Two programs that do it at once take turns. Raises `StoreRefused` like `missing`.
    """
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (_ADVISORY_LOCK,))
        applied = _applied_postgres(db)
        todo = missing(known(migrations), applied)
        if not applied:
            db.execute(spell_for_postgres(TABLE).encode())
        for migration in todo:
            db.execute(spell_for_postgres(migration.text).encode())
            db.execute("INSERT INTO migrations VALUES (%s, %s, %s, %s)", migration.row())
        # A dump that was restored into a younger server has transaction numbers that are still to come; the log
        # would not count as settled until then.
        if db.execute(
            "SELECT 1 FROM activity WHERE tx >= pg_current_xact_id()::text::bigint LIMIT 1"
        ).fetchone():
            for statement in ONE_ORDER:
                db.execute(statement)
        if not todo:
            _count_inboxes(db)
        return max(migration.number for migration in known(migrations))


def _count_inboxes(db: psycopg.Connection[TupleRow]) -> None:
    """Recount the waiting rows of inboxes: a hub of an older version that went on meanwhile did not count them.

    It takes the lock that writers take first, so that none of them is halfway.
    """
    db.execute("LOCK TABLE deliveries IN SHARE ROW EXCLUSIVE MODE")
    db.execute("DELETE FROM inbox_tally")
    db.execute(
        """INSERT INTO inbox_tally (project_id, recipient, pending, unread)
           SELECT project_id, recipient, count(*), count(CASE WHEN seen_at IS NULL THEN 1 END) FROM deliveries
           WHERE acked_at IS NULL AND withdrawn_at IS NULL GROUP BY project_id, recipient"""
    )


def prepare_postgres(db: psycopg.Connection[TupleRow]) -> None:
    """Create the tables in an empty database; raise `StoreRefused` for one of another version.

    Hubs that start at once on an empty database take turns, and the first creates them. A database with tables is
    not touched: hubs of another version may be using it.
    """
    if not _has_tables(db):
        migrate_postgres(db)
    check_postgres(db)


def check_postgres(db: psycopg.Connection[TupleRow]) -> None:
    """Raise `StoreRefused` unless the database is at the program's version."""
    if missing(known(), _applied_postgres(db)):
        raise StoreRefused(NOT_PREPARED)


def _has_tables(db: psycopg.Connection[TupleRow]) -> bool:
    found = db.execute(
        """SELECT EXISTS (SELECT 1 FROM pg_class
                          WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace)"""
    ).fetchone()
    return found is not None and bool(found[0])


def _applied_postgres(db: psycopg.Connection[TupleRow]) -> dict[int, str]:
    found = db.execute("SELECT to_regclass('migrations') IS NOT NULL").fetchone()
    if found is None or not found[0]:
        return {}
    return dict(db.execute(APPLIED).fetchall())
