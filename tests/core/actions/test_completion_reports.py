"""Completions: what an agent says it has done, and the task that it ends."""

from collections.abc import Callable
from typing import Any

import pytest

from hubbub.core.actions import completion_reports, task_actions
from hubbub.core.actions.completion_reports import ReportedCompletion
from hubbub.core.work import completion, tasks
from hubbub.core.work.completion import RESULT_LENGTH
from hubbub.model.errors import InvalidTransition, NotHolder
from hubbub.model.lifecycle import Event, Status
from hubbub.model.people.rights import HUB
from hubbub.model.records import LetterKind, Task
from hubbub.store.tx import Tx
from tests.core.conftest import RACERS, World, errors_of

S = Status


def report(
    world: World, task: object, result: str = "three", agent: str = "bob", **more: Any
) -> ReportedCompletion:
    return world.do(completion_reports.report, world.id, agent, task=str(task), result=result, **more)


def kept(world: World) -> list[str]:
    return [each.result for each in world.do(completion_reports.search, [world.id], limit=100)]


@pytest.mark.parametrize("status", [S.DELIVERED, S.ACCEPTED, S.WORKING])
def test_a_completion_ends_its_task(world: World, status: Status) -> None:
    """A task named by its id is completed, begun or not; its sender gets the result, and the log has both."""
    task = world.send()
    if status is S.ACCEPTED:
        world.accept(task)
    if status is S.WORKING:
        world.start(task)
    outcome = report(world, task.id)

    assert outcome.task == world.task(task)
    assert (outcome.task.status, outcome.task.result, outcome.truncated) == (S.COMPLETED, "three", False)
    assert outcome.completion.task_id == task.id
    assert world.mail("ann") == ["three"]
    assert world.inbox("bob") == []
    assert world.kinds()[-3:] == ["completion.reported", "task.completed", "message.sent"]


def test_everything_told_is_kept(world: World) -> None:
    """A completion keeps all that the agent said of its work, its artifacts as a JSON array."""
    completion = report(
        world, "无任务", "写完了", artifacts=["/报告.md", "b"], score=8.5, duration_minutes=2.25
    ).completion

    assert (completion.task, completion.result) == ("无任务", "写完了")
    assert (completion.score, completion.duration_minutes) == (8.5, 2.25)
    assert completion.artifacts == '["/报告.md","b"]'
    assert world.do(completion_reports.search, [world.id], limit=1) == [completion]
    assert report(world, "x", artifacts=[]).completion.artifacts == "[]"
    assert report(world, "x").completion.artifacts is None


def test_a_task_may_be_named_by_its_text(world: World) -> None:
    """A task may be named by its words: the one under way by preference, else the newest, and only one's own."""
    old, begun, new = (world.send() for _ in range(3))
    theirs = world.send(to="ann")
    world.start(begun)

    assert [report(world, "count the lines").completion.task_id for _ in range(4)] == [
        begun.id,
        new.id,
        old.id,
        None,
    ]
    assert world.task(theirs).status is S.DELIVERED


def test_words_are_compared_whole(world: World) -> None:
    """The words are those of the whole task, with the blanks it began with, not those of its title."""
    task = world.send(text="  count\nthe lines")

    assert report(world, "count").task is None
    assert report(world, "  count\nthe lines").completion.task_id == task.id


def test_a_completion_of_nothing_is_kept(world: World) -> None:
    """Work that nobody asked for is kept all the same, and concerns no task."""
    world.send()
    outcome = report(world, "something else")

    assert outcome.task is None
    assert kept(world) == ["three"]
    assert world.do(tasks.counts, [world.id]) == {S.DELIVERED: 1}


def test_an_ended_task_is_left_alone(world: World) -> None:
    """A completion of one's own task that has ended is kept; the task, and what its sender was told, stay."""
    task = world.on(world.send(), task_actions.cancel, by="bob", reason="too late")
    outcome = report(world, task.id)

    assert outcome.task == task == world.task(task)
    assert outcome.completion.task_id == task.id
    assert kept(world) == ["three"]
    assert world.mail("ann") == ["too late"]


def test_the_task_of_another_is_refused(world: World) -> None:
    """Completing by its id a task that is somebody else's, or free, is refused, and nothing is kept."""
    before_tasks = [world.send(to="ann"), world.send(to=None)]
    before = world.kinds()
    for task in before_tasks:
        with pytest.raises(NotHolder):
            report(world, task.id)

    assert [world.task(task) for task in before_tasks] == before_tasks
    assert kept(world) == []
    assert world.kinds() == before


