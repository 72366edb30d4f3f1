"""The first steps in a project: a step is done when it was done, and the echo does none of them."""

from dataclasses import asdict

from hubbub.core import echo_agent, first_steps
from hubbub.core.mail import delivery_forecast, messages
from hubbub.core.people import tokens
from hubbub.model.people.rights import HUB, Role
from tests.core.conftest import World, person


def test_each_step_is_done_when_it_was_done(world: World) -> None:
    """An agent comes, is written to, takes a task, and talks with another: each is told from then on."""
    assert _done(world) == set()  # names alone, which nobody is yet
    world.report("bob")
    assert _done(world) == {"installed", "started"}
    world.do(messages.send, world.id, sender="bob", to=HUB, body="I am here.")
    assert _done(world) == {"installed", "started"}
    world.do(messages.send, world.id, sender=HUB, to="bob", body="What are you working on?")
    assert _done(world) == {"installed", "started", "has_message"}
    world.accept(world.send())
    assert _done(world) == {"installed", "started", "has_message", "has_claim"}
    world.do(messages.send, world.id, sender="bob", to="bob", body="A note to myself.")
    assert _done(world) == {"installed", "started", "has_message", "has_claim"}
    world.do(messages.send, world.id, sender="bob", to="ann", body="And you?")
    assert _done(world) == {"installed", "started", "has_message", "has_claim", "has_talk"}


def test_the_echo_takes_the_steps_that_it_can(world: World) -> None:
    """What the echo does is a message and work on a task, and neither an agent that has started nor a talk."""
    boss = world.acting(person(world, "boss", Role.ADMIN))
    boss.do(echo_agent.begin, world.project)
    world.do(messages.send, world.id, sender="ann", to="echo", body="Hello?")
    world.send("echo")
    world.do(echo_agent.attend, world.id)

    assert _done(world) == {"has_message", "has_claim", "has_echo"}


def test_a_token_is_no_client_and_an_installation_is(world: World) -> None:
    """Whoever makes a token for an agent has installed nothing; `hubbub install` names the program that gets it."""
    boss = world.acting(person(world, "boss", Role.ADMIN))
    boss.do(tokens.for_project, world.project, role=Role.MEMBER, agent="ann")
    assert _done(world) == set()
    boss.do(tokens.for_project, world.project, role=Role.MEMBER, agent="bob", program="claude-code")
    assert world.do(first_steps.of_project, world.id).installed == ("bob",)


def test_a_program_that_works_is_no_client(world: World) -> None:
    """What `hubbub work` runs has started, and no client was set up for it."""
    for name in ("ann", "bob"):
        world.report(name, runtime=delivery_forecast.WORKER)
    steps = world.do(first_steps.of_project, world.id)
    assert not {"ann", "bob"} & {*steps.installed}
    assert {"ann", "bob"} <= {*steps.started}


def _done(world: World) -> set[str]:
    """The steps that are done."""
    steps = asdict(world.do(first_steps.of_project, world.id))
    return {name for name, told in steps.items() if told}
