"""Enrolment of machines in a project: codes, keys, and the ownership of names."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from hubbub.core import expiry
from hubbub.core.fleet import enrolment, nodes
from hubbub.core.fleet.enrolment import Joined
from hubbub.core.people import access, tokens, users
from hubbub.model.errors import Conflict, Forbidden, HubError, Invalid, ProjectDenied, Unauthorized
from hubbub.model.fleet.calls import NodeInfo
from hubbub.model.people.rights import SYSTEM, Actor, Role
from hubbub.store.tx import Tx
from tests.core.conftest import World, errors_of, member, on_one_engine, person

FACTS: dict[str, Any] = {"machine_id": "m-1", "platform": "Linux 6.1", "version": "1.0", "sandbox": "bwrap"}
HOUR = timedelta(hours=1)
RACERS = 50


@pytest.fixture
def people(world: World) -> World:
    """The world as a person who is a member."""
    return world.acting(person(world, "eve", Role.MEMBER))


def invite(people: World, **more: Any) -> str:
    return people.do(enrolment.invite, people.project, **more)[1]


def about(name: str, **facts: Any) -> NodeInfo:
    return NodeInfo(name=name, **{**FACTS, **facts})


def redeem(world: World, secret: str, name: str = "web1", *, is_chosen: bool = True, **facts: Any) -> Joined:
    return world.acting(SYSTEM).do(enrolment.redeem, secret, about(name, **facts), is_chosen=is_chosen)


def join(people: World, name: str = "web1", **facts: Any) -> Joined:
    return people.do(enrolment.join, people.project, about(name, **facts))


def link(world: World, joined: Joined, hub: str = "h1") -> None:
    world.do(nodes.link, joined.machine, hub=hub, about=about(joined.machine.name))


def is_good(world: World, secret: str) -> bool:
    try:
        world.do(access.authenticate, secret)
    except Unauthorized:
        return False
    return True


def told(world: World, prefix: str = "node.") -> list[tuple[str, str]]:
    return [(each.kind, each.actor) for each in world.log() if each.kind.startswith(prefix)]


def test_a_code_lets_one_machine_in(people: World) -> None:
    """A code lets a machine join its project and gives it a key of its own."""
    joined = redeem(people, invite(people))
    assert (joined.project.id, joined.machine.name) == (people.id, "web1")
    key = people.do(access.authenticate, joined.token)
    assert (key.role, key.agent, key.is_person) == (Role.NODE, "node:web1", False)
    project, machine = people.acting(key).do(nodes.find_by_key)
    assert (project.id, machine.id, machine.sandbox) == (people.id, joined.machine.id, "bwrap")
    assert told(people) == [("node.invited", "eve"), ("node.joined", "eve")]


def test_who_has_joined_is_not_there_yet(people: World) -> None:
    """A machine that has joined is online once it is linked, and not before."""
    joined = join(people)
    assert not joined.machine.is_online(people.clock())
    link(people, joined)
    machine = people.do(nodes.find, people.project, "WEB1")
    assert machine.is_online(people.clock())
    assert nodes.is_linked(machine, people.clock())


def test_a_code_is_good_once(people: World) -> None:
    """A code that was used lets nobody in, not even the same machine."""
    code = invite(people)
    redeem(people, code)
    with pytest.raises(Unauthorized):
        redeem(people, code)
    with pytest.raises(Unauthorized):
        redeem(people, code, "web2", machine_id="m-2")


def crowd(world: World, operations: Sequence[Callable[[Tx], object]]) -> list[object]:
    """Return the outcome of each operation, as in a race, of more than the store has connections for."""
    barrier = threading.Barrier(len(operations))

    def run(number: int, operation: Callable[[Tx], object]) -> object:
        barrier.wait()
        try:
            return world.at_hub(number).do(operation)
        except HubError as error:
            return error

    with ThreadPoolExecutor(len(operations)) as threads:
        return list(threads.map(run, range(len(operations)), operations))


@pytest.mark.parametrize("same_name", [True, False])
def test_of_many_with_one_code_one_gets_in(people: World, same_name: bool) -> None:
    """However many machines use one code at once, exactly one joins; the others hear what all hear of a bad code."""
    code = invite(people)

    def racer(number: int) -> Any:
        name = "web" if same_name else f"web{number}"
        return partial(enrolment.redeem, secret=code, about=about(name, machine_id=f"m-{number}"))

    outcomes = crowd(people.acting(SYSTEM), [racer(number) for number in range(RACERS)])
    assert sum(isinstance(each, Joined) for each in outcomes) == 1
    assert set(errors_of(outcomes)) == {Unauthorized}
    assert len(people.do(nodes.listed, people.project)) == 1


def test_of_many_by_one_name_one_gets_in(people: World) -> None:
    """One of several machines that join by one name at once gets the name, and its key is good."""
    codes = [invite(people) for _ in range(8)]
    outcomes = people.acting(SYSTEM).race(
        *[
            partial(enrolment.redeem, secret=code, about=about("web1", machine_id=f"m-{number}"))
            for number, code in enumerate(codes)
        ]
    )
    (joined,) = [each for each in outcomes if isinstance(each, Joined)]
    assert set(errors_of(outcomes)) == {Conflict}
    assert people.do(nodes.find, people.project, "web1").machine_id == joined.machine.machine_id
    assert is_good(people, joined.token)


def test_a_refusal_does_not_use_a_code_up(people: World) -> None:
    """A machine that asked for a taken name may ask again for another with the same code."""
    join(people, "web1")
    code = invite(people)
    with pytest.raises(Conflict):
        redeem(people, code, "WEB1", machine_id="m-2")
    with pytest.raises(Invalid):
        redeem(people, code, "no name")
    assert redeem(people, code, "web2", machine_id="m-2").machine.name == "web2"


def test_bad_codes_are_all_alike(people: World) -> None:
    """One that is too old, was never made, or is something else, is refused in the same words."""
    old = invite(people, expires_in=timedelta(minutes=1))
    people.clock.advance(timedelta(minutes=1))
    sentences = set()
    for bad in (
        old,
        "join_" + "0" * 32,
        "",
        "join_",
        people.do(enrolment.invite, people.project)[0].created_by,
    ):
        with pytest.raises(Unauthorized) as refusal:
            redeem(people, bad)
        sentences.add(str(refusal.value))
    assert len(sentences) == 1
    assert people.do(nodes.listed, people.project) == []


def test_a_code_lasts_as_long_as_it_may(people: World) -> None:
    """From a minute to seven days; an hour, unless it is said how long."""
    for wrong in (timedelta(seconds=59), timedelta(days=7, seconds=1), timedelta()):
        with pytest.raises(Invalid):
            invite(people, expires_in=wrong)
    code, _secret = people.do(enrolment.invite, people.project)
    assert code.expires_at - code.created_at == 3_600_000
    assert is_good(people, redeem(people, invite(people, expires_in=timedelta(days=7))).token)


def test_a_code_may_be_for_one_name(people: World) -> None:
    """A code that names a machine lets in none that is called otherwise, and is not used up by the attempt."""
    code = invite(people, node="web1")
    with pytest.raises(Forbidden, match="web1"):
        redeem(people, code, "web2")
    assert redeem(people, code, "Web1").machine.name == "Web1"


def test_a_name_that_nobody_chose_gives_way(people: World) -> None:
    """A machine that was given no name gets the one that the code is for; a code for no name leaves it its own."""
    assert redeem(people, invite(people, node="web1"), "host7", is_chosen=False).machine.name == "web1"
    assert redeem(people, invite(people), "host7", is_chosen=False).machine.name == "host7"


def test_people_invite(world: World) -> None:
    """People who may write in the project may invite; agents' tokens, viewers and strangers may not."""
    for role in (Role.MEMBER, Role.ADMIN, Role.OWNER):
        assert invite(world.acting(person(world, f"p-{role}", role))).startswith("join_")
    agents = (member(world.project, Role.OWNER), member(world.project, agent="ann"))
    for actor, refusal in (
        *((agent, Forbidden) for agent in agents),
        (person(world, "adam", Role.VIEWER), Forbidden),
        (person(world, "stranger"), ProjectDenied),
        (SYSTEM, Forbidden),
    ):
        for operation in (enrolment.invite, partial(enrolment.join, about=about("web1"))):
            with pytest.raises(refusal):
                world.acting(actor).do(operation, world.project)
    assert "node.joined" not in world.kinds()


