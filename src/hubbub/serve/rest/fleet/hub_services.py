"""The hub's services for a program beside an agent, with the agent's token; machines use their links."""

from datetime import timedelta
from functools import partial
from typing import Annotated, Any

from fastapi import Request
from pydantic import Field

from hubbub.core.fleet.requesters import Program
from hubbub.core.log import idempotency
from hubbub.model.fleet.link_protocol import HubRequest
from hubbub.serve.fleet.hub_services import SERVED
from hubbub.serve.rest.agents.agents import LONGEST_WAIT
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Body, Model, Name, told

router = Router("nodes")


class Needed(Body):
    node: Annotated[Name, Field(description="as the program calls the machine that it is on")]
    need: Annotated[HubRequest, told(enum=list(SERVED))]
    content: dict[str, Any] = Field(default_factory=dict, description="what that need takes")


class Granted(Model):
    value: dict[str, Any] | None = Field(
        description="the granted value; null: nobody has answered yet, ask again"
    )


@router.post("/desk")
async def grant(request: Request, call: Call, body: Needed) -> Granted:
    """Serve a program beside the caller: in the caller's name, and of no machine.

    `put` a question to people, `ask` for the answer, which waits, or `resolve` it; `begin_task` and `end_task`; `seal`,
    `lend` and `give_back`. The arguments and value of each are in the documents.
    """
    asker = Program(caller=call.actor, project=call.project, node=body.node)
    once = partial(idempotency.once, call.key, call.digest)
    longest = timedelta(seconds=LONGEST_WAIT)
    value = await request.app.state.hub_services.do(
        asker, body.need, body.content, once=once, longest=longest
    )
    return Granted(value=value)
