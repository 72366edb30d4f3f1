"""Tokens that are lent to the agents of machines: for one order, with less than whoever gave it may do."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest

from hubbub.core import access, dispatches, joins, loans, members, nodes, tokens
from hubbub.model.accounts import Token
from hubbub.model.errors import Conflict, Forbidden, Unauthorized, WrongIdentity
from hubbub.model.ids import new_id
from hubbub.model.machines import Machine
from hubbub.model.orders import About, Order, Outcome, Principal
from hubbub.model.rights import SYSTEM, Actor, Role
from hubbub.store.tx import Tx
from tests.core.conftest import World, on_one_engine, person

ABOUT = About(name="web1", machine_id="m", platform="Linux", version="1", sandbox="none")
HALF_AN_HOUR, DAY = timedelta(minutes=30), timedelta(days=1)


@pytest.fixture
def eve(world: World) -> Actor:
    return person(world, "eve", Role.ADMIN)


@pytest.fixture
def machine(world: World, eve: Actor) -> Machine:
    return world.acting(eve).do(joins.join, world.project, ABOUT).machine


@pytest.fixture
def ann(world: World, eve: Actor) -> Token:
    """The token of an agent, which gives orders."""
    made: tuple[Token, str] = world.acting(eve).do(
        tokens.for_project, world.project, role=Role.MEMBER, agent="ann"
    )
    return made[0]


def asker(token: Token, name: str = "ann", *, is_person: bool = False) -> Principal:
    return Principal(project="lab", name=name, token_id=str(token.id), is_person=is_person)


def lend(world: World, who: Principal, purpose: UUID | None = None) -> tuple[Token, str]:
    made: tuple[Token, str] = world.acting(SYSTEM).do(
        loans.lend, world.project, who, node="web1", purpose=purpose or new_id()
    )
    return made


def own_token(world: World, person: Actor) -> Token:
    """A token that is the person."""
    assert person.user_id is not None
    made: tuple[Token, str] = world.acting(SYSTEM).do(tokens.for_person, person.user_id)
    return made[0]


def is_good(world: World, secret: str) -> bool:
    try:
        world.acting(SYSTEM).do(access.authenticate, secret)
    except Unauthorized:
        return False
    return True


def test_it_does_less_than_what_it_is_lent_from(world: World, ann: Token) -> None:
    """It is its asker in one project for half an hour, reads no mail, makes no tokens, and is no other's."""
    lent, secret = lend(world, asker(ann))
    program = world.acting(world.acting(SYSTEM).do(access.authenticate, secret))

    assert (lent.role, lent.agent, lent.project_id) == (Role.ORDER, "ann", world.project.id)
    assert program.actor.is_person is False
    assert not program.do(access.may_read_inbox, "ann")
    with pytest.raises(Forbidden):
        program.do(tokens.for_project, world.project, role=Role.VIEWER, agent="ann")
    with pytest.raises(WrongIdentity):
        program.do(access.speak, world.id, "eve")
    assert HALF_AN_HOUR < timedelta(milliseconds=(lent.expires_at or 0) - lent.created_at) < 2 * HALF_AN_HOUR
    assert secret not in str([dict(row) for row in world.do(lambda tx: tx.all("SELECT * FROM tokens"))])


def test_who_works_for_a_person_is_not_that_person(world: World, eve: Actor) -> None:
    """Its name says for whom it works and where, and it has no more than any program of theirs."""
    lent, secret = lend(world, asker(own_token(world, eve), "eve", is_person=True))

    actor = world.acting(SYSTEM).do(access.authenticate, secret)
    assert (lent.agent, actor.is_person, actor.user_name) == ("eve@web1", False, None)


ENDS: dict[str, Callable[[World, Token, UUID], object]] = {
    "the order is done": lambda world, _ann, order: world.do(dispatches.end, order, Outcome(value={})),
    "the machine has lost it": lambda world, _ann, order: world.do(dispatches.lose, order),
    "the machine is removed": lambda world, _ann, _order: world.do(nodes.remove, world.project, "web1"),
    "the asker's token is revoked": lambda world, ann, _order: world.do(tokens.revoke, ann.id),
    "another is lent for the order": lambda world, ann, order: lend(world, asker(ann), order),
    "its time is over": lambda world, _ann, _order: world.pass_time(timedelta(minutes=32)),
}


@pytest.mark.parametrize("why", ENDS)
def test_it_ends(world: World, eve: Actor, machine: Machine, ann: Token, why: str) -> None:
    """It ends with its order, with the token that it is lent from, and by itself, and is in no list any more."""
    people = world.acting(eve)
    order = Order(who=asker(ann), tool="ask_agent")
    dispatch, _new = people.do(dispatches.begin, world.project, machine, order, sent=True)
    lent, secret = lend(world, asker(ann), dispatch.id)
    nested, inner = lend(world, asker(lent))
    assert [is_good(world, each) for each in (secret, inner)] == [True, True]
    assert {lent.id, nested.id} <= {each.id for each in people.do(tokens.visible, [world.project])}

    ENDS[why](people, ann, dispatch.id)

    assert [is_good(world, each) for each in (secret, inner)] == [False, False]
    assert not {lent.id, nested.id} & {each.id for each in people.do(tokens.visible, [world.project])}


def test_it_does_not_outlive_the_token_that_it_is_lent_from(world: World, eve: Actor) -> None:
    """Where the asker's ends sooner, it ends then."""
    short, _secret = world.acting(eve).do(
        tokens.for_project, world.project, role=Role.MEMBER, agent="ann", ttl=timedelta(minutes=5)
    )

    assert lend(world, asker(short))[0].expires_at == short.expires_at


def test_it_ends_when_its_asker_may_do_less(world: World, eve: Actor) -> None:
    """What was lent for a person's orders ends when they leave the project, or have another role in it."""
    people = world.acting(eve)
    lessened: dict[str, Callable[[Tx], object]] = {
        "mia": lambda tx: members.put(tx, world.project, "mia", Role.VIEWER),
        "max": lambda tx: members.remove(tx, world.project, "max"),
    }
    for name, lessen in lessened.items():
        member = person(world, name, Role.MEMBER)
        lent, secret = lend(world, asker(own_token(world, member), name, is_person=True))
        assert is_good(world, secret)
        people.do(lessen)
        assert not is_good(world, secret), lent.agent


@on_one_engine
def test_who_may_not_write_is_lent_nothing(world: World, eve: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is lent from a token that has ended, or may only look, and no more than some at a time from any."""
    people = world.acting(eve)
    looks, _secret = people.do(tokens.for_project, world.project, role=Role.VIEWER, agent="ann")
    writes, _secret = people.do(tokens.for_project, world.project, role=Role.MEMBER, agent="ann")
    ended, _secret = people.do(tokens.for_project, world.project, role=Role.MEMBER, agent="ann")
    people.do(tokens.revoke, ended.id)
    monkeypatch.setattr(loans, "MOST", 1)
    lend(world, asker(writes))

    for token, why in ((looks, Forbidden), (ended, Unauthorized), (writes, Conflict)):
        with pytest.raises(why):
            lend(world, asker(token))


@on_one_engine
def test_what_is_over_is_forgotten(world: World, ann: Token) -> None:
    """A day after its time nothing of it is kept; what people made stays."""
    lent, _secret = lend(world, asker(ann))
    world.pass_time(DAY + 2 * HALF_AN_HOUR)
    world.do(loans.forget)

    kept = {row["id"] for row in world.do(lambda tx: tx.all("SELECT id FROM tokens"))}
    assert ann.id in kept
    assert lent.id not in kept
