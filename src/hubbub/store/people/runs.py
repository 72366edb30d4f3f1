"""SQL for runs."""

from uuid import UUID

from hubbub.model.records import Run
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("runs", Run)

insert = _TABLE.insert


def find_by_name(tx: Tx, project_id: UUID, name: str) -> Run | None:
    return _TABLE.find(tx, project_id=project_id, name=name)


def current(tx: Tx, project_id: UUID, *, lock: bool = False) -> Run:
    """Return the project's current run; `lock` the project to change the run, or its name."""
    if lock:
        tx.run(f"SELECT id FROM projects WHERE id = :id {tx.db.for_update}", id=project_id)
    run = _TABLE.one(tx, "WHERE id = (SELECT run_id FROM projects WHERE id = :id)", id=project_id)
    assert run is not None  # a project has one from its creation on
    return run


def id_of_current(tx: Tx, project_id: UUID) -> UUID:
    """Return the id of the project's current run."""
    row = tx.one("SELECT run_id FROM projects WHERE id = :id", id=project_id)
    assert row is not None  # a project has one from its creation on
    run_id: UUID = row["run_id"]
    return run_id


def of_project(tx: Tx, project_id: UUID) -> list[Run]:
    """List the project's runs, newest first."""
    return _TABLE.all(tx, "WHERE project_id = :id ORDER BY created_at DESC, id DESC", id=project_id)


def rename(tx: Tx, run_id: UUID, name: str) -> Run:
    """Give the run a name."""
    return _TABLE.change(tx, "SET name = :name WHERE id = :id", id=run_id, name=name)


def write_notebook(tx: Tx, run_id: UUID, text: str) -> None:
    tx.run("UPDATE runs SET notebook = :text WHERE id = :id", id=run_id, text=text)


def lock(tx: Tx, run_id: UUID) -> None:
    """Lock the run against other writers until the transaction ends."""
    tx.run(f"SELECT id FROM runs WHERE id = :id {tx.db.for_update}", id=run_id)
