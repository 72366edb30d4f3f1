"""A machine's requests to a hub that has gone bad: a yes counts for its question alone, and lies are refused."""

import asyncio
import json
from dataclasses import asdict, replace
from datetime import timedelta
from pathlib import Path

import pytest

from hubbub.model.errors import Conflict, HubError, StoreUnavailable
from hubbub.model.fleet.approval_signatures import statement
from hubbub.model.fleet.calls import NodeCall, Principal, Question, Ruling
from hubbub.model.fleet.link_protocol import HubRequest, MessageKind
from hubbub.model.fleet.managed_agents import ManagedAgentStatus, ProcessStatus
from hubbub.model.ids import new_id
from hubbub.node.link.hub_requests import LinkHubClient
from hubbub.node.link.websocket import LinkSender
from hubbub.node.policy.approver_keys import UNSIGNED, make_key, sign
from tests.node.link.evil_hub import MOMENT, QUICK, Message, Talk, evil_hub, machine, mark

pytestmark = pytest.mark.anyio

ADA = Principal(project="shop", name="ada")
ASKS = 'mode = "default"\napproval_timeout = 500\n'
QUESTION = Question(
    who=ADA, node="box", tool="x", arguments={}, folder="/", shown="x", reason="why", digest="a" * 64
)


async def asked(talk: Talk, command: str = "") -> tuple[str, Message]:
    """An order that is asked about, and the question."""
    order = await talk.run(command or mark())
    return order, await talk.need(HubRequest.ASK)


# ---- questions -----------------------------------------------------------------------------------------------------


async def test_a_yes_lets_its_call_through(tmp_path: Path) -> None:
    """The question names the order, the call and how long the machine waits; a person's yes has it done."""
    async with evil_hub() as hub, machine(tmp_path, hub, policy=ASKS) as box:
        talk = await hub.linked()
        order, question = await asked(talk)
        assert (question["order"], question["patience_seconds"]) == (order, 500)
        assert question["question"]["arguments"] == {"command": mark()}
        assert box.ran() == 0
        await talk.rule(question, "approved")
        await talk.outcome(order)
        assert box.ran() == 1


async def test_a_machine_says_what_it_still_asks(tmp_path: Path) -> None:
    """Whenever it is linked it names the questions that it waits for, and no other; its next process knows of none."""
    async with evil_hub() as hub:
        async with machine(tmp_path, hub, policy=ASKS):
            talk = await hub.linked()
            assert talk.hello["asked"] == []
            _order, question = await asked(talk)
            await talk.cut()
            talk = await hub.linked()
            assert talk.hello["asked"] == [question["approval_id"]]
            again = await talk.need(HubRequest.ASK)
            await talk.rule(again, "denied")
            await talk.hear(MessageKind.ENDED)
            await talk.cut()
            talk = await hub.linked()
            assert talk.hello["asked"] == []
            await asked(talk)
        async with machine(tmp_path, hub, policy=ASKS):
            assert (await hub.linked()).hello["asked"] == []


@pytest.mark.parametrize(("patience_ms", "seconds"), [(200_000, 200), (900_000, 500), (None, 500)])
async def test_a_caller_may_wait_for_less(tmp_path: Path, patience_ms: int | None, seconds: int) -> None:
    """People have as long as the policy lets them, and no longer than the caller of the order waits."""
    async with evil_hub() as hub, machine(tmp_path, hub, policy=ASKS):
        talk, said = await hub.linked(), {"command": mark()}
        order = str(new_id())
        await talk.say(
            MessageKind.ORDER,
            order=order,
            who=asdict(ADA),
            tool="execute_command",
            arguments=said,
            chain=[],
            patience_ms=patience_ms,
        )
        question = await talk.need(HubRequest.ASK)
        assert (question["order"], question["patience_seconds"]) == (order, seconds)
        await talk.rule(question, "expired")
        assert f"within {seconds} s" in (await talk.outcome(order))["error"]


@pytest.mark.parametrize("ruling", ["denied", "expired"])
async def test_a_no_and_nobodys_answer_do_not(tmp_path: Path, ruling: str) -> None:
    """Nothing is done, and the caller hears which it was."""
    async with evil_hub() as hub, machine(tmp_path, hub, policy=ASKS) as box:
        talk = await hub.linked()
        order, question = await asked(talk)
        await talk.rule(question, ruling)
        codes = {"denied": "denied", "expired": "needs_approval"}
        assert (await talk.outcome(order))["code"] == codes[ruling]
        assert box.ran() == 0


