"""`hubbub-hook [CLIENT [EVENT]]`: reads a hook's call from stdin, and answers in the client's form.

Without EVENT, stdin names it; without CLIENT it is Claude Code, whose form others understand too.

It fails open: whatever goes wrong (no hub, no install, nonsense on stdin, no time left), it answers nothing and the
client goes on, as if there were no hook. A thread ends the process when the time is over, wherever it is stuck.

A client's module, `hubbub.clients.hook.adapters.<client>`, has

    def read(name: str, told: dict) -> Event | None     parses the call of the hook `name`; None: nothing for us
    def say(name: str, event: Event, reply: Reply) -> HookOutput      puts the reply into the client's form
    COMMANDS: dict[str, Callable[[list[str]], int]]     its commands beside hooks, such as a wait for a wake (optional)
"""

from __future__ import annotations

import _thread
import importlib
import json
import os
import sys
import time

from hubbub.clients.hook import edits, event, mail_pointers, permission_prompts, repetition, sightings
from hubbub.clients.hook.event import Event, HookOutput, Reply
from hubbub.clients.hook.hub_target import config_folder, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from hubbub.clients.hook.hub_target import Target

CLIENTS = {
    "claude-code": "claude_code",
    "codex": "codex",
    "cursor": "cursor",
    "gemini": "gemini",
    "opencode": "opencode",
}
RUNG = ("codex",)  # clients that the ringer wakes, which their first hook starts
DEADLINE = 0.3  # seconds in all, while a tool waits for us
PATIENCE = 1.0  # seconds, if only a beginning or an end waits
COMMIT = 3.0  # seconds after a possible commit: time for git, not for the hub
MARGIN = 0.02  # seconds of it that giving the answer may take
LARGEST = 16_000_000  # bytes of stdin that are read; more is not understood
USUAL = "claude-code"
USAGE = "usage: hubbub-hook [CLIENT [EVENT]], where CLIENT is one of " + ", ".join(CLIENTS)


def main() -> None:
    """Answer one hook; ends the process."""
    began = time.monotonic()
    client, name, *further = [*sys.argv[1:], *(USUAL, "")[len(sys.argv) - 1 :]]
    if client not in CLIENTS or (not name and os.isatty(0)):
        sys.stderr.write(USAGE + "\n")
        sys.exit(0)  # a client would take any other code for an answer
    adapter = importlib.import_module(f"hubbub.clients.hook.adapters.{CLIENTS[client]}")
    command = getattr(adapter, "COMMANDS", {}).get(name)
    if command is not None:
        sys.exit(command(further))
    clock = Clock(began)
    _thread.start_new_thread(clock.run_out, ())
    said = HookOutput()
    try:
        said = answer(adapter, name, _stdin(), clock)
    except Exception:  # noqa: BLE001 - whatever it is, the client goes on as if there were no hook
        said = HookOutput()
    clock.stop()
    _write(1, said.stdout)
    _write(2, said.stderr)
    os._exit(said.code)


class Clock:
    """The time since the process's start; when it is over, the process ends."""

    def __init__(self, began: float) -> None:
        self._began = began
        self._stopped = _thread.allocate_lock()
        self.seconds = DEADLINE

    @property
    def until(self) -> float:
        """Return the time for the answer, of `time.monotonic()`: a little before the end."""
        return self._began + self.seconds - MARGIN

    def take_time(self) -> float:
        """Extend the time for git; return its end."""
        self.seconds = max(self.seconds, COMMIT)
        return self.until

    @property
    def answer_until(self) -> float:
        """Return the end of the wait for one answer of the hub, however much time git has."""
        return min(self.until, time.monotonic() + DEADLINE)

    def stop(self) -> None:
        """Stop the clock: there is an answer, and time to give it."""
        self._stopped.acquire()

    def run_out(self) -> None:
        """End the process when its time is over."""
        while (left := self._began + self.seconds - time.monotonic()) > 0:
            time.sleep(left)
        self._stopped.acquire()
        edits.claiming.give_up()
        os._exit(0)


