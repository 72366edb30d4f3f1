"""The API key of a project, which its machines send to the model that they call."""

from dataclasses import dataclass, field
from typing import Annotated
from uuid import UUID

from hubbub.model.errors import Invalid
from hubbub.model.fields import Secret

SHORTEST, LONGEST = 8, 500  # characters
SHOWN = 4  # of its end, if the rest is long enough to stay secret
PREFIX = "sk-"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A project's key. It leaves the hub only masked."""

    project_id: UUID
    secret: Annotated[str, Secret()] = field(repr=False)
    set_by: str
    set_at: int

    @property
    def masked(self) -> str:
        """Return the key in a form that its owner recognises: `sk-…abcd`."""
        prefix = PREFIX if self.secret.startswith(PREFIX) else ""
        end = self.secret[-SHOWN:] if len(self.secret) >= 4 * SHOWN else ""
        return f"{prefix}…{end}"


def require_key(secret: str) -> str:
    """Return the key if it can be sent as one. Raises `Invalid`, without showing it."""
    is_plain = secret.isascii() and secret.isprintable() and " " not in secret
    if not is_plain or not SHORTEST <= len(secret) <= LONGEST:
        raise Invalid(f"an API key has {SHORTEST} to {LONGEST} printable ASCII characters and no blanks")
    return secret
