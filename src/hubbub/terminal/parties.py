"""The one name of each sender and receiver: a person's own, where a record has `hub`, the name of all people."""

from collections.abc import Mapping
from typing import Any

from hubbub.model.people.rights import EVERYONE, HUB

PEOPLE = "people"


def sender(sent: Mapping[str, Any]) -> str:
    """Return the name of who sent a task or a message; records of old hubs have no author."""
    return str(sent.get("author") or sent["sender"])


def receiver(sent: Mapping[str, Any]) -> str:
    """Return the name of who gets a message: one agent or person, all people, or everyone."""
    return str(sent.get("addressee") or inbox(sent["recipient"]))


def inbox(name: str | None) -> str:
    """Return the word for an inbox."""
    return EVERYONE if name is None else PEOPLE if name == HUB else name
