import asyncio
import importlib
import json
import socket
from datetime import timedelta
from pathlib import Path
from types import ModuleType

import pytest

from hubbub.node.policy.node_policy import OpenAIRuntime
from hubbub.node.runtimes import conversation
from hubbub.node.runtimes.conversation import Conversation, RuntimeFailed, ToolCall
from tests.node.model_endpoint import Calls, Fails, Hangs, Says, Scant, endpoint
from tests.node.tool_access import CATALOGUE, Record

SLOW = Calls([("read_file", {"path": "again"})])


@pytest.fixture(scope="module")
def openai() -> ModuleType:
    """The runtime itself: what it is built on takes seconds to import, which whoever only collects it does not have."""
    return importlib.import_module("hubbub.node.runtimes.openai")


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return Record(tmp_path)


async def talk(url: str, key: str | None = None) -> Conversation:
    return await conversation(OpenAIRuntime(url, "tiny", key))


def test_the_model_answers_with_text(record: Record) -> None:
    """A prompt goes to the endpoint under the configured model's name, and its text is the answer."""
    with endpoint(Says(["four"])) as model:
        agent = asyncio.run(talk(model.url))
        answer = asyncio.run(agent.say("two and two?", record.hands()))

    assert answer.text == "four"
    assert not answer.tool_calls
    assert model.asked[0]["model"] == "tiny"
    assert model.asked[0]["messages"][-1] == {"role": "user", "content": "two and two?"}


def test_the_model_is_offered_the_tools_and_their_results(record: Record) -> None:
    """It sees names, descriptions and schemas; a call passes through the hands, and the result goes back to it."""
    with endpoint(Calls([("read_file", {"path": "colour.txt"})]), Says(["It is green."])) as model:
        agent = asyncio.run(talk(model.url))
        answer = asyncio.run(agent.say("which colour?", record.hands()))

    offered = [tool["function"] for tool in model.asked[0]["tools"]]
    assert [tool["name"] for tool in offered] == ["read_file", "execute_command"]
    assert offered[0]["description"] == "read_file of a path"
    assert offered[0]["parameters"]["properties"] == {"path": {"type": "string"}}
    assert record.calls == [("read_file", {"path": "colour.txt"})]
    assert model.tool_results() == ['{"content": "green", "truncated": false}']
    assert answer.text == "It is green."
    assert list(answer.tool_calls) == [ToolCall("read_file", {"path": "colour.txt"}, ok=True)]


@pytest.mark.parametrize("is_heard", [False, True])
def test_an_endpoint_may_say_no_more_than_the_message(record: Record, is_heard: bool) -> None:
    """Some leave out ids, types, places and sums, and know no stream: their answers count all the same."""
    heard: list[str] = []

    async def hear(text: str) -> None:
        heard.append(text)

    call = Calls([("read_file", {"path": "colour.txt"})])
    with endpoint(Scant(call), Scant(Says(["It is green."]))) as model:
        agent = asyncio.run(talk(model.url))
        answer = asyncio.run(agent.say("which colour?", record.hands(), hear if is_heard else None))

    assert answer.text == "It is green."
    assert list(answer.tool_calls) == [ToolCall("read_file", {"path": "colour.txt"}, ok=True)]
    assert heard == (["It is green."] if is_heard else [])


def test_what_the_gate_refuses_is_told_to_the_model(record: Record) -> None:
    """A refusal is the result of the call, not the end of the run."""
    with endpoint(Calls([("execute_command", {"command": "rm -rf ~"})]), Says(["I may not."])) as model:
        agent = asyncio.run(talk(model.url))
        answer = asyncio.run(agent.say("clean up", record.hands()))

    told = json.loads(model.tool_results()[0])
    assert told == {
        "error": "permission_denied",
        "code": "denied",
        "reason": "it recursively deletes a home folder",
    }
    assert answer.text == "I may not."
    assert [call.ok for call in answer.tool_calls] == [False]


def test_the_model_hears_what_is_wrong_with_its_arguments(record: Record) -> None:
    """Arguments that are not the tool's, or no JSON at all, never reach the tool; the model may correct them."""
    turns = (
        Calls([("read_file", {"file": "x"})]),
        Calls([("read_file", '{"path": ')]),
        Calls([("read_file", {"path": "x"})]),
        Says(["done"]),
    )
    with endpoint(*turns) as model:
        agent = asyncio.run(talk(model.url))
        answer = asyncio.run(agent.say("go", record.hands()))

    assert record.calls == [("read_file", {"path": "x"})]
    assert model.tool_results()[0] == '{"error": "path is missing", "code": "invalid"}'
    assert answer.text == "done"


def test_the_model_calls_only_the_tools_it_was_given(record: Record) -> None:
    """A tool outside the limit is neither offered nor done, even if the model guesses its name."""
    with endpoint(Calls([("execute_command", {"command": "ls"})]), Says(["no such tool"])) as model:
        agent = asyncio.run(talk(model.url))
        asyncio.run(agent.say("go", record.hands(CATALOGUE[:1])))

    assert [tool["function"]["name"] for tool in model.asked[0]["tools"]] == ["read_file"]
    assert not record.calls


