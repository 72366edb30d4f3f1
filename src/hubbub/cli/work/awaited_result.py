"""What a sender waits for: an agent that comes only now, the result of a task, and the reply to a message."""

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import click

from hubbub.client import Hub, HubRefused, HubUnreachable, TaskReply, quoted
from hubbub.model.errors import UnknownAgent
from hubbub.model.lifecycle import ENDED
from hubbub.model.log.attention import NeedKind
from hubbub.terminal import display
from hubbub.worker import instance

COMING = 10.0  # seconds for an agent to come that is just being started
PAUSE = 0.5  # seconds between tries


def send(hub: Hub, path: str, facts: Mapping[str, object], *, is_awaited: bool = False) -> Any:
    """Post a task or a message; wait a moment for its agent, if that comes only now.

    That is known of a worker that was started on this machine. Who waits for the result waits for any agent.
    """
    deadline = time.monotonic() + COMING
    while True:
        try:
            return hub.post(path, facts)
        except HubRefused as refusal:
            if refusal.code != UnknownAgent.code or time.monotonic() > deadline:
                raise
            if not is_awaited and not instance.is_run_here(str(facts["to"])):
                raise
        time.sleep(PAUSE)


def tell_of_wait(hub: Hub, task: TaskReply, delivery: Mapping[str, Any] | None) -> None:
    """Say on standard error for whom a task waits, and why, unless its agent will probably see it soon."""
    if delivery is not None and delivery["likely_seen"]:
        return
    with suppress(HubUnreachable, HubRefused):  # the wait outlasts that
        why = hub.get(f"/why/{quoted(task['id'])}", kind="task")["sentence"]
        _say(f"waiting for {task['assignee'] or 'any agent'}: {display.in_own_zone(why)}")


def tell_of_silence(sent: Mapping[str, Any], delivery: Mapping[str, Any] | None) -> None:
    """Say on standard error for whom a message waits, and why, unless they will probably see it soon."""
    if delivery is not None and not delivery["likely_seen"]:
        _say(f"waiting for {sent['recipient']}: {delivery['note']}")


def ended(hub: Hub, ref: str) -> TaskReply:
    """Return a task when it has ended, and tell a person when it waits for them. Outlasts a restart of the hub."""
    after = str(hub.get("/activity", task=ref, limit=1)["activity"][0]["id"])
    was_asking = False
    while True:
        try:
            task = hub.task(ref)
            if task["status"] in ENDED:
                return task
            is_asking = (task["need"] or {}).get("kind") == NeedKind.QUESTION
            if is_asking and not was_asking:
                _tell_of_question(task)
            was_asking = is_asking
            after = _next(hub, ref, after)
        except HubUnreachable:
            time.sleep(PAUSE)
        except HubRefused as refusal:
            if not refusal.is_temporary:
                raise
            time.sleep(PAUSE)


def reply(hub: Hub, sent: Mapping[str, Any], timeout: float | None) -> Mapping[str, Any] | None:
    """Return the first reply to a message, which counts as read; None if none comes in time.

    Outlasts a restart of the hub. It is also found if another program of the same agent has read it.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    after = str(hub.get("/activity", limit=1)["activity"][0]["id"])
    came = threading.Event()
    threading.Thread(target=_listen, args=(hub, after, came), daemon=True).start()
    while True:
        came.clear()
        found = _reply(hub, sent)
        left = None if deadline is None else deadline - time.monotonic()
        if found is not None or (left is not None and left <= 0):
            return found
        came.wait(left)


def show(hub: Hub, task: TaskReply, *, as_json: bool) -> None:
    """Print what a task came to, which counts as read. Raises `click.ClickException` if it was not completed."""
    for letter in hub.inbox(task["sender"], limit=500):
        if letter["in_reply_to"] == task["id"] and letter["sender"] == task["assignee"]:
            hub.ack(task["sender"], letter["id"])
    is_completed = task["status"] == "completed"
    if as_json:
        display.show_json(task)
    elif is_completed:
        display.show(task["result"] or "")
    if not is_completed:
        raise click.ClickException(
            display.clean(f"T-{task['number']} {task['status']}: {task['result'] or ''}", lines=True)
        )


def _next(hub: Hub, ref: str, after: str) -> str:
    """Return the place in the log of the next activity about a task."""
    for frame in hub.follow(after=after):
        if frame.data["task_id"] in (ref, None):  # None, too, if the hub cannot say what was missed
            return frame.id or after
    raise AssertionError("a stream ends with an error")


def _reply(hub: Hub, sent: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the first reply to a message that came so far, and acknowledge it; None also while the hub is away."""
    try:
        for said in hub.get(f"/threads/{sent['id']}")["messages"]:
            if said["in_reply_to"] == sent["id"] and said["recipient"] == sent["sender"]:
                hub.ack(said["recipient"], said["id"])
                return dict(said)
    except HubRefused as refusal:
        if not refusal.is_temporary:
            raise
    except HubUnreachable:
        pass
    return None


def _listen(hub: Hub, after: str, came: threading.Event) -> None:
    """Follow the messages of the project; after each, and after each break of the connection, there is a look."""
    while True:
        try:
            for frame in hub.follow(after=after):
                after = frame.id or after
                if (
                    frame.data["message_id"] is not None or frame.data["kind"] == "reset"
                ):  # the hub has forgotten our place
                    came.set()
        except (HubUnreachable, HubRefused):
            came.set()
        time.sleep(PAUSE)


def _tell_of_question(task: TaskReply) -> None:
    number, who = task["number"], task["assignee"]
    _say(f"{who} asks: hubbub task show {number}; answer with: hubbub task answer {number} TEXT")


def _say(text: str) -> None:
    """Tell whoever waits; the result alone goes to standard output."""
    click.echo(display.clean(text), err=True)
