"""A chat with the agent of this machine, which works in a thread of its own while the terminal waits.

It has the same tools as any client of `hubbub mcp cmdop`, behind the same gate. The gate's questions are asked at the
terminal, where the machine's operator sits.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

from hubbub.bridge.bridge import Bridge
from hubbub.bridge.companions import cmdop_companion
from hubbub.bridge.transport.mcp_upstream import Upstream
from hubbub.chat.in_process_client import InProcessClient
from hubbub.client import Hub, HubUnreachable
from hubbub.dialects.cmdop import DIALECT
from hubbub.model.fleet.calls import ToolResult
from hubbub.node.gate.host_facts import describe
from hubbub.node.policy.node_policy import Runtime
from hubbub.node.runtimes import conversation
from hubbub.node.runtimes.conversation import Answer, Conversation, ToolAccess


@dataclass(frozen=True, slots=True)
class TextPiece:
    """More of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """The agent calls a tool."""

    tool: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool call ended, with this result."""

    outcome: ToolResult


@dataclass(frozen=True, slots=True)
class Question:
    """A call waits for the person's yes or no, to be set as the result of `answer`."""

    sentence: str
    answer: "Future[bool]"


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn is over."""


Event = TextPiece | ToolStarted | ToolFinished | Question | TurnEnded


@dataclass(slots=True)
class Turn:
    """One prompt on its way to an answer; `events` end with `TurnEnded`."""

    events: "SimpleQueue[Event]" = field(default_factory=SimpleQueue)
    _running: "Future[Answer] | None" = None

    def run(self, running: "Future[Answer]") -> None:
        self._running = running
        running.add_done_callback(lambda _: self.events.put(TurnEnded()))

    def cancel(self) -> None:
        """Stop the agent, if it is at work."""
        if self._running is not None:
            self._running.cancel()

    def answer(self) -> Answer:
        """Return the agent's final answer. Raises `RuntimeFailed`, and `CancelledError`."""
        assert self._running is not None
        return self._running.result()


class AgentChat:
    """The partner of a chat. Its methods are for the terminal's thread."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, line: InProcessClient, runtime: Runtime, node: str
    ) -> None:
        self._loop, self._line, self._runtime, self._node = loop, line, runtime, node
        self._folder = Path.cwd()
        self._conversation: Conversation | None = None
        self.turn = Turn()  # the present one, or the last

    def say(self, prompt: str) -> Turn:
        """Begin a turn."""
        self.turn = turn = Turn()
        turn.run(asyncio.run_coroutine_threadsafe(self._say(prompt, turn), self._loop))
        return turn

    def forget(self) -> None:
        """Begin a new conversation with the next turn."""
        self._conversation = None

    async def _say(self, prompt: str, turn: Turn) -> Answer:
        async def hear(text: str) -> None:
            turn.events.put(TextPiece(text))

        async def call(tool: str, arguments: Mapping[str, object]) -> ToolResult:
            turn.events.put(ToolStarted(tool, arguments))
            outcome = await self._line.call(tool, arguments)
            turn.events.put(ToolFinished(outcome))
            return outcome

        if self._conversation is None:
            self._conversation = await conversation(self._runtime)
        hands = ToolAccess(node=self._node, folder=self._folder, tools=DIALECT.catalogue(), call=call)
        return await self._conversation.say(prompt, hands, hear)


@contextmanager
def open_chat(
    hub: Callable[[], Hub], data: Path, runtime: Runtime, *, is_attended: bool
) -> Iterator[AgentChat]:
    """Yield the agent of this machine; `hub` returns the present hub. With nobody at the terminal the hub asks people.

    Raises `HubUnreachable` if the hub does not let it in.
    """
    home = _Home(hub, data, runtime, is_attended=is_attended)
    thread = threading.Thread(target=home.run, name="partner")
    thread.start()
    try:
        yield home.opened.result()
    finally:
        home.closing.set()
        thread.join()


class _Home:
    """The thread in which the agent and its machine live."""

    def __init__(self, hub: Callable[[], Hub], data: Path, runtime: Runtime, *, is_attended: bool) -> None:
        self._hub, self._data, self._runtime, self._is_attended = hub, data, runtime, is_attended
        self.opened: Future[AgentChat] = Future()
        self.closing = threading.Event()

    def run(self) -> None:
        try:
            asyncio.run(self._live())
        except BaseException as error:
            if self.opened.done():
                raise
            self.opened.set_exception(error)  # for the thread that waits for us

    async def _live(self) -> None:
        line = InProcessClient(self._ask if self._is_attended else None)
        async with cmdop_companion.companion(self._data, self._hub, is_attended=self._is_attended) as beside:
            hub = self._hub()
            upstream = Upstream(lambda: f"{self._hub().url}/mcp/{DIALECT.name}", hub.token)
            async with asyncio.TaskGroup() as group:
                group.create_task(Bridge(upstream, line.heard, beside).run(line.sent()))
                refusal = await line.greet()
                if refusal is None:
                    loop, node = asyncio.get_running_loop(), describe(self._data).name
                    self.opened.set_result(AgentChat(loop, line, self._runtime, node))
                    await asyncio.to_thread(self.closing.wait)
                line.close()
        if refusal is not None:
            raise HubUnreachable(refusal)

    async def _ask(self, sentence: str) -> bool:
        question = Question(sentence, Future())
        self.opened.result().turn.events.put(question)
        return await asyncio.wrap_future(question.answer)
