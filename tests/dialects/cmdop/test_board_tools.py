"""The board: the project's tasks as issues."""

from itertools import product

from hubbub.core.agents import agents
from hubbub.core.people import access, tokens
from hubbub.core.work import completion, tasks
from hubbub.model.lifecycle import Event, Status
from hubbub.model.people.rights import Role
from hubbub.store.tx import Tx
from tests.dialects.cmdop.callers import Board, refusal
from tests.dialects.cmdop.requirements import requires
from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row

MOVES = ["in_progress", "blocked", "in_review", "todo", "done", "todo", "failed", "todo", "cancelled"]


@requires(
    "issue_create.reply", "issue_create.title", "issue_create.body", "issue_create.assignee", "all.issue_id"
)
def test_an_issue_is_a_task(board: Board) -> None:
    """An issue that is opened is a task of the project: its id is the task's number, its page the task's."""
    ada = board.agent("ada")

    made = ada.issue_create(title="Mend it", body="It leaks.", assignee="bob")
    task = board.task(made["id"])

    assert made == {"id": "1", "url": f"{board.hub.url}/t/{task.id}"}
    assert (task.title, task.description, task.assignee, task.sender) == (
        "Mend it",
        "It leaks.",
        "bob",
        "ada",
    )
    assert board.task(ada.issue_create(title="Free")["id"]).assignee is None


@requires("issue_get.reply", "issue_get.comments", "issue_get.unknown", "all.comments")
@both_engines
def test_an_issue_has_its_comments(board: Board) -> None:
    """The messages in the thread of a task, of whatever dialect, are the comments on its issue, in order."""
    ada = board.agent("ada")
    ada.issue_create(title="t", body="b")
    board.meet("bob")
    board.say("bob", "1", "half done")
    board.say("bob", "1", "done soon")

    issue = ada.issue_get(id="1")

    assert {name: issue[name] for name in ("id", "title", "status", "body", "author", "assignee")} == {
        "id": "1", "title": "t", "status": "todo", "body": "b", "author": "ada", "assignee": None,
    }  # fmt: skip
    assert [(each["author"], each["body"]) for each in issue["comments"]] == [
        ("bob", "half done"),
        ("bob", "done soon"),
    ]
    assert all(set(each) == {"id", "author", "body", "created_at"} for each in issue["comments"])
    assert issue["created_at"].endswith("Z")
    assert issue["delivery"] == []
    assert refusal(ada.wrong("issue_get", id="7")) == "not_found"
    assert refusal(ada.wrong("issue_get", id="no such")) == "not_found"


@requires("issue_list.reply", "issue_list.status", "issue_list.assignee", "all.arrays", "all.status")
@both_engines
def test_the_board_is_listed(board: Board) -> None:
    """The list has the newest first; a status, open, closed or an assignee narrow it. It is an array."""
    ada = board.agent("ada")
    for title in ("first", "second", "third"):
        ada.issue_create(title=title)
    ada.issue_update(id="2", status="in_progress")
    ada.issue_close(id="3")

    def ids(**wanted: str) -> list[str]:
        return [row["id"] for row in ada.issue_list(**wanted)["result"]]

    assert ids() == ["3", "2", "1"]
    assert (ids(status="open"), ids(status="closed")) == (["2", "1"], ["3"])
    assert (ids(status="todo"), ids(status="in_progress"), ids(status="done")) == (["1"], ["2"], ["3"])
    assert (ids(assignee="ada"), ids(assignee="nobody")) == (["2"], [])
    row = ada.issue_list(status="todo")["result"][0]
    assert row | {"id": "1", "title": "first", "status": "todo", "assignee": None} == row
    assert row["url"] == f"{board.hub.url}/t/{board.task('1').id}"
    assert refusal(ada.wrong("issue_list", status="open-ish")) == "invalid"


@requires("issue_update.reply", "issue_update.status", "issue_update.illegal")
@both_engines
def test_an_issue_moves_over_the_board(board: Board) -> None:
    """Each status can be set where the way of a task leads there; else it is said from where to where not."""
    ada = board.agent("ada")
    ada.issue_create(title="t")

    for word in MOVES:
        assert ada.issue_update(id="1", status=word) == {"ok": True}
        assert ada.issue_get(id="1")["status"] == word

    with board.unchanged():
        refused = ada.wrong("issue_update", id="1", status="done")
    assert refusal(refused) == "failed"
    assert refused["error"] == "an issue that is cancelled cannot become done; set it to todo first"


