"""A machine's own record of the steps that hooks saw on it, by which it checks what the hub later states of them.

The machine's node makes the folder, and its key; without them nothing is kept. A step is one line, and so is the note
that the hub has taken it: lines are appended whole, so hooks side by side need no lock.
"""

from __future__ import annotations

import json
import os
import time

from hubbub.clients.hook import hub_target

FOLDER = "machine"  # in the data folder, as `hubbub/node/audit/witness.py` has it
KEYID = "keyid"
LONGEST = 100  # characters of the key's name


def key() -> str | None:
    """Return the name of this machine's key; None if it has none."""
    try:
        with open(os.path.join(_folder(), KEYID), encoding="ascii") as file:
            return file.read(LONGEST).strip() or None
    except (OSError, ValueError):
        return None


def note(line: dict[str, object]) -> None:
    """Append a line; nothing if the disk takes no writes."""
    day = time.strftime("%Y-%m-%d", time.gmtime())
    try:
        file = os.open(os.path.join(_folder(), f"{day}.jsonl"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(file, json.dumps(line).encode() + b"\n")
        os.close(file)
    except OSError:
        return


def _folder() -> str:
    return os.path.join(hub_target.data_folder(), FOLDER)
