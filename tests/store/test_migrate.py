"""Bringing databases to the version of the program."""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar
from uuid import UUID, uuid4

import apsw
import psycopg
import pytest
from psycopg import sql

from hubbub.app import OWNER_TOKEN, Hub
from hubbub.core.actions import inbox
from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.core.people import access, projects, runs
from hubbub.core.work import tasks
from hubbub.model.errors import StoreRefused, StoreUnavailable
from hubbub.model.ids import new_id
from hubbub.model.people.rights import SYSTEM
from hubbub.settings import Settings
from hubbub.store import migrate
from hubbub.store.engine.postgres import Postgres
from hubbub.store.engine.postgres_connection import WRITE, Db, PostgresConnection
from hubbub.store.engine.sqlite import DATABASE, SQLite
from hubbub.store.engine.sqlite_connection import SQLiteConnection
from hubbub.store.mail import messages as letters
from hubbub.store.tx import Connection, Store, Tx
from hubbub.store.work import tasks as rows
from tests.conftest import url_of
from tests.support.served_hub import serving

P = ParamSpec("P")
T = TypeVar("T")

FIRST = "CREATE TABLE ants (id BLOB PRIMARY KEY, legs INTEGER NOT NULL) STRICT;\n"
SECOND = "ALTER TABLE ants ADD COLUMN weight REAL;\nCREATE INDEX ants_by_legs ON ants (legs);\n"
BROKEN = "ALTER TABLE ants ADD COLUMN weight REAL;\nCREATE INDEX x ON bees (legs);\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Migrations of a smaller world: one file so far."""
    path = tmp_path / "migrations"
    path.mkdir()
    (path / "0001_ants.sql").write_text(FIRST)
    return path


@pytest.fixture
def empty_postgres(postgres_server: str) -> Iterator[str]:
    """The URL of a database with nothing in it."""
    name = f"hubbub_{uuid4().hex}"
    with psycopg.connect(postgres_server, autocommit=True) as db:
        db.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        yield url_of(postgres_server, name)
        db.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def migrate_sqlite(data: Path, migrations: Path) -> None:
    with closing(apsw.Connection(str(data / DATABASE))) as db:
        migrate.migrate_sqlite(db, data, migrations=migrations)


def migrate_postgres(url: str, migrations: Path) -> int:
    with psycopg.connect(url) as db:
        return migrate.migrate_postgres(db, migrations=migrations)


def shape(file: Path) -> tuple[object, list[object]]:
    """The version of a SQLite database, and everything its schema says."""
    with closing(apsw.Connection(str(file))) as db:
        return db.pragma("user_version"), list(
            db.execute("SELECT name, sql FROM sqlite_schema ORDER BY name")
        )


def test_a_new_database_gets_the_newest_version(tmp_path: Path) -> None:
    """A folder without a database gets one of this version, and a second start changes nothing."""
    SQLite.open(tmp_path).close()
    first = shape(tmp_path / DATABASE)
    SQLite.open(tmp_path).close()

    assert first[0] == max(migration.number for migration in migrate.known())
    assert shape(tmp_path / DATABASE) == first
    assert not (tmp_path / migrate.BACKUPS).exists()


def test_the_files_are_numbered_from_one_without_a_gap() -> None:
    """The migrations are 0001, 0002 and so on, each number once."""
    assert [migration.number for migration in migrate.known()] == list(range(1, len(migrate.known()) + 1))


def test_an_old_database_is_backed_up_and_brought_forward(tmp_path: Path, folder: Path) -> None:
    """Before an existing database is changed, a copy of it as it was is put into backups/."""
    migrate_sqlite(tmp_path, folder)
    before = shape(tmp_path / DATABASE)
    (folder / "0002_weight.sql").write_text(SECOND)

    migrate_sqlite(tmp_path, folder)

    (backup,) = (tmp_path / migrate.BACKUPS).iterdir()
    assert shape(backup) == before
    assert backup.name.startswith("version-0001-")
    version, schema = shape(tmp_path / DATABASE)
    assert version == 2
    assert "ants_by_legs" in str(schema)


