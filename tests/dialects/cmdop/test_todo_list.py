"""The list of things to do."""

from hubbub.core.work import todos
from tests.dialects.cmdop.callers import Board, CmdopCaller, refusal
from tests.dialects.cmdop.requirements import requires
from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row

ITEMS = [{"text": "look", "done": True}, {"text": "mend\nit", "done": False}]
RENDERED = "- [x] look\n- [ ] mend it"


@requires("todo_write.replaces", "todo_write.rendered", "todo_write.structured", "todo_write.shown")
def test_a_list_replaces_the_one_before(board: Board) -> None:
    """The list is kept with the agent, whole, and answered as check boxes; each agent has its own."""
    ada = board.agent("ada")
    assert isinstance(ada, CmdopCaller)
    ada.todo_write(items=[{"text": "old", "done": False}])

    assert ada.todo_write(items=ITEMS) == {"rendered": RENDERED, "items": ITEMS}
    assert ada.texts("todo_write", items=ITEMS) == [RENDERED]

    kept = board.hub.look(lambda tx: todos.of_agent(tx, board.project.id, "ada"))
    assert kept is not None
    assert [(item.text, item.done) for item in kept.items] == [("look", True), ("mend\nit", False)]
    assert board.hub.look(lambda tx: todos.of_agent(tx, board.project.id, "bob")) is None
    assert ada.todo_write(items=[]) == {"rendered": "", "items": []}


@both_engines
def test_what_is_no_list_is_refused(board: Board) -> None:
    """Things to do have a text and whether they are done, and there are 200 of them at most."""
    ada = board.agent("ada")
    wrong: list[object] = [
        "look",
        [{"text": "look"}],
        [{"text": 1, "done": False}],
        [{"text": "look", "done": "no"}],
        [{"text": " ", "done": False}],
        [{"text": "look", "done": False}] * 201,
    ]

    with board.unchanged(), every_row() as row:
        for items in wrong:
            with row(str(items)[:40]):
                assert refusal(ada.wrong("todo_write", items=items)) == "invalid"
