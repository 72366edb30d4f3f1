"""SQL for predicted merges: the heads of branches, and git's judgements on pairs of them."""

from uuid import UUID

from hubbub.model.agents.merges import BranchHead, MergeForecast
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_HEADS = Table("branch_heads", BranchHead, key=("project_id", "repository", "agent", "branch"))
_FORECASTS = Table(
    "merge_forecasts",
    MergeForecast,
    key=("project_id", "repository", "one_agent", "one_branch", "other_agent", "other_branch"),
)
_OF_BRANCH = """project_id = :project_id AND repository = :repository
    AND ((one_agent = :agent AND one_branch = :branch) OR (other_agent = :agent AND other_branch = :branch))"""


put_head = _HEADS.put
put_forecast = _FORECASTS.put


def head(tx: Tx, project_id: UUID, repository: str, agent: str, branch: str) -> BranchHead | None:
    return _HEADS.find(tx, project_id=project_id, repository=repository, agent=agent, branch=branch)


def newest_head(tx: Tx, project_id: UUID, agent: str) -> BranchHead | None:
    """Return the branch that an agent committed to last, in any repository."""
    return _HEADS.one(
        tx,
        "WHERE project_id = :project_id AND agent = :agent ORDER BY told_at DESC LIMIT 1",
        project_id=project_id,
        agent=agent,
    )


def heads_of_others(tx: Tx, project_id: UUID, repository: str, agent: str, limit: int) -> list[BranchHead]:
    """List the heads of other agents' branches in the repository, newest first."""
    return _HEADS.all(
        tx,
        """WHERE project_id = :project_id AND repository = :repository AND agent <> :agent
           ORDER BY told_at DESC LIMIT :limit""",
        project_id=project_id,
        repository=repository,
        agent=agent,
        limit=limit,
    )


def drop_head(tx: Tx, project_id: UUID, repository: str, agent: str, branch: str) -> None:
    named = {"project_id": project_id, "repository": repository, "agent": agent, "branch": branch}
    tx.run(
        """DELETE FROM branch_heads WHERE project_id = :project_id AND repository = :repository
           AND agent = :agent AND branch = :branch""",
        **named,
    )


def forecasts_of(tx: Tx, project_id: UUID, repository: str, agent: str, branch: str) -> list[MergeForecast]:
    """List git's judgements on the pairs that the branch is in."""
    return _FORECASTS.all(
        tx, f"WHERE {_OF_BRANCH}", project_id=project_id, repository=repository, agent=agent, branch=branch
    )


def conflicts(tx: Tx, project_id: UUID) -> list[MergeForecast]:
    """List the pairs of the project's branches that would conflict, newest first."""
    return _FORECASTS.all(
        tx, "WHERE project_id = :project_id AND files <> '[]' ORDER BY found_at DESC", project_id=project_id
    )


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
    return _HEADS.all(tx, "WHERE told_at < :before", before=before)


def heads_of(tx: Tx, project_id: UUID, agent: str) -> list[BranchHead]:
    """List the heads of the agent's branches."""
    return _HEADS.all(
        tx, "WHERE project_id = :project_id AND agent = :agent", project_id=project_id, agent=agent
    )
