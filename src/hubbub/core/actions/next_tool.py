"""The answer to a hook that asks whether its agent may use the next tool."""

from hubbub.core.cost import budgets
from hubbub.model.records import Project
from hubbub.store.tx import Tx


def denial(tx: Tx, project: Project, agent: str) -> str | None:
    """Return why an agent may use no other tool, in words for its model; None if it may."""
    return budgets.denial(tx, project.id, agent)
