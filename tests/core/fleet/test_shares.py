"""Links to look at one machine."""

from datetime import timedelta

import pytest

from hubbub.core.fleet import nodes, shares
from hubbub.core.fleet.shares import SharedView
from hubbub.model.errors import Invalid, NotFound
from hubbub.model.fleet.calls import NodeInfo
from hubbub.model.fleet.nodes import Machine, ShareLink
from tests.core.conftest import World

HOUR = timedelta(hours=1)


def machine(world: World, name: str = "box") -> Machine:
    about = NodeInfo(name=name, machine_id=name, platform="Linux", version="1", sandbox="none")
    return world.do(nodes.report, world.project, about)


def mint(world: World, lasts: timedelta = HOUR) -> tuple[ShareLink, str]:
    return world.do(shares.mint, world.project, machine(world), expires_in=lasts)


def look(world: World, secret: str) -> SharedView | None:
    return world.do(shares.look, secret)


def test_a_link_shows_one_machine(world: World) -> None:
    """It shows the machine, the agents that are on it now, and what they and it have in hand; nothing else."""
    _share, secret = mint(world)
    machine(world, "other")
    world.report("bob", hostname="BOX")
    world.report("ann", hostname="other")
    mine = world.start(world.send("bob", "count"))
    world.start(world.send("ann", "sort", sender="bob"), by="ann")
    own = world.do(
        nodes.begin_task, world.project, sender="ann", title="errand", description="go", node="box"
    )
    view = look(world, secret)
    assert view is not None
    assert view.machine.name == "box"
    assert [each.agent for each in view.agents] == ["bob"]
    assert {task.id for task in view.tasks} == {mine.id, own.id}


def test_a_link_ends(world: World) -> None:
    """It leads nowhere once its time is over, or it was taken back."""
    _share, secret = mint(world)
    world.clock.advance(HOUR)
    assert look(world, secret) is None
    share, secret = mint(world)
    assert [each.id for each in world.do(shares.of_project, world.project)] == [share.id]
    world.do(shares.revoke, world.project, str(share.id))
    assert look(world, secret) is None
    assert world.do(shares.of_project, world.project) == []


def test_only_the_secret_leads_there(world: World) -> None:
    """Neither what is kept of the secret nor the id of the link leads to the machine."""
    share, secret = mint(world)
    for wrong in (share.hash, str(share.id), secret[:-1], "", "\0"):
        assert look(world, wrong) is None
    assert secret not in repr(share)
    assert share.hash not in repr(share)


def test_a_link_lasts_as_long_as_it_may(world: World) -> None:
    """From a second to thirty days; a day, unless it is said how long."""
    for wrong in (timedelta(), timedelta(seconds=-1), timedelta(days=31)):
        with pytest.raises(Invalid):
            mint(world, wrong)
    share, _secret = world.do(shares.mint, world.project, machine(world))
    assert share.expires_at - share.created_at == 24 * 3600 * 1000


def test_links_are_taken_back_once_and_at_home(world: World) -> None:
    """One that was taken back, or is of another project, is not found."""
    share, secret = mint(world)
    other = world.elsewhere("other")
    for home, ref in ((other, str(share.id)), (world, "nonsense")):
        with pytest.raises(NotFound):
            home.do(shares.revoke, home.project, ref)
    assert look(world, secret) is not None
    world.do(shares.revoke, world.project, str(share.id))
    with pytest.raises(NotFound):
        world.do(shares.revoke, world.project, str(share.id))
    assert world.kinds().count("share.revoked") == 1
