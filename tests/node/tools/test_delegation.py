import asyncio
import json
from collections.abc import Coroutine
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hubbub.model.errors import StoreUnavailable
from hubbub.model.fleet.calls import NodeCall, Principal, ToolResult
from hubbub.node.policy.node_policy import OpenAIRuntime, Runtime
from hubbub.node.tools import delegation
from hubbub.node.tools.background_tasks import FOLDER, STOPPED, BackgroundTasks
from hubbub.node.tools.delegation import TOOLS
from hubbub.node.tools.tool_context import ToolContext
from tests.node.model_endpoint import Calls, Endpoint, Says, endpoint
from tests.node.tool_contexts import SOMEBODY, NotingHub, begun, endless, order, place, shell

UNTIL_OPEN = "cat fifo"  # says what is written into it, and ends


def call(here: ToolContext, asked: NodeCall) -> ToolResult:
    return asyncio.run(perform(here, asked))


def perform(here: ToolContext, asked: NodeCall) -> Coroutine[Any, Any, ToolResult]:
    tool = TOOLS[asked.tool]

    async def done() -> ToolResult:
        return await tool(here, asked)

    return done()


def value(outcome: ToolResult) -> dict[str, Any]:
    assert isinstance(outcome.value, dict)
    return outcome.value


def talks(model: Endpoint) -> Runtime:
    return OpenAIRuntime(model.url, "m")


@pytest.fixture
def hub() -> NotingHub:
    return NotingHub()