def test_a_migration_that_fails_changes_nothing(tmp_path: Path, folder: Path) -> None:
    """When one statement of one file fails, version and tables are as before, those of earlier files too."""
    migrate_sqlite(tmp_path, folder)
    before = shape(tmp_path / DATABASE)
    (folder / "0002_weight.sql").write_text(SECOND)
    (folder / "0003_broken.sql").write_text(BROKEN)

    with pytest.raises(apsw.SQLError):
        migrate_sqlite(tmp_path, folder)

    assert shape(tmp_path / DATABASE) == before


def test_a_newer_database_is_refused(tmp_path: Path, folder: Path) -> None:
    """A database that a newer program has migrated is left alone; the sentence names both versions."""
    (folder / "0002_weight.sql").write_text(SECOND)
    migrate_sqlite(tmp_path, folder)
    (folder / "0002_weight.sql").unlink()

    with pytest.raises(StoreRefused, match="at version 2 and this program knows versions up to 1"):
        migrate_sqlite(tmp_path, folder)


def test_a_changed_migration_is_refused(tmp_path: Path, folder: Path) -> None:
    """A database that was made by another text of the same file is left alone; the sentence names the file."""
    migrate_sqlite(tmp_path, folder)
    (folder / "0001_ants.sql").write_text(FIRST.replace("legs", "feet"))

    with pytest.raises(StoreRefused, match=r"different 0001_ants\.sql"):
        migrate_sqlite(tmp_path, folder)


def test_a_strangers_database_is_refused(tmp_path: Path) -> None:
    """A database with tables that are not ours is not touched, and the folder is free afterwards."""
    with closing(apsw.Connection(str(tmp_path / DATABASE))) as db:
        db.execute("CREATE TABLE recipes (name TEXT)")
    before = shape(tmp_path / DATABASE)

    for _attempt in range(2):
        with pytest.raises(StoreRefused, match="tables that hubbub did not make"):
            SQLite.open(tmp_path)

    assert shape(tmp_path / DATABASE) == before


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    """Something else by the name of the database is refused with a sentence, and stays as it is."""
    (tmp_path / DATABASE).write_bytes(b"not a database " * 1000)

    with pytest.raises(StoreUnavailable, match="is not a database; nothing was changed"):
        SQLite.open(tmp_path)

    assert (tmp_path / DATABASE).read_bytes() == b"not a database " * 1000


@pytest.mark.parametrize("table", ["", "CREATE TABLE recipes (name TEXT)"])
def test_postgres_is_not_migrated_by_opening_it(empty_postgres: str, tmp_path: Path, table: str) -> None:
    """A PostgreSQL database of an older version, or of others, is refused by a sentence that names the command."""
    if table:
        with psycopg.connect(empty_postgres) as db:
            db.execute(table.encode())
    else:
        migrate_postgres(empty_postgres, older(tmp_path, 1))
    with pytest.raises(StoreRefused, match="run: hubbub migrate"):
        Postgres.open(empty_postgres)


def test_hubs_that_start_at_once_on_an_empty_database_prepare_it_once(
    empty_postgres: str, tmp_path: Path
) -> None:
    """Nobody need prepare an empty PostgreSQL database: of several hubs one does, and all serve one world."""

    def start(number: int) -> str:
        hub = Hub(Settings(data=tmp_path / str(number), database=empty_postgres, port=0, no_node=True))
        with serving(hub):
            secret = (tmp_path / str(number) / OWNER_TOKEN).read_text("utf-8").strip()
            return str(hub.store.read_now(SYSTEM, lambda tx: access.authenticate(tx, secret)).user_id)

    with ThreadPoolExecutor(3) as threads:
        owners = list(threads.map(start, range(3)))

    assert len(set(owners)) == 1
    with psycopg.connect(empty_postgres) as db:
        numbers = [number for (number,) in db.execute("SELECT number FROM migrations ORDER BY number")]
        assert numbers == [migration.number for migration in migrate.known()]
        assert db.execute("SELECT slug FROM projects").fetchall() == [("default",)]


def test_an_empty_database_that_may_not_be_prepared_says_so(empty_postgres: str) -> None:
    """A user who may make no tables is told what is missing, in one sentence."""
    with psycopg.connect(empty_postgres) as db:
        db.execute("DROP SCHEMA public")
    with pytest.raises(StoreRefused, match="may make no tables in it; grant CREATE"):
        Postgres.open(empty_postgres)


