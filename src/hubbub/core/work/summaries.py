"""Summaries of runs. A summary is stored by the run's name, which the hub need not have seen."""

from uuid import UUID

from hubbub.model.errors import Conflict, existing
from hubbub.model.work.memory import RunSummary
from hubbub.store.tx import Tx
from hubbub.store.work import summaries

# These need no rule of their own, so they are the store's functions.
versions = summaries.of_project


def save(
    tx: Tx, project_id: UUID, run: str, agent: str, text: str, *, version: int | None = None
) -> RunSummary:
    """Store `agent`'s summary of `run`, in place of the last one. Records `summary.saved`.

    With a `version`, only if that is the present one, 0 for none; raises `Conflict` if it is not.
    """
    saved = summaries.put(tx, project_id, run, agent, text)
    if version not in (None, saved.version - 1):
        raise Conflict(f"the summary is at version {saved.version - 1}, not {version}; read it and try again")
    tx.record(
        "summary.saved", project_id=project_id, actor=agent, detail={"run": run, "version": saved.version}
    )
    return saved


def names(tx: Tx, project_id: UUID) -> list[str]:
    """List the runs with a summary, latest first by their first summary."""
    return [run for run, _version in versions(tx, project_id)]


def find(tx: Tx, project_id: UUID, run: str) -> RunSummary:
    """Return the summary of that run. Raises `NotFound`."""
    return existing(summaries.find(tx, project_id, run), "summary", run)
