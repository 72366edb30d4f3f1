"""The projects that the hub's own machine serves: those to which the owner of the hub belongs.

Anybody may make a project, and the people of a project answer the questions of its machines. So a machine that served
every project would do for anybody what they themselves approve. Nobody else makes the owner of the hub a member
(`core/people/members.py`): what this machine serves is the owner's own choice.
"""

from collections.abc import Iterable
from uuid import UUID

from hubbub.core.people import users
from hubbub.model.errors import Forbidden
from hubbub.model.fleet.calls import Node
from hubbub.model.records import Project
from hubbub.store.people import projects
from hubbub.store.tx import Tx


class NotServed(Forbidden):
    """The hub's own machine does not serve the project."""

    def __init__(self, slug: str) -> None:
        super().__init__(
            f"this machine does not serve the project {slug!r}, as its owner does not belong to it; "
            f"the owner of the hub joins it with hubbub project join {slug}, or a machine of your own does: "
            "hubbub node invite"
        )


def serves(tx: Tx, project_id: UUID) -> bool:
    """Tell whether the machine serves the project."""
    return projects.has_hub_owner(tx, project_id)


def require_served(tx: Tx, project: Project) -> None:
    """Raise `NotServed` if the machine does not serve the project."""
    if not serves(tx, project.id):
        raise NotServed(project.slug)


def not_served(tx: Tx, project_id: UUID) -> NotServed:
    """Return the refusal for a project by its id."""
    project = projects.find(tx, project_id)
    assert project is not None  # a project stays
    return NotServed(project.slug)


def serving(tx: Tx, node: Node | None, slug: str) -> Node | None:
    """Return the machine if there is one that serves the project with that slug."""
    if node is None:
        return None
    project = projects.find_by_slug(tx, slug)
    return node if project is not None and serves(tx, project.id) else None


def served(tx: Tx) -> Iterable[Project]:
    """Return the projects that the machine serves, except archived ones."""
    known = projects.of_user(tx, users.owner(tx).id)
    return [project for project, _role in known if project.archived_at is None]
