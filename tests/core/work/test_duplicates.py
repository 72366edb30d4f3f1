"""Duplicates: what is the same job as another open task is refused, or made and told."""

from functools import partial
from itertools import chain
from typing import Any

import pytest

from hubbub.core.actions import task_actions
from hubbub.core.agents import file_claims
from hubbub.core.work import tasks
from hubbub.core.work.duplicates import MOST_NOTICES
from hubbub.model.errors import Duplicate
from hubbub.model.lifecycle import Event
from hubbub.model.records import Priority, Task
from hubbub.model.work.duplicates import OnDuplicate
from hubbub.store.tx import Tx
from tests.core.conftest import RACERS, World, errors_of, finish, on_one_engine
from tests.model.work.test_duplicates import pairs

TEXT = "Fix the login timeout on Safari"
SAME = "Login timeouts on Safari have to be fixed"


def make(world: World, text: str, to: str | None = None, **more: Any) -> Task:
    """A task of ann's that is refused where there is the same already."""
    return world.send(to=to, text=text, **{"on_duplicate": OnDuplicate.REFUSE, **more})


def told(world: World, name: str) -> list[str]:
    """Return the letters of the hub to somebody."""
    return [each.text for each in world.inbox(name) if each.sender == "hub"]


def test_the_same_is_refused_with_the_task_there_is(world: World) -> None:
    """A task for the same job as an open one is not made; its sender is told the open one."""
    first = make(world, TEXT, to="bob")
    make(world, "octo/parser#7: nested lists")

    common = (
        r"^T-1 'Fix the login timeout on Safari' \(delivered, with 'bob'\) is nearly the same; say anyway"
    )
    with pytest.raises(Duplicate, match=common) as refused:
        make(world, SAME)
    with pytest.raises(Duplicate, match=r"^T-2 .* \(queued\) is about octo/parser#7 too"):
        make(world, "Solve #7")
    assert (refused.value.number, refused.value.task_id) == (1, str(first.id))
    assert world.kinds().count("task.sent") == 2


def test_what_has_ended_is_in_nobodys_way(world: World) -> None:
    """Only open tasks count: one that has ended does not, until it is tried again; a new description counts at once."""
    first = make(world, TEXT, to="bob")
    finish(world, world.start(first), Event.FAIL)
    again = make(world, SAME)
    world.on(again, task_actions.describe, "Order new chairs for the office", by="ann")
    world.on(again, task_actions.cancel, by="ann", reason=None)

    world.on(first, task_actions.retry, by="ann")
    with pytest.raises(Duplicate, match=r"^T-1 "):
        make(world, SAME)


def test_who_makes_it_anyway_is_told_and_so_is_who_has_the_other(world: World) -> None:
    """A task that is made all the same is noted in the log; its sender and the holder of the other hear of both."""
    make(world, TEXT, to="bob")
    make(world, SAME, sender="代码1号", on_duplicate=OnDuplicate.TELL)

    (line,) = [each for each in world.log() if each.kind == "task.duplicate"]
    assert line.detail == {"of": 1, "by": "words", "name": None}
    assert told(world, "代码1号") == [
        "T-2: T-1 'Fix the login timeout on Safari' (delivered, with 'bob') is nearly the same"
    ]
    assert told(world, "bob") == [f"T-1: T-2 '{SAME}' (queued) is nearly the same"]


def test_who_sends_the_same_for_ever_is_told_a_few_times(world: World) -> None:
    """A few duplicates of one job are told, whether they stay open or end: then the log and inboxes grow no more."""
    make(world, TEXT, to="bob")
    for number in range(2 * MOST_NOTICES):
        again = make(world, SAME, sender="代码1号", on_duplicate=OnDuplicate.TELL)
        if number % 2:
            world.on(again, task_actions.cancel, by="代码1号", reason=None)

    assert world.kinds().count("task.duplicate") == MOST_NOTICES
    assert [len(told(world, name)) for name in ("代码1号", "bob")] == [MOST_NOTICES, MOST_NOTICES]


@on_one_engine
def test_of_very_many_that_are_the_same_as_few_are_told(world: World) -> None:
    """A notice counts for all that are the same, so those that were not compared bring none anew."""
    for _ in range(20):
        make(world, TEXT, on_duplicate=OnDuplicate.TELL)
    assert world.kinds().count("task.duplicate") == MOST_NOTICES


@on_one_engine
def test_one_text_for_several_agents_is_meant(world: World) -> None:
    """One who gives the same words to several agents by name hears nothing; about one issue they do."""
    for name in ("bob", "代码1号"):
        make(world, "Read the plan of the new storage engine", to=name, on_duplicate=OnDuplicate.TELL)
    assert told(world, "ann") == []

    for name in ("bob", "代码1号"):
        make(world, "Solve #7", to=name, on_duplicate=OnDuplicate.TELL)
    assert len(told(world, "ann")) == 1


def by_a_tool_set(tx: Tx, /, **more: Any) -> Task:
    """Make a task as a documented tool set does."""
    tx.door = "commhub"
    return tasks.send(tx, sender="ann", to=None, on_duplicate=OnDuplicate.TELL, **{"text": TEXT, **more})


