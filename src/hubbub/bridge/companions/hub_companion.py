"""The hub's own dialect over the bridge: the name that an agent gives to `join` goes with all its later calls.

A call over the bridge stands for itself, and the hub's connections store nothing for it: otherwise none of several
agents that share a token would be recognised.
"""

from collections.abc import Mapping

from hubbub.bridge.companions.companion import Ask
from hubbub.bridge.companions.tool_calls import ClientCall, reply_of
from hubbub.bridge.messages import json_rpc
from hubbub.bridge.messages.json_rpc import Message
from hubbub.bridge.messages.mcp_client import McpClient

JOIN, YOU = "join", "you"  # the tool, and the member with the caller's name
HEADER = "X-Hubbub-Agent"


class HubCompanion:
    """A companion that lets the hub answer everything, and notes the agent's name."""

    def __init__(self) -> None:
        self.headers: Mapping[str, str] = {}

    def meet(self, client: McpClient) -> None:
        """Do nothing: the client is not needed."""

    async def call(self, message: Message, ask: Ask) -> Message | None:
        """Answer a `join`, and note its name; all else is left to the hub."""
        call = ClientCall(message, ask)
        if call.tool != JOIN:
            return None
        answer = await call.ask()
        if isinstance(name := reply_of(answer).get(YOU), str):
            self.headers = {HEADER: json_rpc.header_value(name)}
        return answer
