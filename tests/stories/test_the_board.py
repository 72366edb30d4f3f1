"""The board among the others: issues are tasks that agents of every dialect do, and theirs are issues."""

from collections.abc import Callable

import pytest

from tests.dialects.cmdop.callers import refusal
from tests.dialects.conftest import both_engines
from tests.dialects.golemxv.callers import GONE, no
from tests.dialects.relay.callers import yes
from tests.stories.world import TEXT, World

RESULT = "all 161 scripts\nand fertig ✓"


def by_commhub(world: World, task_id: str) -> str:
    """CommHub's agent claims the free task and replies to it."""
    assert world.commander.send_ack(task_id=task_id)["updated"] == 1
    assert world.commander.send_reply(alias="cleo", text=RESULT, in_reply_to=task_id)["ok"] is True
    return "commander"


def by_relay(world: World, task_id: str) -> str:
    """Relay's agent claims the free task, says what came of it in its thread, and is done."""
    assert yes(world.rhea.claim_task(task_id=task_id))["claimed"] is True
    yes(world.rhea.send_message(to="cleo", content=RESULT, thread_id=task_id))
    yes(world.rhea.update_task(task_id=task_id, status="done"))
    return "rhea"


def by_golemxv(world: World, task_id: str) -> str:
    """GolemXV's agent claims the free task and completes it."""
    number = world.number(task_id)
    world.gil.claim_task(task_id=number)
    world.gil.update_task(task_id=number, status="in_progress")
    world.gil.complete_task(task_id=number, result_summary=RESULT)
    return "gil"


@pytest.mark.parametrize("done_by", [by_commhub, by_relay, by_golemxv])
def test_an_issue_is_done_in_another_tongue(world: World, done_by: Callable[[World, str], str]) -> None:
    """An agent claims an issue of the board in its own words; the outcome is a comment on the issue."""
    made = world.cleo.issue_create(title="Write the parser", body=TEXT)
    task_id = str(world.board.task(made["id"]).id)
    assert world.said_of(task_id) == ("created", "todo", "pending", "todo")

    name = done_by(world, task_id)

    issue = world.cleo.issue_get(id=made["id"])
    assert (issue["status"], issue["assignee"], issue["result"]) == ("done", name, RESULT)
    assert [(each["author"], each["body"]) for each in issue["comments"]] == [(name, RESULT)]
    assert world.said_of(task_id) == ("replied", "done", "completed", "done")


def test_what_commhub_sent_is_closed_on_the_board(world: World) -> None:
    """A task that CommHub's commander sent is an issue of whom it is for; its closing is a reply in the inbox."""
    world.cleo.todo_write(items=[])  # whoever acts is known
    task_id = world.send("cleo")
    (issue,) = world.cleo.issue_list(status="open", assignee="cleo")["result"]
    assert (issue["title"], issue["author"], issue["status"]) == ("Write the parser", "commander", "todo")

    world.cleo.issue_update(id=issue["id"], status="in_progress")
    assert world.said_of(task_id) == ("running", *["in_progress"] * 3)
    world.cleo.issue_close(id=issue["id"], reason=RESULT)

    (reply,) = world.fleet.inbox("commander")
    assert (reply["type"], reply["from_session"], reply["content"]) == ("reply", "cleo", RESULT)
    assert reply["context"] == f"in_reply_to: {task_id}, status: replied"
    assert world.said_of(task_id) == ("replied", "done", "completed", "done")


def test_what_relay_left_open_is_taken_from_the_board(world: World) -> None:
    """A free task is whose that begins it on the board; the result is a message in the thread of the task."""
    task_id = world.team.task("for anyone", by="rhea")
    issue = world.issue(task_id)["id"]
    world.cleo.issue_update(id=issue, status="in_progress")
    assert yes(world.rhea.claim_task(task_id=task_id))["claimed"] is False
    assert no(world.gil, "claim_task", task_id=world.number(task_id)) == GONE

    world.cleo.issue_close(id=issue, reason=RESULT)

    (told,) = [each for each in world.team.mail("rhea") if each["thread_id"] == task_id]
    assert (told["from_agent"], told["content"]) == ("cleo", RESULT)


@both_engines
def test_what_is_withdrawn_is_withdrawn_for_everyone(world: World) -> None:
    """An issue that is closed as not to be done is cancelled in every tongue, and what comes late is refused."""
    made = world.cleo.issue_create(title="t", assignee="gil")
    task_id = str(world.board.task(made["id"]).id)
    world.gil.claim_task(task_id=world.number(task_id))

    world.cleo.issue_close(id=made["id"], reason="wontfix: nobody asked for it")

    assert world.said_of(task_id) == ("cancelled",) * 4
    said = no(world.gil, "complete_task", task_id=world.number(task_id), result_summary="late")
    assert said == "a task that is cancelled cannot become completed"
    assert world.issue(task_id)["result"] == "wontfix: nobody asked for it"


def test_the_board_moves_what_the_others_see(world: World) -> None:
    """A move on the board is, for each of the others, what its own words have for that."""
    task_id = world.team.task("the task", by="rhea")
    moves = {
        "in_progress": ("running", "in_progress", "in_progress"),
        "blocked": ("running", "in_progress", "blocked"),
        "in_review": ("running", "in_review", "in_progress"),
        "todo": ("delivered", "todo", "assigned"),
        "failed": ("failed", "failed", "failed"),
    }
    for word, others in moves.items():
        world.cleo.issue_update(id=task_id, status=word)
        assert world.said_of(task_id) == (*others, word)


def test_a_thread_is_the_comments_of_its_issue(world: World) -> None:
    """Messages of Relay's and CommHub's agents on a task are read on the board, in their order."""
    task_id = world.team.task("the task", by="rhea", assignee="gil")
    yes(world.rhea.send_message(to="gil", content="begin with the lexer", thread_id=task_id))
    world.gil.claim_task(task_id=world.number(task_id))
    world.gil.complete_task(task_id=world.number(task_id), result_summary=RESULT)

    comments = [(each["author"], each["body"]) for each in world.issue(task_id)["comments"]]
    assert comments == [("rhea", "begin with the lexer"), ("gil", RESULT)]


@both_engines
def test_what_waits_for_others_waits_on_the_board_too(world: World) -> None:
    """An issue cannot be begun before what it needs is done, whoever does that."""
    first = world.send("gil", "first")
    second = world.team.task("second", by="rhea", depends_on=[first])
    assert refusal(world.cleo.wrong("issue_update", id=second, status="in_progress")) == "failed"

    world.gil.claim_task(task_id=world.number(first))
    world.gil.complete_task(task_id=world.number(first), result_summary="done")

    assert world.cleo.issue_update(id=second, status="in_progress") == {"ok": True}


@both_engines
def test_what_was_taken_on_the_board_does_not_lapse(world: World) -> None:
    """Agents of the board have no heartbeat, so that no silence takes from them what they have begun."""
    task_id = world.team.task("for anyone", by="rhea")
    world.cleo.issue_update(id=task_id, status="in_progress")

    world.crew.later(days=2)

    assert yes(world.rhea.claim_task(task_id=task_id))["claimed"] is False
    assert (world.issue(task_id)["status"], world.issue(task_id)["assignee"]) == ("in_progress", "cleo")


def test_a_list_of_things_to_do_is_one_agents_own(world: World) -> None:
    """To-do lists are no tasks: they are neither on the board nor in any other dialect's lists."""
    world.cleo.todo_write(items=[{"text": "read", "done": True}, {"text": "write", "done": False}])

    assert world.cleo.issue_list() == {"result": []}
    assert (world.listed(), world.team.tasks()) == ([], [])
