"""Whether an agent may use its next tool: the answer to the hook beside it, and to its machine."""

from uuid import UUID

from hubbub.core.limits import accounts, breakers, budgets
from hubbub.model.records import Project
from hubbub.store.tx import MustWrite, Tx


def denial(tx: Tx, project: Project, agent: str, repeats: int | None = None) -> str | None:
    """Return why an agent may use no other tool, in words for its model; None if it may.

    `repeats` counts how often it has made the same call in a row. In a read, raises `MustWrite` if that is too often.
    """
    if repeats is not None and breakers.is_too_often(tx, project, repeats):
        if tx.is_read:
            raise MustWrite
        breakers.repeated(tx, project, agent, repeats)
    return breakers.denial(tx, project.id, agent) or budgets.denial(tx, project.id, agent)


def require_going(tx: Tx, project: Project, agent: str, task_id: UUID | None) -> None:
    """Raise `MayNotBegin` if the agent may not go on, or not with that task."""
    breakers.require_going(tx, project.id, agent)
    budgets.require_left(tx, project.id, agent, task_id)
    accounts.require_running(tx, project.id, agent)
