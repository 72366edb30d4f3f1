"""The first steps of a project, and the echo, an agent of the hub's own to try them with."""

from pydantic import Field

from hubbub.core import echo_agent, first_steps
from hubbub.model.people.rights import Right
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Model
from hubbub.store.tx import Tx

router = Router("first steps")


class FirstSteps(Model):
    installed: list[str] = Field(
        description="the first agents whose client was set up or there: neither the echo nor what `hubbub work` runs"
    )
    started: list[str] = Field(description="the first agents that have been there, without the echo")
    has_message: bool = Field(description="somebody has written to an agent")
    has_claim: bool = Field(description="an agent has taken a task, or holds files")
    has_talk: bool = Field(description="two agents have talked to each other: that was the last step")
    has_echo: bool = Field(description="the echo is among the agents")


class Echo(Model):
    """The echo's name, and whether it is among the agents of the project now."""

    name: str
    has_echo: bool


@router.get("/first-steps")
async def show_first_steps(call: Call) -> FirstSteps:
    """Show the progress of a project's first steps, until two of its agents have talked to each other."""

    def look(tx: Tx) -> FirstSteps:
        steps = first_steps.of_project(tx, call.enter(tx, Right.READ).id)
        return FirstSteps.model_validate(steps, from_attributes=True)

    return await call.read(look, long=True)


@router.put("/echo")
async def start_echo(call: Call) -> Echo:
    """Add the echo: an agent that sends back each message, and completes each task with its own text."""

    def begin(tx: Tx) -> None:
        echo_agent.begin(tx, call.enter(tx, Right.MANAGE))

    await call.write(begin)
    return Echo(name=echo_agent.NAME, has_echo=True)


@router.delete("/echo")
async def remove_echo(call: Call) -> Echo:
    """Remove the echo. Its messages, sent and received, stay in the log."""

    def end(tx: Tx) -> None:
        echo_agent.end(tx, call.enter(tx, Right.MANAGE))

    await call.write(end)
    return Echo(name=echo_agent.NAME, has_echo=False)
