"""Members: the people of a project, and their roles there.

Nobody gives more rights than they have, and a project keeps an owner.
"""

from uuid import UUID

from hubbub.core.people import access, lent_tokens, tokens, users
from hubbub.core.people.projects import find as find_project
from hubbub.model.errors import Conflict, Forbidden, NotFound, existing
from hubbub.model.people.rights import Right, Role
from hubbub.model.records import Project
from hubbub.store.people import projects
from hubbub.store.tx import Tx

NOUN = "member"
OWNER_JOINS = (
    "the owner of the hub, whose machine serves the projects that they belong to, joins a project only by themselves: "
    "hubbub project join"
)

# These need no rule of their own, so they are the store's functions.
of_project = projects.members


def put(tx: Tx, project: Project, name: str, role: Role) -> tuple[UUID, str, Role]:
    """Make a person a member of the project, or change the member's role. Records `member.put`.

    For people who manage it; only an owner makes another owner, or takes the role from one. Raises `Forbidden`,
    `NotFound` for an unknown name, `Invalid`, and `Conflict` if the project would lose its last
    owner. Only the owner of the hub makes themselves a member: the hub's own machine then serves the project.
    """
    tokens.require_given(role)
    known = _manage(tx, project)
    user = existing(users.by_name(tx, name), "user", name)
    before = known.get(name)
    if before is None and user.owns_hub:
        raise Forbidden(OWNER_JOINS)
    _require_may(tx, project, {role, before[1] if before else role})
    if role is not Role.OWNER:
        _require_owner_left(known, name)
    if before is None or before[1] is not role:
        projects.put_member(tx, project.id, user.id, role)
        lent_tokens.end_of(tx, project, user.id)
        tx.record("member.put", project_id=project.id, detail=_detail(user.id, name, role))
    return user.id, name, role


def join(tx: Tx, slug: str) -> Project:
    """Make the owner of the hub, who calls, an admin of any project, unless they are a member. Records `member.put`.

    From then on the hub's own machine serves it. Raises `Forbidden` to others, and `NotFound`.
    """
    access.require_hub_owner(tx)
    project, user_id = find_project(tx, slug), tx.actor.user_id
    assert user_id is not None  # the owner is a person
    if all(user_id != each for each, _name, _role in projects.members(tx, project, lock=True)):
        projects.put_member(tx, project.id, user_id, Role.ADMIN)
        detail = _detail(user_id, tx.actor.label, Role.ADMIN)
        tx.record("member.put", project_id=project.id, detail=detail)
    return project


def remove(tx: Tx, project: Project, name: str) -> tuple[UUID, str, Role]:
    """Remove a person from the project. Records `member.removed`. Raises as `put` does."""
    known = _manage(tx, project)
    if name not in known:
        raise NotFound(NOUN, name)
    user_id, role = known[name]
    _require_may(tx, project, {role})
    _require_owner_left(known, name)
    projects.remove_member(tx, project.id, user_id)
    lent_tokens.end_of(tx, project, user_id)
    tx.record("member.removed", project_id=project.id, detail=_detail(user_id, name, role))
    return user_id, name, role


def _detail(user_id: UUID, name: str, role: Role) -> dict[str, object]:
    return {"user_id": str(user_id), "user": name, "role": role}


def _manage(tx: Tx, project: Project) -> dict[str, tuple[UUID, Role]]:
    """Return the members by name, locked, for a person who manages the project."""
    access.require_person(tx, "say who belongs to a project")
    access.enter(tx, str(project.id), Right.MANAGE)
    return {name: (user_id, role) for user_id, name, role in projects.members(tx, project, lock=True)}


def _require_may(tx: Tx, project: Project, roles: set[Role]) -> None:
    if Role.OWNER in roles and access.role_in(tx, project.id) is not Role.OWNER:
        raise Forbidden("only an owner of the project may add or remove an owner")


def _require_owner_left(known: dict[str, tuple[UUID, Role]], but: str) -> None:
    owners = [name for name, (_id, role) in known.items() if role is Role.OWNER]
    if owners == [but]:
        raise Conflict("a project needs an owner; make somebody else its owner first")
