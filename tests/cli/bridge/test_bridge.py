"""The bridge with a companion beside it."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from hubbub.bridge.bridge import Bridge
from hubbub.bridge.companions.companion import Ask
from hubbub.bridge.messages.json_rpc import Message
from hubbub.bridge.messages.mcp_client import McpClient as Reached
from hubbub.bridge.transport.mcp_upstream import Upstream
from tests.cli.bridge.canned_server import Desk, Say, desk, say

CALL: Message = {
    "jsonrpc": "2.0",
    "id": 7,
    "method": "tools/call",
    "params": {"name": "look", "arguments": {}},
}
PING: Message = {"jsonrpc": "2.0", "id": 8, "method": "ping"}
LOST = Say(b"", closes=True)


def answered(number: int, **result: object) -> Say:
    """An answer of the hub's."""
    return say(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}, separators=(",", ":")).encode())


class Client:
    """Sends its messages and records what it receives; leaves when all its requests are answered."""

    def __init__(self, *messages: Message) -> None:
        self.messages = messages
        self.heard: list[Any] = []
        self._all_heard = asyncio.Event()

    async def lines(self) -> AsyncIterator[bytes]:
        for message in self.messages:
            yield json.dumps(message).encode()
        await self._all_heard.wait()

    async def hear(self, line: bytes) -> None:
        self.heard.append(json.loads(line))
        if len(self.heard) == sum("id" in message for message in self.messages):
            self.leave()

    def leave(self) -> None:
        self._all_heard.set()


class Aside:
    """A companion that does nothing of its own."""

    headers: Mapping[str, str] = {}
    client: Reached

    def meet(self, client: Reached) -> None:
        self.client = client

    async def call(self, message: Message, ask: Ask) -> Message | None:
        return None


def talk(companion: Aside, *answers: Say, messages: tuple[Message, ...] = (CALL,)) -> tuple[list[Any], Desk]:
    """Return the messages that a client receives, and the desk that stood in for the hub."""

    async def run() -> tuple[list[Any], Desk]:
        async with desk(*answers) as open_desk:
            client = Client(*messages)
            bridge = Bridge(Upstream(lambda: open_desk.url, "ntok_1"), client.hear, companion)
            await bridge.run(client.lines())
            return client.heard, open_desk

    return asyncio.run(run())


def test_companion_answers() -> None:
    """The companion's answer to a call is the client's answer, under the id that it waits for; no hub is asked."""

    class Knowing(Aside):
        async def call(self, message: Message, ask: Ask) -> Message | None:
            return {"jsonrpc": "2.0", "id": 1, "result": {"by": message["params"]["name"]}}

    heard, there = talk(Knowing())
    assert heard == [{"jsonrpc": "2.0", "id": 7, "result": {"by": "look"}}]
    assert there.requests == []


def test_companion_leaves_it_to_the_hub() -> None:
    """A call that the companion does not answer is the hub's, and any other request is so from the start."""

    class Listening(Aside):
        def __init__(self) -> None:
            self.calls: list[Message] = []

        async def call(self, message: Message, ask: Ask) -> Message | None:
            self.calls.append(message)
            return None

    listening = Listening()
    heard, _there = talk(listening, answered(7, by="hub"), messages=(CALL,))
    heard += talk(listening, answered(8), messages=(PING,))[0]
    assert [each["result"] for each in heard] == [{"by": "hub"}, {}]
    assert listening.calls == [CALL]


def test_companion_asks_the_hub() -> None:
    """The companion may put other calls to the hub before it answers; the client hears only of its own."""

    class Asking(Aside):
        async def call(self, message: Message, ask: Ask) -> Message | None:
            first = await ask({**message, "id": 1, "params": {"name": "first"}})
            second = await ask({**message, "id": 2, "params": {"name": "second"}})
            return {**second, "result": {"both": first["result"]["n"] + second["result"]["n"]}}

    heard, there = talk(Asking(), answered(1, n=1), answered(2, n=2))
    assert heard == [{"jsonrpc": "2.0", "id": 7, "result": {"both": 3}}]
    assert [b'"first"' in there.requests[0], b'"second"' in there.requests[1]] == [True, True]


