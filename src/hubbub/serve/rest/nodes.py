"""Machines that agents may use, and what they set about themselves."""

from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field

from hubbub.core import access, nodes
from hubbub.core.idempotency import Reply
from hubbub.model.machines import Machine
from hubbub.model.rights import Right
from hubbub.serve.rest.call import Call
from hubbub.serve.rest.shapes import Body, LongText, Name, Shape, Text
from hubbub.store.tx import Tx

router = APIRouter(tags=["nodes"])


class MachineShape(Shape):
    name: str
    machine_id: str
    platform: str
    labels: list[str]
    version: str
    sandbox: str = Field(description="the wall around what it runs: bwrap, landlock or none")
    online: bool
    first_seen_at: int
    seen_at: int
    expires_at: int = Field(description="when it is offline, if it stays silent")


class Machines(BaseModel):
    nodes: list[MachineShape]


class OneMachine(BaseModel):
    node: MachineShape


class Errand(Body):
    """What a machine sets about for the caller."""

    title: Name
    text: Text
    who: Name | None = Field(None, description="the agent for which it does so")


class ErrandEnd(Body):
    """What came of it: the result, or why there is none."""

    text: LongText
    failed: Annotated[bool, Field(strict=True)] = False


class TaskId(BaseModel):
    task_id: UUID


@router.get("/nodes")
async def list_nodes(call: Call) -> Machines:
    """The machines of the caller's projects, or of the one named."""

    def look(tx: Tx) -> Machines:
        projects = access.visible(tx, call.project)
        return Machines(
            nodes=[_shape(tx, each) for project in projects for each in nodes.listed(tx, project)]
        )

    return await call.read(look)


@router.get("/nodes/{name}")
async def show_node(call: Call, name: str) -> OneMachine:
    """One machine, by its name, whatever its case."""

    def look(tx: Tx) -> OneMachine:
        return OneMachine(node=_shape(tx, nodes.find(tx, call.enter(tx, Right.READ), name)))

    return await call.read(look)


@router.post("/nodes/{name}/tasks", status_code=HTTPStatus.CREATED, response_model=TaskId)
async def begin_task(call: Call, name: Name, body: Errand) -> Reply:
    """Put what the machine sets about on the board: a task of the caller, begun by `node:` and the machine's name."""

    def begin(tx: Tx) -> Reply:
        begun = nodes.begin_task(
            tx,
            call.enter(tx),
            sender=body.who,
            title=body.title,
            description=body.text,
            node=name,
        )
        return TaskId(task_id=begun.id).model_dump(mode="json")

    return await call.create(begin)


@router.post("/nodes/{name}/tasks/{ref}/end", response_model=TaskId)
async def end_task(call: Call, name: Name, ref: str, body: ErrandEnd) -> Reply:
    """End such a task of the caller; one that has ended meanwhile stays as it is."""

    def end(tx: Tx) -> Reply:
        project, sender = call.enter(tx), call.actor.agent
        ended = nodes.end_task(
            tx, ref, text=body.text, failed=body.failed, project=project, sender=sender, node=name
        )
        return TaskId(task_id=ended.id).model_dump(mode="json")

    return await call.create(end)


def _shape(tx: Tx, machine: Machine) -> MachineShape:
    shape: MachineShape = MachineShape.of(machine, online=machine.is_online(tx.now))
    return shape
