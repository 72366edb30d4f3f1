"""Artifacts: things that agents make, and show to each other."""

from http import HTTPStatus
from typing import Annotated

from fastapi import Query
from pydantic import Field

from hubbub.core.log.idempotency import Reply
from hubbub.core.people import access
from hubbub.core.work import artifacts
from hubbub.model.people.rights import Right
from hubbub.model.records import Artifact
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.large_bodies import LargeRoute
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import ArtifactShape, Body, Model, Name, Storable
from hubbub.serve.rest.work.runs import named
from hubbub.store.tx import Tx

router = Router("artifacts", LargeRoute)

LONGEST = 524_288  # characters of a content

Content = Annotated[str, Field(max_length=LONGEST), Storable]


class Artifacts(Model):
    artifacts: list[ArtifactShape]


class OneArtifact(Model):
    artifact: ArtifactShape


class WholeArtifact(OneArtifact):
    content: str


class NewArtifact(Body):
    name: Name = Field(description="need not be unique: the newest of a name is meant by it")
    content: Content
    kind: Name = "document"
    task: Name | None = Field(None, description="its purpose: the id of a task, or any text")
    run: Name | None = Field(None, description="the name of a run; by default the current one")
    by: Name | None = None


@router.get("/artifacts")
async def list_artifacts(
    call: Call,
    before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> Artifacts:
    """List the project's artifacts, newest first, without their contents; `before` is the number to go on from."""

    def look(tx: Tx) -> list[Artifact]:
        project = call.enter(tx, Right.READ)
        return artifacts.of_project(tx, project.id, before=before, limit=limit)

    return Artifacts(artifacts=[ArtifactShape.of(artifact) for artifact in await call.read(look)])


@router.post("/artifacts", status_code=HTTPStatus.CREATED, response_model=OneArtifact)
async def post_artifact(call: Call, body: NewArtifact) -> Reply:
    """Post an artifact for everyone."""

    def post(tx: Tx) -> OneArtifact:
        project = call.enter(tx)
        posted = artifacts.post(
            tx,
            named(tx, project, body.run),
            by=access.speak(tx, project.id, body.by),
            name=body.name,
            kind=body.kind,
            content=body.content,
            task=body.task,
        )
        return OneArtifact(artifact=ArtifactShape.of(posted))

    return await call.create(post)


@router.get("/artifacts/{artifact_id}")
async def show_artifact(call: Call, artifact_id: str) -> WholeArtifact:
    """Show an artifact, with its content."""

    def look(tx: Tx) -> WholeArtifact:
        ids = [project.id for project in access.visible(tx, call.project)]
        artifact = artifacts.find(tx, ids, artifact_id)
        return WholeArtifact(artifact=ArtifactShape.of(artifact), content=artifacts.content(tx, artifact))

    return await call.read(look)
