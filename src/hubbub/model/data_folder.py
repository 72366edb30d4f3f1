"""Files that a running hub leaves in its data folder for programs on its machine: its address and its owner's token."""

import json
from pathlib import Path

ADDRESS_FILE = "hub.json"  # written by the running hub
OWNER_FILE = "owner-token"


def running_hub(data: Path) -> str | None:
    """Return the address of the hub that serves the data folder; None if no hub wrote one down."""
    try:
        facts = json.loads((data / ADDRESS_FILE).read_text("utf-8"))
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
