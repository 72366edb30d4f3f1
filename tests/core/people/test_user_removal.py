"""Removing a person from the hub."""

import pytest

from hubbub.core.people import access, logins, tokens, user_removal, users
from hubbub.core.people.projects import create
from hubbub.model.errors import Conflict, Forbidden, NotFound, Unauthorized
from hubbub.model.people.rights import SYSTEM, Role
from hubbub.store.people import projects as project_rows
from tests.core.conftest import World, person


@pytest.fixture
def owner(world: World) -> World:
    """The world as the hub's owner has it."""
    secret = world.acting(SYSTEM).do(users.first_start)
    assert secret is not None
    return world.acting(world.do(access.authenticate, secret))


def test_nothing_lets_a_removed_person_in(world: World, owner: World) -> None:
    """Tokens that a person has or made, logins, links, password and memberships end at once; what they did stays."""
    user, own = owner.do(users.create, "ben", project=world.project)
    ben = world.acting(world.do(access.authenticate, own))
    made, agents = ben.do(tokens.for_project, world.project, role=Role.MEMBER, agent="coder")
    link, _user, _end = ben.do(logins.link)
    cookie = world.acting(SYSTEM).do(logins.begin, user, None, way="link")

    gone = owner.do(user_removal.remove, "ben")

    assert (gone.user.name, [each.id for each in gone.tokens][-1], gone.inherited) == ("ben", made.id, [])
    for secret in (own, agents):
        with pytest.raises(Unauthorized):
            world.do(access.authenticate, secret)
    with pytest.raises(Unauthorized):
        world.do(logins.recognise, cookie)
    with pytest.raises(Unauthorized):
        world.acting(SYSTEM).do(logins.redeem, link, None)
    assert world.do(users.by_name, "ben") is None
    assert [each.name for each in owner.do(users.everyone)] == [users.OWNER]
    assert world.do(users.name_of, user.id) == "ben"
    assert world.kinds().count("member.removed") == 1
    with pytest.raises(Conflict, match="taken"):
        owner.do(users.create, "ben")


def test_a_token_made_meanwhile_lets_nobody_in(world: World, owner: World) -> None:
    """A token that was made while its person was being removed is as dead as the others."""
    user, _secret = owner.do(users.create, "ben")
    owner.do(user_removal.remove, "ben")
    _token, late = world.acting(SYSTEM).do(tokens.for_person, user.id)
    with pytest.raises(Unauthorized):
        world.do(access.authenticate, late)


def test_a_project_keeps_an_owner(world: World, owner: World) -> None:
    """The owner of the hub takes over a project whose only owner is removed, and no other."""
    _user, secret = owner.do(users.create, "ben", project=world.project, role=Role.OWNER)
    person(world, "ada", Role.OWNER)
    shop = world.acting(world.do(access.authenticate, secret)).do(create, "shop")

    assert owner.do(user_removal.remove, "ben").inherited == ["shop"]

    members = world.do(project_rows.members, shop)
    assert [(name, role) for _id, name, role in members] == [(users.OWNER, Role.OWNER)]
    assert "ben" not in [name for _id, name, _role in world.do(project_rows.members, world.project)]


def test_who_removes_whom(world: World, owner: World) -> None:
    """Only the hub's owner removes people, nobody removes the owner, and a name that is none is refused."""
    with pytest.raises(Forbidden, match="only the owner of the hub"):
        world.acting(person(world, "boss", Role.OWNER)).do(user_removal.remove, "boss")
    with pytest.raises(Forbidden, match="cannot be removed"):
        owner.do(user_removal.remove, users.OWNER)
    with pytest.raises(NotFound):
        owner.do(user_removal.remove, "nobody")
