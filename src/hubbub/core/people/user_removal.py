"""Removing a person from the hub: all that lets them in ends, and what they did stays."""

from collections.abc import Sequence
from dataclasses import dataclass

from hubbub.core.people import access, logins, tokens, users
from hubbub.model.errors import Forbidden, existing
from hubbub.model.people.accounts import Token, User
from hubbub.model.people.rights import Role
from hubbub.model.records import Project
from hubbub.store.people import projects as project_rows
from hubbub.store.people import tokens as token_rows
from hubbub.store.people import users as rows
from hubbub.store.tx import Tx


@dataclass(frozen=True, slots=True)
class Removed:
    """A removed person, what ended with them, and the projects that the owner of the hub has taken over."""

    user: User
    tokens: Sequence[Token]
    inherited: Sequence[str]


def remove(tx: Tx, name: str) -> Removed:
    """Remove a person: their logins, their memberships and all tokens that they have or made end at once.

    A project of which they were the only owner gets the owner of the hub, as somebody has to manage it. Nobody can have
    their name afterwards, which the log still says. Only for the hub's owner. Records `user.removed`. Raises
    `Forbidden` and `NotFound`.
    """
    access.require_hub_owner(tx)
    user = existing(users.by_name(tx, name), "user", name)
    if user.owns_hub:
        raise Forbidden("the owner of the hub cannot be removed from it")
    rows.remove(tx, user.id)
    inherited = [
        place.slug for place, role in project_rows.of_user(tx, user.id) if _leave(tx, user, place, role)
    ]
    logins.end_all(tx, user)
    ended = [each for each in token_rows.of_maker(tx, user.id) if tokens.end(tx, each.id)]
    tx.record("user.removed", project_id=None, detail={"user": user.name})
    return Removed(user, ended, inherited)


def _leave(tx: Tx, user: User, place: Project, role: Role) -> bool:
    """Take the person out of the project; tell whether the owner of the hub takes their place as its owner."""
    known = project_rows.members(tx, place, lock=True)
    project_rows.remove_member(tx, place.id, user.id)
    gone = {"user_id": str(user.id), "user": user.name, "role": role}
    tx.record("member.removed", project_id=place.id, detail=gone)
    others = [each for user_id, _name, each in known if user_id != user.id]
    if role is not Role.OWNER or Role.OWNER in others:
        return False
    heir = users.owner(tx)
    project_rows.put_member(tx, place.id, heir.id, Role.OWNER)
    come = {"user_id": str(heir.id), "user": heir.name, "role": Role.OWNER}
    tx.record("member.put", project_id=place.id, detail=come)
    return True
