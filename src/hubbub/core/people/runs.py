"""Runs: stretches of work in a project. Tasks, messages, artifacts and reviews belong to one.

A project always has a *current* run, for everything that names no run. It has no name until somebody starts, or asks
for, the first run by name; that becomes its name, so the earlier work shows in it.
"""

import secrets
from datetime import UTC, datetime
from uuid import UUID

from hubbub.model.ids import new_id
from hubbub.model.records import Run
from hubbub.store.people import projects, runs
from hubbub.store.tx import MustWrite, Tx

# These need no rule of their own, so they are the store's functions.
current = runs.current
of_project = runs.of_project


def begin(tx: Tx, project_id: UUID) -> Run:
    """Make the first run of a new project, without a name."""
    run = _insert(tx, project_id, None)
    projects.set_run(tx, project_id, run.id)
    return run


def find(tx: Tx, project_id: UUID, name: str | None) -> Run | None:
    """Return the run of that name, or the current one for None; None if it has yet to be made or named."""
    if name is not None:
        return runs.find_by_name(tx, project_id, name)
    current = runs.current(tx, project_id)
    return current if current.name is not None else None


def resolve(tx: Tx, project_id: UUID, name: str | None) -> Run:
    """Return the run of that name, or the current one for None; create or name it if need be. Records `run.opened`."""
    known = find(tx, project_id, name)
    if known is None and tx.is_read:
        raise MustWrite
    return known or _open(tx, project_id, name)


def _open(tx: Tx, project_id: UUID, name: str | None) -> Run:
    current = runs.current(tx, project_id, lock=True)
    known = find(tx, project_id, name)
    if known is not None:  # by another writer, while we waited for the lock
        return known
    if current.name is None:
        run = runs.rename(tx, current.id, name or _made_up_name(tx.now))
    else:
        assert name is not None  # None is the current run, which always exists
        run = _insert(tx, project_id, name)
    tx.record("run.opened", project_id=project_id, detail={"run": run.name})
    return run


def start(tx: Tx, project_id: UUID, name: str, *, by: str) -> Run:
    """Make the run with that name the project's current one; an old run shows its rows again.

    Records `run.started`.
    """
    run = resolve(tx, project_id, name)
    projects.set_run(tx, project_id, run.id)
    tx.record("run.started", project_id=project_id, actor=by, detail={"run": name})
    return run


def write_notebook(tx: Tx, run: Run, text: str, *, by: str) -> None:
    """Store the notebook of the run's orchestrator."""
    runs.write_notebook(tx, run.id, text)
    tx.record("run.noted", project_id=run.project_id, actor=by, detail={"run": run.name})


def _insert(tx: Tx, project_id: UUID, name: str | None) -> Run:
    run = Run(id=new_id(), project_id=project_id, name=name, notebook=None, created_at=tx.now)
    return runs.insert(tx, run)


def _made_up_name(now: int) -> str:
    return f"{datetime.fromtimestamp(now / 1000, UTC):%Y-%m-%d-%H%M%S}-{secrets.token_hex(2)}"
