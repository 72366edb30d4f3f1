"""Cursor: reads its hooks and answers them.

Its hooks have names and fields of their own. `preToolUse` may refuse a tool, `afterFileEdit` reports a finished edit,
`sessionStart` and `postToolUse` may give the model context, and `stop` may give it another message to go on with;
`loop_limit` in `hooks.json` bounds how often, and we ask for it only once.
"""

from __future__ import annotations

import json

from hubbub.clients.hook import event
from hubbub.clients.hook.event import DENY, Event, HookOutput, Reply, facts, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

CLIENT = "cursor"

_MOMENTS = {
    "sessionStart": event.START,
    "beforeSubmitPrompt": event.PROMPT,
    "preToolUse": event.BEFORE,
    "postToolUse": event.AFTER,
    "afterFileEdit": event.AFTER,
    "stop": event.TURN,
    "sessionEnd": event.END,
}
_HEARD = ("sessionStart", "postToolUse", "stop")  # the hooks whose answer the model reads
_TOOL_KINDS = {
    "Write": event.EDIT,
    "Edit": event.EDIT,
    "Delete": event.EDIT,
    "Read": event.READ,
    "Shell": event.SHELL,
}


def read(name: str, told: Mapping[str, object]) -> Event | None:
    """Parse the call of the hook `name`; None if it is none of ours."""
    moment = _MOMENTS.get(name)
    instance, cwd = text(told.get("conversation_id") or told.get("session_id")), _folder(told)
    if moment is None or instance is None or cwd is None:
        return None
    tool, given = text(told.get("tool_name")), facts(told.get("tool_input"))
    path = text(told.get("file_path") or given.get("file_path") or given.get("path"))
    loops = told.get("loop_count")
    return Event(
        client=CLIENT,
        moment=moment,
        instance=instance,
        cwd=cwd,
        tool_kind=event.EDIT if name == "afterFileEdit" else _TOOL_KINDS.get(tool or "", event.OTHER),
        tool=tool,
        paths=[path] if path is not None else [],
        command=text(given.get("command")),
        continued=isinstance(loops, int) and loops > 0,
        heard=name in _HEARD,
    )


def say(name: str, _: Event, reply: Reply) -> HookOutput:
    """Answer in the form of the hook called `name`."""
    if name == "preToolUse" and reply.decision == DENY:
        return HookOutput(json.dumps({"permission": "deny", "agent_message": reply.text}))
    if name == "stop":
        return HookOutput(json.dumps({"followup_message": reply.text})) if reply.goes_on else HookOutput()
    if name in ("sessionStart", "postToolUse") and reply.text is not None:
        return HookOutput(json.dumps({"additional_context": reply.text}))
    return HookOutput()


def _folder(told: Mapping[str, object]) -> str | None:
    """Return the agent's folder: as the hook says, else the first open one."""
    cwd, roots = told.get("cwd"), told.get("workspace_roots")
    if isinstance(cwd, str) and cwd:
        return cwd
    first = roots[0] if isinstance(roots, list) and roots else None
    return first if isinstance(first, str) and first else None