class TestDelegateTask:
    def test_it_is_a_task_of_the_hub(self, tmp_path: Path, hub: NotingHub) -> None:
        """Delegated work is a task from the caller to the machine, and ends with the agent's text."""
        here = place(tmp_path, hub=hub, runtime=shell("cat; echo $HUBBUB_TASK_ID"))

        outcome = call(here, order("delegate_task", prompt="Count the files.\nAll of them."))

        assert outcome.value == {
            "text": "Count the files.\nAll of them.1",
            "tool_calls": [],
            "task_id": "1",
            "status": "done",
        }
        task = hub.tasks["1"]
        assert task.who == SOMEBODY
        assert (task.title, task.description) == ("Count the files.", "Count the files.\nAll of them.")
        assert (task.text, task.failed) == ("Count the files.\nAll of them.1", False)

    def test_a_long_first_line_makes_a_short_title(self, tmp_path: Path, hub: NotingHub) -> None:
        """A title has at most 80 characters."""
        call(place(tmp_path, hub=hub, runtime=shell("true")), order("delegate_task", prompt="x" * 200))

        assert hub.tasks["1"].title == "x" * 79 + "…"

    def test_what_takes_long_goes_on(
        self, tmp_path: Path, hub: NotingHub, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The caller gets the task's id while the agent is at work, and the task ends when it has done."""
        monkeypatch.setattr(delegation, "AT_ONCE", timedelta(0))
        here = place(tmp_path, hub=hub, runtime=shell(f"mkfifo fifo; {UNTIL_OPEN}"))
        ended = asyncio.Event()

        async def end_task(task_id: str, *, text: str, failed: bool) -> None:
            await NotingHub.end_task(hub, task_id, text=text, failed=failed)
            ended.set()

        async def story() -> ToolResult:
            hub.end_task = end_task  # type: ignore[method-assign]
            outcome = await perform(here, order("delegate_task", prompt="wait"))
            assert not hub.ended("1")
            writing = "until [ -p fifo ]; do :; done; echo at last > fifo"
            await (await asyncio.create_subprocess_exec("/bin/sh", "-c", writing, cwd=here.world.cwd)).wait()
            await ended.wait()
            return outcome

        assert asyncio.run(story()).value == {"task_id": "1", "status": "in_progress"}
        assert hub.tasks["1"].text == "at last"

    def test_a_caller_that_leaves_does_not_end_it(self, tmp_path: Path, hub: NotingHub) -> None:
        """Delegated work outlives the call that asked for it."""
        here = place(tmp_path, hub=hub, runtime=shell("echo done > done; echo all right"))
        begun = asyncio.Event()

        async def begin_task(who: Principal, title: str, description: str) -> str:
            begun.set()
            return await NotingHub.begin_task(hub, who, title, description)

        async def story() -> None:
            hub.begin_task = begin_task  # type: ignore[method-assign]
            calling = asyncio.create_task(perform(here, order("delegate_task", prompt="go")))
            await begun.wait()
            await asyncio.sleep(0)
            calling.cancel()
            await asyncio.gather(calling, return_exceptions=True)
            (errand,) = here.errands._running
            await errand

        asyncio.run(story())

        assert hub.tasks["1"].text == "all right"

    def test_an_agent_that_fails_fails_its_task(self, tmp_path: Path, hub: NotingHub) -> None:
        """The task says why there is no result, and so does the answer."""
        here = place(tmp_path, hub=hub, runtime=shell("echo no credit >&2; exit 1"))

        outcome = call(here, order("delegate_task", prompt="go"))

        assert outcome.is_error
        assert value(outcome) == {
            "error": "the agent's program ended with exit code 1: no credit",
            "code": "failed",
            "task_id": "1",
            "status": "failed",
        }
        assert hub.tasks["1"].failed
        assert hub.tasks["1"].text == "the agent's program ended with exit code 1: no credit"

    def test_a_machine_without_an_agent_says_how_to_get_one(self, tmp_path: Path, hub: NotingHub) -> None:
        """A machine without an agent says in one sentence which settings there are."""
        outcome = call(place(tmp_path, hub=hub), order("delegate_task", prompt="go"))

        assert value(outcome)["code"] == "failed"
        assert "[runtime] in node.toml" in value(outcome)["error"]

    def test_it_is_limited_to_the_tools_that_are_named(self, tmp_path: Path, hub: NotingHub) -> None:
        """The model is offered those and no others."""
        with endpoint(Says(["ok"])) as model:
            here = place(tmp_path, hub=hub, runtime=talks(model))
            call(here, order("delegate_task", prompt="go", tools=["read_file"]))

        assert [tool["function"]["name"] for tool in model.asked[0]["tools"]] == ["read_file"]

    def test_a_tool_that_there_is_not_is_refused(self, tmp_path: Path, hub: NotingHub) -> None:
        """A limit that names no tool is a mistake, and nothing is begun."""
        outcome = call(place(tmp_path, hub=hub), order("delegate_task", prompt="go", tools=["rm"]))

        assert value(outcome) == {
            "error": "tools: there is no tool 'rm'; there are execute_command, read_file",
            "code": "invalid",
        }
        assert not hub.tasks

    def test_its_calls_are_the_callers_behind_the_gate(self, tmp_path: Path, hub: NotingHub) -> None:
        """The agent's calls go through the gate as calls of whoever delegated, who is no person in them."""
        orders: list[NodeCall] = []

        async def gate(asked: NodeCall) -> ToolResult:
            orders.append(asked)
            return ToolResult(value={"content": "x", "truncated": False})

        person = Principal(project="shop", name="grace", is_person=True)
        with endpoint(Calls([("read_file", {"path": "a"})]), Says(["ok"])) as model:
            here = place(tmp_path, hub=hub, runtime=talks(model), perform=gate)
            outcome = call(here, replace(order("delegate_task", prompt="go"), who=person))

        assert value(outcome)["tool_calls"] == [{"name": "read_file", "arguments": {"path": "a"}, "ok": True}]
        (asked,) = orders
        assert asked.who == replace(person, is_person=False)
        assert (asked.tool, asked.arguments, asked.chain) == ("read_file", {"path": "a"}, ("grace", "here"))
        assert asked.client is None

    def test_agents_ask_agents_only_so_deep(self, tmp_path: Path, hub: NotingHub) -> None:
        """An agent may have its own machine's agent work for it, three deep in all; then it is no task any more."""
        here = place(tmp_path, hub=hub, runtime=shell("echo hi"))
        deep = replace(order("delegate_task", prompt="go"), chain=("ada", "here", "here"))

        assert not call(here, deep).is_error
        outcome = call(here, replace(deep, chain=(*deep.chain, "here")))
        assert value(outcome) == {
            "error": "agents ask agents at most 3 deep: ada → here → here → here",
            "code": "failed",
        }
        assert list(hub.tasks) == ["1"]

    def test_secrets_do_not_reach_the_hub(self, tmp_path: Path, hub: NotingHub) -> None:
        """Neither the task nor its result has a secret of the machine in it."""
        here = place(tmp_path, hub=hub, runtime=shell("cat"), secret="hunter2")

        call(here, order("delegate_task", prompt="the word is hunter2"))

        assert hub.tasks["1"].description == hub.tasks["1"].text == "the word is [redacted]"

    def test_a_hub_that_takes_no_task_is_quoted(self, tmp_path: Path, hub: NotingHub) -> None:
        """Nothing is begun that would be nobody's task."""
        hub.refuses = StoreUnavailable("the disk is full")
        outcome = call(
            place(tmp_path, hub=hub, runtime=shell("touch ran")), order("delegate_task", prompt="go")
        )

        assert value(outcome) == {"error": "the disk is full", "code": "failed"}
        assert not (tmp_path / "work" / "ran").exists()


class TestErrands:
    async def begin(self, here: ToolContext) -> None:
        """Delegate work that does not end by itself, and come back once it is on its way."""
        calling = asyncio.create_task(perform(here, order("delegate_task", prompt="go")))
        await begun(here)
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)

    def test_what_is_under_way_when_the_machine_stops_fails(self, tmp_path: Path, hub: NotingHub) -> None:
        """A task that did not come to an end says so, and its program is gone."""
        here = place(tmp_path, hub=hub, runtime=endless(tmp_path))

        async def story() -> None:
            await self.begin(here)
            await here.errands.close()

        asyncio.run(story())

        assert (hub.tasks["1"].text, hub.tasks["1"].failed) == (STOPPED.text, True)
        assert not list((here.data / FOLDER).iterdir())

    def test_an_end_that_the_hub_could_not_be_told_is_told_later(
        self, tmp_path: Path, hub: NotingHub
    ) -> None:
        """A result survives a hub that is out of reach, and the machine's own end."""
        here = place(tmp_path, hub=hub, runtime=shell("echo result"))

        async def end_task(task_id: str, *, text: str, failed: bool) -> None:
            raise StoreUnavailable("not now")

        hub.end_task = end_task  # type: ignore[method-assign]
        call(here, order("delegate_task", prompt="go"))
        del hub.end_task
        assert not hub.ended("1")

        asyncio.run(BackgroundTasks().settle(hub, here.data))

        assert (hub.tasks["1"].text, hub.tasks["1"].failed) == ("result", False)
        assert not list((here.data / FOLDER).iterdir())

    def test_a_task_of_a_process_that_is_gone_is_ended(self, tmp_path: Path, hub: NotingHub) -> None:
        """Nobody is said to be at work on what a killed process left behind."""
        here = place(tmp_path, hub=hub)
        asyncio.run(hub.begin_task(SOMEBODY, "t", "t"))
        (here.data / FOLDER).mkdir()
        left = {"task_id": "1", "report": {"text": STOPPED.text, "failed": True}}
        (here.data / FOLDER / "left.json").write_text(json.dumps(left))

        asyncio.run(BackgroundTasks().settle(hub, here.data))

        assert (hub.tasks["1"].text, hub.tasks["1"].failed) == (STOPPED.text, True)

    def test_a_task_of_a_process_that_lives_is_left_alone(self, tmp_path: Path, hub: NotingHub) -> None:
        """Several processes of one machine do not end each other's work."""
        here = place(tmp_path, hub=hub, runtime=endless(tmp_path))

        async def story() -> None:
            await self.begin(here)
            await BackgroundTasks().settle(hub, here.data)
            assert not hub.ended("1")
            await here.errands.close()

        asyncio.run(story())


