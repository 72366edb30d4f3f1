"""Checks: looking at a task before it counts as completed, one at a time."""

from datetime import timedelta

import pytest

from hubbub.core.work import completion_checks, tasks
from hubbub.core.work.completion_checks import TTL
from hubbub.model.errors import BeingChecked, Conflict, Forbidden, NotFound, NotHolder
from hubbub.model.ids import new_id
from hubbub.model.records import Check, Task
from hubbub.model.work.permissions import VerbManner
from hubbub.store.tx import Tx
from tests.core.conftest import RACERS, World, errors_of

INSTANT = timedelta(milliseconds=1)


@pytest.fixture
def task(world: World) -> Task:
    return world.start(world.send())


def begin(world: World, task: Task, by: str = "bob") -> Check:
    return world.on(task, completion_checks.begin, by=by, manner=VerbManner.ANSWER)


def end(world: World, task: Task, check: Check, *, passed: bool = True, output: str | None = None) -> Check:
    return world.on(task, completion_checks.end, check, passed=passed, output=output)


def found(world: World, task: Task, check: Check) -> Check:
    return world.do(completion_checks.find, task, str(check.id))


def test_a_check_runs_for_a_while(world: World, task: Task) -> None:
    """A check that has begun is going on until its time has run out, to the millisecond."""
    assert world.do(completion_checks.running, task) is None
    check = begin(world, task)

    assert (check.task_id, check.agent, check.ended_at, check.passed) == (task.id, "bob", None, None)
    assert check.expires_at - check.started_at == TTL // INSTANT
    assert world.at(check.expires_at - 1, completion_checks.running, task) == check
    assert world.at(check.expires_at, completion_checks.running, task) is None
    assert found(world, task, check) == check
    assert world.task(task) == task


def test_one_looks_at_a_time(world: World, task: Task) -> None:
    """While a check is going on another is refused; another task's is none of its business."""
    check = begin(world, task)
    with pytest.raises(BeingChecked, match="is being checked"):
        begin(world, task, by="ann")

    assert world.do(completion_checks.running, task) == check
    assert begin(world, world.start(world.send())).id != check.id


def test_who_may_not_complete_it_does_not_look(world: World, task: Task) -> None:
    """Only whoever may complete a task begins a check of it, and only they end it."""
    with pytest.raises(NotHolder):
        world.on(task, completion_checks.begin, by="代码1号")
    check = begin(world, task)
    with pytest.raises(Forbidden, match="the check was begun by 'bob'"):
        world.do(completion_checks.own, task, str(check.id), by="ann")
    assert world.do(completion_checks.own, task, str(check.id), by="bob") == check


def test_of_racing_checks_one_begins(world: World) -> None:
    """However many begin to look at a task at once, one does, and the log says so once."""
    for turn in range(1, 4):
        task = world.start(world.send())

        def look(tx: Tx, ref: str = str(task.id)) -> Check:
            return completion_checks.begin(tx, tasks.find(tx, [world.id], ref, lock=True), by="bob")

        outcomes = world.race(*[look] * RACERS)
        assert errors_of(outcomes) == [BeingChecked] * (RACERS - 1)
        assert [each for each in outcomes if isinstance(each, Check)] == [
            world.do(completion_checks.running, task)
        ]
        assert world.kinds().count("check.started") == turn


def test_a_check_is_kept_alive(world: World, task: Task) -> None:
    """Each renewal gives it the whole time again, however often."""
    check = begin(world, task)
    moment = check.started_at
    for _ in range(3):
        moment += TTL // INSTANT - 1
        renewed = world.at(moment, completion_checks.renew, check.id)
        assert renewed.expires_at == moment + TTL // INSTANT
    assert world.at(moment, completion_checks.running, task) == renewed


def test_the_next_may_look_when_one_has_died(world: World, task: Task) -> None:
    """A check that nobody renewed is over: it is neither renewed nor ended any more, and another may begin."""
    dead = begin(world, task)
    world.clock.advance(TTL)
    with pytest.raises(Conflict, match="not running any more"):
        world.do(completion_checks.renew, dead.id)
    with pytest.raises(Conflict, match="not running any more"):
        end(world, task, dead)

    next_one = begin(world, task, by="ann")
    assert world.do(completion_checks.running, task) == next_one
    assert found(world, task, dead) == dead
    assert world.kinds().count("check.ended") == 0


@pytest.mark.parametrize(("passed", "output"), [(True, None), (False, "2 tests failed\n…")])
def test_what_came_of_it_is_kept(world: World, task: Task, passed: bool, output: str | None) -> None:
    """An ended check says whether the task passed and what was said; the task itself is left alone."""
    check = begin(world, task)
    ended = end(world, task, check, passed=passed, output=output)

    assert (ended.passed, ended.output) == (passed, output)
    assert ended.ended_at is not None
    assert found(world, task, check) == ended
    assert world.do(completion_checks.running, task) is None
    assert world.task(task) == task
    started, recorded = [each for each in world.log() if each.kind.startswith("check.")]
    assert (started.kind, started.actor, started.agent, started.task_id) == (
        "check.started",
        "bob",
        "bob",
        task.id,
    )
    assert (recorded.kind, recorded.actor, recorded.agent) == ("check.ended", "bob", "bob")
    assert recorded.detail == {"passed": passed}


def test_it_ends_once(world: World, task: Task) -> None:
    """A check that has ended is neither ended again nor renewed, what was said stays, and the next may begin."""
    check = begin(world, task)
    ended = end(world, task, check, passed=False, output="no")
    with pytest.raises(Conflict):
        end(world, task, check)
    with pytest.raises(Conflict):
        world.do(completion_checks.renew, check.id)

    assert found(world, task, check) == ended
    assert begin(world, task).id != check.id


def test_a_check_is_found_with_its_task(world: World, task: Task) -> None:
    """The id of another task's check, of something else or of nothing is not found."""
    check = begin(world, task)
    other = world.start(world.send())

    with pytest.raises(NotFound):
        world.do(completion_checks.find, other, str(check.id))
    for nonsense in ("", "None", str(new_id()), str(task.id)):
        with pytest.raises(NotFound, match=r"^check .* not found$"):
            world.do(completion_checks.find, task, nonsense)
