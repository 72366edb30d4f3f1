"""The API key of a project."""

import pytest

from hubbub.core.fleet import api_keys
from hubbub.model.errors import Forbidden, Invalid
from hubbub.model.people.rights import SYSTEM, Role
from tests.core.conftest import World, member, on_one_engine, person

KEY = "sk-proj-0123456789abcdef"


@pytest.fixture
def admin(world: World) -> World:
    return world.acting(person(world, "ada", Role.ADMIN))


def test_a_key_is_set_shown_masked_and_cleared(world: World, admin: World) -> None:
    """Managers of the project set and clear the key; it is shown masked, and the log does not tell it."""
    admin.do(api_keys.put, world.project, "sk-old-0123456789abc")
    assert admin.do(api_keys.put, world.project, KEY).masked == "sk-…cdef"
    found = world.do(api_keys.find, world.project)
    assert found is not None
    assert (found.masked, found.set_by) == ("sk-…cdef", "ada")
    assert KEY not in repr(found)
    assert admin.do(api_keys.clear, world.project)
    assert not admin.do(api_keys.clear, world.project)
    assert world.do(api_keys.find, world.project) is None
    told = [each for each in world.log() if each.kind.startswith("key.")]
    assert [each.kind for each in told] == ["key.set", "key.set", "key.cleared"]
    assert KEY[3:] not in repr(told)


@on_one_engine
@pytest.mark.parametrize(("secret", "masked"), [("12345678", "…"), ("sk-45678", "sk-…"), ("a" * 16, "…aaaa")])
def test_a_short_key_shows_nothing_of_itself(admin: World, secret: str, masked: str) -> None:
    """The end of a short key is not shown either."""
    assert admin.do(api_keys.put, admin.project, secret).masked == masked


def test_members_mind_the_key(world: World) -> None:
    """Any member sets the key, sees that there is one, and clears it."""
    other = world.acting(member(world.project, Role.MEMBER))
    other.do(api_keys.put, world.project, KEY)

    found = other.do(api_keys.find, world.project)
    assert found is not None
    assert found.secret == KEY
    assert other.do(api_keys.clear, world.project)


def test_viewers_do_not_see_the_key(world: World, admin: World) -> None:
    """A viewer neither sets nor clears the key, and does not see whether there is one."""
    admin.do(api_keys.put, world.project, KEY)
    viewer = world.acting(member(world.project, Role.VIEWER))
    for operation in ((api_keys.put, KEY), (api_keys.clear,), (api_keys.find,)):
        with pytest.raises(Forbidden):
            viewer.do(operation[0], world.project, *operation[1:])


def test_only_the_hub_has_the_key_itself(world: World, admin: World) -> None:
    """The hub's own machine uses the key; no token gets it, whatever its role."""
    assert world.acting(SYSTEM).do(api_keys.use, world.project) is None
    admin.do(api_keys.put, world.project, KEY)
    assert world.acting(SYSTEM).do(api_keys.use, world.project) == KEY
    for other in (admin, world.acting(member(world.project, Role.OWNER))):
        with pytest.raises(Forbidden):
            other.do(api_keys.use, world.project)


@on_one_engine
@pytest.mark.parametrize(
    "secret", ["", "short", "x" * 501, "with blank in it", "schlüssel-12", "key\n1234567"]
)
def test_what_is_no_key_is_refused_without_showing_it(admin: World, secret: str) -> None:
    """A key that cannot be sent is refused, in a sentence that does not repeat it."""
    with pytest.raises(Invalid) as refused:
        admin.do(api_keys.put, admin.project, secret)
    assert not secret or secret not in str(refused.value)