def test_a_tool_set_makes_it_and_the_log_says_so(world: World, hubs: object) -> None:
    """Of several who make the same task at once by a documented tool set, the log names all but the first."""
    send = partial(by_a_tool_set, project_id=world.id)
    made = {each.id: each for each in world.race(*[send] * 3) if isinstance(each, Task)}

    lines = [each for each in world.log() if each.kind == "task.duplicate"]
    assert sorted(made[line.task_id].number for line in lines if line.task_id) == [2, 3]
    assert [line.detail["of"] for line in lines] == [1, 1]
    assert {line.actor for line in lines} == {world.actor.label}
    assert told(world, "ann") == []


@on_one_engine
def test_many_at_once_are_told_as_one_by_one(world: World) -> None:
    """Of tasks that tool sets make in one transaction, the log tells the same as if each had its own."""
    texts = [*chain.from_iterable(list(pairs("same"))[::9]), *[TEXT, SAME] * MOST_NOTICES]

    def found(world: World) -> list[tuple[Any, Any]]:
        return [(each.task_id, each.detail) for each in world.log() if each.kind == "task.duplicate"]

    def make_all(tx: Tx, there: World) -> list[Task]:
        return [by_a_tool_set(tx, project_id=there.id, text=text) for text in texts]

    one, other = world.elsewhere("one"), world.elsewhere("other")
    singly = [one.do(by_a_tool_set, project_id=one.id, text=text) for text in texts]
    at_once = other.do(make_all, other)

    numbers = {each.id: each.number for each in (*singly, *at_once)}
    told = [[(numbers[task], detail) for task, detail in found(each)] for each in (one, other)]
    assert told[0] == told[1]
    assert len(told[0]) > MOST_NOTICES


def test_what_was_made_a_moment_ago_counts(world: World) -> None:
    """What a tool set made in the same transaction is refused to the next, until it has ended, which leaves nothing."""

    def make_and_refuse(tx: Tx) -> None:
        first = by_a_tool_set(tx, project_id=world.id)
        tx.door = ""
        with pytest.raises(Duplicate, match=r"^T-1 "):
            tasks.send(
                tx,
                world.id,
                sender="ann",
                to=None,
                text=SAME,
                on_duplicate=OnDuplicate.REFUSE,
            )
        task_actions.cancel(tx, first, by="ann", reason=None)

    def make_and_cancel(tx: Tx) -> None:
        task_actions.cancel(tx, by_a_tool_set(tx, project_id=world.id), by="ann", reason=None)

    world.do(make_and_refuse)
    world.do(make_and_cancel)
    make(world, SAME)


@on_one_engine
def test_parts_and_what_waits_are_no_duplicates(world: World) -> None:
    """Parts of a task may be about what the whole is about, and what needs a task about what that is about."""
    whole = make(world, "Solve #7")
    make(world, "Schema for #7", parent=str(whole.id))
    make(world, "Interface for #7", parent=str(whole.id))
    make(world, "Announce #7", needs=[whole])

    with pytest.raises(Duplicate):
        make(world, "Have a go at #7")


@on_one_engine
def test_projects_do_not_see_each_other(world: World) -> None:
    """A task of another project is no duplicate, and nobody hears of it."""
    make(world, TEXT)
    make(world.elsewhere("other"), TEXT)


def test_of_many_at_once_one_is_made(world: World, hubs: object) -> None:
    """One of several who make the same task at the same moment makes it, and the others are told of it."""
    send = partial(tasks.send, project_id=world.id, sender="ann", to=None, text=TEXT)
    made = world.race(*[partial(send, on_duplicate=OnDuplicate.REFUSE) for _ in range(RACERS)])

    assert errors_of(made) == [Duplicate] * (RACERS - 1)


def test_who_takes_a_task_hears_who_is_at_the_same(world: World) -> None:
    """An agent that takes a task is told of the same job in other hands, its branch's users, and its files' holders."""
    world.start(make(world, "Solve #7", to="代码1号"), by="代码1号")
    for name, path in (("bob", "src/parser.py"), ("代码1号", "src/lexer.py")):
        presence = world.report(name)
        world.do(file_claims.claim, world.project, presence, [path], branch="fix/lists")
    text = "Finish branch fix/lists for #7: src/parser.py drops nested lists"
    task = world.accept(make(world, text, to="bob", on_duplicate=OnDuplicate.IGNORE))

    (said,) = [each for each in told(world, "bob") if each.startswith("T-2: ")]
    same = "T-1 'Solve #7' (working, with '代码1号') is about #7 too"
    assert said == f"T-2: {same}; '代码1号' works on branch 'fix/lists'"
    world.on(task, task_actions.release, by="bob", reason="not now")
    world.accept(task, by="ann")
    assert "'bob' works on src/parser.py" in told(world, "ann")[-1]


@on_one_engine
def test_the_newest_of_very_many_are_compared(world: World) -> None:
    """However many open tasks have the same words, few are looked at, and one that is the same among them is found."""
    for number in range(60):
        make(world, f"Translate page {number} of the manual into Chinese", priority=Priority.LOW)
    with pytest.raises(Duplicate, match=r"^T-60 "):
        make(world, "The manual's page 59 has to be translated into Chinese")
