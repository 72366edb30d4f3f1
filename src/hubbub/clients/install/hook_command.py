"""How a client is to call `hubbub-hook`: the same for all of them, and the quickest there is."""

import shlex
from pathlib import Path

from hubbub.clients import hook
from hubbub.model.programs.launching import script


def hook_command(client: str, event: str) -> str:
    """The command line for a client's hook, with absolute paths: hooks run wherever the client was started."""
    return shlex.join([*program(), client, event])


def program() -> list[str]:
    """What runs `hubbub-hook`: this interpreter, without what it would look up first and we never need."""
    return [*script(Path(hook.__file__).parent / "__main__.py")]
