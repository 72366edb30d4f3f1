"""What to do about a hub that cannot be reached. Loads little, as `hubbub with` needs it too."""

from pathlib import Path

from hubbub.model.data_folder import joined_hub, running_hub

START = "start one with: hubbub up"
LOOK_THERE = "check the address, and that the hub there runs"


def remedy(url: str | None, folder: Path) -> str:
    """Return what to do about the hub at `url`; None: the one of the data folder."""
    if url not in (None, running_hub(folder)):
        return LOOK_THERE
    joined = joined_hub(folder)
    return (
        f"this machine has joined the hub at {joined}; use it with: hubbub login {joined}"
        if joined
        else START
    )
