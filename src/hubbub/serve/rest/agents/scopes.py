"""Scopes: the areas of a project, and the declared scopes of present agents."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from hubbub.core.agents import scopes
from hubbub.core.people import access
from hubbub.model.agents.scopes import FILES, AgentConflict, Area, Declaration, Scope
from hubbub.model.people.rights import Right
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import (
    AreaShape,
    Body,
    ConflictShape,
    Line,
    LongText,
    Model,
    Name,
    ScopeShape,
)
from hubbub.store.tx import Tx

router = Router("scopes")

Entries = Annotated[list[Annotated[str, Field(max_length=1_024)]], Field(max_length=FILES)]


class Areas(Model):
    areas: list[AreaShape]


class OneArea(Model):
    area: AreaShape


class PutArea(Body):
    name: Name
    patterns: Entries = Field(
        description="paths, and patterns with `*`, `?` and `**`; `src/` is all below it"
    )
    description: LongText | None = None


class Scopes(Model):
    scopes: list[ScopeShape]


class Checking(Body):
    area: Line | None = None
    files: Entries = Field([], description="paths and patterns, as in an area")


class Conflicts(Model):
    conflicts: list[ConflictShape]


@router.get("/projects/{slug}/areas")
async def list_areas(call: Call, slug: str) -> Areas:
    """List the areas of a project, oldest first."""
    found = await call.read(lambda tx: scopes.areas(tx, access.enter(tx, slug, Right.READ).id))
    return Areas(areas=[AreaShape.of(area) for area in found])


@router.get("/projects/{slug}/areas/{area}")
async def show_area(call: Call, slug: str, area: str) -> OneArea:
    """Show one area."""

    def look(tx: Tx) -> Area:
        return scopes.find_area(tx, access.enter(tx, slug, Right.READ).id, area)

    return OneArea(area=AreaShape.of(await call.read(look)))


@router.put("/projects/{slug}/areas/{area}")
async def put_area(call: Call, slug: str, area: str, body: PutArea) -> OneArea:
    """Put an area into a project; an existing one with that slug is replaced and keeps its number."""

    def put(tx: Tx) -> Area:
        project = access.enter(tx, slug, Right.MANAGE)
        return scopes.put_area(
            tx, project, area, name=body.name, patterns=body.patterns, description=body.description
        )

    return OneArea(area=AreaShape.of(await call.write(put)))


@router.get("/scopes")
async def list_scopes(call: Call) -> Scopes:
    """List the declared scopes of present agents, by agent; each with its conflicts."""

    def look(tx: Tx) -> list[ScopeShape]:
        return [
            _shape(each, conflicts)
            for project in access.visible(tx, call.project)
            for each, conflicts in scopes.standing(tx, project)
        ]

    return Scopes(scopes=await call.read(look, long=True))


@router.post("/scopes/check")
async def check_scope(call: Call, body: Checking) -> Conflicts:
    """Show the conflicts that a scope would cause. Changes nothing."""

    def look(tx: Tx) -> list[AgentConflict]:
        return scopes.check(tx, call.enter(tx, Right.READ), Scope.of(body.area, body.files))

    return Conflicts(conflicts=_conflicts(await call.read(look, long=True)))


def _shape(declared: Declaration, conflicts: Sequence[AgentConflict]) -> ScopeShape:
    return ScopeShape.of(declared.scope, agent=declared.agent, conflicts=_conflicts(conflicts))


def _conflicts(conflicts: Sequence[AgentConflict]) -> list[ConflictShape]:
    return [ConflictShape.of(each.overlap, agent=each.agent) for each in conflicts]
