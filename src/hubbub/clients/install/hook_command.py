"""Command lines for `hubbub-hook` in clients: the same for all of them, and as fast as possible."""

import shlex
from pathlib import Path

from hubbub.clients import hook
from hubbub.model.programs.launching import script


def hook_command(client: str, event: str) -> str:
    """Return the command line of a client's hook, with absolute paths: hooks run wherever the client was started."""
    return shlex.join([*program(), client, event])


def program() -> list[str]:
    """Return the words that run `hubbub-hook`: this interpreter, without its usual look-ups."""
    return [*script(Path(hook.__file__).parent / "__main__.py")]