def test_what_the_companion_asks_is_done_once() -> None:
    """A request lost on the way is sent again with its key and the next number, and each request has its own key."""

    class Asking(Aside):
        async def call(self, message: Message, ask: Ask) -> Message | None:
            await ask(message)
            return await ask(message)

    _heard, there = talk(Asking(), LOST, answered(7), answered(7))
    first, again, second = there.headers("Idempotency-Key")
    assert first == again != second
    assert there.headers("Idempotency-Attempt") == ["1", "2", "1"]


def test_refusal_is_an_answer_to_the_companion() -> None:
    """A refusal of the hub reaches the companion as an answer with an error in it."""

    class Asking(Aside):
        async def call(self, message: Message, ask: Ask) -> Message | None:
            return {"result": {"refused": "error" in await ask(message)}}

    heard, _there = talk(Asking(), Say(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"))
    assert heard[0]["result"] == {"refused": True}


def test_headers_of_the_companion() -> None:
    """Each request goes with the headers that the companion has at that time."""

    class Counting(Aside):
        calls = 0

        @property
        def headers(self) -> Mapping[str, str]:  # type: ignore[override]  # of this one they change
            return {"X-Calls": str(self.calls)}

        async def call(self, message: Message, ask: Ask) -> Message | None:
            self.calls += 1
            await ask(message)
            self.calls += 1
            return None

    _heard, there = talk(Counting(), answered(7), answered(7))
    assert there.headers("X-Calls") == ["1", "2"]


def test_cancelled_call_is_cancelled_at_the_companion() -> None:
    """A call that the client cancels is cancelled at the companion, and not answered."""
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}

    class Waiting(Aside):
        begun, ended = asyncio.Event(), False

        async def call(self, message: Message, ask: Ask) -> Message | None:
            self.begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.ended = True
            return None

    waiting = Waiting()

    class Impatient(Client):
        async def lines(self) -> AsyncIterator[bytes]:
            yield json.dumps(CALL).encode()
            await waiting.begun.wait()
            yield json.dumps(cancelled).encode()

    async def run() -> list[Any]:
        async with desk(Say(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")) as there:
            client = Impatient()
            await Bridge(Upstream(lambda: there.url, "ntok_1"), client.hear, waiting).run(client.lines())
            return client.heard

    assert asyncio.run(run()) == []
    assert waiting.ended


HELLO: Message = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}},
}
WELCOME = say(
    json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-11-25"}}).encode(),
    "Mcp-Session-Id: s1",
)
SILENCE = Say(None)
TAKEN = Say(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")


def streamed(*messages: Message) -> Say:
    """An answer that is told as events."""
    events = "".join(f"data: {json.dumps(each)}\n\n" for each in messages)
    return say(events.encode(), kind="text/event-stream")


def progress(text: str) -> Message:
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"message": text}}


class Hearing(Aside):
    """A companion that hears what the hub says before its answer, to a call that it makes of the client's."""

    def __init__(self, call_id: object = 7) -> None:
        self.call_id, self.told = call_id, list[str]()

    async def call(self, message: Message, ask: Ask) -> Message | None:
        async def hear(said: Message) -> None:
            self.told.append(said["params"]["message"])

        return await ask({**message, "id": self.call_id}, hear)


def test_the_companion_hears_what_comes_before_the_answer() -> None:
    """In order, and before the answer; in the older era in the transport session, where alone the hub tells it."""
    hearing = Hearing(70)
    result = {"jsonrpc": "2.0", "id": 70, "result": {}}

    heard, there = talk(
        hearing,
        WELCOME,
        streamed(progress("a"), progress("b"), result),
        Say(b"", closes=True),
        messages=(HELLO, CALL),
    )

    assert hearing.told == ["a", "b"]
    assert [each["id"] for each in heard] == [1, 7]
    assert there.headers("Mcp-Session-Id")[1] == "s1"