@requires("issue_update.body", "issue_update.assignee", "issue_update.nothing", "issue_update.unknown")
@both_engines
def test_an_issue_is_changed(board: Board) -> None:
    """Body and assignee can be changed, together with the status; a change of nothing is refused."""
    ada = board.agent("ada")
    ada.issue_create(title="t", body="old")

    assert ada.issue_update(id="1", body="new", assignee="bob", status="in_progress") == {"ok": True}

    task = board.task("1")
    assert (task.title, task.description, task.assignee, task.status) == ("t", "new", "bob", Status.WORKING)
    with board.unchanged():
        assert refusal(ada.wrong("issue_update", id="1")) == "invalid"
        assert refusal(ada.wrong("issue_update", id="9", body="b")) == "not_found"
        assert refusal(ada.wrong("issue_update", id="1", assignee="hub")) == "invalid"
        assert refusal(ada.wrong("issue_update", id="1", body="b", assignee=" b")) == "invalid"


@requires("issue_update.free")
def test_a_free_issue_is_taken_by_beginning_it(board: Board) -> None:
    """An agent that sets a free issue to in_progress has it from then on."""
    board.agent("ada").issue_create(title="t")

    board.agent("bob").issue_update(id="1", status="in_progress")

    assert board.task("1").assignee == "bob"


@requires("issue_update.free")
@both_engines
def test_of_agents_that_take_one_issue_the_second_is_denied(board: Board) -> None:
    """An issue that another has begun is not begun by a second agent, who would believe that it has it; nor resumed."""
    sender, program = board.agent("ada"), board.caller(board.token())
    takers = {
        "bob": board.agent("bob"),
        "cleo": board.with_headers(program, X_Hubbub_Agent="cleo"),
        "dan": board.with_headers(program, X_Hubbub_Agent="dan"),
    }

    for holder, caller in takers.items():
        issue = sender.issue_create(title=f"for {holder}")["id"]
        assert caller.issue_update(id=issue, status="in_progress") == {"ok": True}
        assert caller.issue_update(id=issue, status="in_progress") == {"ok": True}
        for status in ("in_progress", "blocked"):
            for other in {*takers} - {holder}:
                assert (
                    refusal(takers[other].wrong("issue_update", id=issue, status="in_progress")) == "denied"
                )
            assert sender.issue_update(id=issue, status=status) == {"ok": True}
        assert board.task(issue).assignee == holder


def test_an_empty_assignee_counts_as_left_out(board: Board) -> None:
    """An assignee that is an empty text is none: programs and models fill arguments in that they do not use."""
    ada = board.agent("ada")

    issue = ada.issue_create(title="t", assignee="")["id"]

    assert board.task(issue).assignee is None
    assert [row["id"] for row in ada.issue_list(assignee="")["result"]] == [issue]


@requires("issue_update.free", "issue_update.status", "issue_update.assignee")
@both_engines
def test_a_caller_without_a_name_begins_a_free_issue(board: Board) -> None:
    """A caller without an agent's name begins a free issue for the assignee it names, else as the token's user."""
    person = board.person((board.project, Role.MEMBER))
    user = board.hub.look(lambda tx: access.authenticate(tx, person.secret).user_name)

    def token(tx: Tx) -> str:
        tx.actor = access.authenticate(tx, person.secret)
        return tokens.for_project(tx, board.project, role=Role.MEMBER)[1]

    for caller in (person, board.caller(board.hub.do(token))):
        for status in ("in_progress", "blocked", "in_review"):
            mine, bobs = (caller.issue_create(title=status)["id"] for _ in range(2))

            assert caller.issue_update(id=mine, status=status) == {"ok": True}
            assert caller.issue_update(id=bobs, status=status, assignee="bob") == {"ok": True}

            rows = {row["id"]: (row["status"], row["assignee"]) for row in caller.issue_list()["result"]}
            assert (rows[mine], rows[bobs]) == ((status, user), (status, "bob"))
            assert caller.issue_close(id=mine) == {"ok": True}