@pytest.mark.parametrize(
    "lie",
    [
        {"approval_id": str(new_id())},
        {"approval_id": None},
        {"digest": "0" * 64},
        {"digest": None},
        {"ruling": "yes"},
        {"ruling": True},
        {"ruling": ["approved"]},
        {"by": {"name": "ann"}},
    ],
)
async def test_a_yes_to_anything_else_is_none(tmp_path: Path, lie: dict[str, object]) -> None:
    """For another question, another call, or in no words that there are: it is denied, and the machine goes on."""
    async with evil_hub() as hub, machine(tmp_path, hub, policy=ASKS) as box:
        talk = await hub.linked()
        order, question = await asked(talk)
        await talk.rule(question, "approved", **lie)
        assert (await talk.outcome(order))["code"] == "denied"
        assert box.ran() == 0
        order, question = await asked(talk)
        await talk.rule(question, "approved")
        await talk.outcome(order)
        assert box.ran() == 1


async def test_a_yes_that_nobody_waits_for_is_nothing(tmp_path: Path) -> None:
    """To no question, before the question, a second time and after the time: what was asked decides, once each."""
    async with evil_hub() as hub, machine(tmp_path, hub, policy=ASKS) as box:
        talk = await hub.linked()
        yes = {"ruling": "approved", "approval_id": str(new_id()), "digest": "0" * 64, "by": "ann"}
        await talk.say(MessageKind.REPLY, id=str(new_id()), value=yes)
        order, question = await asked(talk)
        await talk.rule(question, "approved")
        await talk.outcome(order)
        for _ in range(3):
            await talk.rule(question, "approved")

        order, second = await asked(talk)
        assert second["approval_id"] != question["approval_id"]
        await talk.rule(question, "approved")
        await talk.grant(second, **{**yes, "digest": second["question"]["digest"]})
        assert (await talk.outcome(order))["code"] == "denied"
        assert box.ran() == 1


async def test_a_yes_that_comes_too_late_is_none(tmp_path: Path) -> None:
    """The machine's own clock says when the time is over; what comes then is for nobody."""
    async with evil_hub() as hub:
        policy = 'mode = "default"\napproval_timeout = 0.05\n'
        async with machine(tmp_path, hub, policy=policy) as box:
            talk = await hub.linked()
            order, question = await asked(talk)
            assert (await talk.outcome(order))["code"] == "needs_approval"
            await talk.rule(question, "approved")
            assert (await talk.outcome(await talk.order("list_dir", path="."))) == []
            assert box.ran() == 0


@pytest.mark.parametrize("command", [mark(".env"), "touch forbidden"])
async def test_no_yes_helps_against_a_denial(tmp_path: Path, command: str) -> None:
    """A call that the floor or a rule denies is never asked about, and a yes to it is worth nothing."""
    policy = 'mode = "bypass"\n[rules]\ndeny = ["execute_command(touch *)"]\n'
    async with evil_hub() as hub, machine(tmp_path, hub, policy=policy) as box:
        talk = await hub.linked()
        order = await talk.run(command)
        assert (await talk.outcome(order))["code"] == "denied"
        assert talk.heard(MessageKind.REQUEST) == []
        assert sorted(each.name for each in box.work.iterdir()) == []


async def test_what_would_be_another_call_by_now_is_not_done(tmp_path: Path) -> None:
    """A hub that holds a yes back until the policy has changed gets what the policy says then."""
    async with evil_hub() as hub, machine(tmp_path, hub, policy=ASKS) as box:
        talk = await hub.linked()
        order, question = await asked(talk)
        (tmp_path / "config" / "node.toml").write_text('mode = "strict"')
        await talk.rule(question, "approved")
        assert (await talk.outcome(order))["code"] == "denied"
        assert box.ran() == 0


async def test_a_question_outlives_the_line(tmp_path: Path) -> None:
    """It is put again over the next line, with the same ids, and its answer there counts."""
    async with evil_hub() as hub, machine(tmp_path, hub, policy=ASKS) as box:
        talk = await hub.linked()
        order, question = await asked(talk)
        await talk.cut()
        talk = await hub.linked()
        again = await talk.need(HubRequest.ASK)
        assert again == question
        await talk.rule(again, "approved")
        await talk.outcome(order)
        assert box.ran() == 1


