"""Projects, and the people who belong to them."""

from http import HTTPStatus
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from hubbub.core.log.idempotency import Reply
from hubbub.core.people import access, coordinators, members, projects
from hubbub.model.errors import Invalid
from hubbub.model.people.rights import Right, Role
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import (
    Body,
    GivenRole,
    Line,
    LongText,
    Model,
    Name,
    ProjectShape,
    Shape,
    Whole,
)
from hubbub.store.tx import Tx

router = Router("projects")


class Projects(Model):
    projects: list[ProjectShape]


class OneProject(Model):
    project: ProjectShape


class NewProject(Body):
    slug: Annotated[Line, Field(json_schema_extra={"pattern": f"^({projects.SLUG.pattern})$"})]
    name: Name | None = None
    description: LongText | None = None
    conflict_mode: Literal["off", "warn", "block"] = "warn"
    repo_url: Line | None = None
    heartbeat_interval: Whole = projects.HEARTBEAT_INTERVAL
    heartbeat_ttl: Whole = projects.HEARTBEAT_TTL


class ChangedProject(Body):
    """Changes of a project; omitted members stay."""

    archived: Annotated[bool, Field(strict=True)] | None = Field(
        None, description="whether it is only read from now on; by itself"
    )
    name: Name | None = None
    description: LongText | None = None
    conflict_mode: Literal["off", "warn", "block"] | None = None
    repo_url: Line | None = None
    heartbeat_interval: Whole | None = None
    heartbeat_ttl: Whole | None = None
    hand_over_after: Whole | None = Field(
        None, description="minutes that an account is to be paused before its tasks go to others; 0: never"
    )


class MemberShape(Model):
    user_id: UUID
    name: str
    role: Role


class Members(Model):
    members: list[MemberShape]


class OneMember(Model):
    member: MemberShape


class CoordinatorShape(Shape):
    """An agent that may steer every task of a project."""

    agent: str
    granted_by: str
    granted_at: int


class Coordinators(Model):
    coordinators: list[CoordinatorShape]


class OneCoordinator(Model):
    coordinator: CoordinatorShape


class PutMember(Body):
    role: GivenRole


@router.get("/projects")
async def list_projects(call: Call, *, archived: bool = False) -> Projects:
    """List the projects the caller may enter, with its role in each; archived ones on request."""
    known = await call.read(lambda tx: access.memberships(tx, archived=archived))
    return Projects(projects=[ProjectShape.of(project, role=role) for project, role in known])


@router.post("/projects", status_code=HTTPStatus.CREATED, response_model=OneProject)
async def create_project(call: Call, body: NewProject) -> Reply:
    """Create a project, owned by the caller, a person."""

    def create(tx: Tx) -> OneProject:
        made = projects.create(tx, **dict(body))
        return OneProject(project=ProjectShape.of(made))

    return await call.create(create)


@router.get("/projects/{slug}")
async def show_project(call: Call, slug: str) -> OneProject:
    """Show one project."""
    return OneProject(project=ProjectShape.of(await call.read(lambda tx: projects.show(tx, slug))))


@router.patch("/projects/{slug}", response_model=OneProject)
async def change_project(call: Call, slug: str, body: ChangedProject) -> Reply:
    """Change a project. For those who manage it."""

    def change(tx: Tx) -> OneProject:
        changes = {name: value for name, value in dict(body).items() if value is not None}
        archived = changes.pop("archived", None)
        project = access.enter(tx, slug, Right.MANAGE, archived=archived is not None)
        if archived is not None:
            if changes:
                raise Invalid("archived: must be changed in a call of its own")
            changed = projects.archive(tx, project) if archived else projects.restore(tx, project)
        else:
            changed = projects.change(tx, project, changes)
        return OneProject(project=ProjectShape.of(changed))

    return await call.create(change)


@router.get("/projects/{slug}/members")
async def list_members(call: Call, slug: str) -> Members:
    """List the people of a project, by name."""
    found = await call.read(lambda tx: members.of_project(tx, access.enter(tx, slug, Right.READ)))
    return Members(members=[_member(each) for each in found])


@router.post("/projects/{slug}/join")
async def join_project(call: Call, slug: str) -> OneProject:
    """Make the owner of the hub, who calls, an admin of the project, which the hub's machine then serves."""
    return OneProject(project=ProjectShape.of(await call.write(lambda tx: members.join(tx, slug))))


@router.put("/projects/{slug}/members/{name}")
async def put_member(call: Call, slug: str, name: str, body: PutMember) -> OneMember:
    """Make a person a member of the project, or change the member's role. For those who manage it."""

    def put(tx: Tx) -> OneMember:
        return OneMember(member=_member(members.put(tx, access.enter(tx, slug), name, body.role)))

    return await call.write(put)


@router.delete("/projects/{slug}/members/{name}")
async def remove_member(call: Call, slug: str, name: str) -> OneMember:
    """Remove a person from the project. For those who manage it."""

    def remove(tx: Tx) -> OneMember:
        return OneMember(member=_member(members.remove(tx, access.enter(tx, slug), name)))

    return await call.write(remove)


@router.get("/projects/{slug}/coordinators")
async def list_coordinators(call: Call, slug: str) -> Coordinators:
    """List the agents that may steer every task of a project, by name."""
    found = await call.read(lambda tx: coordinators.listed(tx, access.enter(tx, slug, Right.READ)))
    return Coordinators(coordinators=[CoordinatorShape.of(each) for each in found])


@router.put("/projects/{slug}/coordinators/{name:path}")
async def grant_coordinator(call: Call, slug: str, name: str) -> OneCoordinator:
    """Let an agent steer every task of the project. For people who manage it."""

    def grant(tx: Tx) -> OneCoordinator:
        made = coordinators.grant(tx, access.enter(tx, slug), name)
        return OneCoordinator(coordinator=CoordinatorShape.of(made))

    return await call.write(grant)


@router.delete("/projects/{slug}/coordinators/{name:path}")
async def revoke_coordinator(call: Call, slug: str, name: str) -> Coordinators:
    """Let an agent steer only its own tasks again. For people who manage the project."""

    def revoke(tx: Tx) -> Coordinators:
        project = access.enter(tx, slug)
        coordinators.revoke(tx, project, name)
        left = coordinators.listed(tx, project)
        return Coordinators(coordinators=[CoordinatorShape.of(each) for each in left])

    return await call.write(revoke)


def _member(found: tuple[UUID, str, Role]) -> MemberShape:
    user_id, name, role = found
    return MemberShape(user_id=user_id, name=name, role=role)