def test_postgres_is_migrated_by_asking_for_it(empty_postgres: str) -> None:
    """`migrate` says the version it has reached, may be run again, and then the store opens."""
    newest = max(migration.number for migration in migrate.known())

    assert Postgres.migrate(empty_postgres) == newest
    assert Postgres.migrate(empty_postgres) == newest
    with closing(Postgres.open(empty_postgres)) as store:
        assert store.read_now(SYSTEM, lambda tx: tx.all("SELECT * FROM users")) == []


def test_migrating_again_counts_inboxes_anew(own_database: str) -> None:
    """Rows that a hub of an older version did not count after a migration are counted when `migrate` is run again."""
    with closing(Postgres.open(own_database)) as store:
        project_id = store.write_now(SYSTEM, lambda tx: projects.create(tx, "here")).id
        store.write_now(SYSTEM, lambda tx: agents.meet(tx, project_id, "bob"))
        store.write_now(SYSTEM, lambda tx: messages.send(tx, project_id, sender="hub", to="bob", body="x"))
        for change in ("DELETE FROM inbox_tally", "UPDATE inbox_tally SET pending = 7, unread = 9"):
            store.write_now(SYSTEM, lambda tx, change=change: tx.run(change))  # type: ignore[misc]
            Postgres.migrate(own_database)
            for count in (inbox.pending, inbox.unread):
                assert store.read_now(SYSTEM, partial(count, project_id=project_id, recipient="bob")) == 1


def test_two_programs_migrate_postgres_in_turns(empty_postgres: str) -> None:
    """Several programs that migrate one database at once all succeed, and each file is applied once."""
    with ThreadPoolExecutor(4) as threads:
        versions = list(threads.map(Postgres.migrate, [empty_postgres] * 4))

    assert len(set(versions)) == 1
    with psycopg.connect(empty_postgres) as db:
        numbers = [number for (number,) in db.execute("SELECT number FROM migrations ORDER BY number")]
    assert numbers == [migration.number for migration in migrate.known()]


def test_a_migration_that_fails_on_postgres_changes_nothing(own_database: str, folder: Path) -> None:
    """On PostgreSQL too, one failing statement leaves the version and all tables as they were."""
    for file in migrate.FOLDER.glob("*.sql"):
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / "0001_ants.sql").unlink()
    (folder / "9998_ants.sql").write_text(FIRST)
    (folder / "9999_broken.sql").write_text(BROKEN)

    with pytest.raises(psycopg.errors.UndefinedTable):
        migrate_postgres(own_database, folder)

    with psycopg.connect(own_database) as db:
        assert db.execute("SELECT to_regclass('ants')").fetchone() == (None,)
        migrate.check_postgres(db)


def test_a_newer_postgres_database_is_refused(own_database: str) -> None:
    """A newer PostgreSQL database is neither opened nor migrated, and the sentence does not advise to migrate."""
    with psycopg.connect(own_database) as db:
        db.execute("INSERT INTO migrations VALUES (9999, '9999_future.sql', '', 0)")

    for opening in (Postgres.open, Postgres.migrate):
        with pytest.raises(StoreRefused, match="at version 9999"):
            opening(own_database)


def test_sqlites_words_are_spelled_for_postgres() -> None:
    """The table of spellings turns the types and table options of SQLite into those of PostgreSQL."""
    text = """CREATE TABLE ants (seq INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB, legs INTEGER NOT NULL) STRICT;
    CREATE TABLE bees (id BLOB PRIMARY KEY, weight REAL, name TEXT COLLATE BINARY) STRICT, WITHOUT ROWID;"""

    spelled = """CREATE TABLE ants (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id uuid, legs bigint NOT NULL);
    CREATE TABLE bees (id uuid PRIMARY KEY, weight double precision, name TEXT COLLATE "C");"""
    assert migrate.spell_for_postgres(text) == spelled


Fill = Callable[[Connection], None]
Bring = Callable[
    ..., Store
]  # fills a database of an old version, 1 by default, and opens it with this program


