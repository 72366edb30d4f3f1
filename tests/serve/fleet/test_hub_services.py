"""The hub's answers to a machine, by every way of asking: all of them lead to the same services."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from hubbub.core.actions import inbox
from hubbub.core.cost import spending
from hubbub.core.cost.spending import SpendingQuery
from hubbub.core.fleet import api_keys, approvals, audit_heads
from hubbub.core.limits import budgets
from hubbub.core.people import access
from hubbub.core.presence import presences
from hubbub.core.work import tasks
from hubbub.model.cost import prices
from hubbub.model.cost.printed_usage import Used
from hubbub.model.cost.spending import By
from hubbub.model.errors import Conflict, Forbidden, HubError, Invalid, Unauthorized
from hubbub.model.fleet.approvals import Approval, ApprovalStatus
from hubbub.model.fleet.calls import Principal, Ruling
from hubbub.model.fleet.managed_agents import AgentCredentials
from hubbub.model.lifecycle import Status
from hubbub.model.limits.budgets import BudgetKind, BudgetUnit
from hubbub.model.limits.usage_limits import LimitKind, UsageLimit
from hubbub.model.people.rights import Role
from hubbub.model.records import Condition, Profile
from tests.serve.fleet.service_routes import (
    ANN,
    DIGEST,
    Open,
    answer,
    asked,
    by_link,
    by_post,
    in_process,
    kept,
    question,
)
from tests.serve.served_hub import Hub
from tests.support.waiting import until_soon

pytestmark = pytest.mark.anyio

MINUTE = timedelta(seconds=60)
MOMENT = timedelta(milliseconds=200)
PERSON = Principal(project="default", name="owner", is_person=True)


@pytest.fixture(params=[in_process, by_link, by_post])
def opened(request: pytest.FixtureRequest) -> Open:
    """A test that asks for it is run by each way."""
    way: Open = request.param
    return way


# Nobody sits at a machine that is linked.
at_a_client = pytest.mark.parametrize("opened", [in_process, by_post], indirect=True)


def kept_as(opened: Open, who: str) -> str:
    """The name under which the hub keeps what the machine `box` does: with a token it is only said."""
    return f"{who}@box" if opened is by_post else "box"


@pytest.mark.parametrize(
    ("approved", "ruling", "status"),
    [(True, Ruling.APPROVED, ApprovalStatus.SPENT), (False, Ruling.DENIED, ApprovalStatus.DENIED)],
)
async def test_a_person_is_asked(
    hub: Hub, opened: Open, approved: bool, ruling: Ruling, status: ApprovalStatus
) -> None:
    """The machine waits for a person's answer; a yes is spent by being told."""
    async with opened(hub) as machine:
        waiting = asyncio.create_task(machine.ask(question(), MINUTE))
        found = await asked(hub)
        assert (found.who, found.node, found.digest) == ("ann", kept_as(opened, "ann"), DIGEST)
        assert found.arguments == {"command": "git push\\u0000"}
        await answer(hub, str(found.id), approved=approved)
        told = await waiting
        assert (told.ruling, told.approval_id, told.by) == (ruling, str(found.id), "owner")
        assert (await kept(hub, told.approval_id)).status is status


async def test_nobodys_answer_is_a_no(hub: Hub, opened: Open) -> None:
    """When its patience is over the machine is told so, and nobody can answer any more."""
    async with opened(hub) as machine:
        told = await machine.ask(question(), MOMENT)
        assert (told.ruling, told.by) == (Ruling.EXPIRED, None)
        with pytest.raises(Conflict):
            await answer(hub, told.approval_id, approved=True)


async def test_an_answer_is_told_once(hub: Hub, opened: Open) -> None:
    """A told answer is spent: nobody is told of it again, not even the machine that asked."""
    async with opened(hub) as machine:
        approval_id = await machine.put(question(), MINUTE)
        await answer(hub, approval_id, approved=True)
        assert (await machine.answer(approval_id)).ruling is Ruling.APPROVED
        with pytest.raises(HubError):
            await machine.answer(approval_id)
        with pytest.raises(HubError):
            await machine.resolve(approval_id, approved=True)