def test_a_task_of_another_project_is_only_words(world: World) -> None:
    """The id of a task that is not of the project names nothing there."""
    other = world.elsewhere("other")
    foreign = other.send()

    assert report(world, foreign.id).completion.task_id is None
    assert other.task(foreign) == foreign


def test_a_long_result_is_cut_in_the_task_alone(world: World) -> None:
    """The task keeps the head of a long result; the completion and the reply have all of it."""
    exact, longer = "x" * RESULT_LENGTH, "字" * (RESULT_LENGTH + 1)
    fits = report(world, world.send().id, exact)
    cut = report(world, world.send().id, longer)

    assert (fits.truncated, cut.truncated) == (False, True)
    assert fits.task is not None
    assert cut.task is not None
    assert (fits.task.result, cut.task.result) == (exact, longer[:RESULT_LENGTH])
    assert cut.completion.result == longer
    assert world.mail("ann") == [exact, longer]


@pytest.mark.parametrize("end", [task_actions.fail, task_actions.cancel])
def test_a_long_reason_is_cut_in_the_task_alone(world: World, end: Callable[..., Task]) -> None:
    """The task keeps the head of a long reason, whoever gives it; the reply has all of it."""
    task = world.on(world.start(world.send()), end, by="bob", reason="字" * (RESULT_LENGTH + 1))

    assert task.result == "字" * RESULT_LENGTH
    assert world.mail("ann") == ["字" * (RESULT_LENGTH + 1)]


def test_what_others_say_of_it_is_no_completion(world: World) -> None:
    """A report of its holder is kept as a completion, by whatever door; a person's completion of it is not."""
    world.on(world.start(world.send()), task_actions.complete, by="bob", result="mine")
    world.on(world.start(world.send()), task_actions.complete, by=HUB, result="theirs")

    assert kept(world) == ["mine"]


def test_a_child_completed_is_told_upwards(world: World) -> None:
    """The sender of the parent hears of the completion of a child too."""
    parent = world.send(sender="代码1号", to="ann")
    child = world.send(parent=str(parent.id))
    report(world, child.id)

    assert [(letter.kind, letter.in_reply_to) for letter in world.inbox("代码1号")] == [
        (LetterKind.REPLY, parent.id)
    ]


def test_racing_completions_end_the_task_once(world: World) -> None:
    """However often a task is completed at once, every report is kept, one result counts, and one reply is sent."""
    for turn in range(1, 4):
        task = world.start(world.send())
        outcomes = world.race(
            *[
                lambda tx, task=task, n=n: completion_reports.report(
                    tx, world.id, "bob", task=str(task.id), result=f"{n}"
                )
                for n in range(RACERS)
            ]
        )

        assert errors_of(outcomes) == []
        assert world.kinds().count("task.completed") == turn
        assert len(world.inbox("ann")) == turn
        assert world.mail("ann")[-1] == world.task(task).result
        assert len(kept(world)) == turn * RACERS


def test_completing_and_failing_race(world: World) -> None:
    """A completion that meets another end of its task is kept, and the task ends once."""
    for turn in range(1, 4):
        task = world.start(world.send())

        def complete(tx: Tx, ref: str = str(task.id)) -> object:
            return completion_reports.report(tx, world.id, "bob", task=ref, result="three")

        def fail(tx: Tx, ref: str = str(task.id)) -> object:
            locked = tasks.find(tx, [world.id], ref, lock=True)
            return completion.end(tx, locked, Event.FAIL, by="bob", text="no", result="no")

        outcomes = world.race(complete, fail)
        assert set(errors_of(outcomes)) <= {InvalidTransition}
        assert world.mail("ann")[-1:] == [world.task(task).result]
        assert len(world.inbox("ann")) == len(kept(world)) == turn


def test_completions_are_searched_newest_first(world: World) -> None:
    """Completions are found newest first, by agent and by time, in one project or in several, so many at most."""
    other = world.elsewhere("other")
    start = report(world, "a", "first").completion.completed_at
    world.at(start + 1000, completion_reports.report, world.id, "ann", task="b", result="second")
    other.at(start + 2000, completion_reports.report, other.id, "bob", task="c", result="third")

    def found(*worlds: World, **wanted: Any) -> list[str]:
        ids = [each.id for each in worlds]
        return [each.result for each in world.do(completion_reports.search, ids, **{"limit": 10, **wanted})]

    assert found(world) == ["second", "first"]
    assert found(world, other) == ["third", "second", "first"]
    assert found(world, other, limit=2) == ["third", "second"]
    assert found(world, agent="bob") == ["first"]
    assert found(world, since=start + 1000) == ["second"]
    assert found(world, since=start + 1001) == []
    assert found() == []
