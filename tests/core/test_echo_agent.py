"""The echo: it comes, answers what it is sent, and goes without a trace."""

import pytest

from hubbub.core import echo_agent
from hubbub.core.agents import agents
from hubbub.core.mail import delivery_forecast, messages
from hubbub.model.errors import Conflict, Forbidden
from hubbub.model.lifecycle import Status
from hubbub.model.people.rights import HUB, Role
from hubbub.model.records import Condition
from tests.core.conftest import World, member, person


@pytest.fixture
def boss(world: World) -> World:
    """A person who manages the project, to which the echo has come."""
    boss = world.acting(person(world, "boss", Role.ADMIN))
    boss.do(echo_agent.begin, world.project)
    return boss


def test_it_sends_back_what_it_is_sent(world: World, boss: World) -> None:
    """A message comes back to its sender with the same words, and a task is completed with its own text."""
    sent = world.do(messages.send, world.id, sender="ann", to="echo", body="Hello, is anybody there?")
    task = world.send("echo", sender=HUB)

    assert world.do(echo_agent.attend, world.id)

    (answer,) = world.inbox("ann")
    assert (answer.sender, answer.body, answer.in_reply_to) == ("echo", sent.body, sent.id)
    assert (world.task(task).status, world.task(task).result) == (Status.COMPLETED, world.task(task).text)
    assert world.inbox("echo") == []


def test_its_senders_are_told_that_it_answers(world: World, boss: World) -> None:
    """A sender to the echo reads that the hub itself runs it, and that it will see the message."""
    told = world.do(delivery_forecast.forecast, world.id, "echo")
    assert (told.likely_seen, told.note) == (True, "The hub itself runs it: it answers at once.")


def test_two_who_answer_everything_come_to_an_end(world: World, boss: World) -> None:
    """The echo reads answers to itself, and sends them nothing back."""
    world.do(messages.send, world.id, sender="ann", to="echo", body="ping")
    world.do(echo_agent.attend, world.id)
    (answer,) = world.inbox("ann")
    again = answer.delivery.message_id
    world.do(messages.send, world.id, sender="ann", to="echo", body="pong", in_reply_to=again)
    world.do(echo_agent.attend, world.id)

    assert len(world.inbox("ann")) == 1
    assert world.inbox("echo") == []


def test_it_goes_and_leaves_nobody_behind(world: World, boss: World) -> None:
    """Removed, it is no agent of the project any more, nobody answers in its place, and it may come again."""
    boss.do(echo_agent.end, world.project)

    assert not world.do(agents.is_known, world.id, "echo")
    assert not world.do(echo_agent.attend, world.id)
    assert world.do(echo_agent.projects) == []
    boss.do(echo_agent.begin, world.project)
    assert world.do(echo_agent.projects) == [world.id]


def test_who_is_called_so_already_stays_who_they_are(world: World) -> None:
    """Where an agent of the project is called echo, none comes, and none is removed in its place."""
    boss = world.acting(person(world, "boss", Role.ADMIN))
    world.report("echo", Condition.IDLE)

    for verb in (echo_agent.begin, echo_agent.end):
        with pytest.raises(Conflict, match="'echo'"):
            boss.do(verb, world.project)
    assert not world.do(echo_agent.attend, world.id)


def test_only_who_manages_a_project_has_it_come(world: World) -> None:
    """A member is refused, and no agent is there."""
    with pytest.raises(Forbidden):
        world.acting(member(world.project)).do(echo_agent.begin, world.project)
    assert not world.do(agents.is_known, world.id, "echo")
