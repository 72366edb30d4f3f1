"""Callers, and the rights of their roles."""

from dataclasses import dataclass
from enum import StrEnum, auto
from uuid import UUID


class Role(StrEnum):
    """The role of a member or a token in a project."""

    OWNER = auto()
    ADMIN = auto()
    MEMBER = auto()
    VIEWER = auto()
    NODE = auto()  # the key of a machine: it opens the machine's link, and nothing else
    ORDER = auto()  # lent to the agent of a machine for one order: cmdop's tools, and nothing else


GIVEN = (Role.OWNER, Role.ADMIN, Role.MEMBER, Role.VIEWER)  # by people; the others are the hub's to give


LINK_ONLY = "a machine's key opens its link to the hub, and nothing else"
TOOLS_ONLY = "a token that was lent for an order is for the tools of cmdop, and nothing else"


class Right(StrEnum):
    """The right that an operation needs."""

    READ = auto()
    WRITE = auto()  # send, claim, report
    MANAGE = auto()  # projects, tokens, members


GRANTS: dict[Role, frozenset[Right]] = {
    Role.OWNER: frozenset(Right),
    Role.ADMIN: frozenset(Right),
    Role.MEMBER: frozenset({Right.READ, Right.WRITE}),
    Role.VIEWER: frozenset({Right.READ}),
    Role.NODE: frozenset(),
    Role.ORDER: frozenset({Right.READ, Right.WRITE}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """The caller, according to the token. Arguments may narrow this, never widen it.

    A person (`utok_`) has `user_id` and no `project_id`: their role is that of their membership in each project.
    An agent's token (`ntok_`) has `project_id` and `role`, and, when it is bound to one agent, that agent's name.
    """

    token_id: UUID | None
    user_id: UUID | None = None
    user_name: str | None = None
    owns_hub: bool = False
    project_id: UUID | None = None
    role: Role | None = None
    agent: str | None = None
    expires_at: int | None = None
    rate: int | None = None  # calls a second, if the token has its own limit
    lent_from: UUID | None = None  # the token that this one was lent from for an order; its quota is charged
    chain: tuple[
        str, ...
    ] = ()  # of such a token: the agents that asked one another, up to the program that has it
    is_browser: bool = False  # they have signed in there, and show a cookie instead of a token

    @property
    def is_person(self) -> bool:
        return self.project_id is None

    @property
    def label(self) -> str:
        """Return the actor's name in the activity log, where no agent's name was given."""
        return self.agent or self.user_name or HUB

    def person_behind(self, sender: str) -> str | None:
        """Return the person who sends something as `hub`; None behind an agent, and a program without a name."""
        return self.user_name if sender == HUB else None


HUB = "hub"  # the name of every caller without a name of its own; always a legal receiver of replies
EVERYONE = "everyone"  # the receiver that means all agents of a project
EVERYONES = frozenset({EVERYONE, "all", "broadcast"})  # with the documented tool sets' words: no agent's name
SYSTEM = Actor(token_id=None, owns_hub=True)  # the hub itself: the sweep, the first start
