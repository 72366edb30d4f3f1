"""Todo lists of agents."""

import pytest

from hubbub.core.work import todos
from hubbub.model.errors import Invalid
from hubbub.model.work.todos import ITEM_LENGTH, MOST_ITEMS, TodoItem
from tests.core.conftest import World, on_one_engine

ITEMS = (TodoItem("read 代码", done=True), TodoItem("write", done=False))


def test_a_list_is_replaced(world: World) -> None:
    """An agent has one list in each project, the one that it wrote last; the log tells how far it is."""
    assert world.do(todos.of_agent, world.id, "ann") is None
    world.do(todos.write, world.id, "ann", ITEMS)
    written = world.do(todos.write, world.id, "ann", ITEMS[::-1])
    assert world.do(todos.of_agent, world.id, "ann") == written
    assert written.items == ITEMS[::-1]
    assert world.do(todos.of_agent, world.id, "bob") is None
    assert world.do(todos.of_agent, world.elsewhere("other").id, "ann") is None
    told = world.log()[-1]
    assert (told.kind, told.agent, dict(told.detail)) == ("todo.written", "ann", {"items": 2, "done": 1})


def test_a_list_may_be_empty(world: World) -> None:
    """An agent that has nothing to do any more writes an empty list."""
    world.do(todos.write, world.id, "ann", ITEMS)
    assert world.do(todos.write, world.id, "ann", ()).items == ()


@on_one_engine
@pytest.mark.parametrize(
    "items",
    [
        [TodoItem("", done=False)],
        [TodoItem(" ", done=False)],
        [TodoItem("a\0b", done=False)],
        [TodoItem("x" * (ITEM_LENGTH + 1), done=False)],
        [TodoItem("x", done=False)] * (MOST_ITEMS + 1),
    ],
)
def test_what_is_no_list_is_refused(world: World, items: list[TodoItem]) -> None:
    """Empty and endless items, and endless lists, are refused, and the list stays as it was."""
    kept = world.do(todos.write, world.id, "ann", ITEMS)
    with pytest.raises(Invalid):
        world.do(todos.write, world.id, "ann", items)
    assert world.do(todos.of_agent, world.id, "ann") == kept