@on_one_engine
@pytest.mark.parametrize(
    "name",
    [
        "",
        " web1",
        "web 1",
        "web/1",
        "web*",
        ".",
        "-web",
        "we\nb",
        "node:web1",
        "ann@web1",
        "x" * 201,
        "LocalHost",
        "w\u202e",
    ],
)
def test_what_is_no_name_is_refused(people: World, name: str) -> None:
    """A machine's name is one word that can stand in an address, a rule and a list, and means no other."""
    with pytest.raises(Invalid):
        join(people, name)
    assert people.do(nodes.listed, people.project) == []


@pytest.mark.parametrize("name", ["web1", "Büro", "ip-10-0-0-1.eu.example", "机器", "_x", "x" * 200])
def test_names_may_be_of_any_script(people: World, name: str) -> None:
    """Letters of any script, digits, underscores, hyphens and full stops."""
    assert join(people, name).machine.name == name


def test_a_name_is_whose_who_joined_by_it(people: World) -> None:
    """Another machine does not get the name, however long the first is away; in another project it does."""
    first = join(people)
    people.clock.advance(timedelta(days=90))
    with pytest.raises(Conflict, match="another machine"):
        join(people, "WEB1", machine_id="m-2")
    assert is_good(people, first.token)
    other = people.acting(SYSTEM).elsewhere("other")
    theirs = other.acting(person(other, "otto", Role.OWNER))
    assert join(theirs, "web1", machine_id="m-2").machine.id != first.machine.id


