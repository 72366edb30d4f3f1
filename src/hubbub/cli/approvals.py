"""`hubbub approve` and `hubbub deny`: what machines ask people before a call may go on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from hubbub.cli import terminal
from hubbub.cli.command import command, uses_hub
from hubbub.cli.signing import signature
from hubbub.client import Hub, segment
from hubbub.model.ids import parse_id


@command(
    "approve",
    short_help="Let a call go on, or list what waits for a person's answer.",
    example="hubbub approve\nhubbub approve 3f8a",
)
@click.argument("approval_id", metavar="[ID]", required=False)
@click.option(
    "--key",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The key to sign it with. [default: that of hubbub node approver, if you have made one]",
)
@uses_hub
def approve(*, hub: Hub, approval_id: str | None, key: Path | None, as_json: bool) -> None:
    """Let the call ID go on; without ID, list what waits for an answer. The beginning of an id is enough.

    Only a person's token (utok_) may do so.
    """
    if approval_id is not None:
        whole = _whole(hub, approval_id)
        _answer(hub, whole, "approve", {"signature": signature(hub, whole, key)}, as_json=as_json)
    elif as_json:
        terminal.show_json(_pending(hub))
    else:
        terminal.show_table(
            ("id", "who", "machine", "tool", "words", "folder", "reason", "left"), map(_row, _pending(hub))
        )


@command("deny", short_help="Say no to a call that waits for a person's answer.", example="hubbub deny 3f8a")
@click.argument("approval_id", metavar="ID")
@uses_hub
def deny(*, hub: Hub, approval_id: str, as_json: bool) -> None:
    """Say no to the call ID. The beginning of an id is enough. Only a person's token (utok_) may do so."""
    _answer(hub, _whole(hub, approval_id), "deny", {}, as_json=as_json)


def _pending(hub: Hub) -> Sequence[dict[str, Any]]:
    found: Sequence[dict[str, Any]] = hub.get("/approvals", status="pending", limit=500)["approvals"]
    return found


def _row(approval: dict[str, Any]) -> tuple[object, ...]:
    seconds = max(0, approval["expires_at"] - approval["now"]) // 1000
    return (
        approval["id"],
        approval["who"],
        approval["node"],
        approval["tool"],
        approval["shown"],
        approval["folder"],
        approval["reason"],
        f"{seconds} s",
    )


def _answer(hub: Hub, whole: str, verb: str, body: dict[str, str | None], *, as_json: bool) -> None:
    answered = hub.post(f"/approvals/{segment('approval', whole)}/{verb}", body)["approval"]
    if as_json:
        terminal.show_json(answered)
    else:
        terminal.show(f"{answered['status']} {answered['id']}")


def _whole(hub: Hub, beginning: str) -> str:
    """The id of the only question that waits and begins so; what none begins with is left to the hub to refuse."""
    if parse_id(beginning) is not None:
        return beginning
    found = [each["id"] for each in _pending(hub) if beginning and each["id"].startswith(beginning.lower())]
    if len(found) > 1:
        raise click.UsageError(f"{len(found)} questions begin with {beginning!r}; give more of the id")
    return found[0] if found else beginning