def answer(adapter: ModuleType, name: str, stdin: bytes, clock: Clock) -> HookOutput:
    """Answer the call of the client's hook `name`. Raises any error."""
    told = json.loads(stdin)
    if not isinstance(told, dict):
        return HookOutput()
    name = name or told["hook_event_name"]
    happened: Event | None = adapter.read(name, told)
    if happened is None:
        return HookOutput()
    happened.call = _call(told)
    clock.seconds = _patience(happened)
    target = find(happened.client, happened.cwd)
    reply = _reply(target, happened, clock) if target is not None else Reply()
    said: HookOutput = adapter.say(name, happened, reply) if reply else HookOutput()
    return said


def _patience(happened: Event) -> float:
    if happened.moment == event.ASK:
        return permission_prompts.patience(happened.client) + 2 * permission_prompts.SLACK
    if sightings.is_one(happened) and sightings.looks(happened):
        return COMMIT
    if happened.moment not in (event.BEFORE, event.AFTER):
        return PATIENCE
    return COMMIT if edits.may_be_commit(happened) else DEADLINE


def _reply(target: Target, happened: Event, clock: Clock) -> Reply:
    permission_prompts.settle(happened)
    if happened.moment == event.ASK:
        return permission_prompts.ask(target, happened)
    if sightings.is_one(happened):
        sightings.tell(target, happened, clock)
    until = clock.until
    if happened.moment == event.BEFORE:
        return _reply_before(target, happened, until)
    if happened.moment == event.START and happened.client in RUNG:
        from hubbub.clients.hook import ringer_process  # once in a client's life

        ringer_process.start(config_folder())
    if happened.moment == event.END:
        edits.end(target, happened, until=until)
        return Reply()
    if happened.moment == event.LIMIT:
        from hubbub.clients.hook import usage_limits  # a rare end of a turn

        usage_limits.tell(target, happened, until=until)
        return Reply()
    if happened.moment == event.AFTER:
        return _reply_after(target, happened, until)
    return mail_pointers.glance(target, happened, until=until) if happened.heard else Reply()


def _call(told: dict[str, object]) -> str | None:
    """Return an identity of a tool call, if the client tells all its arguments."""
    given = told.get("tool_input")
    return json.dumps([told.get("tool_name"), given], sort_keys=True) if isinstance(given, dict) else None


def _reply_before(target: Target, happened: Event, until: float) -> Reply:
    repeated = repetition.before(target, happened, until=until)
    if repeated is not None:
        return repeated
    reply = edits.before(target, happened, until=until)
    if reply is None:
        from hubbub.clients.hook import commands  # edits do not need it

        reply = commands.before(target, happened, until=until)
    if reply is None:
        from hubbub.clients.hook import next_tool

        reply = next_tool.before(target, happened, until=until)
    return reply


def _reply_after(target: Target, happened: Event, until: float) -> Reply:
    edits.after(target, happened, until=until, patience=DEADLINE)
    if edits.may_be_commit(happened):
        from hubbub.clients.hook import merge_radar  # few commands are git's

        if merge_radar.may_have_moved(happened):
            merge_radar.start(happened)
    if not happened.heard:
        return Reply()
    pointer = mail_pointers.glance(target, happened, until=min(until, time.monotonic() + DEADLINE))
    texts = [each for each in (edits.unsaid(happened), pointer.text) if each is not None]
    return Reply(text="\n".join(texts) or None)


def _stdin() -> bytes:
    read = bytearray()
    while part := os.read(0, 1 << 16):
        read += part
        if len(read) > LARGEST:
            raise ValueError("the input is longer than a hook's")
    return bytes(read)


def _write(descriptor: int, text: str) -> None:
    """Write the answer; a client that has stopped listening has gone on."""
    written = text.encode()
    try:
        while written:
            written = written[os.write(descriptor, written) :]
    except OSError:
        return