def test_what_the_hub_asks_meanwhile_is_for_the_client() -> None:
    """A question of the hub's goes to whoever can answer it."""
    question = {"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {}}
    hearing = Hearing()

    heard, _there = talk(
        hearing, streamed(question, progress("a"), {"jsonrpc": "2.0", "id": 7, "result": {}})
    )

    assert hearing.told == ["a"]
    assert heard[0] == question


def test_what_nobody_hears_stands_for_itself() -> None:
    """Calls that only wait for their answer are spared the price of the transport session."""

    class Asking(Aside):
        async def call(self, message: Message, ask: Ask) -> Message | None:
            return await ask(message)

    _heard, there = talk(Asking(), WELCOME, answered(7), Say(b"", closes=True), messages=(HELLO, CALL))

    assert there.headers("Mcp-Session-Id")[1] is None


def test_the_hub_hears_that_a_call_was_cancelled() -> None:
    """A cancelled request of the companion is cancelled at the hub too, under the id that it went by there."""
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}

    async def run() -> list[bytes]:
        async with desk(WELCOME, SILENCE, TAKEN, TAKEN, Say(b"", closes=True)) as there:

            class Impatient(Client):
                async def lines(self) -> AsyncIterator[bytes]:
                    yield json.dumps(HELLO).encode()
                    there.asked.clear()
                    yield json.dumps(CALL).encode()
                    await there.asked.wait()
                    yield json.dumps(cancelled).encode()

            client = Impatient()
            await Bridge(Upstream(lambda: there.url, "ntok_1"), client.hear, Hearing("x")).run(client.lines())
            assert there.headers("Mcp-Session-Id")[1:] == ["s1"] * 4
            return there.requests[2:4]

    said = [json.loads(each.partition(b"\r\n\r\n")[2]) for each in asyncio.run(run())]
    assert said == [cancelled, {**cancelled, "params": {"requestId": "x"}}]


def test_the_companion_asks_the_client() -> None:
    """The companion may tell and ask the client something while a call is under way; the hub hears nothing of it."""

    class Curious(Aside):
        async def call(self, message: Message, ask: Ask) -> Message | None:
            await self.client.tell("notifications/progress", {"progress": 1})
            said = await self.client.ask("elicitation/create", {"message": "really?"})
            return {"jsonrpc": "2.0", "result": {"said": said}}

    class Answering(Client):
        def __init__(self) -> None:
            super().__init__(CALL)
            self.questions: asyncio.Queue[Message] = asyncio.Queue()

        async def lines(self) -> AsyncIterator[bytes]:
            yield json.dumps(CALL).encode()
            question = await self.questions.get()
            yield json.dumps(
                {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}}
            ).encode()
            await self._all_heard.wait()

        async def hear(self, line: bytes) -> None:
            self.heard.append(json.loads(line))
            if self.heard[-1].get("method") == "elicitation/create":
                self.questions.put_nowait(self.heard[-1])
            if "result" in self.heard[-1]:
                self.leave()

    async def run() -> tuple[list[Any], Desk]:
        async with desk() as there:
            client = Answering()
            await Bridge(Upstream(lambda: there.url, "ntok_1"), client.hear, Curious()).run(client.lines())
            return client.heard, there

    (told, question, answer), there = asyncio.run(run())
    assert told == {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
    assert question["params"] == {"message": "really?"}
    assert answer == {"jsonrpc": "2.0", "id": 7, "result": {"said": {"action": "accept"}}}
    assert there.requests == []


def test_what_a_client_can_do_is_known() -> None:
    """Up to 2025-11-25 a client says it when it begins, since 2026-07-28 with each request."""

    async def write(_message: Message) -> None:
        """Nobody is told anything."""

    capable: Message = {"elicitation": {}}
    modern = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capable,
    }
    client = Reached(write)
    assert not client.is_capable("elicitation", CALL)
    assert client.is_capable("elicitation", {**CALL, "params": {"_meta": modern}})
    client.met({"method": "initialize", "params": {"capabilities": capable}})
    assert client.is_capable("elicitation", CALL)
    assert not client.is_capable("sampling", CALL)