async def test_two_that_wait_for_one_answer_are_told_yes_once(hub: Hub, opened: Open) -> None:
    """However many wait for one answer, one of them may go on."""
    async with opened(hub) as machine:
        approval_id = await machine.put(question(), MINUTE)
        both = asyncio.gather(machine.answer(approval_id), machine.answer(approval_id))
        await asyncio.sleep(0)
        await answer(hub, approval_id, approved=True)
        assert sorted(told.ruling for told in await both) == [Ruling.APPROVED, Ruling.EXPIRED]


@at_a_client
@pytest.mark.parametrize(("approved", "ruling"), [(True, Ruling.APPROVED), (False, Ruling.DENIED)])
async def test_the_client_answers_what_was_put_for_it(
    hub: Hub, opened: Open, approved: bool, ruling: Ruling
) -> None:
    """The word of the call's client counts, where the machine asked so that it may."""
    async with opened(hub) as machine:
        approval_id = await machine.put(question(), MINUTE, elicitation=True)
        told = await machine.resolve(approval_id, approved=approved)
        assert (told.ruling, told.by) == (ruling, "elicitation")


@at_a_client
async def test_the_client_answers_nothing_else(hub: Hub, opened: Open) -> None:
    """Where it was not said so when the question was put, the client's answer is refused."""
    async with opened(hub) as machine:
        approval_id = await machine.put(question(), MINUTE)
        with pytest.raises(HubError, match="only a person"):
            await machine.resolve(approval_id, approved=True)
        assert (await kept(hub, approval_id)).status is ApprovalStatus.PENDING


@at_a_client
async def test_a_person_who_was_faster_has_answered(hub: Hub, opened: Open) -> None:
    """A person's no stands, whatever the client says afterwards."""
    async with opened(hub) as machine:
        approval_id = await machine.put(question(), MINUTE, elicitation=True)
        await answer(hub, approval_id, approved=False)
        told = await machine.resolve(approval_id, approved=True)
        assert (told.ruling, told.by) == (Ruling.DENIED, "owner")


async def test_what_is_refused_is_a_sentence(hub: Hub, opened: Open) -> None:
    """A need that the hub does not take is refused with a sentence, and nothing is kept."""
    async with opened(hub) as machine:
        with pytest.raises(Invalid, match="digest"):
            await machine.put(question(digest="nonsense"), MINUTE)
        for nobody in ("00000000-0000-4000-8000-000000000000", "nonsense"):
            with pytest.raises(HubError):
                await machine.answer(nobody)


async def test_long_calls_are_asked_about(hub: Hub, opened: Open) -> None:
    """However long a call is, and whatever is in it, people see its beginning and how much is missing."""
    async with opened(hub) as machine:
        huge = {"content": "x" * 3_000_000, "\ud800": ["\0", {"deep": "y" * 3000}]}
        approval_id = await machine.put(question(arguments=huge, shown="z" * 200_000), MINUTE)
        found = await kept(hub, approval_id)
        assert found.shown.endswith("… (100040 characters more)")
        assert str(found.arguments["content"]).endswith("… (2998040 characters more)")


async def test_heads_are_kept(hub: Hub, opened: Open) -> None:
    """How far the machine's log is is kept; what cannot be true is told in the hub's log, not to the machine."""
    async with opened(hub) as machine:
        await machine.seal(5, "a" * 64)
        await machine.seal(5, "b" * 64)
        found = await hub.store.read(
            hub.owner, lambda tx: audit_heads.heads(tx, hub.project, node="box", limit=10)
        )
        assert [(each.seq, each.is_broken) for each in found] == [(5, True), (5, False)]


@pytest.mark.parametrize("failed", [False, True])
@pytest.mark.parametrize(("who", "sender"), [(ANN, "ann"), (PERSON, "hub")])
async def test_errands_are_tasks(hub: Hub, opened: Open, who: Principal, sender: str, failed: bool) -> None:
    """The machine's work is a task of its asker, who hears how it ended."""
    async with opened(hub, who) as machine:
        task_id = await machine.begin_task(who, "count", "count the lines")
        await machine.end_task(task_id, text="three", failed=failed)
        await machine.end_task(task_id, text="four", failed=failed)
    task = await hub.store.read(hub.owner, lambda tx: tasks.find(tx, [hub.project.id], task_id))
    assert (task.sender, task.assignee, task.result) == (
        sender,
        f"node:{kept_as(opened, sender)}",
        "three",
    )
    assert task.status is (Status.FAILED if failed else Status.COMPLETED)
    mail = await hub.store.read(hub.owner, lambda tx: inbox.read(tx, hub.project.id, sender, 10))
    assert [letter.text for letter in mail] == ["three"]


