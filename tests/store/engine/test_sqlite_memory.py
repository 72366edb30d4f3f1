"""What SQLite's writer remembers of tables that seldom change: it never outlives a change."""

from collections.abc import Sequence
from uuid import UUID

import apsw
import pytest

from hubbub.core.people import access, projects
from hubbub.model.errors import Conflict, Forbidden, ProjectDenied
from hubbub.model.ids import new_id
from hubbub.model.people.rights import SYSTEM, Actor, Right, Role
from hubbub.store.engine import sqlite_memory
from hubbub.store.engine.sqlite import SQLite
from hubbub.store.people import projects as rows
from hubbub.store.tx import Operation, Row, Tx
from tests.store.engine.test_engines import add_user
from tests.store.engine.test_short_writes import short

NAMES = "SELECT name FROM agents WHERE project_id = :project_id ORDER BY name"


def owned_project(tx: Tx) -> tuple[UUID, Actor]:
    """A project, and the person whose it is."""
    user_id = add_user("owner")(tx)
    owner = Actor(token_id=None, user_id=user_id, user_name="owner", owns_hub=True)
    tx.actor = owner
    return projects.create(tx, "default").id, owner


@pytest.fixture
def project_id(sqlite_store: SQLite) -> UUID:
    return sqlite_store.write_now(SYSTEM, owned_project)[0]


def answer(project_id: UUID) -> Operation[Sequence[Row]]:
    return lambda tx: tx.all(NAMES, project_id=project_id)


def names(project_id: UUID) -> Operation[list[str]]:
    return lambda tx: tx.column(NAMES, project_id=project_id)


def change(sql: str, project_id: UUID) -> Operation[None]:
    return lambda tx: tx.run(sql, **({"project_id": project_id} if ":project_id" in sql else {}))


INSERT = "INSERT INTO agents (project_id, name, created_at) VALUES (:project_id, 'ann', 1)"


def test_an_answer_is_kept_from_turn_to_turn(sqlite_store: SQLite, project_id: UUID) -> None:
    """A query about a table that seldom changes is asked once, however many calls ask it, until that table changes."""
    first = sqlite_store.write_now(SYSTEM, answer(project_id))
    sqlite_store.write_now(SYSTEM, add_user("bob"))

    assert sqlite_store.write_now(SYSTEM, answer(project_id)) is first

    sqlite_store.write_now(SYSTEM, change(INSERT, project_id))
    assert sqlite_store.write_now(SYSTEM, names(project_id)) == ["ann"]


@pytest.mark.parametrize(
    ("sql", "then"),
    [
        (INSERT.replace("'ann'", "'bob'"), ["ann", "bob"]),
        ("INSERT OR IGNORE" + INSERT.removeprefix("INSERT").replace("'ann'", "'bob'"), ["ann", "bob"]),
        (f"{INSERT} ON CONFLICT (project_id, name) DO UPDATE SET name = 'cid'", ["cid"]),
        ("UPDATE agents SET name = 'cid' WHERE project_id = :project_id", ["cid"]),
        ("WITH one AS (SELECT 'ann' AS n) UPDATE agents SET name = 'cid' WHERE name IN one", ["cid"]),
        ("DELETE FROM agents WHERE project_id = :project_id AND name = 'ann' RETURNING name", []),
        ("REPLACE" + INSERT.removeprefix("INSERT").replace("'ann'", "'bob'"), ["ann", "bob"]),
    ],
)
@pytest.mark.parametrize("by", ["query", "tuples", "each"])
def test_a_change_is_seen_at_once(
    sqlite_store: SQLite, project_id: UUID, sql: str, then: list[str], by: str
) -> None:
    """Whatever the form of a statement that changes the table, the next query of the same call has the new answer."""

    def change_between(tx: Tx) -> tuple[list[str], list[str]]:
        before = names(project_id)(tx)
        values = {"project_id": project_id} if ":project_id" in sql else {}
        list(getattr(tx.db, by)(sql, values))
        return before, names(project_id)(tx)

    sqlite_store.write_now(SYSTEM, change(INSERT, project_id))

    assert sqlite_store.write_now(SYSTEM, change_between) == (["ann"], then)


