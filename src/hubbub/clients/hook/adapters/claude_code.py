"""Claude Code: reads its hooks, answers them, and has two ways to wake it while it is idle.

The plugin's monitor (`hubbub-hook claude-code monitor`) runs as long as the client, and each line it prints reaches the
model. Without plugins, an `asyncRewake` hook (`hubbub-hook claude-code rewake`) waits in the background;
by ending with code 2 it wakes the model with its text on stderr.
"""

from __future__ import annotations

import json
import os

from hubbub.clients.hook import event, permission_prompts
from hubbub.clients.hook.event import DENY, Event, HookOutput, Reply, facts, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CLIENT = "claude-code"
INSTANCE = "CLAUDE_CODE_SESSION_ID"  # the variable with the client's name for the run that started us
STARTED_AS = "CLAUDE_CODE_ENTRYPOINT"  # `cli` in a terminal, `sdk-cli` with `-p`
FAILED = "PostToolUseFailure"  # the hook after a command with another exit status than 0
BROKEN_OFF = "StopFailure"  # the hook after a turn that ended with an error of the maker's server
LIMITS = ("rate_limit", "overloaded")  # the errors that are usage limits
MAYBE = "server_error"  # possibly an overloaded server; the sentence tells
WAKES = 2  # the exit code of a hook with a text for the model

_MOMENTS = {
    "SessionStart": event.START,
    "UserPromptSubmit": event.PROMPT,
    "PreToolUse": event.BEFORE,
    "PermissionRequest": event.ASK,
    "PostToolUse": event.AFTER,
    "PostToolUseFailure": event.AFTER,
    "Stop": event.TURN,
    "StopFailure": event.LIMIT,
    "SessionEnd": event.END,
}
_TOOL_KINDS = {
    "Edit": event.EDIT,
    "MultiEdit": event.EDIT,
    "Write": event.EDIT,
    "NotebookEdit": event.EDIT,
    "Read": event.READ,
    "Bash": event.SHELL,
}


def read(name: str, told: Mapping[str, object]) -> Event | None:
    """Parse the call of the hook `name`; None if it is none of ours.

    A start counts only after a compaction. At any other the model does not run yet, and would read a pointer no sooner
    than a person's words; the mail is better left to a waker.
    """
    moment = _MOMENTS.get(name)
    if moment == event.START and told.get("source") != "compact":
        return None
    instance, cwd = text(told.get("session_id")), text(told.get("cwd"))
    if moment is None or instance is None or cwd is None:
        return None
    tool, given = text(told.get("tool_name")), facts(told.get("tool_input"))
    took = told.get("duration_ms")
    if name == FAILED and _tool_kind(tool) != event.SHELL:
        return None
    if name == BROKEN_OFF and told.get("error") not in (*LIMITS, MAYBE):
        return None
    path = text(given.get("file_path") or given.get("notebook_path"))
    return Event(
        client=CLIENT,
        moment=moment,
        instance=instance,
        cwd=cwd,
        tool_kind=_tool_kind(tool),
        tool=tool,
        paths=[path] if path is not None else [],
        command=text(given.get("command")),
        code=_code(name, facts(told.get("tool_response"))),
        took=int(took) if isinstance(took, int | float) else None,
        continued=told.get("stop_hook_active") is True,
        notice=text(told.get("last_assistant_message")),
        is_certain=told.get("error") in LIMITS,
    )


def _tool_kind(tool: str | None) -> str:
    """Classify a tool. A hub's tool may complete a task, whatever its server is called."""
    server, _, own = (tool or "").removeprefix("mcp__").rpartition("__")
    return event.TELL if server and own in event.TELLING else _TOOL_KINDS.get(tool or "", event.OTHER)


def _code(name: str, response: Mapping[str, object]) -> int | None:
    """Return the exit status of a command: 0 in the hook for success, unless its end forgives failure."""
    if name == FAILED:
        return 1
    is_open = any(
        response.get(each) for each in ("interrupted", "backgroundTaskId", "returnCodeInterpretation")
    )
    return 0 if "stdout" in response and not is_open else None


def say(name: str, _: Event, reply: Reply) -> HookOutput:
    """Answer in the form of the hook called `name`."""
    if name == "PreToolUse" and reply.decision == DENY:
        return _specific(name, permissionDecision="deny", permissionDecisionReason=reply.text or "")
    if name == "PermissionRequest":
        return permission_prompts.said(name, reply)
    if name == "Stop":
        return (
            HookOutput(json.dumps({"decision": "block", "reason": reply.text}))
            if reply.goes_on
            else HookOutput()
        )
    if name in ("SessionEnd", BROKEN_OFF) or reply.text is None:
        return HookOutput()
    return _specific(name, additionalContext=reply.text)


def _specific(name: str, **answer: str) -> HookOutput:
    return HookOutput(json.dumps({"hookSpecificOutput": {"hookEventName": name, **answer}}))


def monitor(_: list[str]) -> int:
    """Print a line for every wake, for as long as the client lives; nothing else is printed.

    The client tells its model when a monitor ends, which would wake it in vain: so with nothing to wait for, this
    waits for the end of the client.
    """
    from hubbub.clients.hook import wake_poll

    found = wake_poll.beside(CLIENT, _instance(), "monitor")
    if found is not None:
        wake_poll.wait(*found, wake_poll.write_line(1))
    wake_poll.stay()
    return 0


def rewake(_: list[str]) -> int:
    """Wait for one wake, and end with the code that wakes the model by the text on stderr; 0 if waiting is useless.

    `claude -p` ends after one turn, and would wait for us before it begins.
    """
    from hubbub.clients.hook import wake_poll

    is_brief = os.environ.get(STARTED_AS, "").startswith("sdk")
    found = None if is_brief else wake_poll.beside(CLIENT, _instance(), "rewake")
    if found is None:
        return 0
    return WAKES if wake_poll.wait(*found, wake_poll.write_line(2), once=True) else 0


def _instance() -> str:
    return os.environ.get(INSTANCE) or f"{CLIENT}-{os.getppid()}"


COMMANDS: dict[str, Callable[[list[str]], int]] = {"monitor": monitor, "rewake": rewake}
