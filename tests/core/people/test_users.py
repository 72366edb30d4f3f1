"""People: the first of them, those who are invited, those who register."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from hubbub.core.log import audit
from hubbub.core.people import access, projects, users
from hubbub.model.errors import Conflict, Forbidden, Invalid, NotFound, ProjectDenied
from hubbub.model.people.accounts import User
from hubbub.model.people.rights import GIVEN, SYSTEM, Actor, Role
from hubbub.store.tx import Tx
from tests.core.conftest import RACERS, World, errors_of, member, person

OWNER = Actor(token_id=None, owns_hub=True)


def register(
    world: World, name: str, code: str | None = None, *, is_open: bool = False
) -> tuple[User, World]:
    """A new person, and the world as them."""
    user, secret = world.acting(SYSTEM).do(users.register, name, "a hash", invite_code=code, is_open=is_open)
    return user, world.acting(world.do(access.authenticate, secret))


def invitation(world: World, role: Role = Role.MEMBER) -> str:
    owner = world.do(lambda tx: users.by_name(tx, "host"))
    actor = person(world, "host", Role.OWNER) if owner is None else Actor(token_id=None, user_id=owner.id)
    return world.acting(actor).do(users.invite, world.project, role)


def test_the_first_start_makes_an_owner_and_a_project(world: World) -> None:
    """A hub without people gets its owner, who owns the hub and the project `default`, once."""
    system = world.acting(SYSTEM)
    secret = system.do(users.first_start)
    assert secret is not None
    assert secret.startswith("utok_")
    owner = world.acting(world.do(access.authenticate, secret))

    assert (owner.actor.user_name, owner.actor.owns_hub) == (users.OWNER, True)
    assert [(p.slug, role) for p, role in owner.do(access.memberships)] == [(projects.DEFAULT, Role.OWNER)]
    assert system.do(users.first_start) is None
    assert [user.name for user in owner.do(users.everyone)] == [users.OWNER]


def test_the_owner_of_the_hub_makes_people(world: World) -> None:
    """The hub's owner makes a person, in a project and role if named, and gets their token; nobody else does."""
    owner = world.acting(OWNER)
    user, secret = owner.do(users.create, "eve", project=world.project, role=Role.VIEWER)
    eve = world.acting(world.do(access.authenticate, secret))

    assert (eve.actor.user_id, eve.actor.user_name, eve.actor.owns_hub) == (user.id, "eve", False)
    assert eve.do(access.memberships) == [(world.project, Role.VIEWER)]
    assert world.do(users.find, user.id) == world.do(users.by_name, "eve") == user
    for actor in (eve.actor, member(world.project, Role.OWNER), person(world, "adam", Role.OWNER)):
        with pytest.raises(Forbidden, match="only the owner of the hub"):
            world.acting(actor).do(users.create, "mallory")
        with pytest.raises(Forbidden):
            world.acting(actor).do(users.everyone)
    assert world.do(users.by_name, "mallory") is None


def test_the_log_says_who_made_somebody(world: World) -> None:
    """The maker of a user is the owner, or the users themselves if they registered."""
    world.acting(replace(OWNER, user_name="boss")).do(users.create, "eve")
    register(world, "uma", is_open=True)
    made = world.acting(OWNER).do(audit.entries, world.project, kind="user.created", limit=2)
    assert [(each.actor, each.detail["user"]) for each in made] == [("uma", "uma"), ("boss", "eve")]


def test_names_of_every_script(world: World) -> None:
    """A username has 2 to 50 letters of any script, digits, underscores and hyphens."""
    for name in ("ab", "x" * 50, "张三", "ängström", "a-b_c", "__", "٣٤"):
        assert register(world, name, is_open=True)[0].name == name


def test_bad_names_are_refused(world: World) -> None:
    """Any other username is refused with what is allowed, and nobody is let in."""
    for name in ("", "a", "x" * 51, "a b", "a\nb", "ab\n", "a/b", "a.b", "<b>", "a\0b", "😀😀"):
        with pytest.raises(Invalid, match="a username has 2 to 50 letters"):
            register(world, name, is_open=True)
        with pytest.raises(Invalid):
            world.acting(OWNER).do(users.create, name)
    with pytest.raises(Invalid, match="the hub's own name"):
        world.acting(OWNER).do(users.create, "hub")
    assert world.acting(OWNER).do(users.everyone) == []


def test_a_name_is_taken_once(world: World) -> None:
    """A username that is taken is refused, however somebody comes, and uses up no invitation."""
    register(world, "eve", is_open=True)
    code = invitation(world)
    with pytest.raises(Conflict, match="'eve' is taken"):
        register(world, "eve", is_open=True)
    with pytest.raises(Conflict):
        world.acting(OWNER).do(users.create, "eve")
    with pytest.raises(Conflict):
        register(world, "eve", code)

    assert register(world, "adam", code)[0].name == "adam"


def test_registration_is_closed_unless_opened(world: World) -> None:
    """Without an invitation nobody registers, unless the hub is open."""
    with pytest.raises(Forbidden, match="needs an invitation code"):
        register(world, "eve")
    assert world.do(users.by_name, "eve") is None


def test_who_registers_alone_gets_a_project(world: World) -> None:
    """A person who comes to an open hub uninvited owns a project of their own, named after them, and sees no other."""
    user, eve = register(world, "Eve-1", is_open=True)
    ((project, role),) = eve.do(access.memberships)

    assert (project.slug, project.name, role) == ("eve-1", "Eve-1", Role.OWNER)
    assert not user.owns_hub
    with pytest.raises(ProjectDenied):
        eve.do(access.enter, "lab")


