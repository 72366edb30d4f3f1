"""What GolemXV's agents say by their environment: as whom they act, in which project, and which stay is theirs.

The first two decide with which token the bridge asks; project and stay go as headers with each request, for calls that
name none. How the hub takes them is in `dialects/golemxv/definition.py`.
"""

from collections.abc import Mapping
from dataclasses import replace

from hubbub.bridge.companions.companion import NoCompanion
from hubbub.model.errors import Invalid
from hubbub.terminal.command import Choice

TOKEN_VARIABLE, PROJECT_VARIABLE, STAY_VARIABLE = "GXV_API_KEY", "GXV_PROJECT_SLUG", "GXV_SESSION_TOKEN"
HEADERS = {PROJECT_VARIABLE: "X-GXV-Project", STAY_VARIABLE: "X-GXV-Session"}


def chosen(choice: Choice, environment: Mapping[str, str]) -> Choice:
    """The choice, completed by what GolemXV's environment says where hubbub's own says nothing."""
    return replace(
        choice,
        token=choice.token or environment.get(TOKEN_VARIABLE) or None,
        project=choice.project or environment.get(PROJECT_VARIABLE) or None,
    )


def companion(environment: Mapping[str, str]) -> NoCompanion:
    """One that has each request say what the environment does. Raises `Invalid` for what no header can hold."""
    said = {header: value for name, header in HEADERS.items() if (value := environment.get(name))}
    for name in (name for name, header in HEADERS.items() if not _is_sendable(said.get(header, ""))):
        raise Invalid(f"{name} holds characters that it cannot have; give it as it was printed")
    return NoCompanion(said)


def _is_sendable(value: str) -> bool:
    return value.isascii() and value.isprintable() and " " not in value
