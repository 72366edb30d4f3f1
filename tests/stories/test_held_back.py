"""Work that may not begin, or does not count as done yet: each dialect says so in its own documented shape."""

import pytest

from hubbub.core.limits import accounts
from hubbub.core.work import proof
from hubbub.model.work.proof import ProofRules, Unproven
from hubbub.store.tx import Tx
from tests.dialects.golemxv.callers import no
from tests.stories.world import World

PAUSED = "the account 'max' is paused until somebody resumes it; nothing is begun on it before"
IN_REVIEW = "the task is in review, and not done yet: artifact (missing): "


@pytest.fixture
def proving(world: World) -> World:
    """A project in which a task without an artifact goes to review."""
    rules = ProofRules(done_when=("artifact",), unproven=Unproven.REVIEW)
    world.crew.hub.do(lambda tx: proof.put_rules(tx, world.crew.project, rules))
    return world


@pytest.fixture
def paused(world: World) -> World:
    """A project in which the account of all agents is paused."""
    names = ("coder-1", "rhea", "gil", "cleo")

    def pause(tx: Tx) -> None:
        accounts.put(tx, world.crew.project, "max", names)
        accounts.pause(tx, world.crew.project, "max", None, by="eve")

    world.fleet.online("coder-1")
    world.crew.hub.do(pause)
    return world


def told_commander(world: World) -> list[tuple[str, str | None]]:
    """The replies in the inbox of who sent the task."""
    inbox = world.fleet.inbox("commander")
    return [(each["content"], each["context"]) for each in inbox if each["type"] == "reply"]


def test_commhub_says_that_a_reply_did_not_end_the_task(proving: World) -> None:
    """send_reply that lacks proof is no `replied`: it says so in `message`, and to the sender in its context."""
    coder, task = proving.fleet.online("coder-1"), proving.send("coder-1")
    coder.ack_inbox(alias="coder-1", message_id=task)

    answer = coder.send_reply(alias="commander", text="fast enough", in_reply_to=task)

    assert answer.keys() == {"ok", "message_id", "session_status", "message"}
    assert answer["ok"] is True
    assert answer["message"].startswith(IN_REVIEW)
    note, reply = told_commander(proving)
    assert note[0].startswith("the task is not done yet: artifact (missing)")
    assert reply == ("fast enough", f"in_reply_to: {task}")
    assert proving.said_of(task) == ("running", "in_review", "in_progress", "in_review")


def test_commhub_says_that_a_completion_did_not_end_the_task(proving: World) -> None:
    """report_completion that lacks proof keeps the report, and says in `message` that the task is in review."""
    coder, task = proving.fleet.online("coder-1"), proving.send("coder-1")

    answer = coder.report_completion(alias="coder-1", task=task, result="fast enough")

    assert answer.keys() == {"ok", "completion_id", "message"}
    assert answer["message"].startswith(IN_REVIEW)
    assert proving.fleet.task(task)["status"] == "running"


def test_relay_refuses_done_without_proof(proving: World) -> None:
    """Relay's `done` that lacks proof is `success: false` with the reason, and the task is in_review."""
    task = proving.send("rhea")

    answer = proving.rhea.update_task(task_id=task, status="done")

    assert answer.keys() == {"success", "error"}
    assert answer["success"] is False
    assert answer["error"].startswith(IN_REVIEW)
    assert proving.team.row(task)["status"] == "in_review"


def test_golemxv_says_that_a_task_is_not_completed(proving: World) -> None:
    """GolemXV's complete_task that lacks proof is `completed: false` with the reason."""
    task = proving.send("gil")
    number = proving.number(task)
    proving.gil.claim_task(task_id=number)

    answer = proving.gil.complete_task(task_id=number, result_summary="fast enough")

    assert answer["completed"] is False
    assert answer["task"] == {"id": number, "title": "Write the parser"}
    assert answer["reason"].startswith(IN_REVIEW)


def test_cmdop_says_that_an_issue_is_not_closed(proving: World) -> None:
    """The issue_close and issue_update of cmdop that lack proof are `ok: false`, with the status and the reason."""
    for call in ("issue_close", "issue_update"):
        task = proving.send("cleo")
        more = {"status": "done"} if call == "issue_update" else {}

        answer = getattr(proving.cleo, call)(id=task, **more)

        assert (answer["ok"], answer["status"]) == (False, "in_review")
        assert answer["reason"].startswith(IN_REVIEW)


def test_a_paused_agent_keeps_commhubs_shapes(paused: World) -> None:
    """While an agent may begin nothing, send_ack is `updated: 0` with a message, ack_inbox `ok: false`."""
    task, coder = paused.send("coder-1"), paused.fleet.agent("coder-1")

    acked = coder.send_ack(task_id=task)
    read = coder.ack_inbox(alias="coder-1", message_id=task)

    assert acked == {"ok": True, "task_id": task, "updated": 0, "message": PAUSED}
    assert read == {"ok": False, "error": "paused", "message": PAUSED}
    assert paused.fleet.task(task)["status"] == "delivered"
    assert [each["id"] for each in paused.fleet.inbox("coder-1")] == [task]


def test_a_paused_agent_keeps_relays_shapes(paused: World) -> None:
    """While an agent may begin nothing, claim_task is `claimed: false` with the reason."""
    task = paused.send("rhea")
    assert paused.rhea.claim_task(task_id=task) == {"success": True, "claimed": False, "reason": PAUSED}


def test_a_paused_agent_keeps_golemxvs_shapes(paused: World) -> None:
    """While an agent may begin nothing, claim_task is refused by the one sentence."""
    task = paused.send("gil")
    assert no(paused.gil, "claim_task", task_id=paused.number(task)) == PAUSED


def test_a_paused_agent_takes_nothing_by_a_new_status(paused: World) -> None:
    """While an agent may begin nothing, Relay's update_task and cmdop's issue_update do not take a free task."""
    taken, found = paused.team.task(), paused.team.task()

    refused = paused.rhea.update_task(task_id=taken, status="in_progress")

    assert refused == {"success": False, "error": PAUSED}
    assert paused.cleo.wrong("issue_update", id=found, status="in_progress")["error"] == PAUSED
    assert [paused.team.row(each)["status"] for each in (taken, found)] == ["todo", "todo"]