def test_a_project_is_found_for_every_name(world: World) -> None:
    """Where a name makes no slug, or one that is taken, the project's slug is made unique; others keep theirs."""
    for name in ("lab", "LAB", "张三", "__"):
        _user, newcomer = register(world, name, is_open=True)
        ((project, _role),) = newcomer.do(access.memberships)

        assert project.id != world.id
        assert project.name == name
        assert newcomer.do(access.enter, project.slug) == project


def test_an_invitation_lets_one_person_in(world: World) -> None:
    """A person with an invitation joins its project in its role, and the code is used up."""
    for role in GIVEN:
        code = invitation(world, role)
        _user, guest = register(world, f"guest-{role}", code)

        assert guest.do(access.memberships) == [(world.project, role)]
        for is_open in (True, False):
            with pytest.raises(Forbidden):
                register(world, "mallory", code, is_open=is_open)
    assert world.do(users.by_name, "mallory") is None


def test_a_made_up_invitation_is_none(world: World) -> None:
    """A code that nobody gave out lets nobody in, not even into an open hub."""
    for code in ("inv_" + "0" * 32, "nonsense", "\ud800"):
        for is_open in (True, False):
            with pytest.raises(Forbidden):
                register(world, "mallory", code, is_open=is_open)


def test_an_invitation_is_good_for_a_week(world: World) -> None:
    """An invitation is good up to the millisecond in which its week is over."""
    first, second = invitation(world), invitation(world)
    rows = world.do(lambda tx: tx.all("SELECT hash, expires_at FROM invites"))
    until = {row["hash"]: row["expires_at"] for row in rows}

    def enter(tx: Tx, name: str, code: str) -> object:
        return users.register(tx, name, "a hash", invite_code=code, is_open=False)

    world.at(until[access.fingerprint(first)] - 1, enter, "eve", first)
    with pytest.raises(Forbidden):
        world.at(until[access.fingerprint(second)], enter, "adam", second)
    assert world.do(users.by_name, "adam") is None


def test_who_may_invite(world: World) -> None:
    """People who manage a project invite into it; members, strangers and programs do not."""
    for actor in (
        person(world, "eve", Role.MEMBER),
        person(world, "adam", Role.VIEWER),
        member(world.project, Role.OWNER),
    ):
        with pytest.raises(Forbidden):
            world.acting(actor).do(users.invite, world.project)
    with pytest.raises(ProjectDenied):
        world.acting(person(world, "mallory")).do(users.invite, world.project)
    assert world.acting(person(world, "boss", Role.ADMIN)).do(users.invite, world.project).startswith("inv_")


def test_the_code_is_not_kept(world: World) -> None:
    """Only a hash of an invitation is kept, and the log does not have it."""
    code = invitation(world)
    kept = world.do(lambda tx: [dict(row) for row in tx.all("SELECT * FROM invites")])

    assert code.removeprefix("inv_") not in str(kept) + str(world.log())
    assert world.kinds()[-1] == "user.invited"


def test_an_invitation_can_be_revoked(world: World) -> None:
    """People who manage a project see its open invitations, oldest first; the code of a revoked one lets nobody in."""
    code = invitation(world)
    world.pass_time(timedelta(seconds=1))
    other = invitation(world, Role.VIEWER)
    boss = world.acting(person(world, "boss", Role.ADMIN))
    mine, others = boss.do(users.invitations, world.project)
    assert (mine.role, others.role) == (Role.MEMBER, Role.VIEWER)
    for actor in (person(world, "eve", Role.MEMBER), member(world.project, Role.OWNER)):
        with pytest.raises(Forbidden):
            world.acting(actor).do(users.invitations, world.project)
        with pytest.raises(Forbidden):
            world.acting(actor).do(users.uninvite, world.project, mine.id)

    boss.do(users.uninvite, world.project, mine.id)

    assert boss.do(users.invitations, world.project) == [others]
    with pytest.raises(NotFound):
        boss.do(users.uninvite, world.project, mine.id)
    with pytest.raises(users.BadInvitation):
        register(world, "ben", code)
    register(world, "ben", other)
    assert boss.do(users.invitations, world.project) == []
    assert "user.uninvited" in world.kinds()


def race_for(world: World, way_in: Callable[[Tx, int], object]) -> list[type]:
    """The errors of many who come in at once, each by their way."""
    everyone = [lambda tx, n=n: way_in(tx, n) for n in range(RACERS)]
    return errors_of(world.acting(SYSTEM).race(*everyone))


def test_one_invitation_lets_one_of_many_in(world: World) -> None:
    """One of many who register at once with one invitation gets in, and nothing is left of the others."""
    code = invitation(world)
    errors = race_for(
        world, lambda tx, n: users.register(tx, f"racer-{n}", "a hash", invite_code=code, is_open=False)
    )

    assert errors == [users.BadInvitation] * (RACERS - 1)
    people = world.acting(OWNER).do(users.everyone)
    assert len([user for user in people if user.name.startswith("racer")]) == 1


def test_one_name_is_given_to_one_of_many(world: World) -> None:
    """One of many who register at once under one name gets it; the others are told that it is taken."""
    errors = race_for(world, lambda tx, n: users.register(tx, "eve", f"{n}", invite_code=None, is_open=True))

    assert errors == [Conflict] * (RACERS - 1)
    assert [user.name for user in world.acting(OWNER).do(users.everyone)] == ["eve"]


def test_the_password_is_kept_for_logging_in(world: World) -> None:
    """Logging in compares with the given hash of the password."""
    register(world, "eve", is_open=True)
    user = world.do(users.by_name, "eve")
    assert user is not None
    assert user.password == "a hash"
