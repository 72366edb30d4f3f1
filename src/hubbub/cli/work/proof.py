"""`hubbub proof`: a task's claim beside the sightings of the work."""

from typing import Any

import click

from hubbub.client import Hub, segment
from hubbub.terminal import display
from hubbub.terminal.command import command, uses_project

STEPS = 20  # of what was seen, the last


@command(
    "proof",
    short_help="What was seen of the work on a task, beside what is said.",
    example="hubbub proof T-14\nhubbub proof T-14 --waive 'a draft is enough'",
)
@click.argument("ref", metavar="TASK")
@click.option("--waive", metavar="REASON", help="Let it be completed without what it asks for.")
@uses_project
def proof(*, hub: Hub, ref: str, waive: str | None, as_json: bool) -> None:
    """Show what a task asks for, what is known of that, and what was seen of the work."""
    path = f"/tasks/{segment('task', ref)}"
    if waive is not None:
        hub.post(f"{path}/waive", {"reason": waive})
    found: dict[str, Any] = hub.get(f"{path}/proof")
    if as_json:
        display.show_json(found)
        return
    display.show(f"said: {found['claim'] or 'nothing yet'}")
    if not found["findings"]:
        display.show("it asks for no proof")
    for each in found["findings"]:
        display.show(": ".join(filter(None, [each["verdict"], each["means"], each["why"]])))
    contract = found["contract"]
    if contract["waived_by"]:
        display.show(f"waived by {contract['waived_by']}: {contract['waived_why'] or 'no reason given'}")
    for each in found["sightings"][-STEPS:]:
        ended = "" if each["code"] is None else f" (exit status {each['code']})"
        what = each["command"] or ", ".join(each["paths"]) or "a look at the checkout"
        display.show(f"{display.moment(each['at'])} {each['deed']}: {what}{ended}")