def older(parent: Path, version: int) -> Path:
    """A folder of the migrations up to that version."""
    folder = parent / f"version-{version}"
    folder.mkdir()
    for each in migrate.known()[:version]:
        (folder / each.name).write_bytes((migrate.FOLDER / each.name).read_bytes())
    return folder


@pytest.fixture
def bring_sqlite(tmp_path: Path) -> Iterator[Bring]:
    data, opened = tmp_path / "data", ExitStack()
    data.mkdir()

    def bring(fill: Fill, version: int = 1) -> Store:
        migrate_sqlite(data, older(tmp_path, version))
        writer = SQLiteConnection(data / DATABASE, timedelta(seconds=5))
        fill(writer)
        writer.db.close()
        return opened.enter_context(closing(SQLite.open(data)))

    with opened:
        yield bring


@pytest.fixture
def bring_postgres(empty_postgres: str, tmp_path: Path) -> Iterator[Bring]:
    opened = ExitStack()

    def bring(fill: Fill, version: int = 1) -> Store:
        migrate_postgres(empty_postgres, older(tmp_path, version))
        with Db.connect(empty_postgres) as db:
            connection = PostgresConnection(db)
            connection.begin(WRITE)
            fill(connection)
            connection.commit()
        Postgres.migrate(empty_postgres)
        return opened.enter_context(closing(Postgres.open(empty_postgres)))

    with opened:
        yield bring


@pytest.fixture(params=["sqlite", "postgres"])
def bring(request: pytest.FixtureRequest) -> Bring:
    """Brings what a test fills in from an old version to this one; on both engines."""
    way: Bring = request.getfixturevalue(f"bring_{request.param}")
    return way


OLD_PROJECT = """
    INSERT INTO projects (id, slug, name, conflict_mode, heartbeat_interval, heartbeat_ttl, created_at)
    VALUES (:id, :slug, :slug, 'warn', 60, 180, :at)"""
OLD_TASK = """
    INSERT INTO tasks (id, project_id, number, sender, assignee, addressed, title, description, priority, status,
                       parent_id, epoch, attempt, leased, delivery_id, created_at, updated_at, delivered_at)
    VALUES (:id, :project_id, :number, 'ann', 'bob', 1, 'count', 'count', 2, 'delivered', :parent_id, 1, 1, 0, :id,
            5, 5, 5)"""
OLD_COUNTER = "INSERT INTO counters (project_id, noun, value) VALUES (:project_id, 'task', :value)"
OLD_MESSAGE = """
    INSERT INTO messages (id, project_id, number, kind, sender, recipient, body, in_reply_to, created_at)
    VALUES (:id, :project_id, :number, 'message', 'ann', 'bob', 'hello', :in_reply_to, 5)"""


