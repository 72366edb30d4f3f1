"""Search for tasks by what people remember of them."""

from datetime import timedelta

import pytest

from hubbub.core.actions import task_actions
from hubbub.core.work import task_search
from hubbub.model.lifecycle import Status
from hubbub.model.people.rights import HUB, Role
from hubbub.model.records import Task
from tests.core.conftest import World, in_status, person


def found(world: World, text: str = "", **more: object) -> list[int]:
    return [
        task.number
        for task in world.do(task_search.search, [world.id], text, **{"limit": 10, **more})  # type: ignore[arg-type]
    ]


@pytest.fixture
def board(world: World) -> list[Task]:
    return [
        world.send(title="Parser", text="make it FASTER, by 50%"),
        world.send(title="解析器", text="Ärger mit der Eingabe"),
        world.send(to="ann", title="docs", text="the parser_2 page", sender="bob"),
    ]


@pytest.mark.usefixtures("board")
@pytest.mark.parametrize(
    ("text", "numbers"),
    [("", [3, 2, 1]), ("parser", [3, 1]), ("PARSER faster", [1]), ("解析", [2]), ("Ärger", [2]), ("%", [1]),
     ("parser_", [3]), ("_", [3]), ("!", []), ("nothing", []), ("2", [2]), ("#2", [2]), ("T-3", [3]), ("t3", [3]),
     ("' OR 1=1", []), ("  ", [3, 2, 1]), ("9" * 18, [])],
)  # fmt: skip
def test_all_words_occur_in_title_or_description(world: World, text: str, numbers: list[int]) -> None:
    """Every word is looked for in both, in whatever case and with no character special; a number is that of a task."""
    assert found(world, text) == numbers


@pytest.mark.usefixtures("board")
def test_a_search_is_narrowed(world: World) -> None:
    """Status, assignee and sender narrow what is found, and `before` goes on from a number."""
    assert found(world, "parser", assignee="ann") == [3]
    assert found(world, "parser", sender="ann") == [1]
    assert found(world, "parser", status=[Status.COMPLETED]) == []
    assert found(world, "parser", status=[Status.DELIVERED], before=3) == [1]
    assert found(world, area="web") == []


def test_tasks_are_found_by_when_they_ended(world: World) -> None:
    """A time finds what ended in it, its first moment included and its last not; what goes on is in no time."""
    first, middle, last = (_completed_at(world) for _ in range(3))
    world.send()
    assert found(world, ended_since=middle) == [3, 2]
    assert found(world, ended_before=middle) == [1]
    assert found(world, ended_since=first, ended_before=last, before=2) == [1]
    assert found(world, ended_since=middle, status=[Status.FAILED]) == []
    assert world.do(task_search.number, [world.id], ended_since=middle) == 2


def _completed_at(world: World) -> int:
    world.clock.advance(timedelta(seconds=1))
    ended = in_status(world, Status.COMPLETED).ended_at
    assert ended is not None
    return ended


def test_the_tasks_of_one_person_are_found(world: World) -> None:
    """A person's name as the sender finds what they sent as `hub`; `hub` finds what any of the people did."""
    for number, name in enumerate(("eve", "kim"), start=1):
        eve_or_kim = world.acting(person(world, name, Role.MEMBER))
        assert eve_or_kim.send(sender=HUB).number == number
    world.send(sender="ann")
    assert (found(world, sender="eve"), found(world, sender="kim")) == ([1], [2])
    assert (found(world, sender=HUB), found(world, sender="zoe")) == ([2, 1], [])
    assert world.do(task_search.number, [world.id], sender="eve") == 1


def test_what_belongs_to_a_task(world: World) -> None:
    """A task has children, whatever became of them, and its way into inboxes: the first and the last."""
    parent = world.send()
    child = world.send(parent=str(parent.id))
    assert [each.id for each in world.do(task_search.children, parent)] == [child.id]

    task = in_status(world, Status.WORKING)
    assert [each.recipient for each in world.do(task_search.deliveries, world.task(task))] == ["bob"]
    free = world.on(world.send(to=None), task_actions.accept, "ann")
    assert world.do(task_search.deliveries, free) == []