def test_a_machine_may_join_again(people: World) -> None:
    """The machine that has the name joins again while it is not linked: it stays the same one, and its old key ends."""
    first = join(people)
    link(people, first)
    with pytest.raises(Conflict, match="linked"):
        join(people)
    assert is_good(people, first.token)
    people.do(nodes.unlink, first.machine.id, "h1")
    second = join(people, "WEB1", version="1.1")
    assert (second.machine.id, second.machine.name, second.machine.version) == (
        first.machine.id,
        "WEB1",
        "1.1",
    )
    assert (is_good(people, first.token), is_good(people, second.token)) == (False, True)
    with pytest.raises(Unauthorized):
        link(people, first)


def test_the_hubs_own_name_is_not_to_be_had(people: World) -> None:
    """While a hub runs on a machine none joins by its name, in whatever project the hub's own one is known."""
    people.do(nodes.report, people.project, about("Box"))
    other = people.acting(SYSTEM).elsewhere("other")
    theirs = other.acting(person(other, "otto", Role.OWNER))
    for home in (people, theirs):
        with pytest.raises(Conflict, match="hub runs on"):
            join(home, "bOX")
    people.do(nodes.leave, people.project, "Box")
    assert join(people, "box").machine.name == "box"  # no hub runs on that machine any more


def test_a_hub_does_not_take_the_name_of_a_machine(people: World) -> None:
    """A machine on which a hub is started does not get the name of one that has joined, or that is linked."""
    joined = join(people)
    with pytest.raises(Conflict):
        people.do(nodes.report, people.project, about("web1", machine_id="m-2"))
    link(people, joined)
    with pytest.raises(Conflict):
        people.do(nodes.report, people.project, about("web1"))
    people.do(nodes.unlink, joined.machine.id, "h1")
    assert people.do(nodes.report, people.project, about("web1")).token_id is None
    assert not is_good(people, joined.token)


def test_a_key_is_a_machines_alone(people: World) -> None:
    """Nobody gives the role of a machine to anybody: neither by a token, nor to a person, nor by an invitation."""
    owner = people.acting(Actor(token_id=None, owns_hub=True))
    boss = people.acting(person(people, "boss", Role.OWNER))
    with pytest.raises(Invalid):
        boss.do(tokens.for_project, people.project, role=Role.NODE)
    with pytest.raises(Invalid):
        boss.do(users.invite, people.project, Role.NODE)
    with pytest.raises(Invalid):
        owner.do(users.create, "nobody", project=people.project, role=Role.NODE)


def test_neither_code_nor_key_is_kept(people: World) -> None:
    """The views of a code and of a machine that has joined tell no secret."""
    code, secret = people.do(enrolment.invite, people.project)
    joined = redeem(people, secret)
    assert secret not in repr(code)
    assert joined.token not in repr(joined)
    assert all(
        secret not in str(each.detail) and joined.token not in str(each.detail) for each in people.log()
    )


def test_old_codes_are_forgotten(people: World) -> None:
    """A day after its time was over nothing is known of a code; one that is good stays."""
    invite(people)
    good = invite(people, expires_in=timedelta(days=3))
    people.clock.advance(HOUR + enrolment.KEEP + HOUR)
    people.do(expiry.forget)
    assert people.do(lambda tx: tx.one("SELECT count(*) AS number FROM join_codes")) == {"number": 1}
    assert is_good(people, redeem(people, good).token)
