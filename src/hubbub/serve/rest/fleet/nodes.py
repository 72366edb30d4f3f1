"""Machines that agents may use: joining, leaving, their orders, and their load."""

from datetime import timedelta
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Query, Request
from pydantic import Field

from hubbub.core.fleet import dispatches, enrolment, nodes
from hubbub.core.people import access, auth_attempts
from hubbub.model.errors import Unauthorized
from hubbub.model.fields import REST, Seen
from hubbub.model.fleet.calls import NodeInfo, RefusalCode
from hubbub.model.fleet.dispatches import Dispatch, DispatchStatus
from hubbub.model.fleet.nodes import Machine
from hubbub.model.people.rights import SYSTEM, Right
from hubbub.serve.http.guard import actor_of
from hubbub.serve.http.passwords import client_address
from hubbub.serve.rest.base.call import Answer, Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Body, Model, Name, Seconds, Shape, tells
from hubbub.serve.rest.fleet.invitations import hub_url, invitation_code, invitation_secret
from hubbub.store.tx import Tx

router = Router("nodes")

MOST_DISPATCHES = 200  # in one answer


class LoadShape(Shape):
    """Load of a machine, reported twice a minute. Memory is in bytes, null if its system does not say."""

    load1: float = Field(description="what ran or wanted to, on average over the last minute")
    cpus: int
    memory_used: int | None
    memory_total: int | None


@tells(Machine)
class MachineShape(Shape):
    online: Annotated[bool, Seen(REST, after="runtime")]
    own: Annotated[bool, Seen(REST, "true if a hub runs on it, which needs no link")]
    linked: Annotated[bool, Seen(REST, "true if it has joined, and a hub holds its link")]
    load: Annotated[
        LoadShape | None, Seen(REST, "null: it is offline, or does not report it", after="expires_at")
    ]


class Machines(Model):
    nodes: list[MachineShape]


class OneMachine(Model):
    node: MachineShape


class NewInvitation(Body):
    name: Name | None = Field(None, description="the only name that the machine may take")
    expires_in_seconds: Seconds = enrolment.LASTS.total_seconds()


class Invitation(Model):
    """A code by which one machine may join, once; shown only now."""

    code: str
    expires_at: int


class Applicant(Body):
    """A machine that wants to join, as it presents itself."""

    name: Name
    machine_id: Name
    platform: Name
    version: Name
    sandbox: Name
    chosen: Annotated[
        bool,
        Field(strict=True, description="whether somebody chose the name; else that of the code goes before"),
    ] = True


class Admission(Model):
    """The machine's own key, which is shown only now, and its name."""

    token: str
    project: str
    node: str


class DispatchShape(Shape):
    """An order of a machine, without its content."""

    id: UUID
    tool: str
    who: str
    status: DispatchStatus
    code: RefusalCode | None = Field(description="why it was not done; null: it was, or has not ended")
    created_at: int
    ended_at: int | None


class Dispatches(Model):
    dispatches: list[DispatchShape]


@router.get("/nodes")
async def list_nodes(call: Call) -> Machines:
    """List the machines of the caller's projects, or of the named one."""

    def look(tx: Tx) -> Machines:
        projects = access.visible(tx, call.project)
        return Machines(
            nodes=[_shape(tx, each) for project in projects for each in nodes.listed(tx, project)]
        )

    return await call.read(look)


@router.get("/nodes/{name}")
async def show_node(call: Call, name: str) -> OneMachine:
    """Show one machine, by its name, in any case."""

    def look(tx: Tx) -> OneMachine:
        return OneMachine(node=_shape(tx, nodes.find(tx, call.enter(tx, Right.READ), name)))

    return await call.read(look)


@router.post("/nodes/invites", status_code=HTTPStatus.CREATED)
async def invite_node(request: Request, call: Call, body: NewInvitation) -> Invitation:
    """Create a code by which one machine may join the project, once. For people."""
    lasts = timedelta(seconds=body.expires_in_seconds)

    def invite(tx: Tx) -> tuple[Answer, str]:
        code, secret = enrolment.invite(tx, call.enter(tx), node=body.name, expires_in=lasts)
        return {"expires_at": code.expires_at}, secret

    reply, secret = await call.create_secret(invite)
    return Invitation.model_validate({**reply, "code": invitation_code(secret, hub_url(request))})


@router.post("/nodes/join", status_code=HTTPStatus.CREATED)
async def join(
    request: Request,
    body: Applicant,
    project: Annotated[
        str | None, Query(description="which project, where a person's token says who joins")
    ] = None,
) -> Admission:
    """Admit a machine, by the code that is the bearer token, which is used up, or by a person's own."""
    given, about = invitation_secret(request), NodeInfo(**body.model_dump(exclude={"chosen"}))
    transactions = request.app.state.transactions
    try:
        if given is not None:
            joined = await transactions.write(
                SYSTEM, lambda tx: enrolment.redeem(tx, given, about, is_chosen=body.chosen)
            )
        else:
            joined = await transactions.write(
                actor_of(request.scope), lambda tx: enrolment.join(tx, access.enter(tx, project), about)
            )
    except Unauthorized:
        await transactions.store.write(
            SYSTEM, lambda tx: auth_attempts.count_code(tx, client_address(request.scope))
        )
        raise
    return Admission(token=joined.token, project=joined.project.slug, node=joined.machine.name)


@router.delete("/nodes/{name}")
async def remove_node(call: Call, name: str) -> OneMachine:
    """Remove a machine: its key and its open orders end. For people."""
    return await call.write(lambda tx: OneMachine(node=_shape(tx, nodes.remove(tx, call.enter(tx), name))))


@router.get("/nodes/{name}/dispatches")
async def list_dispatches(
    call: Call, name: str, limit: Annotated[int, Query(ge=1, le=MOST_DISPATCHES)] = 50
) -> Dispatches:
    """List a machine's recent orders, newest first. For people."""

    def look(tx: Tx) -> list[Dispatch]:
        project = call.enter(tx, Right.READ)
        return dispatches.of_machine(tx, project, nodes.find(tx, project, name), limit)

    found = await call.read(look)
    return Dispatches(dispatches=[DispatchShape.of(each, **_order(each)) for each in found])


def _shape(tx: Tx, machine: Machine) -> MachineShape:
    is_online = machine.is_online(tx.now)
    load = LoadShape.of(machine.load) if machine.load is not None and is_online else None
    return MachineShape.of(
        machine,
        online=is_online,
        own=machine.token_id is None,
        linked=nodes.is_linked(machine, tx.now),
        load=load,
    )


def _order(dispatch: Dispatch) -> dict[str, object]:
    return {"tool": dispatch.order.tool, "who": dispatch.order.who.name}
