"""Codex: reads its hooks and answers them.

Files are edited with `apply_patch`, which may change several in one call: their paths are parsed from the patch. A
model without that tool gives the patch to its shell, where Codex takes it out before the shell sees it: its hook then
reports a shell, and only the command shows that this is an edit. Codex runs a hook only after its owner has trusted it
(`/hooks`); until then nothing here is called, and the ringer (`hubbub ring`) wakes Codex nevertheless.
"""

from __future__ import annotations

import json
import os

from hubbub.clients.hook import event, permission_prompts
from hubbub.clients.hook.event import DENY, Event, HookOutput, Reply, facts, text
from hubbub.clients.hook.patches import patched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

CLIENT = "codex"
DENIED = 2  # the exit code by which a tool is refused, with the reason on stderr

_MOMENTS = {
    "SessionStart": event.START,
    "UserPromptSubmit": event.PROMPT,
    "PreToolUse": event.BEFORE,
    "PermissionRequest": event.ASK,
    "PostToolUse": event.AFTER,
    "Stop": event.TURN,
    "SessionEnd": event.END,
}
_TOOL_KINDS = {"apply_patch": event.EDIT, "Bash": event.SHELL}


def read(name: str, told: Mapping[str, object]) -> Event | None:
    """Parse the call of the hook `name`; None if it is none of ours."""
    moment = _MOMENTS.get(name)
    instance, cwd = text(told.get("session_id")), text(told.get("cwd"))
    if moment is None or instance is None or cwd is None:
        return None
    tool, given = text(told.get("tool_name")), facts(told.get("tool_input"))
    tool_kind, command = _TOOL_KINDS.get(tool or "", event.OTHER), text(given.get("command"))
    paths = _edited(tool_kind, command or "")
    return Event(
        client=CLIENT,
        moment=moment,
        instance=instance,
        cwd=cwd,
        tool_kind=event.EDIT if paths else tool_kind,
        tool=tool,
        paths=paths,
        command=command if tool_kind == event.SHELL else None,
        continued=told.get("stop_hook_active") is True,
    )


def _edited(tool_kind: str, command: str) -> list[str]:
    """List the files that a patch changes, or a shell's `apply_patch <<…` or `cd FOLDER && apply_patch <<…`."""
    if tool_kind == event.EDIT:
        return patched(command)
    before, _, patch = command.partition("apply_patch")
    if tool_kind != event.SHELL or "*** Begin Patch" not in patch:
        return []
    word, _, folder = before.strip().removesuffix("&&").partition(" ")
    within = folder.strip(" '\"") if word == "cd" else ""
    return [os.path.join(within, path) for path in patched(patch)]


def say(name: str, _: Event, reply: Reply) -> HookOutput:
    """Answer in the form of the hook called `name`."""
    if name == "PreToolUse" and reply.decision == DENY:
        return HookOutput(stderr=reply.text or "", code=DENIED)
    if name == "PermissionRequest":
        return permission_prompts.said(name, reply)
    if name == "Stop":
        return (
            HookOutput(json.dumps({"decision": "block", "reason": reply.text}))
            if reply.goes_on
            else HookOutput()
        )
    if name == "SessionEnd" or reply.text is None:
        return HookOutput()
    answer = {"hookEventName": name, "additionalContext": reply.text}
    return HookOutput(json.dumps({"hookSpecificOutput": answer}))