async def test_a_long_result_reaches_the_board(hub: Hub, opened: Open) -> None:
    """A description or a result that is longer than the hub takes is cut, not lost."""
    async with opened(hub) as machine:
        task_id = await machine.begin_task(ANN, "t" * 300, "d" * 60_000)
        await machine.end_task(task_id, text="r" * 60_000, failed=False)
    task = await hub.store.read(hub.owner, lambda tx: tasks.find(tx, [hub.project.id], task_id))
    assert task.status is Status.COMPLETED


async def test_the_key_is_for_machines(hub: Hub, opened: Open) -> None:
    """The hub's own machine and those that have joined get the project's key; nobody does with a token."""
    await hub.store.write(hub.owner, lambda tx: api_keys.put(tx, hub.project, "sk-0123456789abcdef"))
    async with opened(hub) as machine:
        key = await machine.key()
    assert key == ("sk-0123456789abcdef" if opened is not by_post else None)


def is_spent(hub: Hub, question: Approval) -> bool:
    found = hub.do(lambda tx: approvals.find(tx, [hub.project.id], str(question.id)), hub.owner)
    return bool(found.status is ApprovalStatus.SPENT)


@at_a_client
async def test_who_gives_up_takes_the_question_back(hub: Hub, opened: Open) -> None:
    """When the call is cancelled while it waits, nobody can answer any more."""
    async with opened(hub) as machine:
        approval_id = await machine.put(question(), MINUTE)
        waiting = asyncio.create_task(machine.answer(approval_id))
        await asyncio.sleep(0)  # its turn, in which it begins to wait
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await machine.settle()
        with pytest.raises(Conflict, match="its call was cancelled"):
            await answer(hub, approval_id, approved=True)


async def test_a_yes_that_is_faster_is_spent_on_who_gave_up(hub: Hub) -> None:
    """Over a link the hub hears a moment later that a call was cancelled; a yes before that lets nothing through."""
    async with by_link(hub) as machine:
        waiting = asyncio.create_task(machine.ask(question(), MINUTE))
        found = await asked(hub)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        hub.do(lambda tx: approvals.answer(tx, str(found.id), approved=True), hub.owner)  # in this very turn
        await until_soon(lambda: is_spent(hub, found), "the yes to be said to the machine")


@at_a_client
async def test_a_yes_for_which_nobody_waits_lapses(hub: Hub, opened: Open) -> None:
    """When the call is cancelled before it waits, a later yes is for nobody, and soon over."""
    async with opened(hub) as machine:
        approval_id = await machine.put(question(), MINUTE)
        await answer(hub, approval_id, approved=True)
    later = await kept(hub, approval_id)
    assert later.status is ApprovalStatus.APPROVED
    assert later.expires_at - (later.answered_at or 0) <= approvals.GOOD_FOR // timedelta(milliseconds=1)


async def test_a_machine_of_one_client_keeps_no_agents(hub: Hub) -> None:
    """With a token nobody gets the key of an agent that was placed, nor tells how such agents fare."""
    async with by_post(hub) as machine:
        for attempt in (machine.credentials("coder"), machine.fare([])):
            with pytest.raises(Forbidden, match="serves one client"):
                await attempt


async def test_what_was_lent_ends_when_it_is_given_back(hub: Hub, opened: Open) -> None:
    """Its program acts by it as who it works for, until it is given back; over a link, until the order ends."""
    secret = hub.token("ann")
    token_id = hub.do(lambda tx: access.authenticate(tx, secret).token_id)
    async with opened(hub) as machine:
        lent = await machine.lend(replace(ANN, token_id=str(token_id)))
        assert lent.url == ("https://hub.example.org" if opened is by_link else hub.url)
        actor = hub.do(lambda tx: access.authenticate(tx, lent.token))
        assert (actor.agent, actor.role) == ("ann", Role.ORDER)
        await machine.give_back(lent)
        if opened is not by_link:
            with pytest.raises(Unauthorized):
                hub.do(lambda tx: access.authenticate(tx, lent.token))


