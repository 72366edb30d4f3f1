"""A person in a browser: from signing in to signing out."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """One browser in which a person is signed in. It stands on a token of the same id, held as a cookie."""

    id: UUID
    user_id: UUID
    created_at: int
    seen_at: int  # when it was used last, to the minute
    expires_at: int
    browser: str | None  # what the browser calls itself
