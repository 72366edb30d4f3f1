"""The power fails while a hub on SQLite is at work: what it had answered is there, and nothing is half done."""

import asyncio
import hashlib
import shutil
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest

from hubbub.core.agents import agents
from hubbub.core.people import projects
from hubbub.core.snapshots import keyframes
from hubbub.model.lifecycle import Event
from hubbub.model.people.rights import SYSTEM
from hubbub.store import migrate
from hubbub.store.engine import restore, sqlite_writer
from hubbub.store.engine.sqlite import DATABASE, SQLite
from tests.conftest import MovableClock
from tests.core.conftest import World, finish, member
from tests.faults.layers import BENEATH, recorded
from tests.faults.recording import Recording
from tests.faults.rounds import Found, many, power_cuts
from tests.store.engine.test_engines import add_user, user_names
from tests.support.migrated_database import migrated


class State(NamedTuple):
    """The content of a database: a hash, and the last number of its log for its readers."""

    digest: str
    last: object


def state(file: Path) -> State:
    """Return the state of a database, which has to be sound."""
    with closing(apsw.Connection(str(file), vfs=BENEATH)) as db:
        assert db.pragma("integrity_check") == "ok"
        tables = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
        rows = [(name, db.execute(f'SELECT * FROM "{name}"').fetchall()) for (name,) in tables]
        last = max((int(str(row[0])) for row in dict(rows).get("activity", ())), default=0)
    return State(hashlib.sha256(repr(rows).encode()).hexdigest()[:12], last)


def opened(folder: Path) -> State:
    """Return everything that a hub finds when it starts in the folder."""
    SQLite.open(folder).close()
    return state(folder / DATABASE)


def users(file: Path) -> list[str]:
    """The users in a database, which may have no tables yet."""
    with closing(apsw.Connection(str(file), vfs=BENEATH)) as db:
        assert db.pragma("integrity_check") == "ok"
        has_any = db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'users'").fetchall()
        return [name for (name,) in db.execute("SELECT name FROM users ORDER BY name")] if has_any else []


