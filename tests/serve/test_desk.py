"""What a machine is told by its hub: by the desk in the hub's own process, and from afar, alike."""

import asyncio
from datetime import timedelta

import pytest

from hubbub.core import approvals, inbox, keys, seals, tasks
from hubbub.model.approvals import ApprovalStatus
from hubbub.model.errors import Conflict, HubError, Invalid
from hubbub.model.lifecycle import Status
from hubbub.model.orders import Principal, Ruling
from tests.serve.desks import ANN, DIGEST, Open, answer, asked, at_the_desk, from_afar, kept, question
from tests.serve.hub import Hub

pytestmark = pytest.mark.anyio

MINUTE = timedelta(seconds=60)
MOMENT = timedelta(milliseconds=200)
PERSON = Principal(project="default", name="owner", is_person=True)


@pytest.fixture(params=[at_the_desk, from_afar])
def opened(request: pytest.FixtureRequest) -> Open:
    """A test that asks for it is run both ways."""
    way: Open = request.param
    return way


def kept_as(opened: Open, who: str) -> str:
    """The name under which the hub keeps what the machine `box` does: from afar it is only said."""
    return "box" if opened is at_the_desk else f"{who}@box"


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
    """What was told is spent: nobody is told of it again, not even the machine that asked."""
    async with opened(hub) as machine:
        approval_id = await machine.put(question(), MINUTE)
        await answer(hub, approval_id, approved=True)
        assert (await machine.answer(approval_id)).ruling is Ruling.APPROVED
        with pytest.raises(HubError):
            await machine.answer(approval_id)
        with pytest.raises(HubError):
            await machine.resolve(approval_id, approved=True, by="elicitation")


async def test_two_that_wait_for_one_answer_are_told_yes_once(hub: Hub, opened: Open) -> None:
    """However many wait for one answer, one of them may go on."""
    async with opened(hub) as machine:
        approval_id = await machine.put(question(), MINUTE)
        both = asyncio.gather(machine.answer(approval_id), machine.answer(approval_id))
        await asyncio.sleep(0)
        await answer(hub, approval_id, approved=True)
        assert sorted(told.ruling for told in await both) == [Ruling.APPROVED, Ruling.EXPIRED]


@pytest.mark.parametrize(("approved", "ruling"), [(True, Ruling.APPROVED), (False, Ruling.DENIED)])
async def test_the_client_answers_what_was_put_for_it(
    hub: Hub, opened: Open, approved: bool, ruling: Ruling
) -> None:
    """What the client of the call says counts, where the machine asked so that it may."""
    async with opened(hub) as machine:
        approval_id = await machine.put(question(), MINUTE, elicitation=True)
        told = await machine.resolve(approval_id, approved=approved, by="elicitation")
        assert (told.ruling, told.by) == (ruling, "elicitation")


async def test_the_client_answers_nothing_else(hub: Hub, opened: Open) -> None:
    """Where it was not said so when the question was put, the client's answer is refused."""
    async with opened(hub) as machine:
        approval_id = await machine.put(question(), MINUTE)
        with pytest.raises(HubError, match="only a person"):
            await machine.resolve(approval_id, approved=True, by="elicitation")
        assert (await kept(hub, approval_id)).status is ApprovalStatus.PENDING


async def test_a_person_who_was_faster_has_answered(hub: Hub, opened: Open) -> None:
    """A person's no stands, whatever the client says afterwards."""
    async with opened(hub) as machine:
        approval_id = await machine.put(question(), MINUTE, elicitation=True)
        await answer(hub, approval_id, approved=False)
        told = await machine.resolve(approval_id, approved=True, by="elicitation")
        assert (told.ruling, told.by) == (Ruling.DENIED, "owner")


async def test_what_is_refused_is_a_sentence(hub: Hub, opened: Open) -> None:
    """What the hub does not take is a refusal with its sentence, and nothing is kept."""
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
        await machine.seal("box", 5, "a" * 64)
        await machine.seal("box", 5, "b" * 64)
        found = await hub.store.read(hub.owner, lambda tx: seals.heads(tx, hub.project, node="box", limit=10))
        assert [(each.seq, each.is_broken) for each in found] == [(5, True), (5, False)]


@pytest.mark.parametrize("failed", [False, True])
@pytest.mark.parametrize(("who", "sender"), [(ANN, "ann"), (PERSON, "hub")])
async def test_errands_are_tasks(hub: Hub, opened: Open, who: Principal, sender: str, failed: bool) -> None:
    """What the machine sets about is a task of whoever asked for it, who hears how it ended."""
    async with opened(hub) as machine:
        task_id = await machine.begin_task(who, "count", "count the lines", "box")
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
        task_id = await machine.begin_task(ANN, "t" * 300, "d" * 60_000, "box")
        await machine.end_task(task_id, text="r" * 60_000, failed=False)
    task = await hub.store.read(hub.owner, lambda tx: tasks.find(tx, [hub.project.id], task_id))
    assert task.status is Status.COMPLETED


async def test_the_key_is_for_the_hubs_own_machine(hub: Hub, opened: Open) -> None:
    """The desk in the hub gives out the project's key; nobody gets it from afar."""
    await hub.store.write(hub.owner, lambda tx: keys.put(tx, hub.project, "sk-0123456789abcdef"))
    async with opened(hub) as machine:
        key = await machine.key()
    assert key == ("sk-0123456789abcdef" if opened is at_the_desk else None)


async def test_who_gives_up_leaves_a_question_that_lets_nothing_through(hub: Hub, opened: Open) -> None:
    """When the call is cancelled while it waits, a later yes is for nobody and lapses."""
    async with opened(hub) as machine:
        waiting = asyncio.create_task(machine.ask(question(), MINUTE))
        found = await asked(hub)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await answer(hub, str(found.id), approved=True)
    later = await kept(hub, str(found.id))
    assert later.status is ApprovalStatus.APPROVED
    assert later.expires_at - (later.answered_at or 0) <= approvals.GOOD_FOR // timedelta(milliseconds=1)
