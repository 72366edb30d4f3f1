"""Agents that people place on machines, in the hub's records."""

from functools import partial
from typing import Any

import pytest

from hubbub.core.agents import last_activity
from hubbub.core.fleet import enrolment, managed_agents, nodes, shares
from hubbub.core.people import access
from hubbub.model.errors import Conflict, Forbidden, Invalid, NotFound, Unauthorized
from hubbub.model.fleet.calls import NodeInfo
from hubbub.model.fleet.managed_agents import ManagedAgent, ManagedAgentStatus, ProcessStatus
from hubbub.model.fleet.nodes import Machine
from hubbub.model.people.rights import Role
from tests.core.conftest import RACERS, World, errors_of, on_one_engine, person

S = ManagedAgentStatus
FACTS: dict[str, Any] = {"platform": "Linux", "version": "1", "sandbox": "none"}


@pytest.fixture
def people(world: World) -> World:
    """The world as a person who is a member."""
    return world.acting(person(world, "eve", Role.MEMBER))


@pytest.fixture
def box(people: World) -> Machine:
    return machine(people, "box")


def machine(people: World, name: str) -> Machine:
    return people.do(nodes.report, people.project, NodeInfo(name=name, machine_id=f"id of {name}", **FACTS))


def ordered(people: World, on: Machine, agent: str = "coder") -> ManagedAgent:
    return people.do(managed_agents.order, people.project, agent=agent, machine=on, command="claude -p")


def fares(status: ManagedAgentStatus = S.RUNNING, **more: Any) -> ProcessStatus:
    told = {"agent": "coder", "command": "anything", "since": 5, "pid": 7}
    return ProcessStatus(**{**told, "status": status, **more})


def found(people: World, agent: str = "coder") -> ManagedAgent:
    return people.do(managed_agents.find, people.project, agent)


def test_an_agent_is_ordered_equipped_and_told_of(people: World, box: Machine) -> None:
    """From the order on it is known where; once its machine says so it runs, by what the machine tells of it."""
    assert ordered(people, box).status is S.STARTING
    people.do(managed_agents.issue_key, box, "coder")
    people.do(managed_agents.update_status, box, [fares(last_output="ready\n", last_output_at=9)])
    placed = found(people)
    assert (placed.node, placed.status, placed.pid, placed.command) == ("box", S.RUNNING, 7, "claude -p")
    assert people.do(last_activity.of, people.id, "coder").last_output == "ready"
    assert people.do(managed_agents.of_project, people.id) == [placed]
    assert [each for each in people.kinds() if each.startswith("placement.")] == [
        "placement.ordered",
        "placement.running",
    ]


def test_an_agent_runs_once(people: World, box: Machine) -> None:
    """One that runs, or has just been ordered, is placed nowhere else, and it is said where it is."""
    other = machine(people, "other")
    ordered(people, box)
    with pytest.raises(Conflict, match="runs on 'box' already"):
        ordered(people, other)
    people.do(managed_agents.update_status, box, [fares()])
    with pytest.raises(Conflict, match="stop it there first"):
        ordered(people, box)
    people.do(managed_agents.stopped, found(people))
    assert ordered(people, other).node == "other"


def test_many_order_at_once(people: World, box: Machine) -> None:
    """One of many that place the same agent at the same time does."""
    command, where = {"agent": "coder", "command": "claude -p"}, people.project
    outcomes = people.race(*[lambda tx: managed_agents.order(tx, where, machine=box, **command)] * RACERS)
    assert errors_of(outcomes) == [Conflict] * (RACERS - 1)


def test_who_is_there_by_hand_is_not_placed(people: World, box: Machine) -> None:
    """An agent that somebody runs elsewhere is not started a second time; it is said on which computer it is."""
    people.report("coder", hostname="laptop")
    with pytest.raises(Conflict, match="on 'laptop'"):
        ordered(people, box)


def test_an_order_of_which_nothing_is_heard_lapses(people: World, box: Machine) -> None:
    """A machine asks people for an hour at most: an order that is older holds nobody up."""
    ordered(people, box)
    people.clock.advance(managed_agents.ORDERED)
    assert ordered(people, machine(people, "other")).node == "other"


