"""Gemini CLI: reads its hooks and answers them.

It has no `PreToolUse`: its own names are `BeforeTool` and `AfterTool`, a turn is `BeforeAgent` and `AfterAgent`, and an
answer counts only in its own form (`decision` at the top, context below `hookSpecificOutput`). It takes stdout for
JSON; its time-outs are milliseconds. Before a tool its model reads nothing but a denial.
"""

from __future__ import annotations

import json

from hubbub.clients.hook import event
from hubbub.clients.hook.event import DENY, Event, HookOutput, Reply, facts, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

CLIENT = "gemini"

_MOMENTS = {
    "SessionStart": event.START,
    "BeforeAgent": event.PROMPT,
    "BeforeTool": event.BEFORE,
    "AfterTool": event.AFTER,
    "AfterAgent": event.TURN,
    "SessionEnd": event.END,
}
_TOOL_KINDS = {
    "replace": event.EDIT,
    "write_file": event.EDIT,
    "read_file": event.READ,
    "run_shell_command": event.SHELL,
}


def read(name: str, told: Mapping[str, object]) -> Event | None:
    """Parse the call of the hook `name`; None if it is none of ours."""
    moment = _MOMENTS.get(name)
    instance, cwd = text(told.get("session_id")), text(told.get("cwd"))
    if moment is None or instance is None or cwd is None:
        return None
    tool, given = text(told.get("tool_name")), facts(told.get("tool_input"))
    path = text(given.get("file_path") or given.get("absolute_path"))
    return Event(
        client=CLIENT,
        moment=moment,
        instance=instance,
        cwd=cwd,
        tool_kind=_TOOL_KINDS.get(tool or "", event.OTHER),
        tool=tool,
        paths=[path] if path is not None else [],
        command=text(given.get("command")),
        continued=told.get("stop_hook_active") is True,
        heard=moment != event.BEFORE,
    )


def say(name: str, _: Event, reply: Reply) -> HookOutput:
    """Answer in the form of the hook called `name`."""
    if name == "BeforeTool" and reply.decision == DENY:
        return HookOutput(json.dumps({"decision": "deny", "reason": reply.text}))
    if name == "AfterAgent":
        return (
            HookOutput(json.dumps({"decision": "block", "reason": reply.text}))
            if reply.goes_on
            else HookOutput()
        )
    if name == "SessionEnd" or reply.text is None:
        return HookOutput()
    answer = {"hookEventName": name, "additionalContext": reply.text}
    return HookOutput(json.dumps({"hookSpecificOutput": answer}))
