"""Calls about other machines: what this machine's gate says of them, where they go, and that they come to an end."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hubbub.model.errors import HubError, StoreUnavailable
from hubbub.model.fleet.calls import NodeCall, PerformCall, RefusalCode, Ruling, ToolResult, refused
from hubbub.node import runtimes
from hubbub.node.local_node import LocalNode
from hubbub.node.tools import delegation
from tests.node.model_endpoint import Calls, Endpoint, Says, Turn, endpoint
from tests.node.tools.wired_machines import BYPASS, Machine, Wire, order
from tests.support.waiting import until_soon

ANSWER = {"text": "hi", "tool_calls": []}


@pytest.fixture
def wire(tmp_path: Path) -> Wire:
    return Wire(tmp_path, "web1", "db1")


def done(node: LocalNode, asked: NodeCall, act: PerformCall | None) -> Any:
    return asyncio.run(node.perform(asked, act)).value


def at_web1(wire: Wire, asked: NodeCall) -> Any:
    return done(wire["web1"].node, asked, wire.act)


def codes(outcome: Any) -> set[str]:
    """The codes of a refusal: its own, or those of all machines that were asked."""
    return {each["code"] for each in outcome.get("by_host", {"": outcome}).values()}


def asks(host: str, prompt: str = "go on") -> Calls:
    """A turn in which an agent asks another's."""
    return Calls([("ask_agent", {"hostname": host, "prompt": prompt})])