async def test_a_hub_that_stays_away_has_not_answered(tmp_path: Path) -> None:
    """The call ends when its time is over, though there is no hub to say so, and is told later."""
    async with evil_hub() as hub:
        policy = 'mode = "default"\napproval_timeout = 0.2\n'
        async with machine(tmp_path, hub, policy=policy) as box:
            talk = await hub.linked()
            order, _ = await asked(talk)
            hub.away = True
            await talk.cut()
            await box.decided("ask_timeout")
            hub.away = False
            assert (await (await hub.linked()).outcome(order))["code"] == "needs_approval"
            assert box.ran() == 0


# ---- signatures ----------------------------------------------------------------------------------------------------


async def test_a_machine_may_take_no_hubs_word_for_a_yes(tmp_path: Path) -> None:
    """Where its policy names approvers, a yes counts with the signature of one of them for this very question."""
    file = tmp_path / "approver.key"
    policy = f'approvers = ["{make_key(file)}"]\n'
    async with evil_hub() as hub, machine(tmp_path, hub, policy=policy) as box:
        talk = await hub.linked()

        def signed(question: Message) -> str:
            known = {
                each: question["question"][each] for each in ("digest", "node", "tool", "folder", "shown")
            }
            said = statement(
                machine_id=box.nodes[0].about.machine_id,
                approval_id=question["approval_id"],
                who=question["question"]["who"]["name"],
                **known,
            )
            return sign(file, said)

        order, first = await asked(talk)
        await talk.rule(first, "approved")
        denied = await talk.outcome(order)
        assert (denied["code"], denied["reason"]) == ("denied", UNSIGNED)
        order, second = await asked(talk)
        await talk.rule(second, "approved", signature=signed(first))
        assert (await talk.outcome(order))["code"] == "denied"
        assert box.ran() == 0
        order, third = await asked(talk)
        await talk.rule(third, "approved", signature=signed(third))
        await talk.outcome(order)
        assert box.ran() == 1


async def test_a_rule_too_needs_the_signature(tmp_path: Path) -> None:
    """A hub that says yes to a rule by itself has not changed the policy of a machine with approvers."""
    policy = f'approvers = ["{make_key(tmp_path / "approver.key")}"]\n'
    async with evil_hub() as hub, machine(tmp_path, hub, policy=policy) as box:
        talk = await hub.linked()
        rule = {"operation": "suggest_rule", "rule": "execute_command(echo *)", "effect": "allow"}
        order = await talk.order("permissions_helper", **rule, reason="x")
        await talk.grant(await talk.need(HubRequest.PUT))
        assert (await talk.outcome(order))["status"] == "pending"
        await talk.rule(await talk.need(HubRequest.ASK), "approved")
        await asked(talk)
        assert not (tmp_path / "config" / "rules.toml").exists()
        assert box.ran() == 0


# ---- replies -------------------------------------------------------------------------------------------------------

DEEP = '{"a":' * 90 + "1" + "}" * 90


@pytest.mark.parametrize(
    "lie",
    [
        {},
        {"value": None},
        {"value": []},
        {"value": {"value": "text"}},
        {"value": {"value": {}, "texts": "x"}},
        {"value": {"value": {}, "texts": [1]}},
        {"value": {"value": {}, "structured": []}},
        {"error": None},
        {"error": {"code": 1, "message": "x"}},
        {"error": {"code": "conflict"}},
        {"error": {"code": "conflict", "message": ["x"]}},
        {"error": {"code": "conflict", "message": "x" * 1_000_000}},
    ],
)
async def test_a_reply_that_is_none_fails_its_call(tmp_path: Path, lie: dict[str, object]) -> None:
    """Whatever a hub says instead of a reply, the call ends as failed, in few words, and the machine goes on."""
    async with evil_hub() as hub, machine(tmp_path, hub) as box:
        talk = await hub.linked()
        order = await talk.order("issue_list")
        request = await talk.need(HubRequest.ACT)
        assert (request["order"], request["act"]["tool"]) == (order, "issue_list")
        await talk.say(MessageKind.REPLY, id=request["id"], **lie)
        failed = await talk.outcome(order)
        assert failed["code"] == "failed"
        assert len(failed["error"]) <= 2_000
        await talk.outcome(await talk.run(mark()))
        assert box.ran() == 1