class TestAskAgent:
    @pytest.mark.parametrize("hostname", ["here", "HERE", "localhost"])
    def test_this_machine_answers_by_its_agent(self, tmp_path: Path, hostname: str) -> None:
        """The agent's text and its calls are the answer; it is no task of the hub."""
        hub = NotingHub()
        here = place(tmp_path, hub=hub, runtime=shell("cat"))

        outcome = call(here, order("ask_agent", hostname=hostname, prompt="what is up?"))

        assert outcome.value == {"text": "what is up?", "tool_calls": []}
        assert not hub.tasks

    def test_a_machine_that_is_not_there_is_offline(self, tmp_path: Path) -> None:
        """Its name and the code say so."""
        outcome = call(place(tmp_path), order("ask_agent", hostname="moon", prompt="hi"))

        assert value(outcome) == {"error": "the machine 'moon' is not connected", "code": "offline"}

    def test_a_machine_without_an_agent_says_so(self, tmp_path: Path) -> None:
        """Nobody there to be asked is a failure with a way out."""
        outcome = call(place(tmp_path), order("ask_agent", hostname="here", prompt="hi"))

        assert value(outcome)["code"] == "failed"
        assert "[runtime] in node.toml" in value(outcome)["error"]

    def test_an_agent_that_is_late_is_stopped(self, tmp_path: Path) -> None:
        """The answer is a time-out, and the agent does not go on."""
        here = place(tmp_path, runtime=shell("trap 'touch stopped; exit' TERM; while :; do :; done"))

        async def story() -> ToolResult:
            outcome = await perform(here, order("ask_agent", hostname="here", prompt="hi", timeout_ms=1000))
            await here.errands.close()
            return outcome

        outcome = asyncio.run(story())

        assert value(outcome) == {
            "error": "the agent of 'here' did not answer within 1 seconds",
            "code": "timeout",
        }
        assert (tmp_path / "work" / "stopped").exists()

    def test_the_projects_key_opens_the_endpoint(self, tmp_path: Path) -> None:
        """Where the policy names no key, the hub's for the project is used."""
        with endpoint(Says(["hi"])) as model:
            here = place(tmp_path, hub=NotingHub(api_key="sk-project"), runtime=talks(model))
            call(here, order("ask_agent", hostname="here", prompt="hi"))

        assert model.keys == ["Bearer sk-project"]


