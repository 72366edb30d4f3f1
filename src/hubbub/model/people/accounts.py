"""People, and the tokens of people and agents. Only the hash of a secret is kept."""

from dataclasses import dataclass, field
from typing import Annotated
from uuid import UUID

from hubbub.model.fields import REST, Secret, Seen
from hubbub.model.people.rights import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    id: Annotated[UUID, Seen(REST)]
    name: Annotated[str, Seen(REST)]
    password: Annotated[str | None, Secret("by argon2id")] = field(repr=False)
    owns_hub: Annotated[bool, Seen(REST)]
    created_at: Annotated[int, Seen(REST)]
    removed_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """An invitation that can still be followed. Its code is not kept; `id` only names it."""

    id: str
    role: Role
    created_at: int
    expires_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    id: Annotated[UUID, Seen(REST)]
    hash: Annotated[str, Secret("by SHA-256")] = field(repr=False)
    user_id: Annotated[UUID | None, Seen(REST)]
    project_id: Annotated[UUID | None, Seen(REST)]
    agent: Annotated[str | None, Seen(REST)]
    role: Annotated[Role | None, Seen(REST)]
    rate: Annotated[int | None, Seen(REST, "calls a second, if it has a limit of its own")]
    created_at: Annotated[int, Seen(REST)]
    expires_at: Annotated[int | None, Seen(REST)]
    revoked_at: Annotated[int | None, Seen(REST)]
    lent_from: UUID | None = None  # the token that it ends with
    lent_for: UUID | None = None  # the order, or the background task, that it ends with
    chain: tuple[
        str, ...
    ] = ()  # of a lent token: the agents that asked one another, up to the program that has it
    label: Annotated[str | None, Seen(REST, "what it is for, such as `login on laptop`")] = None