class TestTheGate:
    def test_nobody_is_asked_about_what_another_machine_decides(self, wire: Wire) -> None:
        """A call goes on where the policy would have a person asked; the other machine's gate has them asked."""
        wire["web1"].policy("")
        wire["db1"].policy("")
        wire["db1"].people.ruling = Ruling.APPROVED

        outcome = at_web1(wire, order("connect", operation="exec", hostname="db1", command="touch made"))

        assert outcome == {"stdout": "", "stderr": "", "exit_code": 0}
        assert (wire["db1"].work / "made").exists()
        assert wire["web1"].people.asked == []
        assert [each.node for each in wire["db1"].people.asked] == ["db1"]

    @pytest.mark.parametrize("tool", ["ask_agent", "ask_agent_stream"])
    def test_nobody_is_asked_where_there_is_no_agent(self, wire: Wire, tool: str) -> None:
        """A prompt for a machine that has no agent is refused at once; where it has one, a person is asked."""
        wire["web1"].policy("")
        refusal = at_web1(wire, order(tool, hostname="web1", prompt="hi"))

        assert (refusal["error"], refusal["code"]) == (runtimes.NONE, "failed")
        assert wire["web1"].people.asked == []
        wire["web1"].policy("", command="cat")
        assert at_web1(wire, order(tool, hostname="web1", prompt="hi"))["code"] == "denied"
        assert len(wire["web1"].people.asked) == 1

    def test_it_is_written_down_that_it_went_on(self, wire: Wire) -> None:
        """The audit log of each machine has the call: here that another decides, there what it decided."""
        wire["db1"].policy("rules.deny = ['connect']")

        outcome = at_web1(wire, order("connect", operation="exec", hostname="db1", command="ls"))

        assert (outcome["error"], outcome["code"]) == ("permission_denied", "denied")
        wire["web1"].policy("")
        at_web1(wire, order("connect", operation="exec", hostname="db1", command="ls"))
        decided = [json.loads(line) for line in wire["web1"].audit.splitlines()]
        assert [line["decision"] for line in decided if "decision" in line] == ["allow", "allow"]
        assert decided[-2]["reason"] == "another machine is meant, whose own gate decides"
        assert decided[-1]["result"] == "denied"

    @pytest.mark.parametrize(
        "asked",
        [
            order("connect", operation="exec", hostname="db1", command="ls"),
            order("ask_agent", hostname="db1", prompt="hi"),
            order("ask_agents", hostnames=["web1", "db1"], prompt="hi"),
            order("connect", operation="exec", hostname="other", command="rm -rf /"),
        ],
    )
    def test_what_this_machine_denies_does_not_go_on(self, wire: Wire, asked: NodeCall) -> None:
        """Its deny rules and its floor hold for calls about other machines, too."""
        wire["web1"].policy("rules.deny = ['connect(exec:db*)', 'ask_agent(db1)', 'ask_agents(db1)']")

        assert codes(at_web1(wire, asked)) == {"denied"}
        assert wire.passed == []

    @pytest.mark.parametrize("name", ["web1", "WEB1", "localhost"])
    @pytest.mark.parametrize("denied", ["web1", "localhost"])
    def test_a_rule_about_this_machine_holds_by_each_of_its_names(
        self, wire: Wire, name: str, denied: str
    ) -> None:
        """A call that is denied by one name is denied by the other, in any case of letters."""
        rules = [f"connect(exec:{denied})", f"ask_agent({denied})", f"ask_agents({denied})"]
        wire["web1"].policy(f"{BYPASS}\nrules.deny = {rules}", command="touch ran")

        for asked in (
            order("connect", operation="exec", hostname=name, command="touch ran"),
            order("ask_agent", hostname=name, prompt="hi"),
            order("ask_agents", hostnames=["db1", name], prompt="hi"),
        ):
            assert codes(at_web1(wire, asked)) == {"denied"}
        assert not (wire["web1"].work / "ran").exists()

    @pytest.mark.parametrize(
        ("ruling", "code"), [(Ruling.DENIED, "denied"), (Ruling.EXPIRED, "needs_approval")]
    )
    def test_a_refusal_of_the_only_machine_is_its_entry(self, wire: Wire, ruling: Ruling, code: str) -> None:
        """`ask_agents` answers `by_host`, also where it names this machine alone and no person has said yes."""
        wire["web1"].policy("", command="touch ran")
        wire["web1"].people.ruling = ruling

        outcome = at_web1(wire, order("ask_agents", hostnames=["WEB1", "localhost"], prompt="hi"))

        entry = outcome["by_host"]["WEB1"]
        assert outcome == {"by_host": {"WEB1": {"error": entry["error"], "code": code}}, "timed_out": []}
        assert len(wire["web1"].people.asked) == 1
        assert not (wire["web1"].work / "ran").exists()

    @pytest.mark.parametrize("others", [["db1"], ["moon"]])
    def test_this_machines_part_passes_its_gate(self, wire: Wire, others: list[str]) -> None:
        """Where several are asked, a person is asked about this one alone, and keeps the others from nothing."""
        wire["web1"].policy("", command="touch ran")
        wire["db1"].policy(command="echo hi")

        outcome = at_web1(wire, order("ask_agents", hostnames=["web1", *others], prompt="hi"))

        assert outcome["by_host"]["web1"] == {"error": "permission_denied", "code": "denied"}
        assert [each.arguments["hostnames"] for each in wire["web1"].people.asked] == [["web1"]]
        assert not (wire["web1"].work / "ran").exists()
        if others == ["db1"]:
            assert outcome["by_host"]["db1"] == ANSWER

    def test_no_other_name_gets_this_machines_agent_past_it(self, wire: Wire) -> None:
        """Nor does one that is refused for going round in circles: what is left is asked about."""
        wire["web1"].policy("", command="touch ran")
        asked = order("ask_agents", hostnames=["localhost", "db1"], prompt="hi")

        outcome = at_web1(wire, replace(asked, chain=("ada", "db1")))

        assert outcome["by_host"]["localhost"]["code"] == "denied"
        assert "already at work" in outcome["by_host"]["db1"]["error"]
        assert len(wire["web1"].people.asked) == 1
        assert not (wire["web1"].work / "ran").exists()

    def test_nobody_is_asked_about_a_circle(self, wire: Wire) -> None:
        """A question that would be refused after a person's yes is refused before."""
        wire["web1"].policy("", command="touch ran")
        asked = replace(order("ask_agent", hostname="localhost", prompt="hi"), chain=("ada", "web1"))

        assert at_web1(wire, asked) == {
            "error": "ada → web1 → web1: web1's agent is already at work on this",
            "code": "failed",
        }
        assert wire["web1"].people.asked == []
        assert not (wire["web1"].work / "ran").exists()


