"""`hubbub proof`: a task's result beside the sightings of the work."""

from typing import Any

import click

from hubbub.client import Hub, segment
from hubbub.terminal import display, short_ids
from hubbub.terminal.command import command, uses_project

STEPS = 20  # sightings, the last ones


@command(
    "proof",
    short_help="Show the evidence of the work on a task.",
    example="hubbub proof T-14\nhubbub proof T-14 --waive 'a draft is enough'\nhubbub proof T-14 --statement",
)
@click.argument("ref", metavar="TASK", required=False)
@click.option("--waive", metavar="REASON", help="Let it be completed without the evidence.")
@click.option("--statement", is_flag=True, help="Print a signed in-toto statement, for other programs.")
@click.option("--key", is_flag=True, help="Print the key that verifies such statements.")
@uses_project
def proof(*, hub: Hub, ref: str | None, waive: str | None, statement: bool, key: bool, as_json: bool) -> None:
    """Show which evidence a task needs, and what was seen of the work."""
    if key:
        told = hub.get("/proof/key")
        display.show_json(told) if as_json else display.show(told["public_key"].rstrip())
        return
    if ref is None:
        raise click.UsageError("say which task")
    path = f"/tasks/{segment('task', short_ids.task(hub, ref))}"
    if waive is not None:
        hub.post(f"{path}/waive", {"reason": waive})
    if statement:
        display.show_json(hub.post(f"{path}/proof/statement", {}))
        display.advise(_signers(hub.get(f"{path}/proof/signatures")["machines"]))
        return
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


def _signers(machines: list[dict[str, Any]]) -> str:
    """Say who has signed the statement."""
    said = [
        f"{each['machine']} has not: {each['refusal'] or 'it has not answered yet'}"
        for each in machines
        if not each["is_signed"]
    ]
    signed = [each["machine"] for each in machines if each["is_signed"]]
    if not machines:
        return "Signed by the hub alone: no machine with a key saw the work."
    return "; ".join([f"Signed by {', '.join([*signed, 'the hub'])}", *said]) + "."
