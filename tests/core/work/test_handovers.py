"""Hand-overs, on either engine: where a project allows it, tasks of a paused account go on in other hands."""

from datetime import timedelta

import pytest

from hubbub.core import why
from hubbub.core.limits import accounts
from hubbub.core.people import projects
from hubbub.core.work import handovers, tasks
from hubbub.model.errors import Conflict, Invalid
from hubbub.model.lifecycle import Status
from hubbub.model.limits.usage_limits import LimitKind, UsageLimit
from hubbub.model.records import Task
from tests.core.conftest import World, on_one_engine

HOUR = timedelta(hours=1)


@pytest.fixture
def world(world: World) -> World:
    """A project that hands over after half an hour: `bob` shares `max` with `ann`, and `eve` has another account."""
    world.do(projects.change, world.project, {"hand_over_after": 30})
    world.do(accounts.put, world.project, "max", ["ann", "bob"])
    world.do(accounts.put, world.project, "pro", ["eve"])
    for name in ("ann", "bob", "eve"):
        world.report(name)
    return world


def hit(world: World, agent: str = "bob", length: timedelta = 2 * HOUR) -> None:
    until = world.do(lambda tx: tx.now) + length // timedelta(milliseconds=1)
    world.do(accounts.reached, world.project, agent, UsageLimit(LimitKind.WINDOW, until))


def hand_over(world: World) -> None:
    """Run the hub's half-minute step."""
    due = world.do(handovers.due)
    world.do(handovers.settle, due)


def holder(world: World, task: Task) -> tuple[str | None, Status]:
    now = world.task(task)
    return now.assignee, now.status


def explained(world: World, task: Task) -> str:
    sentence: str = world.do(why.explain, world.project, f"T-{task.number}").sentence
    return sentence


def test_a_task_of_a_paused_account_goes_to_an_agent_of_another(world: World) -> None:
    """It goes to who is idle and on another account, with what was said of it; the old holder's reports are refused."""
    task = world.start(world.send("bob"))
    world.do(tasks.note, task, actor="bob", detail={"reason": "half is counted"})
    hit(world)
    hand_over(world)

    assert holder(world, task) == ("eve", Status.DELIVERED)
    [told] = [each for each in world.mail("eve") if "handed over" in each]
    assert told.startswith("T-1 (count the lines) was handed over to you from bob: the account 'max' of bob")
    assert "- reported last: half is counted" in told
    assert world.task(task).context == told
    with pytest.raises(Conflict):
        tasks.require_epoch(world.task(task), task.epoch)


def test_why_says_that_it_was_handed_over(world: World) -> None:
    """Before it is begun anew and after that, the explanation says from whom it came, and why."""
    task = world.start(world.send("bob"))
    hit(world)
    hand_over(world)
    said = [explained(world, task)]
    world.start(world.task(task), "eve")
    said.append(explained(world, task))

    for each in said:
        assert "from bob" in each
        assert "the account 'max' of bob is paused until" in each


def test_a_task_is_handed_over_once(world: World) -> None:
    """When the second account is paused too it stays, though somebody else could take it."""
    task = world.start(world.send("bob"))
    hit(world)
    hand_over(world)
    world.do(accounts.put, world.project, "third", ["kim"])
    world.report("kim")
    hit(world, "eve")
    hand_over(world)

    assert holder(world, task)[0] == "eve"


@on_one_engine
@pytest.mark.parametrize("length", [timedelta(minutes=20), 2 * HOUR])
def test_only_long_pauses_and_where_the_project_allows_it(world: World, length: timedelta) -> None:
    """A pause shorter than the project's time hands nothing over, nor does any in a project that has set none."""
    if length > HOUR:
        world.do(
            lambda tx: projects.change(tx, projects.find(tx, world.project.slug), {"hand_over_after": 0})
        )
    task = world.start(world.send("bob"))
    hit(world, length=length)
    hand_over(world)

    assert holder(world, task) == ("bob", Status.WORKING)


@on_one_engine
def test_nobody_takes_it_who_may_not_begin_it_or_may_share_the_account(world: World) -> None:
    """Not who is at work or is paused, nor who might use the same account, as nobody knows which theirs is."""
    task = world.start(world.send("bob"))
    world.report("dan")
    world.start(world.send("eve"), "eve")
    hit(world)
    hand_over(world)

    assert holder(world, task) == ("bob", Status.WORKING)


@on_one_engine
def test_the_time_is_checked(world: World) -> None:
    """A project waits for none, or up to a month."""
    with pytest.raises(Invalid, match="hand_over_after: must be 0"):
        world.do(projects.change, world.project, {"hand_over_after": 10**6})
