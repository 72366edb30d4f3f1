"""Tool calls for companions: the client's request, and the hub's reply."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from hubbub.bridge.companions.companion import Ask
from hubbub.bridge.messages import json_rpc
from hubbub.bridge.messages.json_rpc import Message
from hubbub.bridge.messages.mcp_client import CAPABILITIES_KEY
from hubbub.model.fleet import calls
from hubbub.model.fleet.calls import NodeCall, RefusalCode, ToolResult
from hubbub.workspace.hook_steps import STEP, HookStep

KEY = "hubbub/idempotency-key"  # in `_meta`, from the client: a repeated call gets the answer of the first
ATTEMPT = "hubbub/idempotency-attempt"  # likewise: the number of the attempt with that key
OWN = frozenset({KEY, ATTEMPT})  # what the client says of its own call alone
PROGRESS = "progressToken"  # likewise
TOLD = "notifications/progress"

Reply = Mapping[str, Any]


class ClientCall:
    """A tool call by the client, and the way to the hub."""

    def __init__(self, message: Message, ask: Ask) -> None:
        self.message = message
        self._ask = ask

    @property
    def tool(self) -> object:
        return json_rpc.parameters(self.message).get("name")

    @property
    def arguments(self) -> Reply:
        arguments = json_rpc.parameters(self.message).get("arguments")
        return arguments if isinstance(arguments, dict) else {}

    @property
    def has_key(self) -> bool:
        """Tell whether the client gave it a key of its own."""
        return KEY in json_rpc.meta(self.message)

    async def ask(self, said: Mapping[str, object] | None = None) -> Message:
        """Return the hub's answer to the call, with `said` in its `_meta`."""
        return await self._asked({**json_rpc.meta(self.message), **(said or {})})

    async def step(self, step: HookStep, said: Mapping[str, object] | None = None) -> Message:
        """Return the hub's answer to one of the call's steps. The client's key is not for steps."""
        meta = {name: value for name, value in json_rpc.meta(self.message).items() if name not in OWN}
        return await self._asked({**meta, STEP: step, **(said or {})})

    async def order(
        self, asked: NodeCall, said: Mapping[str, object], *, is_own: bool, is_far: bool = False
    ) -> Message:
        """Return the hub's answer to an order, with `said` in the `_meta` of its call.

        `is_own` marks the client's own call. One that `is_far` is done on another machine: it may take long, its
        progress is reported here, and no question about it is asked here.
        """
        known, token = json_rpc.meta(self.message), str(uuid4())
        meta = {
            name: value for name, value in known.items() if name != PROGRESS and (is_own or name not in OWN)
        }
        meta.update(said)
        if is_far:
            meta |= {PROGRESS: token} if asked.progress is not None else {}
            meta |= {CAPABILITIES_KEY: {}} if CAPABILITIES_KEY in meta else {}

        async def hear(message: Message) -> None:
            told = json_rpc.parameters(message)
            is_told = message.get("method") == TOLD and told.get(PROGRESS) == token
            if is_told and asked.progress is not None:
                await asked.progress(str(told.get("message", "")))

        params = {"name": asked.tool, "arguments": dict(asked.arguments), "_meta": meta}
        message_id = self.message["id"] if is_own else str(uuid4())
        message = {**self.message, "id": message_id, "params": params}
        return await self._ask(message, hear if is_far else None)

    async def _asked(self, meta: Message) -> Message:
        params = {**json_rpc.parameters(self.message), "_meta": meta}
        return await self._ask({**self.message, "params": params})


def reply_of(answer: Message) -> Reply:
    """Return the tool's reply; an empty one, if the call ended in an error of the protocol."""
    result = answer.get("result")
    content = result.get("structuredContent") if isinstance(result, dict) else None
    return content if isinstance(content, dict) else {}


def result_of(answer: Message) -> ToolResult:
    """Return the result in an answer; without one the hub was out of reach."""
    result = answer.get("result")
    if not isinstance(result, dict):
        said = answer.get("error", {}).get("message", "the hub did not answer")
        return calls.refused(RefusalCode.OFFLINE, str(said))
    texts = tuple(str(item.get("text")) for item in result.get("content", []))
    return ToolResult(
        value=result.get("structuredContent"), is_error=bool(result.get("isError")), texts=texts
    )


def with_reply(answer: Message, reply: Reply) -> Message:
    """Return the answer to a call, with another reply in it."""
    text = {"type": "text", "text": json_rpc.encoded(dict(reply)).decode()}
    return {**answer, "result": {**answer["result"], "content": [text], "structuredContent": dict(reply)}}


def refused(answer: Message, error: Exception) -> Message:
    """Return the answer to a call, with a refusal as its reply."""
    return with_reply(answer, {"success": False, "error": str(error)})
