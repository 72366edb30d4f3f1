"""A person at a machine: a command there, and the rules of its gate. Each call passes that gate."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal, NamedTuple

from fastapi import Request
from pydantic import Field, ValidationError

from hubbub.core.fleet import nodes
from hubbub.core.people import access
from hubbub.dialects.call import Call as ToolCall
from hubbub.dialects.call import HubContext
from hubbub.dialects.cmdop.node_routing import NODE_HEADER
from hubbub.dialects.cmdop.tool_set import DIALECT, PROJECT_HEADER
from hubbub.model.errors import NotDone
from hubbub.model.fleet.calls import RefusalCode, ToolResult
from hubbub.model.fleet.nodes import Machine
from hubbub.model.records import Project
from hubbub.model.redaction import Redactor
from hubbub.model.timestamps import milliseconds
from hubbub.model.visible_text import cut, visible
from hubbub.serve.rest.base.call import Call, RestCall
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Body, Line, Model, Name, Text
from hubbub.serve.rest.fleet.managed_agents import refusal
from hubbub.store.tx import Tx

router = Router("nodes")

LONGEST = 600  # seconds
COMMAND_LENGTH = 300  # characters of a command that the log keeps
SECRETS = Redactor()


class _At(NamedTuple):
    """The place of a call."""

    project: Project
    machine: Machine


class Command(Body):
    command: Text
    folder: Line | None = Field(None, description="where it runs; else where agents work on that machine")
    timeout_seconds: Annotated[float, Field(strict=True, gt=0, le=LONGEST)] | None = None


class Ran(Model):
    """Result of a command."""

    status: Literal["ended", "running", "timeout"] = Field(
        description="running: it goes on in the background"
    )
    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None
    task_id: Annotated[str | None, Field(description="of a command in the background")] = None


class PolicyRules(Model):
    """The rules as they are written; the first that matches counts: denied, asked of people, allowed."""

    deny: list[str]
    ask: list[str]
    allow: list[str]


class Policy(Model):
    """The policy of a machine's gate, beside the floor that no setting turns off."""

    node: str
    mode: str
    rules: PolicyRules
    roots: list[str] = Field(description="folders in which files may be written")
    sandbox: str
    network: bool = Field(description="whether commands in the sandbox reach it")
    runtime: str | None
    approval_timeout_seconds: float
    fault: str | None = Field(description="why the policy could not be loaded; it is strict then")


@router.post("/nodes/{name}/run")
async def run_command(request: Request, call: Call, name: Name, body: Command) -> Ran:
    """Run a command on a machine, if its gate lets it, perhaps after asking a person. For people; it is logged."""
    given: dict[str, object] = {"command": body.command}
    if body.folder is not None:
        given["cwd"] = body.folder
    if body.timeout_seconds is not None:
        given["timeout_ms"] = max(1, milliseconds(timedelta(seconds=body.timeout_seconds)))

    def note(tx: Tx) -> _At:
        at = _found(tx, call, name)
        command = cut(visible(SECRETS.text(body.command)), COMMAND_LENGTH)
        detail = {"node": at.machine.name, "command": command}
        tx.record("terminal.input", project_id=at.project.id, detail=detail)
        return at

    at = await call.write(note)
    return _ran(await _perform(call, request.app.state.site, at, "execute_command", given))


@router.get("/nodes/{name}/policy")
async def show_policy(request: Request, call: Call, name: Name) -> Policy:
    """Show the present rules of a machine's gate, as the machine reports them. For people."""
    at = await call.read(lambda tx: _found(tx, call, name))
    given = {"operation": "show_policy"}
    outcome = await _perform(call, request.app.state.site, at, "permissions_helper", given)
    if outcome.is_error:
        raise refusal(outcome)
    try:
        return Policy.model_validate({**_mapping(outcome), "node": at.machine.name})
    except ValidationError:
        raise NotDone(f"{at.machine.name!r} answered with something that the hub cannot read") from None


def _found(tx: Tx, call: RestCall, name: str) -> _At:
    access.require_person(tx, "use a machine by hand")
    project = call.enter(tx)
    return _At(project, nodes.find(tx, project, name))


async def _perform(
    call: RestCall, site: HubContext, at: _At, tool: str, given: Mapping[str, object]
) -> ToolResult:
    """Have the machine do it as if the person had called the tool there."""
    where = {NODE_HEADER: at.machine.name, PROJECT_HEADER: at.project.slug}
    asked = ToolCall(site=site, headers=where, attempt=call.attempt)
    return await DIALECT.call(call.transactions, call.actor, tool, given, call.key, asked)


def _ran(outcome: ToolResult) -> Ran:
    told = _mapping(outcome)
    printed, errors = (str(told.get(name) or "") for name in ("stdout", "stderr"))
    if outcome.code is RefusalCode.TIMEOUT and "stdout" in told:
        return Ran(status="timeout", stdout=printed, stderr=errors)
    if outcome.is_error:
        raise refusal(outcome)
    if "task_id" in told:
        return Ran(status="running", task_id=str(told["task_id"]))
    code = told.get("exit_code")
    exit_code = code if isinstance(code, int) else None
    return Ran(status="ended", stdout=printed, stderr=errors, exit_code=exit_code)


def _mapping(outcome: ToolResult) -> Mapping[str, Any]:
    return outcome.value if isinstance(outcome.value, Mapping) else {}
