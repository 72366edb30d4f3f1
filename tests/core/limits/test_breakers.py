"""Breakers, on either engine: agents that go round in circles are noticed in the log, and stopped until people say."""

import pytest

from hubbub.core import why
from hubbub.core.actions import next_tool, task_actions
from hubbub.core.limits import breakers
from hubbub.core.limits.loops import LoopDetector
from hubbub.core.mail import messages
from hubbub.core.work import tasks
from hubbub.model.errors import AgentStopped, Invalid
from hubbub.model.lifecycle import Status
from hubbub.model.limits.breakers import BreakerRules, Loop, LoopKind, Stop
from hubbub.model.log.attention import NeedKind, new_needs
from hubbub.store.tx import Tx
from tests.core.conftest import World

FEW = BreakerRules(answering=6, repeating=5, nesting=3, multiplying=4, retrying=3)


def noticed(world: World, rules: BreakerRules = FEW) -> list[Loop]:
    """The loops in all that has happened."""
    return list(LoopDetector({world.id: rules}).take(world.log()))


def tripped(world: World, rules: BreakerRules = FEW) -> list[Stop]:
    world.do(breakers.put_rules, world.project, rules)
    return [stop for each in noticed(world, rules) if (stop := world.do(breakers.trip, each)) is not None]


def talk(world: World, turns: int, *names: str) -> None:
    """Two agents answer each other in turn."""
    for turn in range(turns):
        sender, to = names[turn % 2], names[(turn + 1) % 2]
        world.do(messages.send, world.id, sender=sender, to=to, body=f"you are right ({turn})", awaited=True)


def test_two_who_only_answer_each_other_are_stopped(world: World) -> None:
    """Agents that answer each other too often while nothing changes are stopped, and people see why."""
    talk(world, 5, "ann", "bob")
    assert noticed(world) == []
    talk(world, 2, "bob", "ann")

    [stop] = tripped(world)

    assert (stop.kind, stop.agents, stop.count, len(stop.refs)) == (LoopKind.ANSWERING, ("ann", "bob"), 6, 6)
    for name in ("ann", "bob"):
        denied = world.do(next_tool.denial, world.project, name)
        assert denied is not None
        assert denied.startswith(
            "hubbub: ann and bob answered each other 6 times in a row while none of their tasks changed"
        )
        with pytest.raises(AgentStopped):
            world.start(world.send(name), name)
    assert world.do(next_tool.denial, world.project, "eve") is None
    [line] = [each for each in world.log() if each.kind == "breaker.tripped"]
    assert [each.need.kind for each in new_needs(line)] == [NeedKind.STOPPED]
    assert "breaker.stopped" in [each.kind for each in world.do(why.explain, world.project, "ann").facts]
    assert tripped(world) == []


def test_who_gets_on_may_talk(world: World) -> None:
    """A task of either that changes, a third who speaks, or one who writes twice, is no circle."""
    task = world.send("ann")
    talk(world, 5, "ann", "bob")
    world.start(task, "ann")
    talk(world, 5, "ann", "bob")
    for _ in range(9):
        world.do(messages.send, world.id, sender="ann", to="eve", body="more", awaited=True)

    assert noticed(world) == []


def test_who_is_let_go_on_goes_on(world: World) -> None:
    """A person lets stopped agents go on, and counting begins anew; a rule that is off stops nobody."""
    talk(world, 7, "ann", "bob")
    [stop] = tripped(world)

    world.do(breakers.lift, world.project, str(stop.id))

    assert world.do(next_tool.denial, world.project, "ann") is None
    assert world.start(world.send("ann"), "ann").status is Status.WORKING
    off = BreakerRules(**dict.fromkeys(("answering", "repeating", "nesting", "multiplying", "retrying"), 0))
    loops = noticed(world)
    assert loops
    assert tripped(world, off) == []
    assert [world.do(breakers.trip, each) for each in loops] == [None]
    with pytest.raises(Invalid):
        world.do(breakers.put_rules, world.project, BreakerRules(answering=1))


def test_the_documented_tool_sets_know_no_breakers(world: World) -> None:
    """By a documented tool set a stopped agent begins its tasks, unless the project has set rules of its own."""

    def start(tx: Tx) -> None:
        tx.door = "commhub"
        task_actions.start(tx, tasks.find(tx, [world.id], str(task.id)), "ann")

    talk(world, BreakerRules().answering + 1, "ann", "bob")
    assert [world.do(breakers.trip, each) for each in noticed(world, BreakerRules())] != [None]
    task = world.send("ann")
    with pytest.raises(AgentStopped):
        world.start(task, "ann")
    world.do(start)
    task = world.send("ann")
    world.do(breakers.put_rules, world.project, FEW)
    with pytest.raises(AgentStopped):
        world.do(start)


def test_tasks_that_make_tasks_without_end_are_stopped(world: World) -> None:
    """Tasks made from tasks stop their maker when they nest too deep or become too many."""
    task = world.send("ann")
    for step in range(4):
        name, to = ("ann", "bob")[step % 2], ("ann", "bob")[(step + 1) % 2]
        world.start(task, name)
        task = world.do(tasks.send, world.id, sender=name, to=to, text="and you?", awaited=True)

    assert [(each.kind, each.agents, each.count) for each in noticed(world)] == [
        (LoopKind.NESTING, ("ann",), 3),
        (LoopKind.MULTIPLYING, ("bob",), 4),
    ]


def test_a_task_that_is_tried_again_and_again_is_stopped(world: World) -> None:
    """A task that is retried too often without being completed stops whoever has it."""
    task = world.send("ann")
    for _ in range(3):
        task = world.do(task_actions.cancel, task, by="bob", reason=None)
        task = world.do(task_actions.retry, task, by="bob", ttl=None)

    [loop] = noticed(world)
    assert (loop.kind, loop.agents, loop.task_id) == (LoopKind.RETRYING, ("ann",), task.id)


def test_the_same_call_again_and_again_is_stopped(world: World) -> None:
    """The hub stops an agent once that makes the same call too often in a row."""
    world.do(breakers.put_rules, world.project, FEW)
    assert world.do(breakers.repeated, world.project, "ann", 4) is None
    assert world.do(breakers.repeated, world.project, "ann", 5) is not None
    assert world.do(breakers.repeated, world.project, "ann", 6) is None
    assert world.do(next_tool.denial, world.project, "ann")
