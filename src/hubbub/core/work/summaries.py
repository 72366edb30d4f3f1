"""What was said of runs at their end. A summary is kept by the run's name, which the hub need not have seen."""

from uuid import UUID

from hubbub.model.errors import Conflict, NotFound
from hubbub.model.work.memory import RunSummary
from hubbub.store.tx import Tx
from hubbub.store.work import summaries

# Nothing to decide: the store's own.
versions = summaries.of_project


def save(
    tx: Tx, project_id: UUID, run: str, agent: str, text: str, *, version: int | None = None
) -> RunSummary:
    """Keep what `agent` says of `run`, in the place of what was said before. Records `summary.saved`.

    With a `version` only if that is still the one there is, 0 for none; raises `Conflict` if it is not.
    """
    saved = summaries.put(tx, project_id, run, agent, text)
    if version not in (None, saved.version - 1):
        raise Conflict(f"the summary is at version {saved.version - 1}, not {version}; read it and try again")
    tx.record(
        "summary.saved", project_id=project_id, actor=agent, detail={"run": run, "version": saved.version}
    )
    return saved


def names(tx: Tx, project_id: UUID) -> list[str]:
    """The runs that have a summary, those whose first was saved last first."""
    return [run for run, _version in versions(tx, project_id)]


def find(tx: Tx, project_id: UUID, run: str) -> RunSummary:
    """The summary of that run. Raises `NotFound`."""
    summary = summaries.find(tx, project_id, run)
    if summary is None:
        raise NotFound("summary", run)
    return summary
