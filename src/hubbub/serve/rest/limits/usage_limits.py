"""Accounts: the agents that share one, its pause, and the limits that programs reported."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from hubbub.core.actions import next_tool
from hubbub.core.limits import accounts
from hubbub.core.people import access
from hubbub.core.presence import wakes
from hubbub.model.limits.accounts import MOST_AGENTS, WITHOUT_END, Account
from hubbub.model.limits.usage_limits import LimitKind, UsageLimit
from hubbub.model.people.rights import Right
from hubbub.model.records import Project
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Body, Line, Model, Name, Shape, Whole, tells
from hubbub.store.tx import Tx

router = Router("accounts")

AGENT = "whose limit it is, where the token is not bound to an agent"


@tells(Account)
class AccountShape(Shape):
    pass


class AccountWithAgents(Model):
    account: AccountShape
    agents: list[str] = Field(description="who shares it")


class Accounts(Model):
    accounts: list[AccountWithAgents]
    now: int = Field(description="the hub's time")


class OfAgent(Model):
    account: AccountShape | None = Field(description="null: nobody knows of one")
    goes_on_at: int | None = Field(description="when the agent may begin something; null: now")
    stopped: str | None = Field(
        description="why the agent is to use nothing more, as its budget; null: it may go on"
    )
    now: int = Field(description="the hub's time")


class PutAccount(Body):
    agents: Annotated[list[Name], Field(max_length=MOST_AGENTS, description="who shares it, and nobody else")]


class Joining(Body):
    agent: Name | None = Field(None, description="the agent that shares it, if the token is not bound to one")


class Pausing(Body):
    until: Whole | None = Field(None, ge=0, description="Unix milliseconds; null: until it is resumed")


class Reached(Body):
    agent: Name | None = Field(None, description=AGENT)
    kind: LimitKind = Field(LimitKind.WINDOW, description="which limit")
    until: Whole | None = Field(
        None, ge=0, description="when it ends, in Unix milliseconds; null: the hub backs off"
    )
    account: Line | None = Field(
        None,
        description="a name derived from its program's sign-in; counts unless people set one",
    )


@router.get("/accounts")
async def list_accounts(call: Call) -> Accounts:
    """List the accounts that agents of the project share, with their pauses."""

    def look(tx: Tx) -> Accounts:
        project = call.enter(tx, Right.READ)
        found = [_told(tx, project, each) for each in accounts.of_project(tx, project.id)]
        return Accounts(accounts=found, now=tx.now)

    return await call.read(look)


@router.put("/accounts/{name}")
async def put_account(call: Call, name: str, body: PutAccount) -> AccountWithAgents:
    """Set which agents share an account."""

    def put(tx: Tx) -> AccountWithAgents:
        project = call.enter(tx, Right.MANAGE)
        return _told(tx, project, accounts.put(tx, project, name, body.agents))

    return await call.write(put)


@router.delete("/accounts/{name}")
async def drop_account(call: Call, name: str) -> Accounts:
    """Remove an account; its agents go on. Returns the remaining accounts."""

    def drop(tx: Tx) -> Accounts:
        project = call.enter(tx, Right.MANAGE)
        accounts.drop(tx, project, name)
        found = [_told(tx, project, each) for each in accounts.of_project(tx, project.id)]
        return Accounts(accounts=found, now=tx.now)

    return await call.write(drop)


@router.post("/accounts/{name}/join")
async def join_account(call: Call, name: str, body: Joining) -> AccountWithAgents:
    """Have an agent share an account, as its program is signed in; what people have set for it counts more."""

    def join(tx: Tx) -> AccountWithAgents:
        project = call.enter(tx)
        agent = access.speak(tx, project.id, body.agent)
        return _told(tx, project, accounts.join(tx, project, agent, name))

    return await call.write(join)


@router.post("/accounts/{name}/pause")
async def pause_account(call: Call, name: str, body: Pausing) -> AccountWithAgents:
    """Pause an account: its agents begin nothing, on any machine; their leases and presences last as much longer."""

    def pause(tx: Tx) -> AccountWithAgents:
        access.require_person(tx, "pause an account")
        project = call.enter(tx)
        return _told(tx, project, accounts.pause(tx, project, name, body.until, by=tx.actor.label))

    return await call.write(pause)


@router.post("/accounts/{name}/resume")
async def resume_account(call: Call, name: str) -> AccountWithAgents:
    """Resume an account, so that its agents go on now."""

    def resume(tx: Tx) -> AccountWithAgents:
        access.require_person(tx, "resume an account")
        project = call.enter(tx)
        return _told(tx, project, accounts.resume(tx, project, name, by=tx.actor.label))

    return await call.write(resume)


@router.get("/limits")
async def show_limit(
    call: Call,
    agent: Annotated[str | None, Query(description=AGENT)] = None,
) -> OfAgent:
    """Show whether an agent may begin something now, or when."""

    def look(tx: Tx) -> OfAgent:
        project = call.enter(tx, Right.READ)
        return _of_agent(tx, project, access.spoken_name(tx, agent))

    return await call.read(look)


@router.post("/limits")
async def report_limit(call: Call, body: Reached) -> OfAgent:
    """Report that an agent's program reached a limit: its account is paused everywhere. Returns when it goes on."""

    def report(tx: Tx) -> OfAgent:
        project = call.enter(tx)
        agent = access.speak(tx, project.id, body.agent)
        if body.account is not None:
            accounts.join(tx, project, agent, body.account)
        accounts.reached(tx, project, agent, UsageLimit(body.kind, body.until))
        wakes.take_back(tx, project.id, agent)
        return _of_agent(tx, project, agent)

    return await call.write(report)


def _told(tx: Tx, project: Project, account: Account) -> AccountWithAgents:
    return AccountWithAgents(
        account=AccountShape.of(account), agents=accounts.members(tx, project.id, account.name)
    )


def _of_agent(tx: Tx, project: Project, agent: str) -> OfAgent:
    account, stopped = accounts.of_agent(tx, project.id, agent), next_tool.denial(tx, project, agent)
    return OfAgent(
        account=AccountShape.of(account) if account is not None else None,
        goes_on_at=WITHOUT_END if stopped is not None else accounts.goes_on(tx, project.id, agent),
        stopped=stopped,
        now=tx.now,
    )
