"""A client of the bridge in this very process, through which the chat's agent calls tools like any other client."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from itertools import count

from hubbub import __version__
from hubbub.bridge.companions.tool_calls import result_of
from hubbub.bridge.messages import json_rpc
from hubbub.bridge.messages.json_rpc import Message
from hubbub.model.fleet import elicitation
from hubbub.model.fleet.calls import ToolResult

VERSION = "2025-11-25"  # of the protocol

AskPerson = Callable[[str], Awaitable[bool]]  # whether they say yes to the sentence


class InProcessClient:
    """Our end of a bridge: the bridge reads our messages from `sent`, and passes its own to `heard`.

    `ask` puts a question to the person at the terminal; it is None if nobody is there.
    """

    def __init__(self, ask: AskPerson | None) -> None:
        self._ask = ask
        self._sent: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._waiting: dict[object, asyncio.Future[Message]] = {}
        self._asking: set[asyncio.Task[None]] = set()
        self._ids = count(1)

    async def greet(self) -> str | None:
        """Send `initialize`; return the hub's objection, if any."""
        params = {
            "protocolVersion": VERSION,
            "capabilities": {} if self._ask is None else {"elicitation": {}},
            "clientInfo": {"name": "hubbub chat", "version": __version__},
        }
        answer = await self._request("initialize", params)
        return str(answer["error"].get("message")) if "error" in answer else None

    async def call(self, tool: str, arguments: Mapping[str, object]) -> ToolResult:
        """Call a tool. Cancelling this gives the call up."""
        return result_of(await self._request(json_rpc.CALL, {"name": tool, "arguments": dict(arguments)}))

    def close(self) -> None:
        """End the input."""
        self._sent.put_nowait(None)

    async def sent(self) -> AsyncIterator[bytes]:
        while (line := await self._sent.get()) is not None:
            yield line

    async def heard(self, line: bytes) -> None:
        message = json_rpc.decoded(line) or {}
        if message.get("method") == elicitation.METHOD:
            asking = asyncio.create_task(self._asked(message))
            self._asking.add(asking)
            asking.add_done_callback(self._asking.discard)
        elif (waiting := self._waiting.get(message.get("id"))) is not None and not waiting.done():
            waiting.set_result(message)

    async def _asked(self, message: Message) -> None:
        """Answer a question for the person."""
        assert self._ask is not None  # without it there are no questions
        says_yes = await self._ask(str(json_rpc.parameters(message).get("message")))
        answer = {"action": "accept", "content": {"approve": True}} if says_yes else {"action": "decline"}
        self._say({"jsonrpc": "2.0", "id": message["id"], "result": answer})

    async def _request(self, method: str, params: Mapping[str, object]) -> Message:
        request_id = next(self._ids)
        answered = self._waiting[request_id] = asyncio.get_running_loop().create_future()
        self._say({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        try:
            await answered
        except asyncio.CancelledError:
            given_up = {"requestId": request_id, "reason": "the person does not want it any more"}
            self._say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": given_up})
            raise
        finally:
            del self._waiting[request_id]
        reply: Message = answered.result()
        return reply

    def _say(self, message: Message) -> None:
        self._sent.put_nowait(json_rpc.encoded(message))
