"""Tokens lent to the agents of machines: for one order, with fewer rights than the giver."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from uuid import UUID

import pytest

from hubbub.core import agent_removal
from hubbub.core.actions import task_actions
from hubbub.core.fleet import dispatches, enrolment, nodes
from hubbub.core.fleet.requesters import LinkedMachine, OwnMachine, Program, Requester
from hubbub.core.people import access, lent_tokens, members, tokens, users
from hubbub.model.errors import Conflict, Forbidden, Unauthorized, WrongIdentity
from hubbub.model.fleet.calls import NodeCall, NodeInfo, Principal, ToolResult
from hubbub.model.fleet.nodes import Machine
from hubbub.model.ids import new_id
from hubbub.model.people.accounts import Token
from hubbub.model.people.rights import SYSTEM, Actor, Role
from hubbub.model.records import Condition, Task
from hubbub.model.work.permissions import VerbManner
from hubbub.store.tx import Tx
from tests.core.conftest import World, on_one_engine, person

ABOUT = NodeInfo(name="web1", machine_id="m", platform="Linux", version="1", sandbox="none")
HALF_AN_HOUR, DAY = timedelta(minutes=30), timedelta(days=1)


@pytest.fixture
def served(world: World) -> World:
    """The world whose project the hub's own machine serves, as the hub's owner has joined it."""
    secret = world.acting(SYSTEM).do(users.first_start)
    assert secret is not None
    world.acting(world.do(access.authenticate, secret)).do(members.join, world.project.slug)
    return world


@pytest.fixture
def eve(world: World) -> Actor:
    return person(world, "eve", Role.ADMIN)


@pytest.fixture
def machine(world: World, eve: Actor) -> Machine:
    return world.acting(eve).do(enrolment.join, world.project, ABOUT).machine


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
        lent_tokens.lend, world.project, who, node="web1", purpose=purpose or new_id()
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
    "the order is done": lambda world, _ann, order: world.do(dispatches.end, order, ToolResult(value={})),
    "the machine has lost it": lambda world, _ann, order: world.do(dispatches.lose, order),
    "the machine is removed": lambda world, _ann, _order: world.do(nodes.remove, world.project, "web1"),
    "its asker is removed": lambda world, _ann, _order: world.do(agent_removal.remove, world.project, "ann"),
    "the asker's token is revoked": lambda world, ann, _order: world.do(tokens.revoke, ann.id),
    "another is lent for the order": lambda world, ann, order: lend(world, asker(ann), order),
    "its time is over": lambda world, _ann, _order: world.pass_time(timedelta(minutes=32)),
}


@pytest.mark.parametrize("why", ENDS)
def test_it_ends(world: World, eve: Actor, machine: Machine, ann: Token, why: str) -> None:
    """It ends with its order, with the token that it is lent from, and by itself, and is in no list any more."""
    people = world.acting(eve)
    order = NodeCall(who=asker(ann), tool="ask_agent")
    dispatch, _new = people.do(dispatches.begin, world.project, machine, order, sent=True)
    lent, secret = lend(world, asker(ann), dispatch.id)
    nested, inner = lend(world, asker(lent))
    assert [is_good(world, each) for each in (secret, inner)] == [True, True]
    assert {lent.id, nested.id} <= {each.id for each in people.do(tokens.visible, [world.project])}

    ENDS[why](people, ann, dispatch.id)

    assert [is_good(world, each) for each in (secret, inner)] == [False, False]
    assert not {lent.id, nested.id} & {each.id for each in people.do(tokens.visible, [world.project])}


LETS_GO: dict[str, Callable[[World, Task], object]] = {
    "cancelled": lambda world, task: world.do(task_actions.cancel, task, by="ann", reason="not needed"),
    "failed": lambda world, task: world.do(nodes.end_task, str(task.id), text="no", failed=True),
    "done": lambda world, task: world.do(nodes.end_task, str(task.id), text="yes", failed=False),
    "reassigned": lambda world, task: world.do(task_actions.reassign, task, to="bob", by="ann"),
    "passed on": lambda world, task: world.do(
        task_actions.reassign, task, to="bob", by="ann", manner=VerbManner.BOARD
    ),
    "released": lambda world, task: world.do(
        task_actions.release, task, by=str(task.assignee), reason="not there"
    ),
    "reopened and given away": lambda world, task: world.do(
        task_actions.reassign, world.do(task_actions.reopen, task, by="ann"), to="bob", by="ann"
    ),
}


@pytest.mark.parametrize("how", LETS_GO)
def test_what_is_lent_for_a_task_ends_when_the_machine_has_it_no_more(
    served: World, eve: Actor, machine: Machine, ann: Token, how: str
) -> None:
    """Whatever ends a task, or takes it from its machine, ends what was lent for it; nothing is lent for it then."""
    world = served
    world.report("bob", Condition.IDLE)
    people = world.acting(eve)
    begin = partial(nodes.begin_task, project=world.project, sender="ann", title="t", description="d")
    dispatch, _new = people.do(
        dispatches.begin, world.project, machine, NodeCall(who=asker(ann), tool="delegate_task"), sent=True
    )
    acting = people.do(access.stand_in, ann.id)
    askers: dict[str, Requester] = {
        "node:here": OwnMachine(project=world.project.slug, node="here", instance="h-1"),
        "node:web1": LinkedMachine(project=world.project, machine=machine, order=dispatch),
        "node:ann@desk": Program(caller=acting, project=None, node="desk"),
    }
    for holder, lender in askers.items():
        task = world.acting(SYSTEM).do(begin, node=holder.removeprefix("node:"))
        assert task.assignee == holder
        once_more = partial(lender.lend, claimed=asker(ann), task_id=str(task.id), chain=())
        doing = world.acting(lender.actor)
        secret = doing.do(once_more)
        assert is_good(world, secret), holder

        LETS_GO[how](people, task)

        assert not is_good(world, secret), holder
        with pytest.raises(Forbidden, match="not at work on such a task"):
            doing.do(once_more)


def test_it_has_the_chain_in_it(world: World, ann: Token) -> None:
    """Each token lent from another names the whole chain of askers, whatever its program says."""
    lent, _secret = lend(world, asker(ann))
    assert lent.chain == ("ann", "web1")
    said = {
        ("ann", "web1", "db1"): ("ann", "web1", "db1"),
        ("ann", "web1"): ("ann", "web1", "web1"),
        ("somebody",): ("ann", "web1", "web1"),
        (): ("ann", "web1", "web1"),
    }
    for chain, kept in said.items():
        inner = world.acting(SYSTEM).do(
            lent_tokens.lend, world.project, asker(lent), node="web1", purpose=new_id(), chain=chain
        )
        assert inner[0].chain == kept
        actor = world.acting(SYSTEM).do(access.authenticate, inner[1])
        assert actor.chain == kept
    deepest, _secret = lend(world, asker(inner[0]))
    assert deepest.chain == ("ann", "web1", "web1", "web1")
    with pytest.raises(Conflict, match="agents ask agents at most 3 deep: ann → web1 → "):
        lend(world, asker(deepest))
    told = [
        each.detail["chain"]
        for each in world.log()
        if each.kind == "token.created" and "chain" in each.detail
    ]
    assert told[0] == ["ann", "web1"]


def test_it_does_not_outlive_the_token_that_it_is_lent_from(world: World, eve: Actor) -> None:
    """Where the asker's ends sooner, it ends then."""
    short, _secret = world.acting(eve).do(
        tokens.for_project, world.project, role=Role.MEMBER, agent="ann", ttl=timedelta(minutes=5)
    )

    assert lend(world, asker(short))[0].expires_at == short.expires_at


def test_it_ends_when_its_asker_may_do_less(world: World, eve: Actor) -> None:
    """A token lent for a person's orders ends when the person leaves the project or changes role."""
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
    monkeypatch.setattr(lent_tokens, "MOST", 1)
    lend(world, asker(writes))

    for token, why in ((looks, Forbidden), (ended, Unauthorized), (writes, Conflict)):
        with pytest.raises(why):
            lend(world, asker(token))


@on_one_engine
def test_what_is_over_is_forgotten(world: World, ann: Token) -> None:
    """A day after its time nothing of it is kept; what people made stays."""
    lent, _secret = lend(world, asker(ann))
    world.pass_time(DAY + 2 * HALF_AN_HOUR)
    world.do(lent_tokens.forget)

    kept = {row["id"] for row in world.do(lambda tx: tx.all("SELECT id FROM tokens"))}
    assert ann.id in kept
    assert lent.id not in kept