@pytest.fixture
def small_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is moved into the database only when it is much be moved all the time, and cut now and then."""
    monkeypatch.setattr(sqlite_writer, "CHECKPOINT_AT", 30)
    monkeypatch.setattr(sqlite_writer, "WAL_LIMIT", 60 * 4096)
    monkeypatch.setitem(sqlite_writer.PRAGMAS, "journal_size_limit", 60 * 4096)


def told(root: Path, clock: MovableClock) -> Iterator[object]:
    """A project in which work is sent, taken and done, until its log is cut; an answer at each step."""
    with closing(SQLite.open(root / "data", clock=clock)) as store:
        yield (project := store.write_now(SYSTEM, lambda tx: projects.create(tx, "lab")))
        world = World(store, clock, project, member(project))
        for name in ("ann", "bob"):
            yield world.do(agents.meet, project.id, name)
        for number in range(8):
            yield (task := world.send(text=f"count the lines of file {number}" * 20))
            yield world.start(task)
            if number % 2:
                yield finish(world, task, Event.COMPLETE)
        clock.advance(timedelta(days=9))
        frame = world.do(keyframes.take_keyframe, project_id=project.id)
        yield world.do(keyframes.keep, frame=frame)
        clock.advance(timedelta(days=9))
        yield world.send(text="later")
        is_more = True
        while is_more:
            yield (is_more := world.do(keyframes.forget, keep_for=timedelta(days=3)))
        yield world.send(text="after the cut")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


@pytest.mark.usefixtures("small_logs")
@many
def test_what_was_answered_survives_and_nothing_is_half_done(
    root: Path, clock: MovableClock, rounds: int
) -> None:
    """Whenever the power fails, the hub starts again with all that it had answered, and of the call under way with
    all or nothing: while work is sent, taken and done, the log moved into the database, and the past cut away.
    """
    migrated(root / "data")
    with recorded(root) as recording:
        recording.note(state(root / "data" / DATABASE))
        for _ in told(root, clock):
            recording.note(state(root / "data" / DATABASE))

    def look(found: Found) -> None:
        assert opened(found.folder / "data") in (found.noted[-1:] + found.later[:1])

    power_cuts(recording, rounds, look)


@many
def test_calls_that_are_committed_together_are_kept_together(root: Path, rounds: int) -> None:
    """After a power failure each answered one of many calls at once is there, and only once."""
    migrated(root / "data")

    async def call(store: SQLite, recording: Recording, name: str) -> None:
        await store.write(SYSTEM, add_user(name), short=name.endswith("s"))
        recording.note(name)

    async def call_all(store: SQLite, recording: Recording) -> None:
        for turn in range(8):
            await asyncio.gather(
                *(call(store, recording, f"{turn}{each}") for each in ("a", "b", "cs", "ds"))
            )

    with recorded(root) as recording, closing(SQLite.open(root / "data")) as store:
        asyncio.run(call_all(store, recording))

    def look(found: Found) -> None:
        with closing(SQLite.open(found.folder / "data")) as store:
            names = store.read_now(SYSTEM, user_names)
        assert set(found.noted) <= set(names) <= {*found.noted, *found.later}
        assert len(names) == len(set(names))

    power_cuts(recording, rounds, look)


@many
def test_a_new_hub_is_there_with_what_it_answered_first(root: Path, rounds: int) -> None:
    """A hub whose data folder was only just made, with folders above it, keeps what it has answered, and begins anew
    where it has answered nothing.
    """
    data = root / "new" / "data"
    with recorded(root) as recording, closing(SQLite.open(data)) as store:
        recording.note("nothing")
        for name in ("ann", "bob"):
            store.write_now(SYSTEM, add_user(name))
            recording.note(name)

    def look(found: Found) -> None:
        file = found.folder / "new" / "data" / DATABASE
        names = users(file) if file.exists() else []
        if found.is_one_of_twenty:
            with closing(SQLite.open(file.parent)) as store:
                assert store.read_now(SYSTEM, user_names) == names
        assert names in (list(found.noted[1:]), list([*found.noted, *found.later[:1]][1:]))

    power_cuts(recording, rounds, look)


def older(folder: Path, scratch: Path) -> State:
    """Put a database of an older version there, with users in it, as after its hub was killed."""
    files = sorted(migrate.FOLDER.glob("*.sql"))[:-2]
    scratch.mkdir()
    for file in files:
        shutil.copy(file, scratch)
    folder.mkdir(mode=0o700, parents=True)
    with closing(apsw.Connection(str(scratch / DATABASE))) as db:
        migrate.migrate_sqlite(db, scratch, migrations=scratch)
        db.pragma("journal_mode", "wal")
        db.execute("INSERT INTO users (id, name, owns_hub, created_at) VALUES (zeroblob(16), 'ann', 0, 0)")
        for name in (DATABASE, f"{DATABASE}-wal"):
            shutil.copy(scratch / name, folder)
    return state(scratch / DATABASE)


@many
def test_a_migration_is_whole_or_has_not_begun(root: Path, tmp_path: Path, rounds: int) -> None:
    """When the power fails during a migration, the hub starts with all data; if the database is of the new version, the
    copy of the old one is there, whole.
    """
    before = older(root / "data", tmp_path / "older")
    with recorded(root) as recording:
        SQLite.open(root / "data").close()
        recording.note("migrated")

    def look(found: Found) -> None:
        file = found.folder / "data" / DATABASE
        backups = [*(found.folder / "data").glob("backups/version-*.db")]
        is_new = state(file) != before
        assert is_new or not found.noted
        assert {state(each) for each in backups} <= {before}
        assert backups or not is_new
        if found.is_one_of_twenty:
            with closing(SQLite.open(found.folder / "data")) as store:
                assert store.read_now(SYSTEM, user_names) == ["ann"]

    power_cuts(recording, rounds, look)


@many
def test_a_backup_is_whole_or_not_there(root: Path, rounds: int) -> None:
    """A backup that was reported is there when the power has failed, with what it was made of; another is whole, or
    not there.
    """
    migrated(root / "data")
    (root / "backups").mkdir()
    with recorded(root) as recording, closing(SQLite.open(root / "data")) as store:
        store.write_now(SYSTEM, add_user("ann"))
        inside = state(root / "data" / DATABASE)
        store.backup(root / "backups" / "copy.db")
        recording.note("made")
        store.write_now(SYSTEM, add_user("bob"))

    def look(found: Found) -> None:
        copy = found.folder / "backups" / "copy.db"
        assert copy.exists() or not found.noted
        assert not copy.exists() or state(copy) == inside

    power_cuts(recording, rounds, look)


@many
def test_a_restore_is_whole_or_has_not_begun(root: Path, tmp_path: Path, rounds: int) -> None:
    """When the power fails during a restore, the hub starts with all of its data or all of the backup, never with a
    mixture, and loses nothing of its own data.
    """
    before = killed(root / "data", tmp_path / "old", "ann", "bob")
    with closing(SQLite.open(tmp_path / "other")) as store:
        store.write_now(SYSTEM, add_user("zoe"))
        store.backup(root / "copy.db")
    inside = state(root / "copy.db")
    with recorded(root) as recording:
        restore.restore(root / "data", root / "copy.db")
        recording.note("restored")

    def look(found: Found) -> None:
        now = state(found.folder / "data" / DATABASE)
        assert now in ((inside,) if found.noted else (before, inside))
        kept = {state(each) for each in (found.folder / "data").glob("replaced-*.db")}
        assert kept <= {before}
        assert now == before or kept
        SQLite.open(found.folder / "data").close()

    power_cuts(recording, rounds, look)


def killed(folder: Path, scratch: Path, *names: str) -> State:
    """Put the files of a hub there that was killed when it had these users, the last one in the write-ahead log."""
    with closing(SQLite.open(migrated(scratch))) as store:
        for name in names:
            store.write_now(SYSTEM, add_user(name))
        folder.mkdir(mode=0o700, parents=True)
        for file in (DATABASE, f"{DATABASE}-wal"):
            shutil.copy(scratch / file, folder)
        return state(scratch / DATABASE)
