"""Identities, and the rights of their roles."""

from hubbub.model.ids import new_id
from hubbub.model.people.rights import GRANTS, HUB, SYSTEM, Actor, Right, Role
from tests.support.each_row import each_row


@each_row(
    ("role", "rights"),
    [
        (Role.OWNER, {Right.READ, Right.WRITE, Right.MANAGE}),
        (Role.ADMIN, {Right.READ, Right.WRITE, Right.MANAGE}),
        (Role.MEMBER, {Right.READ, Right.WRITE}),
        (Role.VIEWER, {Right.READ}),
    ],
)
def test_what_a_role_allows(role: Role, rights: set[Right]) -> None:
    """Owners and admins manage, members write, viewers only read."""
    assert GRANTS[role] == rights


def test_every_role_is_granted_something() -> None:
    """There is no role of which the table does not speak."""
    assert set(GRANTS) == set(Role)


def test_a_person_belongs_to_no_one_project() -> None:
    """A token without a project is a person's; with one it is a program's, whoever made it."""
    assert Actor(token_id=new_id(), user_id=new_id(), user_name="eve").is_person
    assert not Actor(token_id=new_id(), user_id=new_id(), project_id=new_id(), role=Role.MEMBER).is_person


def test_the_log_names_the_actor() -> None:
    """An actor is named by the agent its token is bound to, else by the person, else it is the hub."""
    assert Actor(token_id=None, agent="ann", user_name="eve").label == "ann"
    assert Actor(token_id=None, user_name="eve").label == "eve"
    assert Actor(token_id=None).label == HUB == "hub"


def test_the_hub_itself_owns_the_hub() -> None:
    """The sweep and the first start act as the hub, which nobody's token stands for."""
    assert SYSTEM.owns_hub
    assert SYSTEM.token_id is None
    assert SYSTEM.label == HUB
