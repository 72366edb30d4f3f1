"""The hub's own tongue over the bridge: the name that an agent has said to `join` goes with whatever it calls next.

A call over the bridge stands for itself, and the hub's connections keep nothing for it: of several agents that share a
token none would be known again.
"""

from collections.abc import Mapping

from hubbub.bridge.companions.companion import Ask
from hubbub.bridge.companions.tool_calls import ClientCall, reply_of
from hubbub.bridge.messages import json_rpc
from hubbub.bridge.messages.json_rpc import Message
from hubbub.bridge.messages.mcp_client import McpClient

JOIN, YOU = "join", "you"  # the tool, and who it says that one is
HEADER = "X-Hubbub-Agent"


class HubCompanion:
    """A companion that lets the hub answer everything, and notes the agent's name."""

    def __init__(self) -> None:
        self.headers: Mapping[str, str] = {}

    def meet(self, client: McpClient) -> None:
        """There is nothing to say to it."""

    async def call(self, message: Message, ask: Ask) -> Message | None:
        """Answer a `join`, and note its name; all else is left to the hub."""
        call = ClientCall(message, ask)
        if call.tool != JOIN:
            return None
        answer = await call.ask()
        if isinstance(name := reply_of(answer).get(YOU), str):
            self.headers = {HEADER: json_rpc.header_value(name)}
        return answer
