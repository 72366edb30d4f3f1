"""SQL for predicted merges: the heads of branches, and git's judgements on pairs of them."""

from uuid import UUID

from hubbub.model.agents.merges import BranchHead, MergeForecast
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_HEADS = Table("branch_heads", BranchHead)
_FORECASTS = Table("merge_forecasts", MergeForecast)
_OF_BRANCH = """project_id = :project_id AND repository = :repository
    AND ((one_agent = :agent AND one_branch = :branch) OR (other_agent = :agent AND other_branch = :branch))"""


def put_head(tx: Tx, head: BranchHead) -> None:
    tx.run(_HEADS.putting("project_id", "repository", "agent", "branch"), **_HEADS.row(head))


def head(tx: Tx, project_id: UUID, repository: str, agent: str, branch: str) -> BranchHead | None:
    row = tx.one(
        f"""SELECT {_HEADS.selected} FROM branch_heads WHERE project_id = :project_id AND repository = :repository
            AND agent = :agent AND branch = :branch""",
        project_id=project_id,
        repository=repository,
        agent=agent,
        branch=branch,
    )
    return _HEADS.record(row) if row else None


def newest_head(tx: Tx, project_id: UUID, agent: str) -> BranchHead | None:
    """Return the branch that an agent committed to last, in any repository."""
    row = tx.one(
        f"""SELECT {_HEADS.selected} FROM branch_heads WHERE project_id = :project_id AND agent = :agent
            ORDER BY told_at DESC LIMIT 1""",
        project_id=project_id,
        agent=agent,
    )
    return _HEADS.record(row) if row else None


def heads_of_others(tx: Tx, project_id: UUID, repository: str, agent: str, limit: int) -> list[BranchHead]:
    """List the heads of other agents' branches in the repository, newest first."""
    rows = tx.all(
        f"""SELECT {_HEADS.selected} FROM branch_heads
            WHERE project_id = :project_id AND repository = :repository AND agent <> :agent
            ORDER BY told_at DESC LIMIT :limit""",
        project_id=project_id,
        repository=repository,
        agent=agent,
        limit=limit,
    )
    return [_HEADS.record(row) for row in rows]


def drop_head(tx: Tx, project_id: UUID, repository: str, agent: str, branch: str) -> None:
    named = {"project_id": project_id, "repository": repository, "agent": agent, "branch": branch}
    tx.run(
        """DELETE FROM branch_heads WHERE project_id = :project_id AND repository = :repository
           AND agent = :agent AND branch = :branch""",
        **named,
    )


def put_forecast(tx: Tx, forecast: MergeForecast) -> None:
    key = ("project_id", "repository", "one_agent", "one_branch", "other_agent", "other_branch")
    tx.run(_FORECASTS.putting(*key), **_FORECASTS.row(forecast))


def forecasts_of(tx: Tx, project_id: UUID, repository: str, agent: str, branch: str) -> list[MergeForecast]:
    """List git's judgements on the pairs that the branch is in."""
    rows = tx.all(
        f"SELECT {_FORECASTS.selected} FROM merge_forecasts WHERE {_OF_BRANCH}",
        project_id=project_id,
        repository=repository,
        agent=agent,
        branch=branch,
    )
    return [_FORECASTS.record(row) for row in rows]


def conflicts(tx: Tx, project_id: UUID) -> list[MergeForecast]:
    """List the pairs of the project's branches that would conflict, newest first."""
    rows = tx.all(
        f"""SELECT {_FORECASTS.selected} FROM merge_forecasts
            WHERE project_id = :project_id AND files <> '[]' ORDER BY found_at DESC""",
        project_id=project_id,
    )
    return [_FORECASTS.record(row) for row in rows]


def drop_forecast(tx: Tx, forecast: MergeForecast) -> None:
    tx.run(
        """DELETE FROM merge_forecasts WHERE project_id = :project_id AND repository = :repository
           AND one_agent = :one_agent AND one_branch = :one_branch
           AND other_agent = :other_agent AND other_branch = :other_branch""",
        project_id=forecast.project_id,
        repository=forecast.repository,
        one_agent=forecast.one_agent,
        one_branch=forecast.one_branch,
        other_agent=forecast.other_agent,
        other_branch=forecast.other_branch,
    )


def old_heads(tx: Tx, before: int) -> list[BranchHead]:
    """List the heads that were reported before then."""
    rows = tx.all(f"SELECT {_HEADS.selected} FROM branch_heads WHERE told_at < :before", before=before)
    return [_HEADS.record(row) for row in rows]


def heads_of(tx: Tx, project_id: UUID, agent: str) -> list[BranchHead]:
    """List the heads of the agent's branches."""
    rows = tx.all(
        f"SELECT {_HEADS.selected} FROM branch_heads WHERE project_id = :project_id AND agent = :agent",
        project_id=project_id,
        agent=agent,
    )
    return [_HEADS.record(row) for row in rows]
