"""Fingerprint of the account that a client's program is signed in to; agents that share an account have the same.

Only the account's id is read, never a key or a token, and only a hash of it leaves the machine.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

LARGEST = 16_000_000  # bytes of a file that is read
LENGTH = 12  # characters of the hash in a name


class SignIn(NamedTuple):
    """The place where a program stores the account that it is signed in to."""

    file: str  # below the home folder
    members: Sequence[str]
    unless: Sequence[str]  # if these variables are set, it looks elsewhere, or works with a key


_KEPT = {
    "claude": SignIn(
        ".claude.json",
        ("oauthAccount", "accountUuid"),
        ("CLAUDE_CONFIG_DIR", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    ),
    "codex": SignIn(".codex/auth.json", ("tokens", "account_id"), ("CODEX_HOME", "CODEX_API_KEY")),
    "gemini": SignIn(
        ".gemini/google_accounts.json",
        ("active",),
        ("GEMINI_CLI_HOME", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
}


def account(program: str, home: Path, environment: Mapping[str, str]) -> str | None:
    """Return the name of the account that a program is signed in to; None if it is not known."""
    kept = _KEPT.get(program)
    if kept is None or any(environment.get(each) for each in kept.unless):
        return None
    identity = _member(home / kept.file, kept.members)
    if identity is None:
        return None
    return f"{program}-{hashlib.sha256(f'{program}:{identity}'.encode()).hexdigest()[:LENGTH]}"


def _member(path: Path, members: Sequence[str]) -> str | None:
    try:
        if path.stat().st_size > LARGEST:
            return None
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    for name in members:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) and value else None