class TestOneMachine:
    @pytest.mark.parametrize("tool", ["ask_agent", "ask_agent_stream"])
    def test_its_agent_answers(self, wire: Wire, tool: str) -> None:
        """The answer of another machine's agent has its text and the calls that it made, and nothing else."""
        with endpoint(Calls([("list_dir", {"path": "."})]), Says(["hi"])) as model:
            wire["db1"].policy(model=model.url)
            outcome = at_web1(wire, order(tool, hostname="db1", prompt="hi"))

        called = {"name": "list_dir", "arguments": {"path": "."}, "ok": True}
        assert outcome == {"text": "hi", "tool_calls": [called]}

    @pytest.mark.parametrize(
        "asked",
        [
            order("connect", operation="exec", hostname="db1", command="ls"),
            order("ask_agent", hostname="db1", prompt="hi"),
        ],
    )
    def test_without_a_hub_it_is_offline(self, wire: Wire, asked: NodeCall) -> None:
        """A machine that has nobody to pass a call on to reaches itself alone."""
        assert done(wire["web1"].node, asked, None) == {
            "error": "the machine 'db1' is not connected",
            "code": "offline",
        }

    @pytest.mark.parametrize(
        ("error", "code"), [(StoreUnavailable("no hub"), "offline"), (HubError("no"), "failed")]
    )
    def test_a_hub_that_fails_is_quoted(self, wire: Wire, error: HubError, code: str) -> None:
        """The caller learns whether the call can be tried again."""

        async def act(_order: NodeCall) -> ToolResult:
            raise error

        asked = order("ask_agent", hostname="db1", prompt="hi")
        assert done(wire["web1"].node, asked, act) == {"error": str(error), "code": code}

    def test_a_machine_without_an_agent_says_so(self, wire: Wire) -> None:
        """In the words of the machine that was asked."""
        outcome = at_web1(wire, order("ask_agent", hostname="db1", prompt="hi"))

        assert outcome["code"] == "failed"
        assert "[runtime] in node.toml" in outcome["error"]

    def test_a_hub_that_hangs_is_not_waited_for(
        self, wire: Wire, hanging: "Hanging", monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The caller's time, and the longest for a person there, are held here too, and the call is taken back."""
        monkeypatch.setattr(delegation, "LATE", timedelta(0))
        monkeypatch.setattr(delegation, "LONGEST_APPROVAL", timedelta(0))

        outcome = hanging.at(wire["web1"], order("ask_agent", hostname="db1", prompt="hi", timeout_ms=50))

        assert outcome == {
            "error": "the agent of 'db1' did not answer within 0.05 seconds",
            "code": "timeout",
        }
        assert hanging.was_cancelled

    def test_a_person_there_has_their_time(self, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
        """The time of an agent begins when its machine's gate has let the call in; this machine waits for that."""
        monkeypatch.setattr(delegation, "LATE", timedelta(0))
        wire["db1"].policy("", command="echo hi")
        wire["db1"].people.ruling = Ruling.APPROVED

        async def act(asked: NodeCall) -> ToolResult:
            loop = asyncio.get_running_loop()
            begun = loop.time()
            await until_soon(lambda: loop.time() > begun + 0.05, "the agent's time to be over")
            return await wire.act(replace(asked, arguments={**asked.arguments, "timeout_ms": 60_000}))

        asked = order("ask_agent", hostname="db1", prompt="hi", timeout_ms=20)
        assert done(wire["web1"].node, asked, act) == ANSWER

    def test_who_takes_a_call_back_takes_it_back_there(self, wire: Wire, hanging: "Hanging") -> None:
        """Nothing goes on elsewhere for a caller that has gone."""

        async def story() -> None:
            asked = order("ask_agent", hostname="db1", prompt="hi")
            calling = asyncio.create_task(wire["web1"].node.perform(asked, hanging.act))
            await hanging.begun.wait()
            calling.cancel()
            await asyncio.gather(calling, return_exceptions=True)
            await hanging.ended.wait()

        asyncio.run(story())
        assert hanging.was_cancelled


class TestProgress:
    def test_the_text_comes_through_in_order(self, wire: Wire) -> None:
        """The output of the other machine's agent comes line by line, all of it before the result."""
        told: list[str] = []

        async def story() -> ToolResult:
            async def progress(text: str) -> None:
                told.append(text)

            asked = order("ask_agent_stream", hostname="db1", prompt="count")
            outcome = await wire["web1"].node.perform(replace(asked, progress=progress), wire.act)
            told.append("the result")
            return outcome

        with endpoint(Says(["one\ntw", "o\nthr", "ee"])) as model:
            wire["db1"].policy(model=model.url)
            outcome = asyncio.run(story())

        assert told == ["one\n", "two\n", "three", "the result"]
        assert outcome.value == {"text": "one\ntwo\nthree", "tool_calls": []}

    def test_nothing_comes_after_the_result(self, wire: Wire) -> None:
        """A hub that goes on talking is not heard any more."""
        told: list[str] = []
        passed: list[NodeCall] = []

        async def act(asked: NodeCall) -> ToolResult:
            passed.append(asked)
            return ToolResult(value=ANSWER)

        async def story() -> None:
            async def progress(text: str) -> None:
                told.append(text)

            asked = order("ask_agent_stream", hostname="db1", prompt="count")
            await wire["web1"].node.perform(replace(asked, progress=progress), act)
            assert passed[0].progress is not None
            await passed[0].progress("late\n")

        asyncio.run(story())
        assert told == []

    def test_only_the_stream_tells(self, wire: Wire) -> None:
        """`ask_agent` and `ask_agents` have no progress to go on with."""

        async def progress(_text: str) -> None:
            raise AssertionError("nothing is to be told")

        with endpoint(Says(["a\nb"]), Says(["a\nb"])) as model:
            wire["db1"].policy(model=model.url)
            for asked in (
                order("ask_agent", hostname="db1", prompt=""),
                order("ask_agents", hostnames=["db1"], prompt=""),
            ):
                at_web1(wire, replace(asked, progress=progress))

        assert [each.progress for each in wire["db1"].came] == [None, None]


class TestSeveral:
    def test_each_has_its_own_answer(self, wire: Wire) -> None:
        """An answering machine has a text, an absent one an error, in the order in which they were named."""
        wire["web1"].policy(command="echo hi")
        wire["db1"].policy(command="echo hi")

        outcome = at_web1(
            wire, order("ask_agents", hostnames=["moon", "db1", "WEB1", "DB1", "localhost"], prompt="hi")
        )

        assert outcome == {
            "by_host": {
                "moon": {"error": "the machine 'moon' is not connected", "code": "offline"},
                "db1": ANSWER,
                "WEB1": ANSWER,
            },
            "timed_out": [],
        }
        assert list(outcome["by_host"]) == ["moon", "db1", "WEB1"]
        assert [each.arguments["hostnames"] for each in wire.passed] == [["moon", "db1"]]

    def test_without_a_hub_the_others_are_offline(self, wire: Wire) -> None:
        """And this machine answers as ever."""
        wire["web1"].policy(command="echo hi")
        asked = order("ask_agents", hostnames=["db1", "web1"], prompt="hi")

        assert done(wire["web1"].node, asked, None)["by_host"] == {
            "db1": {"error": "the machine 'db1' is not connected", "code": "offline"},
            "web1": ANSWER,
        }

    def test_a_hub_that_hangs_harms_nobody(
        self, wire: Wire, hanging: "Hanging", monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An agent that answered has answered; all others have timed out, and the hub is told that nobody waits."""
        monkeypatch.setattr(delegation, "LATE", timedelta(0))
        wire["web1"].policy(command="echo hi")
        hosts = ["a", "web1", "b"]

        outcome = hanging.at(
            wire["web1"], order("ask_agents", hostnames=hosts, prompt="hi", total_timeout_ms=2000)
        )

        assert outcome["timed_out"] == ["a", "b"]
        assert outcome["by_host"]["web1"] == ANSWER
        assert {outcome["by_host"][each]["code"] for each in ("a", "b")} == {"timeout"}
        assert hanging.was_cancelled

    @pytest.mark.parametrize(
        ("reply", "code"),
        [
            (refused(RefusalCode.OFFLINE, "the hub is away"), "offline"),
            (refused(RefusalCode.DENIED, "permission_denied", tool="ask_agents", reason="no"), "denied"),
            (ToolResult(value={"by_host": {"a": {"error": "busy", "code": "failed", "more": 1}}}), "failed"),
            (ToolResult(value={"by_host": {"a": {"text": 1, "tool_calls": []}}}), "failed"),
            (ToolResult(value={"by_host": {"b": ANSWER}}), "failed"),
            (ToolResult(value={"by_host": []}), "failed"),
            (ToolResult(value=[]), "failed"),
        ],
    )
    def test_each_entry_is_an_answer_or_an_error(self, wire: Wire, reply: ToolResult, code: str) -> None:
        """Whatever comes back, an entry has `error` and `code` where it has no answer, and nothing else."""

        async def act(_order: NodeCall) -> ToolResult:
            return reply

        outcome = done(wire["web1"].node, order("ask_agents", hostnames=["a"], prompt="hi"), act)

        assert outcome["by_host"].keys() == {"a"}
        assert outcome["by_host"]["a"].keys() == {"error", "code"}
        assert outcome["by_host"]["a"]["code"] == code


class TestTheChain:
    @pytest.fixture
    def model(self, wire: Wire) -> Iterator[Callable[..., dict[str, Endpoint]]]:
        """Gives machines models that take these turns."""
        with ExitStack() as models:

            def made(**turns: list[Turn]) -> dict[str, Endpoint]:
                found = {name: models.enter_context(endpoint(*each)) for name, each in turns.items()}
                for name, each in found.items():
                    wire[name].policy(model=each.url)
                return found

            yield made

    def test_agents_do_not_go_round_in_circles(
        self, wire: Wire, model: Callable[..., dict[str, Endpoint]]
    ) -> None:
        """An agent is not asked by one that it waits for, and hears why, with the whole chain."""
        models = model(web1=[asks("db1"), Says(["end"])], db1=[asks("WEB1"), Says(["I cannot"])])

        outcome = at_web1(wire, order("ask_agent", hostname="web1", prompt="go"))

        assert outcome["text"] == "end"
        (told,) = models["db1"].tool_results()
        assert json.loads(told) == {
            "error": "ada → web1 → db1 → WEB1: WEB1's agent is already at work on this",
            "code": "failed",
        }
        assert [each.chain for each in wire["db1"].came] == [("ada", "web1")]

    def test_the_machine_that_is_asked_refuses_by_itself(self, wire: Wire) -> None:
        """It does not depend on whoever asks to notice."""
        wire["db1"].policy(command="touch ran")
        asked = order("ask_agent", hostname="db1", prompt="go")

        outcome = done(wire["db1"].node, replace(asked, chain=("ada", "DB1", "web1")), wire.act)

        assert outcome["error"] == "ada → DB1 → web1 → db1: db1's agent is already at work on this"
        assert not (wire["db1"].work / "ran").exists()

    def test_agents_ask_agents_three_deep(
        self, tmp_path: Path, model: Callable[..., dict[str, Endpoint]], wire: Wire
    ) -> None:
        """The third asks no further one, on whatever machine."""
        wire.machines |= Wire(tmp_path / "more", "db2", "db3").machines
        models = model(
            web1=[asks("db1"), Says(["1"])],
            db1=[asks("db2"), Says(["2"])],
            db2=[asks("db3"), Calls([("delegate_task", {"prompt": "do"})]), Says(["3"])],
        )

        at_web1(wire, order("ask_agent", hostname="web1", prompt="go"))

        why = {"error": "agents ask agents at most 3 deep: ada → web1 → db1 → db2", "code": "failed"}
        assert [json.loads(each) for each in models["db2"].tool_results()] == [why, why]
        assert wire["db3"].came == []
        assert wire["db2"].people.tasks == {}

    def test_the_original_caller_is_who_calls(
        self, wire: Wire, model: Callable[..., dict[str, Endpoint]]
    ) -> None:
        """Machines down the chain are told who asked first, never as a person, and not who passed it on."""
        model(web1=[asks("db1"), Says(["1"])], db1=[Calls([("list_dir", {"path": "."})]), Says(["2"])])
        asked = order("ask_agent", hostname="web1", prompt="go")
        person = replace(asked.who, name="grace", is_person=True)

        at_web1(wire, replace(asked, who=person))

        (came,) = wire["db1"].came
        assert came.who == replace(person, is_person=False)
        assert {json.loads(line)["who"] for line in wire["db1"].audit.splitlines()} == {"shop/grace"}

    def test_other_calls_of_agents_are_not_counted(self, wire: Wire) -> None:
        """Commands on other machines end by themselves: the chain only goes with them."""
        deep = replace(
            order("connect", operation="exec", hostname="db1", command="echo hi"),
            chain=("ada", "x", "db1", "web1"),
        )

        assert at_web1(wire, deep)["stdout"] == "hi\n"

    def test_a_program_that_is_an_agent_is_told_the_chain(self, wire: Wire) -> None:
        """It is in its environment, as a list in JSON with its own machine at the end."""
        wire["db1"].policy(command="printenv HUBBUB_CHAIN")
        asked = order("ask_agent", hostname="db1", prompt="")

        assert at_web1(wire, asked)["text"] == '["ada", "db1"]'
        assert at_web1(wire, replace(asked, chain=("ada", "web1")))["text"] == '["ada", "web1", "db1"]'


class Hanging:
    """A hub that takes calls and never answers."""

    def __init__(self) -> None:
        self.begun, self.ended = asyncio.Event(), asyncio.Event()
        self.was_cancelled = False

    async def act(self, _order: NodeCall) -> ToolResult:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        finally:
            self.ended.set()
        raise AssertionError

    def at(self, machine: Machine, asked: NodeCall) -> Any:
        async def story() -> ToolResult:
            outcome = await machine.node.perform(asked, self.act)
            await self.ended.wait()
            return outcome

        return asyncio.run(story()).value


@pytest.fixture
def hanging() -> Hanging:
    return Hanging()
