"""Joining: a code that one machine may use once, or a person's token, is exchanged for the machine's own key."""

import base64
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from hubbub.client import Hub, HubRefused, HubUnreachable, owner_token, running_hub
from hubbub.daemons import membership
from hubbub.daemons.membership import Membership
from hubbub.node.gate.host_facts import describe
from hubbub.terminal import display
from hubbub.terminal.command import DEFAULT_PROJECT, Choice

NOT_VALID = 401
UNKNOWN_CODE = (
    "the hub does not know this code: it is used up, or too old; make another with: hubbub node invite"
)
JOINED_ELSEWHERE = (
    "this machine has joined {} as {}; to join another, give --join CODE, from: hubbub node invite"
)
NOT_JOINED = "this machine has not joined a hub: give --join CODE, from: hubbub node invite; or the --token of a person"


def enrol(
    choice: Choice, folder: Path, *, name: str | None, code: str | None, labels: tuple[str, ...]
) -> Membership:
    """Return the machine's membership: the stored one, else a new one, which is stored in its folder.

    A code takes precedence over the folder. If the code is not accepted, perhaps because this machine used it up at
    an earlier start, the membership stored for the same hub is used. Raises `HubRefused`, `HubUnreachable`, and
    `click.UsageError` without a code or a token to join by.
    """
    kept = membership.read(folder)
    if code is not None:
        found = _by_code(choice, folder, kept, name, code)
    elif kept is not None and kept.fits(name=name, url=choice.url, project=choice.project):
        found = kept
    else:
        found = _by_person(choice, folder, kept, name)
    found = replace(found, labels=labels or (kept.labels if kept is not None else ()))
    if found != kept:
        membership.write(folder, found)
    return found


def _by_code(
    choice: Choice, folder: Path, kept: Membership | None, name: str | None, code: str
) -> Membership:
    secret, place = parts(code)
    url = choice.url or place
    known = url or running_hub(choice.data)
    if known is None:
        raise click.UsageError("the code does not name its hub; give --url URL")
    same = kept if kept is not None and kept.fits(name=name, url=url, project=choice.project) else None
    try:
        return _joined(Hub(known, secret), folder, name or (same.name if same is not None else None), url)
    except (HubRefused, HubUnreachable) as error:
        if same is None:
            raise _sentence_of(error) from None
        click.echo(display.clean(f"{same.name}: {error}; going on with the key that it has"), err=True)
        return same


def _sentence_of(error: HubRefused | HubUnreachable) -> Exception:
    """Return the error for a code that is not accepted; for an unknown code it says what to do."""
    is_unknown = isinstance(error, HubRefused) and error.status == NOT_VALID
    return click.ClickException(UNKNOWN_CODE) if is_unknown else error


def _by_person(choice: Choice, folder: Path, kept: Membership | None, name: str | None) -> Membership:
    choice = choice.signed_in()
    token = choice.token or owner_token(choice.data)
    if token is None:
        held = kept and JOINED_ELSEWHERE.format(kept.url or "the hub of its data folder", kept.name)
        raise click.UsageError(display.clean(held or NOT_JOINED))
    hub = replace(choice, token=token).connect()
    hub.project = choice.project or DEFAULT_PROJECT
    return _joined(hub, folder, name, choice.url)


def _joined(hub: Hub, folder: Path, name: str | None, url: str | None) -> Membership:
    """Join the hub over this connection. `url` is None for the hub of the data folder, wherever that listens."""
    this = describe(folder, name=name)
    membership.require_room(folder)
    body = {
        "name": this.name,
        "machine_id": this.machine_id,
        "platform": this.platform,
        "version": this.version,
        "sandbox": this.sandbox,
        "chosen": name is not None,
    }
    try:
        made: dict[str, Any] = hub.post("/nodes/join", body)
    finally:
        hub.close()
    return Membership(
        name=made["node"], project=made["project"], url=url and url.rstrip("/"), token=made["token"]
    )


def parts(code: str) -> tuple[str, str | None]:
    """Split a code into its secret, and the address of its hub if it has one."""
    secret, _dot, place = code.strip().partition(".")
    if not place:
        return secret, None
    try:
        return secret, base64.b64decode(place + "=" * (-len(place) % 4), b"-_", validate=True).decode()
    except ValueError:
        raise click.ClickException(
            "the code is incomplete; give it as hubbub node invite printed it"
        ) from None
