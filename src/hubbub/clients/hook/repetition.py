"""Repeated tool calls: counted on this machine, and reported to the hub once they look like a loop.

Tools of MCP servers are not counted: asking one of them for mail again and again is how some agents wait.
"""

from __future__ import annotations

from hubbub.clients.hook import event, hook_state, http_request
from hubbub.clients.hook.event import DENY, Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub.clients.hook.event import Event
    from hubbub.clients.hook.hub_target import Target

OK = 200
FROM = 5  # times in a row; below that the hub is not asked
SHELF = "calls"  # the last call of each run of a client, and its repetitions in a row


def before(target: Target, told: Event, *, until: float) -> Reply | None:
    """Count a call, and ask the hub if it is one too many. None: it is not."""
    if told.call is None or told.tool_kind == event.TELL or (told.tool or "").startswith(("mcp", "MCP")):
        return None
    last, _, before = (hook_state.recall(SHELF, told.instance) or "").partition(" ")
    call = hook_state.key(told.call)
    times = int(before) + 1 if last == call and before.isdigit() else 1
    hook_state.keep(SHELF, told.instance, f"{call} {times}")
    if times < FROM:
        return None
    body: dict[str, object] = {"agent": target.agent, "repeats": times}
    status, answer = http_request.call(target, "POST", "/tools/judge", body, until=until)
    sentence = answer.get("sentence")
    return Reply(DENY, sentence) if status == OK and isinstance(sentence, str) else None
