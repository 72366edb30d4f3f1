"""Members of a project."""

from collections.abc import Callable

import pytest

from hubbub.core.people import access, members, projects
from hubbub.model.errors import Conflict, Forbidden, Invalid, NotFound, ProjectDenied
from hubbub.model.people.rights import Role
from hubbub.model.records import Project
from tests.core.conftest import World, person


@pytest.fixture
def owner(world: World) -> World:
    """An owner of a project of their own."""
    mine = world.acting(person(world, "mia"))
    return World(mine.store, mine.clock, mine.do(projects.create, "shop"), mine.actor)


def listed(world: World) -> list[tuple[str, Role]]:
    return [(name, role) for _id, name, role in world.do(members.of_project, world.project)]


def test_a_person_becomes_a_member_with_a_role(owner: World) -> None:
    """A new member may enter, in that role; with another role it is the same member; the log says both."""
    other = owner.acting(person(owner, "noor"))
    owner.do(members.put, owner.project, "noor", Role.VIEWER)
    owner.do(members.put, owner.project, "noor", Role.ADMIN)
    owner.do(members.put, owner.project, "noor", Role.ADMIN)

    assert listed(owner) == [("mia", Role.OWNER), ("noor", Role.ADMIN)]
    assert other.do(access.enter, "shop").slug == "shop"
    told = [each.detail["role"] for each in owner.log() if each.kind == "member.put"]
    assert told == ["viewer", "admin"]


def test_who_is_removed_may_enter_no_more(owner: World) -> None:
    """A removed member does not see the project any more."""
    other = owner.acting(person(owner, "noor"))
    owner.do(members.put, owner.project, "noor", Role.MEMBER)
    owner.do(members.remove, owner.project, "noor")

    assert listed(owner) == [("mia", Role.OWNER)]
    with pytest.raises(ProjectDenied):
        other.do(access.enter, "shop")
    assert owner.log()[-1].kind == "member.removed"


def test_a_project_keeps_an_owner(owner: World) -> None:
    """The last owner is neither removed nor made less; with a second one they may be."""
    person(owner, "noor")
    attempts: tuple[Callable[[], object], ...] = (
        lambda: owner.do(members.remove, owner.project, "mia"),
        lambda: owner.do(members.put, owner.project, "mia", Role.ADMIN),
    )
    for refused in attempts:
        with pytest.raises(Conflict):
            refused()
    owner.do(members.put, owner.project, "noor", Role.OWNER)
    owner.do(members.remove, owner.project, "mia")
    assert listed(owner) == [("noor", Role.OWNER)]


def test_nobody_gives_more_than_they_have(owner: World) -> None:
    """An admin makes members, and neither makes an owner nor touches one; a member does nothing of this."""
    admin, member = (owner.acting(person(owner, name)) for name in ("noor", "omar"))
    owner.do(members.put, owner.project, "noor", Role.ADMIN)
    owner.do(members.put, owner.project, "omar", Role.MEMBER)
    admin.do(members.put, owner.project, "omar", Role.VIEWER)
    attempts: tuple[Callable[[], object], ...] = (
        lambda: admin.do(members.put, owner.project, "omar", Role.OWNER),
        lambda: admin.do(members.put, owner.project, "mia", Role.MEMBER),
        lambda: admin.do(members.remove, owner.project, "mia"),
        lambda: member.do(members.put, owner.project, "omar", Role.ADMIN),
        lambda: member.do(members.remove, owner.project, "noor"),
    )
    for refused in attempts:
        with pytest.raises(Forbidden):
            refused()
    assert listed(owner) == [("mia", Role.OWNER), ("noor", Role.ADMIN), ("omar", Role.VIEWER)]


def test_agents_say_nothing_of_members(world: World) -> None:
    """An agent's token, whatever its role, changes no membership."""
    person(world, "noor")
    with pytest.raises(Forbidden):
        world.do(members.put, world.project, "noor", Role.VIEWER)


def test_what_cannot_be_a_member_is_refused(owner: World) -> None:
    """A stranger cannot be a member, nobody has a machine's role, and strangers cannot be removed."""
    with pytest.raises(NotFound):
        owner.do(members.put, owner.project, "nobody", Role.MEMBER)
    with pytest.raises(Invalid):
        owner.do(members.put, owner.project, "mia", Role.NODE)
    with pytest.raises(NotFound):
        owner.do(members.remove, owner.project, "nobody")


def test_a_project_is_changed(owner: World) -> None:
    """A changed setting of a project is kept and told; an unchanged one is not; an invalid value is refused."""

    def change(**changes: object) -> Project:
        return owner.do(projects.change, owner.do(projects.find, "shop"), changes)

    assert change(name="The shop", conflict_mode="block").name == "The shop"
    assert owner.do(projects.find, "shop").conflict_mode == "block"
    change(name="The shop")
    assert [each.detail for each in owner.log() if each.kind == "project.changed"] == [
        {"name": "The shop", "conflict_mode": "block"}
    ]
    for bad in ({"conflict_mode": "maybe"}, {"heartbeat_ttl": 1}, {"repo_url": "here"}):
        with pytest.raises(Invalid):
            change(**bad)
