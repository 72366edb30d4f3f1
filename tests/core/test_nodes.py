"""Machines: how they are known, and what they put on the board."""

from datetime import timedelta
from typing import Any

import pytest

from hubbub.core import endings, nodes, tasks
from hubbub.model.errors import Conflict, Invalid, NotFound, NotHolder
from hubbub.model.lifecycle import Status
from hubbub.model.machines import Machine
from hubbub.model.records import Task
from tests.core.conftest import RACERS, World, errors_of

FACTS: dict[str, Any] = {"machine_id": "m-1", "platform": "Linux 6.1", "version": "1.0", "sandbox": "bwrap"}


def report(world: World, name: str = "Box", **more: Any) -> Machine:
    return world.do(nodes.report, world.project, name=name, **{**FACTS, **more})


def online(world: World, name: str = "Box") -> bool:
    return world.do(lambda tx: nodes.find(tx, world.project, name).is_online(tx.now))


def begin(world: World, sender: str | None = "ann") -> Task:
    return world.do(
        nodes.begin_task, world.project, sender=sender, title="count", description="count them", node="Box"
    )


def test_a_machine_is_there_while_it_reports(world: World) -> None:
    """A machine is online until it has been silent for too long, or goes; the log tells when it comes and goes."""
    machine = report(world, labels=["gpu"])
    assert (machine.name, machine.labels, machine.sandbox) == ("Box", ("gpu",), "bwrap")
    report(world)
    world.clock.advance(nodes.TTL)
    assert not online(world)
    again = report(world)
    assert online(world)
    assert (again.id, again.first_seen_at) == (machine.id, machine.first_seen_at)
    world.do(nodes.leave, world.project, "Box")
    world.do(nodes.leave, world.project, "Box")
    assert not online(world)
    kinds = [kind for kind in world.kinds() if kind.startswith("node.")]
    assert kinds == ["node.joined", "node.online", "node.offline"]


def test_a_name_is_one_machine_whatever_its_case(world: World) -> None:
    """Names differ by more than their case; in another project the same name is another machine."""
    first = report(world, "Box")
    assert report(world, "bOX").id == first.id
    assert world.do(nodes.find, world.project, "BOX").name == "bOX"
    report(world, "Straße")
    assert world.do(nodes.find, world.project, "STRASSE").name == "Straße"
    other = world.elsewhere("other")
    assert other.do(nodes.listed, other.project) == []
    assert [each.name for each in world.do(nodes.listed, world.project)] == ["bOX", "Straße"]
    with pytest.raises(NotFound):
        other.do(nodes.find, other.project, "Box")


def test_nobody_takes_the_name_of_a_machine_that_is_there(world: World) -> None:
    """While a machine is online no other can report by its name; afterwards the name is free."""
    report(world)
    with pytest.raises(Conflict, match="another machine"):
        report(world, "BOX", machine_id="m-2")
    world.clock.advance(nodes.TTL)
    assert report(world, "BOX", machine_id="m-2").machine_id == "m-2"


@pytest.mark.parametrize(
    "facts",
    [
        {"name": ""},
        {"name": " box"},
        {"name": "box\u202e"},
        {"name": "x" * 201},
        {"platform": "a\nb"},
        {"labels": [""]},
        {"labels": ["x"] * 51},
    ],
)
def test_a_machine_that_calls_itself_nonsense_is_refused(world: World, facts: dict[str, Any]) -> None:
    """What a machine says of itself are short lines that people see as they are."""
    with pytest.raises(Invalid):
        report(world, **facts)
    assert world.do(nodes.listed, world.project) == []


def test_reports_race(world: World) -> None:
    """A machine that reports many times at once is one machine."""
    outcomes = world.race(*[lambda tx: nodes.report(tx, world.project, name="Box", **FACTS)] * RACERS)
    assert errors_of(outcomes) == []
    assert len({each.id for each in outcomes if isinstance(each, Machine)}) == 1


def test_what_a_machine_does_is_on_the_board(world: World) -> None:
    """What it sets about is a task of the agent, begun by `node:` and its name; the agent hears how it ended."""
    task = begin(world)
    assert (task.sender, task.assignee, task.status) == ("ann", "node:Box", Status.WORKING)
    ended = world.do(nodes.end_task, str(task.id), text="three", failed=False)
    assert (ended.status, ended.result) == (Status.COMPLETED, "three")
    assert world.mail("ann") == ["three"]


def test_what_failed_says_why(world: World) -> None:
    """A machine that could not do it says why, to the agent and on the board."""
    ended = world.do(nodes.end_task, str(begin(world).id), text="no runtime", failed=True)
    assert (ended.status, ended.result) == (Status.FAILED, "no runtime")
    assert world.mail("ann") == ["no runtime"]


def test_a_machines_work_does_not_lapse(world: World) -> None:
    """A machine has no heartbeat on the board: what it has begun stays begun."""
    task = begin(world)
    world.pass_time(timedelta(days=2))
    assert world.task(task).status is Status.WORKING


def test_what_was_cancelled_stays_cancelled(world: World) -> None:
    """The end of a task that somebody has cancelled meanwhile changes nothing."""
    task = begin(world)
    world.on(task, endings.cancel, by="ann", reason=None)
    assert world.do(nodes.end_task, str(task.id), text="three", failed=False).status is Status.CANCELLED


def test_a_machine_ends_what_is_its_own(world: World) -> None:
    """Neither an agent's task, nor another machine's or another agent's errand can be ended so, nor one elsewhere."""
    task, agents_own = begin(world), world.start(world.send())
    other = world.elsewhere("other")
    ended: dict[str, Any] = {"text": "x", "failed": False}
    wrongs: list[dict[str, Any]] = [{"sender": "bob"}, {"node": "other"}]
    for wrong in wrongs:
        with pytest.raises(NotHolder):
            world.do(nodes.end_task, str(task.id), **ended, **wrong)
    with pytest.raises(NotHolder):
        world.do(nodes.end_task, str(agents_own.id), **ended)
    for ref in (str(task.id), str(task.number), "nonsense"):
        with pytest.raises(NotFound):
            other.do(nodes.end_task, ref, **ended, project=other.project)
    assert world.do(tasks.find, [world.id], str(task.id)).status is Status.WORKING