@requires("issue_update.free", "all.status")
def test_an_issue_that_waits_for_others_says_so_in_the_boards_words(board: Board) -> None:
    """An issue that cannot be begun yet, free or one's own, names those that it waits for, each with its status."""

    def send(tx: Tx) -> None:
        for name in ("ada", "bob"):
            agents.meet(tx, board.project.id, name)
        first = tasks.send(tx, board.project.id, sender="ada", to=None, text="first")
        for to in (None, "bob"):
            tasks.send(tx, board.project.id, sender="ada", to=to, text="second", needs=[first])

    board.hub.do(send)

    for issue, status in product(("2", "3"), ("in_progress", "blocked", "in_review")):
        answer = board.agent("bob").wrong("issue_update", id=issue, status=status)
        assert answer == {"error": "the issue waits for others: 1 (todo)", "code": "failed"}
        assert board.agent("ada").issue_get(id=issue)["status"] == "todo"


@requires("issue_close.reply", "issue_close.completes", "issue_close.cancels", "issue_close.unknown")
def test_closing_completes_or_cancels(anywhere: Board) -> None:
    """Closing an issue completes its task, or cancels it for a reason that begins so; once."""
    ada = anywhere.agent("ada")
    ends = [
        (None, "done", "done"),
        ("it holds now", "done", "it holds now"),
        ("cancelled: no time", "cancelled", "cancelled: no time"),
        ("Wontfix", "cancelled", "Wontfix"),
        ("duplicate of 3", "cancelled", "duplicate of 3"),
    ]

    with every_row() as row:
        for reason, status, result in ends:
            made = ada.issue_create(title="t")["id"]
            with row(reason):
                assert ada.issue_close(id=made, **({"reason": reason} if reason else {})) == {"ok": True}
                issue = ada.issue_get(id=made)
                assert (issue["status"], issue["result"]) == (status, result)
                assert refusal(ada.wrong("issue_close", id=made)) == "failed"
    assert refusal(ada.wrong("issue_close", id="99")) == "not_found"


@requires("issue_close.heard")
def test_the_result_reaches_the_sender_as_a_comment(board: Board) -> None:
    """Another agent's result of an issue, of whatever dialect, is a comment on it."""
    ada = board.agent("ada")
    ada.issue_create(title="t", assignee="bob")

    def finish(tx: Tx) -> None:
        agents.meet(tx, board.project.id, "bob")
        task = tasks.find(tx, [board.project.id], "1", lock=True)
        completion.end(tx, task, Event.COMPLETE, by="bob", text="mended", result="mended")

    board.hub.do(finish)

    (comment,) = ada.issue_get(id="1")["comments"]
    assert (comment["author"], comment["body"]) == ("bob", "mended")


@requires("task_status.reply", "task_status.unknown")
def test_the_status_of_a_task_is_told(board: Board) -> None:
    """A task's status is told in the words of the board, with its result once it has one."""
    ada = board.agent("ada")
    ada.issue_create(title="t")
    task_id = str(board.task("1").id)

    assert ada.task_status(task_id=task_id) == {"status": "todo"}
    ada.issue_close(id="1", reason="it is")
    assert ada.task_status(task_id=task_id) == {"status": "done", "result": "it is"}
    assert refusal(ada.wrong("task_status", task_id="9")) == "not_found"


@requires("all.world")
def test_no_project_sees_anothers_board(board: Board) -> None:
    """An issue of another project is not there, by whatever name."""
    board.agent("ada").issue_create(title="t")
    task_id = str(board.task("1").id)

    with Board.fresh(board.hub) as elsewhere:
        eve = elsewhere.agent("eve")
        assert eve.issue_list() == {"result": []}
        for ref in ("1", task_id):
            assert refusal(eve.wrong("issue_get", id=ref)) == "not_found"
            assert refusal(eve.wrong("issue_close", id=ref)) == "not_found"


@requires("issue_close.cancels")
def test_closing_a_free_issue_takes_it_first(board: Board) -> None:
    """Any agent may close a free issue, as done or with a reason that cancels it, and is its assignee then."""
    ada, bob = board.agent("ada"), board.agent("bob")
    for reason, status in ((None, "done"), ("wontfix: too old", "cancelled")):
        issue = ada.issue_create(title="Free")["id"]
        assert bob.issue_close(id=issue, **({"reason": reason} if reason else {})) == {"ok": True}
        shown = ada.issue_get(id=issue)
        assert (shown["status"], shown["assignee"]) == (status, "bob")
