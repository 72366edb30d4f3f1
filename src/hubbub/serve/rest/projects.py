"""Projects."""

from http import HTTPStatus
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from hubbub.core import access, projects
from hubbub.core.idempotency import Reply
from hubbub.serve.rest.call import Call
from hubbub.serve.rest.shapes import Body, Line, LongText, Name, ProjectShape, Whole
from hubbub.store.tx import Tx

router = APIRouter(tags=["projects"])


class Projects(BaseModel):
    projects: list[ProjectShape]


class OneProject(BaseModel):
    project: ProjectShape


class NewProject(Body):
    slug: Line
    name: Name | None = None
    description: LongText | None = None
    conflict_mode: Literal["off", "warn", "block"] = "warn"
    repo_url: Line | None = None
    heartbeat_interval: Whole = projects.HEARTBEAT_INTERVAL
    heartbeat_ttl: Whole = projects.HEARTBEAT_TTL


@router.get("/projects")
async def list_projects(call: Call) -> Projects:
    """The projects the caller may enter, with its role in each."""
    known = await call.read(access.memberships)
    return Projects(projects=[ProjectShape.of(project, role=role) for project, role in known])


@router.post("/projects", status_code=HTTPStatus.CREATED, response_model=OneProject)
async def create_project(call: Call, body: NewProject) -> Reply:
    """Make a project, which the caller, a person, then owns."""

    def create(tx: Tx) -> Reply:
        made = projects.create(tx, **dict(body))
        return OneProject(project=ProjectShape.of(made)).model_dump(mode="json")

    return await call.create(create)


@router.get("/projects/{slug}")
async def show_project(call: Call, slug: str) -> OneProject:
    """One project."""
    return OneProject(project=ProjectShape.of(await call.read(lambda tx: projects.show(tx, slug))))