def look(store: Store, operation: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
    return store.read_now(SYSTEM, lambda tx: operation(tx, *args, **kwargs))


@dataclass
class Old:
    """A world of version 1: two projects with messages, and tasks that descend from each other."""

    projects: list[UUID] = field(default_factory=lambda: [new_id(), new_id()])
    tasks: dict[UUID, int] = field(default_factory=dict)  # with how many ancestors each has
    messages: list[UUID] = field(default_factory=list)

    def fill(self, db: Connection) -> None:
        for number, project_id in enumerate(self.projects):
            db.query(OLD_PROJECT, {"id": project_id, "slug": f"p{number}", "at": 1000 + number})
        self.add_tasks(db, {1: None, 2: 1, 3: 2, 4: 3, 5: None, 6: 1})
        db.query(OLD_COUNTER, {"project_id": self.projects[0], "value": len(self.tasks)})
        for number, answers in enumerate([None, *self.tasks], start=1):
            self.messages.append(message_id := new_id())
            values = {"project_id": self.projects[0], "number": number, "in_reply_to": answers}
            db.query(OLD_MESSAGE, {"id": message_id, **values})

    def add_tasks(self, db: Connection, parents: dict[int, int | None]) -> None:
        ids = {number: new_id() for number in parents}
        for number, parent in parents.items():
            parent_id = ids[parent] if parent else None
            values = {"project_id": self.projects[0], "number": number, "parent_id": parent_id}
            db.query(OLD_TASK, {"id": ids[number], **values})
            self.tasks[ids[number]] = self.tasks[parent_id] + 1 if parent_id else 0


def test_what_was_there_before_runs_is_in_the_first(bring: Bring) -> None:
    """Each project of version 1 gets a run without a name, and in it are all tasks and messages that it has."""
    old = Old()
    store = bring(old.fill)

    for project_id in old.projects:
        run = look(store, runs.current, project_id)
        assert (run.project_id, run.name) == (project_id, None)
        mine = project_id == old.projects[0]
        assert [task.id for task in look(store, tasks.of_run, run)] == (list(old.tasks) if mine else [])
        assert [message.id for message in look(store, messages.of_run, run)] == (old.messages if mine else [])


def test_what_was_derived_knows_how_far(bring: Bring) -> None:
    """Every task of version 1 knows how many ancestors it has; it needs nothing, and is else what it was."""
    old = Old()
    store = bring(old.fill)
    for task_id, depth in old.tasks.items():
        task = look(store, rows.find, task_id)
        assert task is not None
        assert (task.depth, task.gated, task.external_id, task.reason) == (depth, False, None, None)
        assert (task.status, task.assignee, task.epoch, task.delivery_id) == ("delivered", "bob", 1, task_id)
    assert max(old.tasks.values()) == 3


def test_an_old_project_goes_on(bring: Bring) -> None:
    """In a project of version 1 work goes on: what is new joins what was there, in a run that may then be named."""
    old = Old()
    store = bring(old.fill)
    project_id = old.projects[0]

    new = store.write_now(SYSTEM, lambda tx: tasks.send(tx, project_id, sender="ann", to=None, text="more"))
    run = store.write_now(SYSTEM, lambda tx: runs.start(tx, project_id, "monday", by="ann"))
    assert [task.id for task in look(store, tasks.of_run, run)] == [*old.tasks, new.id]


OLD_LETTER = """
    INSERT INTO deliveries (id, project_id, recipient, message_id, priority, stored_at, seen_at, acked_at)
    VALUES (:id, :project_id, 'bob', :message_id, 2, 5, :seen_at, :acked_at)"""


def test_what_waited_is_counted(bring: Bring) -> None:
    """An inbox of version 1 counts what waits in it, and of that what nobody has looked at."""
    old = Old()

    def fill(db: Connection) -> None:
        old.fill(db)
        seen_and_acked = [(None, None), (None, None), (6, None), (6, 7)]
        for message_id, (seen_at, acked_at) in zip(old.messages, seen_and_acked, strict=False):
            values = {"project_id": old.projects[0], "message_id": message_id, "id": new_id()}
            db.query(OLD_LETTER, {**values, "seen_at": seen_at, "acked_at": acked_at})

    store = bring(fill)
    told = [look(store, count, old.projects[0], "bob") for count in (inbox.pending, inbox.unread)]
    assert told == [3, 2]


OLD_WEBHOOK = """
    INSERT INTO webhooks (id, project_id, url, events, secret, after_tx, after_seq, created_by, created_at, removed_at)
    VALUES (:id, :project_id, 'https://example.org/T0PSECRET', '["*"]', 'whsec_1', 0, 0, 'ann', 5, :removed_at)"""


def test_secrets_of_webhooks_that_were_removed_before_are_wiped(bring: Bring) -> None:
    """A database in which they were kept is freed of them; of a webhook that is in use nothing changes."""
    project_id, removed, used = new_id(), new_id(), new_id()

    def fill(db: Connection) -> None:
        db.query(OLD_PROJECT, {"id": project_id, "slug": "p", "at": 1000})
        for webhook_id, removed_at in ((removed, 7), (used, None)):
            db.query(OLD_WEBHOOK, {"id": webhook_id, "project_id": project_id, "removed_at": removed_at})

    rows = look(bring(fill, 14), lambda tx: tx.all("SELECT id, url, secret FROM webhooks"))

    kept = {row["id"]: (row["url"], row["secret"]) for row in rows}
    assert kept == {removed: ("", ""), used: ("https://example.org/T0PSECRET", "whsec_1")}


OLD_SENT = """
    INSERT INTO tasks (id, project_id, number, sender, addressed, title, description, priority, status, epoch, attempt,
                       leased, created_at, updated_at)
    VALUES (:id, :project_id, :number, :sender, 0, 'count', 'count', 2, 'queued', 1, 1, 0, 5, 5)"""
OLD_ACTIVITY = """
    INSERT INTO activity (tx, project_id, at, kind, actor, task_id, detail)
    VALUES (1, :project_id, 5, :kind, :actor, :task_id, '{}')"""
OLD_ANSWER = """
    INSERT INTO messages (id, project_id, number, kind, sender, recipient, body, in_reply_to, created_at)
    VALUES (:id, :project_id, :number, 'reply', 'bob', :recipient, 'done', :in_reply_to, 5)"""


def test_the_authors_of_old_tasks_are_found_in_the_log(bring: Bring) -> None:
    """A task that a person sent before gets their name from the log, and so do its answers; others get none."""
    project_id, by_eve, by_nobody, by_ann = new_id(), new_id(), new_id(), new_id()
    sent = [(by_eve, "hub", "eve"), (by_nobody, "hub", "hub"), (by_ann, "ann", "ann")]
    answers = {each: new_id() for each, _sender, _actor in sent}

    def fill(db: Connection) -> None:
        db.query(OLD_PROJECT, {"id": project_id, "slug": "p", "at": 1000})
        for number, (task_id, sender, actor) in enumerate(sent, start=1):
            of = {"project_id": project_id, "number": number}
            db.query(OLD_SENT, {**of, "id": task_id, "sender": sender})
            for kind, by in (("task.sent", actor), ("task.noted", "mallory")):
                values = {"project_id": project_id, "kind": kind, "actor": by, "task_id": task_id}
                db.query(OLD_ACTIVITY, values)
            values = {"id": answers[task_id], "recipient": sender, "in_reply_to": task_id}
            db.query(OLD_ANSWER, {**of, **values})

    store = bring(fill, 47)

    found = [look(store, rows.find, task_id) for task_id, _sender, _actor in sent]
    assert [task and (task.author, task.sent_by) for task in found] == [
        ("eve", "eve"),
        (None, "hub"),
        (None, "ann"),
    ]
    told = [look(store, letters.find, answers[task_id]) for task_id, _sender, _actor in sent]
    assert [each and each.sent_to for each in told] == ["eve", "hub", "ann"]


LITE_COLUMNS = """
    SELECT t.name || '.' || c.name, iif(c."notnull" OR c.pk, 'needed', 'may be empty')
    FROM pragma_table_list AS t, pragma_table_info(t.name) AS c
    WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite%'"""
LITE_INDEXES = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
COLUMNS = """
    SELECT table_name || '.' || column_name, CASE is_nullable WHEN 'NO' THEN 'needed' ELSE 'may be empty' END
    FROM information_schema.columns WHERE table_schema = 'public'"""
INDEXES = """
    SELECT indexname, indexdef FROM pg_indexes
    WHERE schemaname = 'public' AND indexname !~ '_(pkey|key)$'"""


def test_both_engines_have_the_same_tables(tmp_path: Path, own_database: str) -> None:
    """Tables, columns, whether they may be empty, and indexes are the same on SQLite and PostgreSQL.

    Only the log's order is PostgreSQL's alone: SQLite's is that of its key.
    """
    SQLite.open(tmp_path).close()
    with closing(apsw.Connection(str(tmp_path / DATABASE))) as lite, psycopg.connect(own_database) as db:
        columns = {str(name): empty for name, empty in lite.execute(LITE_COLUMNS)}
        indexes = {str(name): indexed(text) for name, text in lite.execute(LITE_INDEXES)}

        assert dict(db.execute(COLUMNS).fetchall()) == columns
        found = {name: indexed(text) for name, text in db.execute(INDEXES)}
        assert found == {**indexes, "activity_in_order": ["tx", "seq"]}


def indexed(definition: object) -> list[str]:
    """The words of what an index sorts by, as both engines write them."""
    found = re.search(r"\((.*?)\)\s*(WHERE|$)", str(definition).replace("::bigint", ""), re.DOTALL)
    assert found is not None
    return re.findall(r"\w+", found[1])
