"""A yes with a signature, for machines that do not trust their hub with approvals; and `hubbub node approver`."""

import sys
from pathlib import Path
from typing import Any

import click

from hubbub import settings
from hubbub.client import Hub, segment
from hubbub.model.errors import Invalid
from hubbub.model.fleet.approval_signatures import statement
from hubbub.node.policy import approver_keys
from hubbub.terminal import display, questions
from hubbub.terminal.command import command

PARTS = ("digest", "who", "node", "tool", "folder", "shown")


def signature(hub: Hub, approval_id: str, key: Path | None) -> str | None:
    """Return the signature of a yes, with the key in the file, else with the person's own if they have one.

    At a terminal they are first shown the text to sign. Raises `click.ClickException` if it cannot be signed.
    """
    file = key or settings.read().config / approver_keys.KEY_FILE
    if key is None and not file.exists():
        return None
    approval: dict[str, Any] = hub.get(f"/approvals/{segment('approval', approval_id)}")["approval"]
    node = approval.get("said_node") or approval["node"]  # the asker's name for it, which it checks
    machines = [each for each in hub.get("/nodes")["nodes"] if each["name"] == node]
    if len(machines) != 1:
        if key is None:
            return None
        raise click.ClickException(f"the hub does not know a single machine {node!r} to sign this for")
    if sys.stdin.isatty():
        own = ", as its own program says" if approval.get("said_node") else ""
        asked = f"{approval['who']} on {node}{own}, in {approval['folder']}: {approval['shown']}"
        questions.require_yes(f"{display.clean(asked)}\nSign this?")
    said = statement(
        machine_id=machines[0]["machine_id"],
        approval_id=approval["id"],
        **{**{each: approval[each] for each in PARTS}, "node": node},
    )
    try:
        return approver_keys.sign(file, said)
    except (Invalid, OSError) as error:
        raise click.ClickException(str(error)) from None


@command(
    "approver",
    short_help="Create the key that signs your approvals.",
    example="hubbub node approver",
)
def approver(*, as_json: bool) -> None:
    """Create a key that signs your approvals, and print its public part, for `approvers` in a machine's node.toml.

    The key stays in your configuration folder; where there is one already its public part is printed. A machine that
    names approvers accepts no approval that is not signed by one of them, whatever its hub says.
    """
    file = settings.read().config / approver_keys.KEY_FILE
    try:
        public = approver_keys.public_part(file) if file.exists() else approver_keys.make_key(file)
    except (Invalid, OSError) as error:
        raise click.ClickException(str(error)) from None
    display.show_json({"approver": public, "file": str(file)}) if as_json else display.show(public)