def test_text_is_heard_while_it_comes(record: Record) -> None:
    """A listener gets the pieces as the endpoint streams them, those before a call of a tool too."""
    heard: list[str] = []

    async def hear(piece: str) -> None:
        heard.append(piece)

    async def story(url: str) -> str:
        agent = await talk(url)
        return (await agent.say("which colour?", record.hands(), hear)).text

    with endpoint(Calls([("read_file", {"path": "c"})]), Says(["It is ", "green", "."])) as model:
        text = asyncio.run(story(model.url))

    assert model.asked[0]["stream"] is True
    assert heard == ["It is ", "green", "."]
    assert text == "It is green."


def test_a_conversation_is_remembered(record: Record) -> None:
    """The next prompt comes with what was said and done before."""

    async def story(url: str) -> None:
        agent = await talk(url)
        await agent.say("which colour?", record.hands())
        await agent.say("sure?", record.hands())

    with endpoint(Calls([("read_file", {"path": "c"})]), Says(["green"]), Says(["yes"])) as model:
        asyncio.run(story(model.url))

    roles = [each["role"] for each in model.asked[-1]["messages"] if each["role"] != "system"]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]


def test_what_was_done_before_an_interruption_is_remembered(record: Record) -> None:
    """A prompt that is cancelled leaves behind the calls that were made, for the next one to know."""
    stuck = Hangs()

    async def story(url: str) -> None:
        agent = await talk(url)
        turn = asyncio.create_task(agent.say("which colour?", record.hands()))
        await asyncio.to_thread(stuck.begun.wait)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert (await agent.say("and now?", record.hands())).text == "green"

    with endpoint(Calls([("read_file", {"path": "c"})]), stuck, Says(["green"])) as model:
        asyncio.run(story(model.url))

    assert model.tool_results() == ['{"content": "green", "truncated": false}']


@pytest.mark.parametrize(
    ("turn", "sentence"),
    [
        (Fails(401, "Incorrect API key"), "the model's endpoint answered 401: Incorrect API key"),
        (Fails(404, "no\nsuch model"), "the model's endpoint answered 404: no such model"),
    ],
)
def test_what_the_endpoint_refuses_is_one_sentence(
    openai: ModuleType, record: Record, turn: Fails, sentence: str
) -> None:
    """An error of the endpoint is said with its status and its own words, in one line."""
    with endpoint(turn) as model, pytest.raises(RuntimeFailed) as failed:
        asyncio.run(openai.OpenAIConversation(url=model.url, model="m", key=None).say("hi", record.hands()))

    assert str(failed.value) == sentence


def test_an_endpoint_that_is_not_there_is_said_to_be_out_of_reach(openai: ModuleType, record: Record) -> None:
    """No trace, no address: one sentence."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        with pytest.raises(RuntimeFailed, match=r"^the model's endpoint cannot be reached$"):
            asyncio.run(openai.OpenAIConversation(url=url, model="m", key=None).say("hi", record.hands()))


def test_a_model_that_never_ends_is_stopped(
    openai: ModuleType, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The turns of one prompt are bounded."""
    monkeypatch.setattr(openai, "TURNS", 3)
    with endpoint(*[SLOW] * 4) as model, pytest.raises(RuntimeFailed, match="after 3 turns"):
        asyncio.run(openai.OpenAIConversation(url=model.url, model="m", key=None).say("go", record.hands()))

    assert len(model.asked) == 3


def test_an_endpoint_that_does_not_answer_is_given_up(openai: ModuleType, record: Record) -> None:
    """Patience with one prompt is bounded too."""
    impatient = timedelta(milliseconds=50)
    with endpoint(Hangs()) as model:
        agent = openai.OpenAIConversation(url=model.url, model="m", key=None, patience=impatient)
        with pytest.raises(RuntimeFailed, match="was stopped"):
            asyncio.run(agent.say("hi", record.hands()))


def test_the_key_is_that_of_the_named_variable(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """The policy names an environment variable; what it holds goes to the endpoint, and nothing else does."""
    monkeypatch.setenv("SHOP_MODEL_KEY", "sk-shop")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    with endpoint(Says(["hi"])) as model:
        agent = asyncio.run(talk(model.url, key="SHOP_MODEL_KEY"))
        asyncio.run(agent.say("hi", record.hands()))

    assert model.keys == ["Bearer sk-shop"]


def test_without_a_named_variable_the_key_is_the_projects(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key of the environment that nobody named is not sent anywhere."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    with endpoint(Says(["hi"]), Says(["hi"])) as model:
        runtime = OpenAIRuntime(model.url, "m")
        for key in ("sk-project", None):
            agent = asyncio.run(conversation(runtime, key))
            asyncio.run(agent.say("hi", record.hands()))

    assert model.keys == ["Bearer sk-project", "Bearer none"]
