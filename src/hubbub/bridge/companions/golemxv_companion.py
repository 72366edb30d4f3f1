"""GolemXV's environment: the agent's identity, its project, and its check-in.

The first two decide the bridge's token; project and check-in go as headers with each request, for calls that name none.
The hub reads them in `dialects/golemxv/tool_set.py`.
"""

from collections.abc import Mapping
from dataclasses import replace

from hubbub.bridge.companions.companion import NoCompanion
from hubbub.model.errors import Invalid
from hubbub.terminal.command import Choice

TOKEN_VARIABLE, PROJECT_VARIABLE, STAY_VARIABLE = "GXV_API_KEY", "GXV_PROJECT_SLUG", "GXV_SESSION_TOKEN"
HEADERS = {PROJECT_VARIABLE: "X-GXV-Project", STAY_VARIABLE: "X-GXV-Session"}


def chosen(choice: Choice, environment: Mapping[str, str]) -> Choice:
    """Return the choice, completed by GolemXV's environment where hubbub's own has no value."""
    return replace(
        choice,
        token=choice.token or environment.get(TOKEN_VARIABLE) or None,
        project=choice.project or environment.get(PROJECT_VARIABLE) or None,
    )


def companion(environment: Mapping[str, str]) -> NoCompanion:
    """Return a companion that adds the environment's headers. Raises `Invalid` for a value that no header can hold."""
    said = {header: value for name, header in HEADERS.items() if (value := environment.get(name))}
    for name in (name for name, header in HEADERS.items() if not _is_sendable(said.get(header, ""))):
        raise Invalid(f"{name} has characters that are not allowed; give it as it was printed")
    return NoCompanion(said)


def _is_sendable(value: str) -> bool:
    return value.isascii() and value.isprintable() and " " not in value
