"""Files in the data folder for programs on this machine: a running hub's address and owner's token, and logins."""

import json
from pathlib import Path
from typing import NamedTuple

from hubbub.model.hub_address import origin

ADDRESS_FILE = "hub.json"  # written by the running hub
OWNER_FILE = "owner-token"
LOGINS_FILE = "logins.json"  # written by `hubbub login`
MEMBERSHIP_FILE = "node.json"  # written by a machine that joins a hub


class KeptLogin(NamedTuple):
    """A login of this machine's user at a hub."""

    url: str
    token: str
    user: str | None
    project: str | None  # to work in, if it was chosen
    token_id: str | None  # of a token that was made for the login, and ends with it


def running_hub(data: Path) -> str | None:
    """Return the address of the hub that serves the data folder; None if no hub wrote one down."""
    return _url_in(data / ADDRESS_FILE)


def joined_hub(data: Path) -> str | None:
    """Return the address of the hub elsewhere that this machine has joined; None if the folder is a hub's own."""
    return _url_in(data / MEMBERSHIP_FILE) if owner_token(data) is None else None


def _url_in(file: Path) -> str | None:
    try:
        facts = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    url = facts.get("url") if isinstance(facts, dict) else None
    return url if isinstance(url, str) else None


def owner_token(data: Path) -> str | None:
    """Return the token of the hub's owner from the data folder; None if there is none, or this user may not read it."""
    try:
        return (data / OWNER_FILE).read_text("utf-8").strip() or None
    except (OSError, ValueError):
        return None


def logins(data: Path) -> list[KeptLogin]:
    """Return the logins that are kept in the data folder, the one in use first."""
    try:
        return [KeptLogin(**each) for each in json.loads((data / LOGINS_FILE).read_text("utf-8"))]
    except (OSError, ValueError, TypeError):
        return []


def login(data: Path, url: str | None = None) -> KeptLogin | None:
    """Return the login at the hub of that address, else the one in use."""
    at = url and origin(url)
    return next((each for each in logins(data) if at in (None, each.url)), None)


def secrets(data: Path) -> list[str]:
    """Return the tokens in the data folder that nobody else should see."""
    owner = owner_token(data)
    return [*([owner] if owner else []), *(each.token for each in logins(data))]