@pytest.mark.parametrize("number", [1, 3])
def test_what_was_undone_is_not_remembered(sqlite_store: SQLite, project_id: UUID, number: int) -> None:
    """What a call saw of its own changes is forgotten when they are undone, alone or among others."""

    def refused(tx: Tx) -> None:
        change(INSERT, project_id)(tx)
        assert names(project_id)(tx) == ["ann"]
        raise Conflict("no")

    before = [add_user(f"user-{each}") for each in range(number - 1)]
    *_done, error, after = short(sqlite_store, *before, refused, names(project_id))

    assert isinstance(error, Conflict)
    assert after == []
    assert sqlite_store.write_now(SYSTEM, names(project_id)) == []


def test_what_could_not_be_committed_is_not_remembered(sqlite_store: SQLite, project_id: UUID) -> None:
    """What a call saw of its own changes is forgotten when their commit fails."""

    def dangling(tx: Tx) -> list[str]:
        tx.run("PRAGMA defer_foreign_keys = ON")
        tx.run(INSERT, project_id=project_id)
        tx.run(INSERT, project_id=new_id())
        return names(project_id)(tx)

    with pytest.raises(apsw.ConstraintError):
        sqlite_store.write_now(SYSTEM, dangling)

    assert sqlite_store.write_now(SYSTEM, names(project_id)) == []


def test_another_programs_change_is_seen(sqlite_store: SQLite, project_id: UUID) -> None:
    """After another program has changed the database, the next call asks anew."""
    assert sqlite_store.write_now(SYSTEM, names(project_id)) == []
    other = apsw.Connection(str(sqlite_store._file))  # where the data is
    other.execute(INSERT, {"project_id": project_id.bytes})
    other.close()

    assert sqlite_store.write_now(SYSTEM, names(project_id)) == ["ann"]


def test_who_is_no_member_any_more_is_refused(sqlite_store: SQLite) -> None:
    """A person whose membership has just ended or changed has no more rights than that, in the very next call."""
    project_id, owner = sqlite_store.write_now(SYSTEM, owned_project)
    enter: Operation[str] = lambda tx: access.enter(tx, "default", Right.WRITE).slug  # noqa: E731
    assert sqlite_store.write_now(owner, enter) == "default"

    user_id = owner.user_id or new_id()
    sqlite_store.write_now(SYSTEM, lambda tx: rows.put_member(tx, project_id, user_id, Role.VIEWER))
    with pytest.raises(Forbidden):
        sqlite_store.write_now(owner, enter)

    sqlite_store.write_now(SYSTEM, lambda tx: rows.remove_member(tx, project_id, user_id))
    with pytest.raises(ProjectDenied):
        sqlite_store.write_now(owner, enter)


def test_only_so_many_answers_are_remembered(
    sqlite_store: SQLite, project_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Past a number of answers the oldest are asked again, and those to new questions are remembered."""
    monkeypatch.setattr(sqlite_memory, "REMEMBERED", 5)
    first = sqlite_store.write_now(SYSTEM, answer(project_id))
    for _ in range(10):
        sqlite_store.write_now(SYSTEM, answer(new_id()))
    last = sqlite_store.write_now(SYSTEM, answer(project_id))

    assert last is not first
    assert sqlite_store.write_now(SYSTEM, answer(project_id)) is last


def test_nothing_changes_them_unseen(sqlite_store: SQLite) -> None:
    """No trigger, and no end of another row, changes a table of which answers are remembered."""

    def unseen(tx: Tx) -> list[str]:
        triggers = tx.column("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
        actions = tx.column(
            """SELECT m.name FROM sqlite_schema m JOIN pragma_foreign_key_list(m.name) f
               WHERE m.type = 'table' AND (f.on_delete, f.on_update) <> ('NO ACTION', 'NO ACTION')"""
        )
        return [*triggers, *(each for each in actions if each in sqlite_memory.SELDOM)]

    assert sqlite_store.read_now(SYSTEM, unseen) == []