def test_what_came_to_nothing_is_forgotten(people: World, box: Machine) -> None:
    """An agent that was not started is not placed, and the key that its machine got for it is worth nothing."""
    placed = ordered(people, box)
    secret = people.do(managed_agents.issue_key, box, "coder")
    people.do(managed_agents.drop, placed)
    with pytest.raises(NotFound):
        found(people)
    with pytest.raises(Unauthorized):
        people.do(access.authenticate, secret)


def test_its_key_is_the_agents_alone(people: World, box: Machine) -> None:
    """A key acts as that agent and no other; a newer one takes its place, and it ends with the agent."""
    ordered(people, box)
    first = people.do(managed_agents.issue_key, box, "coder")
    second = people.do(managed_agents.issue_key, box, "coder")
    actor = people.do(access.authenticate, second)
    assert (actor.agent, actor.role, actor.is_person) == ("coder", "member", False)
    people.do(managed_agents.update_status, box, [fares(S.RUNNING)])
    people.do(managed_agents.update_status, box, [fares(S.FAILED)])
    for ended in (first, second):
        with pytest.raises(Unauthorized):
            people.do(access.authenticate, ended)


def test_a_machine_gets_keys_of_its_own_agents_only(people: World, box: Machine) -> None:
    """A machine cannot report on an agent that it was not ordered to run, or that was stopped there."""
    other = machine(people, "other")
    for agent in ("coder", "ann"):
        with pytest.raises(Forbidden, match="not placed on 'box'"):
            people.do(managed_agents.issue_key, box, agent)
    ordered(people, box)
    with pytest.raises(Forbidden, match="not placed on 'other'"):
        people.do(managed_agents.issue_key, other, "coder")
    people.do(managed_agents.update_status, other, [fares(S.FAILED)])
    assert found(people).status is S.STARTING
    people.do(managed_agents.stopped, found(people))
    with pytest.raises(Forbidden):
        people.do(managed_agents.issue_key, box, "coder")


def test_only_people_place_agents(world: World, box: Machine) -> None:
    """No agent, whatever its role, has another started."""
    with pytest.raises(Forbidden, match="only a person"):
        ordered(world, box)


@on_one_engine
@pytest.mark.parametrize("name", ["hub", "node:box", "a\nb", " "])
def test_what_no_agent_is_called(people: World, box: Machine, name: str) -> None:
    """The names of the hub, of machines, and those that cannot be shown are refused."""
    with pytest.raises(Invalid):
        ordered(people, box, name)


@on_one_engine
@pytest.mark.parametrize(
    "nonsense", [{"pid": 2**40}, {"restarts": -(2**40)}, {"since": -1}, {"since": 2**60}]
)
def test_what_a_machine_cannot_mean(people: World, box: Machine, nonsense: dict[str, Any]) -> None:
    """Numbers that nothing can be counted by are refused."""
    ordered(people, box)
    with pytest.raises(Invalid):
        people.do(managed_agents.update_status, box, [fares(**nonsense)])


def test_an_end_before_the_order_is_no_news(people: World, box: Machine) -> None:
    """A late report of a machine on the agent before is not taken for the new order's outcome."""
    ordered(people, box)
    people.do(managed_agents.update_status, box, [fares(S.STOPPED)])
    assert found(people).status is S.STARTING


def test_a_machine_that_is_removed_takes_its_agents_along(people: World, box: Machine) -> None:
    """Nothing is placed there any more, and the keys of its agents are worth nothing."""
    ordered(people, box)
    secret = people.do(managed_agents.issue_key, box, "coder")
    people.do(managed_agents.forget_machine, box.id)
    assert people.do(managed_agents.of_project, people.id) == []
    with pytest.raises(Unauthorized):
        people.do(access.authenticate, secret)


def test_placing_races_the_machines_removal(people: World) -> None:
    """Placing or sharing an agent on a machine that is being removed succeeds in time, or is told that it is gone."""
    for number in range(8):
        name = f"box{number}"
        box = people.do(enrolment.join, people.project, NodeInfo(name=name, machine_id=name, **FACTS)).machine
        outcomes = people.race(
            partial(
                managed_agents.order,
                project=people.project,
                agent=f"on-{name}",
                machine=box,
                command="claude",
            ),
            partial(nodes.remove, project=people.project, name=name),
            partial(shares.mint, project=people.project, machine=box),
        )
        assert set(errors_of(outcomes)) <= {NotFound}
        assert people.do(managed_agents.of_project, people.id) == []