class TestAskAgentStream:
    def test_the_text_comes_line_by_line_and_whole_at_the_end(self, tmp_path: Path) -> None:
        """Chunks are told as progress while the agent works, secrets taken out even if they came in two pieces."""
        told: list[str] = []

        async def progress(text: str) -> None:
            told.append(text)

        with endpoint(Says(["one\ntwo hun", "ter2", " three\nfo", "ur"])) as model:
            here = place(tmp_path, runtime=talks(model), secret="hunter2")
            asked = replace(order("ask_agent_stream", hostname="here", prompt="count"), progress=progress)
            outcome = call(here, asked)

        assert told == ["one\n", "two [redacted] three\n", "four"]
        assert (
            value(outcome)["text"] == "one\ntwo hunter2 three\nfour"
        )  # the machine's door redacts what leaves

    def test_a_caller_that_wants_no_progress_gets_the_whole(self, tmp_path: Path) -> None:
        """Without a way to tell progress it is `ask_agent`."""
        here = place(tmp_path, runtime=shell("echo a; echo b"))

        assert value(call(here, order("ask_agent_stream", hostname="here", prompt="")))["text"] == "a\nb"


class TestAskAgents:
    def test_who_is_named_twice_is_asked_once(self, tmp_path: Path) -> None:
        """All names of a machine, in whatever case, are one, and the answer stands under the first of them."""
        here = place(tmp_path, runtime=shell("echo asked >> times; echo hi"))

        outcome = call(here, order("ask_agents", hostnames=["Here", "here", "localhost"], prompt="hi"))

        assert outcome.value == {"by_host": {"Here": {"text": "hi", "tool_calls": []}}, "timed_out": []}
        assert (tmp_path / "work" / "times").read_text() == "asked\n"

    @pytest.mark.parametrize("name", ["per_host_timeout_ms", "total_timeout_ms"])
    def test_who_is_late_is_named(self, tmp_path: Path, name: str) -> None:
        """A machine that does not answer in time is in `timed_out`, and has an error where its answer would be."""
        here = place(tmp_path, runtime=shell("exec tail -f /dev/null"))

        async def story() -> ToolResult:
            outcome = await perform(here, order("ask_agents", hostnames=["here"], prompt="hi", **{name: 200}))
            await here.errands.close()
            return outcome

        assert value(asyncio.run(story())) == {
            "by_host": {
                "here": {
                    "error": "the agent of 'here' did not answer within 0.2 seconds",
                    "code": "timeout",
                }
            },
            "timed_out": ["here"],
        }

    @pytest.mark.parametrize("hostnames", [[], [f"web{number}" for number in range(101)]])
    def test_some_have_to_be_asked_and_not_too_many(self, tmp_path: Path, hostnames: list[str]) -> None:
        """An empty list is a mistake, and so is one of over a hundred."""
        outcome = call(place(tmp_path), order("ask_agents", hostnames=hostnames, prompt="hi"))

        assert value(outcome) == {
            "error": "hostnames: 1 to 100 machines can be asked at once",
            "code": "invalid",
        }
