"""Memories of agents and the project, and the summaries of runs."""

import asyncio
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, model_validator

from hubbub.core.people import access
from hubbub.core.work import memory, summaries
from hubbub.model.people.rights import Right
from hubbub.model.work.memory import MemoryPart, parse
from hubbub.serve.rest.base.call import Call, RestCall
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Body, Model, Name, Shape, Storable, Whole
from hubbub.store.tx import Tx

router = Router("memory")

AnyText = Annotated[str, Storable]
Version = Annotated[Whole, Field(ge=0, le=2**62)]
VERSION = Field(
    None, description="the version it was made from, 0 if there was none; 409 if that has moved on"
)


class EditionShape(Shape):
    agent: str | None = Field(description="null: the project's own")
    version: int
    updated_at: int


class Memories(Model):
    project_id: UUID
    documents: list[EditionShape]


class PartShape(Shape):
    key: AnyText | None = Field(None, description="of a section; null for a stretch of text that is none")
    content: AnyText


class DocumentShape(Shape):
    project_id: UUID
    agent: str | None
    version: int = Field(description="0: nobody has written it yet")
    updated_at: int | None
    text: str = Field(description="the parts as Markdown")
    parts: list[PartShape]


class OneDocument(Model):
    document: DocumentShape


class Replacement(Body):
    """The whole document, as parts or as an edited text."""

    parts: list[PartShape] | None = None
    text: AnyText | None = None
    version: Version | None = VERSION

    @model_validator(mode="after")
    def _is_one_of_both(self) -> Self:
        if (self.parts is None) == (self.text is None):
            raise ValueError("give either parts or text")
        return self


class SummarizedRunShape(Shape):
    run: str
    version: int


class Summaries(Model):
    project_id: UUID
    summaries: list[SummarizedRunShape]


class SummaryShape(Shape):
    project_id: UUID
    run: str
    agent: str = Field(description="who saved it last")
    text: str
    version: int
    created_at: int
    updated_at: int


class OneSummary(Model):
    summary: SummaryShape


class NewSummary(Body):
    text: AnyText
    agent: Name | None = None
    version: Version | None = VERSION


@router.get("/memory")
async def list_memories(call: Call) -> Memories:
    """List the memories: the project's own first, then by agent."""

    def look(tx: Tx) -> Memories:
        project = call.enter(tx, Right.READ)
        found = memory.documents(tx, project.id)
        return Memories(project_id=project.id, documents=[EditionShape.of(each) for each in found])

    return await call.read(look)


@router.get("/memory/project")
async def read_project_memory(call: Call) -> OneDocument:
    """Show the project's memory."""
    return await call.read(lambda tx: _read(tx, call, None))


@router.put("/memory/project")
async def write_project_memory(call: Call, body: Replacement) -> OneDocument:
    """Replace the project's memory."""
    return await _replace(call, None, body)


@router.get("/memory/agents/{name:path}")
async def read_agent_memory(call: Call, name: Name) -> OneDocument:
    """Show an agent's memory."""
    return await call.read(lambda tx: _read(tx, call, name))


@router.put("/memory/agents/{name:path}")
async def write_agent_memory(call: Call, name: Name, body: Replacement) -> OneDocument:
    """Replace an agent's memory; a token bound to another agent may not."""
    return await _replace(call, name, body)


@router.get("/summaries")
async def list_summaries(call: Call) -> Summaries:
    """List the runs that have a summary, newest first."""

    def look(tx: Tx) -> Summaries:
        project = call.enter(tx, Right.READ)
        runs = [
            SummarizedRunShape(run=run, version=version)
            for run, version in summaries.versions(tx, project.id)
        ]
        return Summaries(project_id=project.id, summaries=runs)

    return await call.read(look)


@router.get("/summaries/{run:path}")
async def read_summary(call: Call, run: Name) -> OneSummary:
    """Show the summary of a run."""
    found = await call.read(lambda tx: summaries.find(tx, call.enter(tx, Right.READ).id, run))
    return OneSummary(summary=SummaryShape.of(found))


@router.put("/summaries/{run:path}")
async def save_summary(call: Call, run: Name, body: NewSummary) -> OneSummary:
    """Store the summary of a run, in place of the old one."""

    def save(tx: Tx) -> OneSummary:
        project = call.enter(tx)
        agent = access.speak(tx, project.id, body.agent)
        saved = summaries.save(tx, project.id, run, agent, body.text, version=body.version)
        return OneSummary(summary=SummaryShape.of(saved))

    return await call.write(save)


def _read(tx: Tx, call: RestCall, agent: str | None) -> OneDocument:
    """Return the memory, empty as long as nobody has written it."""
    project = call.enter(tx, Right.READ)
    found = memory.read(tx, project.id, agent)
    if found is None:
        return OneDocument(
            document=DocumentShape(
                project_id=project.id, agent=agent, version=0, updated_at=None, text="", parts=[]
            )
        )
    return OneDocument(document=DocumentShape.of(found))


async def _replace(call: RestCall, agent: str | None, body: Replacement) -> OneDocument:
    parts, version = [MemoryPart(each.key, each.content) for each in body.parts or ()], body.version
    if body.text is not None:
        known = (await call.read(lambda tx: _read(tx, call, agent))).document
        before = [MemoryPart(each.key, each.content) for each in known.parts]
        parts = await asyncio.to_thread(parse, body.text, before)  # which may take a while
        version = known.version if version is None else version

    def replace(tx: Tx) -> OneDocument:
        project = call.enter(tx)
        by = access.speak(tx, project.id, agent)
        replaced = memory.replace(tx, project.id, agent, parts, version=version, by=by)
        return OneDocument(document=DocumentShape.of(replaced))

    return await call.write(replace)
