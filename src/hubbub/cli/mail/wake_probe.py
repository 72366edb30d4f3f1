"""`hubbub doctor --wake`: wake an agent on purpose, and report the result and its time."""

import time
from collections.abc import Mapping
from typing import Any

import click

from hubbub.client import Hub, quoted
from hubbub.model.mail.wakes import WakeEnding
from hubbub.terminal import display
from hubbub.terminal.command import Choice, in_project
from hubbub.terminal.exit_codes import REFUSED

LOOK_EVERY = 0.25  # seconds
CANNOT = "cannot"  # nothing is there that would wake it
OVER = frozenset({*map(str, WakeEnding)})

Story = Mapping[str, Any]  # a wake in the hub's words


def probe(choice: Choice, name: str, *, patience: float, as_json: bool) -> None:
    """Send the agent a message that says it is a test, and report how it was woken. Exit code 1 if it did not look.

    If nothing would make it look, it says so at once, and nothing is sent.
    """
    hub = choice.connect()
    try:
        expected: Story = in_project(hub).get(f"/agents/{quoted(name)}")["agent"]["wake"]
        wake = _followed(hub, name, patience) if expected["likely_seen"] else _left_alone(name, expected)
    finally:
        hub.close()
    display.show_result(wake, "\n".join(_told(wake)), as_json=as_json)
    if wake["answered_at"] is None:
        click.get_current_context().exit(REFUSED)


def _left_alone(name: str, expected: Story) -> Story:
    """Make the result for an agent that cannot be woken now."""
    told = {field: expected[field] for field in ("wake", "likely_seen", "note")}
    return {"agent": name, "status": CANNOT, "answered_at": None, **told}


def _followed(hub: Hub, name: str, patience: float) -> Story:
    """Return the wake once it is over, or the patience is."""
    deadline = time.monotonic() + patience
    wake: Story = hub.post(f"/agents/{quoted(name)}/probe", {})["wake"]
    while wake["status"] not in OVER and time.monotonic() < deadline:
        time.sleep(LOOK_EVERY)
        wake = hub.get(f"/wakes/{wake['id']}")["wake"]
    return wake


def _told(wake: Story) -> list[str]:
    """Return a line for each step of the wake."""
    name, answered_at = wake["agent"], wake["answered_at"]
    if wake["status"] == CANNOT:
        return [f"{name} cannot be woken now. {wake['note']}"]
    lines = []
    if wake["taken_at"] is not None:
        lines.append(f"{wake['client']} ({wake['method']}) took the wake after {_since(wake, 'taken_at')}")
    elif answered_at is None:
        lines.append(f"nothing beside {name} asked for its wake")
    if wake["result"] is not None:
        why = f": {wake['said']}" if wake["said"] else ""
        lines.append(f"{_RESULTS[wake['result']]} after {_since(wake, 'told_at')}{why}")
    elif wake["taken_at"] is not None and answered_at is None:
        lines.append("it did not say what came of it")
    if answered_at is not None:
        lines.append(f"{name} looked into its inbox after {_since(wake, 'answered_at')}")
    else:
        lines.append(f"{name} has not looked into its inbox; the message waits there")
    return lines


_RESULTS = {
    "woken": "the client was woken",
    "queued": "it is queued until the next turn",
    "cannot": "it cannot wake it",
}


def _since(wake: Story, moment: str) -> str:
    return f"{wake[moment] - wake['asked_at']:,} ms"