async def test_a_deep_or_long_reply_is_passed_on_or_refused(tmp_path: Path) -> None:
    """Known facts are told, unknown ones are said to be so: nothing makes the machine fall over."""
    async with evil_hub() as hub, machine(tmp_path, hub):
        talk = await hub.linked()
        for value in (json.loads(DEEP), {"text": "x" * 5_000_000}):
            order = await talk.order("issue_list")
            await talk.grant(await talk.need(HubRequest.ACT), value=value)
            assert await talk.outcome(order) == value


async def test_a_refusal_of_the_hub_is_one_sentence_for_the_caller(tmp_path: Path) -> None:
    """The hub's refusal for the caller is told as it is."""
    async with evil_hub() as hub, machine(tmp_path, hub):
        talk = await hub.linked()
        order = await talk.order("issue_list")
        request = await talk.need(HubRequest.ACT)
        error = {"code": "forbidden", "message": "the caller's token has ended"}
        await talk.say(MessageKind.REPLY, id=request["id"], error=error)
        assert await talk.outcome(order) == {"error": "the caller's token has ended", "code": "failed"}


async def test_what_an_order_needs_is_not_wanted_once_it_is_called_off(tmp_path: Path) -> None:
    """A reply that comes then is for nobody, and the order has ended as called off."""
    async with evil_hub() as hub, machine(tmp_path, hub):
        talk = await hub.linked()
        order = await talk.order("issue_list")
        request = await talk.need(HubRequest.ACT)
        await talk.say(MessageKind.CANCEL, order=order)
        assert (await talk.outcome(order))["code"] == "failed"
        await talk.grant(request, value={})
        assert (await talk.outcome(await talk.run("echo fine")))["stdout"] == "fine\n"


# ---- without a line ------------------------------------------------------------------------------------------------


async def test_without_a_hub_nothing_is_granted() -> None:
    """Each need ends within its time, and a question as unanswered."""
    hub = LinkHubClient(LinkSender(), replace(QUICK, need=MOMENT, act=MOMENT))
    for attempt in (
        hub.put(QUESTION, timedelta(seconds=9)),
        hub.begin_task(ADA, "t", "d"),
        hub.end_task("x", text="", failed=False),
        hub.seal(1, "a" * 64),
        hub.key(),
        hub.credentials("bot"),
        hub.act(NodeCall(who=ADA, tool="issue_list")),
    ):
        with pytest.raises(StoreUnavailable):
            await attempt
    assert (await hub.ask(QUESTION, MOMENT)).ruling is Ruling.EXPIRED


async def test_an_older_hub_is_asked_for_no_token() -> None:
    """It does not know of such a request, which would end the link: who works for an order does without."""
    hub = LinkHubClient(LinkSender(), QUICK)

    with pytest.raises(Conflict, match="older than this machine"):
        await hub.lend(ADA)


async def test_when_there_will_be_no_line_nobody_waits_for_one() -> None:
    """Waiting callers are told at once, and a later one does not wait."""
    hub = LinkHubClient(LinkSender(), QUICK)
    waiting = asyncio.create_task(hub.act(NodeCall(who=ADA, tool="issue_list")))
    await asyncio.sleep(0)
    hub.close()
    for attempt in (waiting, hub.key()):
        with pytest.raises(StoreUnavailable, match="not linked"):
            await attempt


async def test_nobody_answers_for_a_person_at_a_linked_machine() -> None:
    """There is no client; and a question that was not put here has no answer."""
    hub = LinkHubClient(LinkSender(), QUICK)
    with pytest.raises(HubError):
        await hub.resolve("x", approved=True)
    with pytest.raises(Conflict):
        await hub.answer("x")


async def test_what_cannot_be_told_is_refused_before_it_is_said() -> None:
    """A request that no line carries ends at once."""
    with pytest.raises(HubError, match="a link cannot carry"):
        await LinkHubClient(LinkSender(), QUICK).act(
            NodeCall(who=ADA, tool="x", arguments={"a": float("nan")})
        )


async def test_how_agents_fare_is_told_when_a_line_stands() -> None:
    """Reports that could not be sent are in the next hello."""
    hub = LinkHubClient(LinkSender(), QUICK)
    fares = ProcessStatus(agent="bot", command="sleep", status=ManagedAgentStatus.RUNNING, since=1)
    await hub.fare([fares])
    await hub.fare([replace(fares, restarts=1)])
    assert hub.fares == {"bot": replace(fares, restarts=1)}
