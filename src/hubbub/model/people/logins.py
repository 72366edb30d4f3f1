"""Logins: a person in a browser, from signing in to signing out."""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from hubbub.model.fields import REST, Seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """One browser in which a person is signed in, backed by a token of the same id, held as a cookie."""

    id: Annotated[UUID, Seen(REST)]
    user_id: UUID
    created_at: Annotated[int, Seen(REST)]
    seen_at: Annotated[int, Seen(REST, "the time of its last use, to the minute")]
    expires_at: Annotated[int, Seen(REST, "later with each use, up to 90 days after it began")]
    browser: Annotated[str | None, Seen(REST, "the browser's name for itself")]
