"""opencode: reads the calls of our plugin, answers them, and waits for wakes.

opencode runs no commands as hooks: its plugins are called in its own process. Ours (`hub.ts`) calls `hubbub-hook` with
JSON of our own form (`instance`, `cwd`, `tool`, `path`, `patch`, `command`). Before a tool it gets `{"deny": …}`,
which makes the tool fail, and after it `{"text": …}`, which is added to the tool's result. At a permission prompt it
tells the whole call (`tool_name`, `tool_input`) and gets `{"grant": true}` or `{"deny": …}`, which it passes on as
opencode's own answer; it ends the hook once a person has answered there. It also keeps
`hubbub-hook opencode monitor INSTANCE` running, whose every line is a wake, and passes it to opencode's `prompt_async`
from inside, which needs neither a port nor a password.
"""

from __future__ import annotations

import json

from hubbub.clients.hook import event
from hubbub.clients.hook.event import DENY, GRANT, Event, HookOutput, Reply, text
from hubbub.clients.hook.patches import patched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CLIENT = "opencode"

_MOMENTS = {"before": event.BEFORE, "after": event.AFTER, "ask": event.ASK, "end": event.END}
_TOOL_KINDS = {
    "edit": event.EDIT,
    "multiedit": event.EDIT,
    "write": event.EDIT,
    "apply_patch": event.EDIT,
    "patch": event.EDIT,
    "read": event.READ,
    "bash": event.SHELL,
}


def read(name: str, told: Mapping[str, object]) -> Event | None:
    """Parse the plugin's call at the moment `name`; None if it is none of ours."""
    moment = _MOMENTS.get(name)
    instance, cwd = text(told.get("instance")), text(told.get("cwd"))
    if moment is None or instance is None or cwd is None:
        return None
    code = told.get("code")
    tool, path, patch = (text(told.get(each)) for each in ("tool", "path", "patch"))
    return Event(
        client=CLIENT,
        moment=moment,
        instance=instance,
        cwd=cwd,
        tool_kind=_TOOL_KINDS.get(tool or "", event.OTHER),
        tool=tool,
        paths=[path] if path is not None else patched(patch or ""),
        command=text(told.get("command")),
        code=code if isinstance(code, int) else None,
        heard=moment != event.BEFORE,
    )


def say(_name: str, _: Event, reply: Reply) -> HookOutput:
    """Answer in the form that the plugin reads."""
    if reply.decision == GRANT:
        return HookOutput(json.dumps({"grant": True}))
    if reply.text is None:
        return HookOutput()
    return HookOutput(json.dumps({"deny" if reply.decision == DENY else "text": reply.text}))


def monitor(arguments: list[str]) -> int:
    """Write a line for each wake while opencode lives: the plugin brings it to the open conversation."""
    from hubbub.clients.hook import wake_poll

    found = wake_poll.beside(CLIENT, arguments[0], "prompt") if arguments else None
    if found is not None:
        wake_poll.wait(*found, wake_poll.write_line(1))
    return 0


COMMANDS: dict[str, Callable[[list[str]], int]] = {"monitor": monitor}
