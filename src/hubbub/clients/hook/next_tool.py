"""Checks before any tool: asks the hub whether the agent may go on, as a budget may be spent.

An edit and a command ask that along with their other questions. The hub's own tools are never denied to an agent:
it reports its work by them, and asks for more.
"""

from __future__ import annotations

from hubbub.clients.hook import event, http_request
from hubbub.clients.hook.event import DENY, Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub.clients.hook.event import Event
    from hubbub.clients.hook.hub_target import Target

OK = 200
# Some clients give the name of a server's tool without the server.
PLAIN = {"cursor": "MCP:", "gemini": ""}
TOOLS = ("join", "inbox", "send", "board", "files", "share", *event.TELLING)
SERVER = "hubbub"  # the hub's name among a client's servers, which is part of its tools' names


def before(target: Target, told: Event, *, until: float) -> Reply:
    """Ask whether the tool may be used."""
    if _is_the_hubs(told):
        return Reply()
    status, answer = http_request.call(target, "POST", "/tools/judge", {"agent": target.agent}, until=until)
    sentence = answer.get("sentence")
    return Reply(DENY, sentence) if status == OK and isinstance(sentence, str) else Reply()


def _is_the_hubs(told: Event) -> bool:
    tool = told.tool or ""
    if told.tool_kind == event.TELL or SERVER in tool:
        return True
    before = PLAIN.get(told.client)
    return before is not None and tool.startswith(before) and tool.removeprefix(before) in TOOLS