async def test_nobody_ends_by_giving_back_what_was_not_lent(hub: Hub, opened: Open) -> None:
    """A token that people made is not ended by a machine that has it, nor is an unknown one missed."""
    secret = hub.token("ann")
    async with opened(hub) as machine:
        for token in (secret, "ntok_unknown"):
            await machine.give_back(AgentCredentials("", token))
    assert hub.do(lambda tx: access.authenticate(tx, secret)).agent == "ann"


async def test_what_was_used_is_put_down_to_the_task(hub: Hub, opened: Open) -> None:
    """Use by a machine's agent on a task belongs to the task, and counts once if it is told again."""
    used = Used(id="1", conversation="s-1", client="codex", model="gpt-5.1", input=70, output=7)
    async with opened(hub) as machine:
        task_id = await machine.begin_task(ANN, "count", "count the lines")
        for _ in range(2):
            await machine.use(ANN, [used], task_id)

    everything = SpendingQuery(by=By.TASK, since=0, until=2**53)
    report = await hub.store.read(
        hub.owner, lambda tx: spending.report(tx, hub.project, prices.read(None), everything)
    )
    assert [(line.name, line.tokens) for line in report.lines] == [(task_id, 77)]


async def test_a_spent_budget_and_a_limit_end_the_leave_of_a_machines_agent(hub: Hub, opened: Open) -> None:
    """Its agent may use its model until a budget that concerns it is spent, or its account is paused by a limit."""
    async with opened(hub) as machine:
        assert (await machine.leave(ANN)).stopped is None
        await machine.limit(ANN, UsageLimit(LimitKind.WINDOW, None), "codex")
        paused = await machine.leave(ANN)
        used = Used(id="1", conversation="s-1", client="codex", model="gpt-5.1", input=70, output=7)
        asked = budgets.BudgetTerms(kind=BudgetKind.PROJECT, unit=BudgetUnit.TOKENS, amount=70)
        hub.do(lambda tx: budgets.put(tx, hub.project, prices.read(None), asked))
        await machine.use(ANN, [used])
        spent = await machine.leave(ANN)

    assert paused.is_paused
    assert "is paused until" in (paused.stopped or "")
    assert (spent.is_paused, "the budget of the project is spent" in (spent.stopped or "")) == (False, True)


async def test_a_limit_beside_a_client_is_its_own_only_of_its_maker(hub: Hub) -> None:
    """A machine beside a client has the client's name: another maker's limit does not pause the client's account."""
    hub.do(
        lambda tx: presences.report(
            tx,
            hub.project.id,
            "ann",
            instance="first",
            condition=Condition.IDLE,
            profile=Profile(runtime="claude-code"),
            ttl=MINUTE,
        )
    )
    limit = UsageLimit(LimitKind.WINDOW, None)
    async with by_post(hub, token=hub.token("ann")) as machine:
        assert [await machine.limit(ANN, limit, each) for each in ("codex", None)] == [False, False]
        assert not (await machine.leave(ANN)).is_paused
        assert await machine.limit(ANN, limit, "claude")
        assert (await machine.leave(ANN)).is_paused


async def test_a_machines_use_costs_what_the_owner_says(hub: Hub, tmp_path: Path) -> None:
    """A budget in money counts the use of machines' agents at the owner's prices, where there are some."""
    table = tmp_path / "prices.csv"
    table.write_text("models,since,input,output,cache_read,cache_written\nours,,1,1,,\n")
    asked = budgets.BudgetTerms(kind=BudgetKind.PROJECT, unit=BudgetUnit.USD, amount=1_000_000)
    budget = hub.do(lambda tx: budgets.put(tx, hub.project, prices.read(None), asked))
    used = Used(id="1", conversation="s-2", client="codex", model="ours", input=500_000)

    async with in_process(hub, owners=prices.read(table)) as machine:
        await machine.use(ANN, [used])

    [found] = hub.do(lambda tx: budgets.of_project(tx, hub.project.id))
    assert (found.id, found.used, found.unpriced) == (budget.id, 500_000, 0)
