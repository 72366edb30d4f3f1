"""Staying and going: heartbeats, time-out, checkout, and what becomes of the work that somebody held."""

from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest

from hubbub.model.lifecycle import Status
from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.golemxv.callers import EXPIRED, NOWHERE, Crew, no, scope, token
from tests.dialects.golemxv.requirements import requires
from tests.dialects.running_hub import Json

pytestmark = both_engines

# What somebody may call with a session_token, beside it.
BY_SESSION: dict[str, Json] = {
    "heartbeat": {},
    "scope_update": {"declared_files": ["f"]},
    "checkout": {},
    "send_message": {"to": "hub", "content": "c"},
    "claim_task": {"task_id": 1},
    "update_task": {"task_id": 1, "status": "blocked"},
    "complete_task": {"task_id": 1, "result_summary": "s"},
}


def _says_why(line: Json, number: int) -> bool:
    """Tell whether a line of the log is about that task, and gives a reason."""
    return line["details"].get("number") == number and "reason" in line["details"]


@requires("heartbeat.reply", "heartbeat.extends", "leases.timeout")
def test_a_heartbeat_keeps_an_agent_there(crew: Crew) -> None:
    """Each heartbeat tells its time, and the agent is there for 180 seconds from then; not for one more."""
    ann = crew.checkin("ann")
    for _ in range(3):
        crew.later(seconds=179)
        told = ann.heartbeat()
        (row,) = crew.viewer().presence()["agents"]
        assert told == {"ok": True, "last_heartbeat_at": row["last_heartbeat_at"]}

    crew.hub.clock.advance(timedelta(seconds=180) - timedelta(milliseconds=1))
    assert crew.here() == ["ann"]
    crew.hub.clock.advance(timedelta(milliseconds=1))
    assert crew.here() == []


@requires("heartbeat.extends", "checkin.heartbeat")
def test_the_ttl_is_the_projects(crew: Crew) -> None:
    """In a project with a ttl of its own that is how long an agent may be silent."""
    with Crew.made(crew.hub, interval=5, ttl=11) as quick:
        ann = quick.checkin("ann")
        quick.later(seconds=10)
        ann.heartbeat()
        quick.later(seconds=10)
        assert quick.here() == ["ann"]
        quick.later(seconds=1)
        assert quick.here() == []


@requires("heartbeat.gone", "checkout.twice", "envelope.refusal", "envelope.clean")
def test_a_token_that_is_over_is_nobodys(crew: Crew) -> None:
    """A session_token that is unknown, checked out, timed out or replaced is refused by every tool, without a trace."""
    crew.task()
    over = {"timed out": crew.checkin("ann")}
    over["unknown"] = replace(crew.member(), says={"project_slug": crew.slug, "session_token": NOWHERE})
    crew.later(seconds=180)
    over["checked out"] = crew.checkin("bob")
    over["checked out"].checkout()
    over["replaced"] = crew.checkin("cyd")
    crew.checkin("cyd", by=crew.of(over["replaced"].secret))
    crew.here()

    with crew.unchanged(), every_row() as row:
        for (how, caller), (tool, arguments) in product(over.items(), BY_SESSION.items()):
            with row(how, tool):
                assert no(caller, tool, **arguments) == EXPIRED


@requires("checkout.reply", "checkout.seconds", "checkout.outcome", "checkout.kept", "presence.live")
@pytest.mark.parametrize("outcome", ["success", "failure", "partial"])
def test_a_checkout_says_what_came_of_it(crew: Crew, outcome: str) -> None:
    """The answer is how long it was there, in whole seconds; outcome, summary and files stand in sessions."""
    ann = crew.checkin("ann", **scope("backend", "a"))
    crew.hub.clock.advance(timedelta(seconds=90, milliseconds=999))

    told = ann.checkout(outcome_status=outcome, work_summary="完成\n🦊", files_touched=["a", "b"])

    assert told == {"ok": True, "duration_seconds": 90}
    assert crew.here() == []
    (row,) = crew.stays()
    assert {name: row[name] for name in ("status", "outcome_status", "work_summary", "files_touched")} == {
        "status": "checked_out",
        "outcome_status": outcome,
        "work_summary": "完成\n🦊",
        "files_touched": ["a", "b"],
    }
    assert (row["declared_area"], row["declared_files"]) == ("backend", ["a"])


@requires("checkout.reply", "checkout.kept")
def test_a_checkout_need_not_say_anything(crew: Crew) -> None:
    """Without an outcome all of it is null."""
    assert crew.checkin("ann").checkout() == {"ok": True, "duration_seconds": 0}

    (row,) = crew.stays()
    assert (row["outcome_status"], row["work_summary"], row["files_touched"]) == (None, None, None)
    assert row["ended_at"] is not None


@requires("checkout.twice")
def test_of_two_checkouts_at_once_one_succeeds(crew: Crew) -> None:
    """When an agent checks out ten times at once it has done so once."""
    ann = crew.checkin("ann")

    answers = [wait() for wait in [ann.soon("checkout") for _ in range(10)]]

    assert sorted(answer.get("error", "") for answer in answers) == ["", *[EXPIRED] * 9]
    assert len(crew.activity(event_type="checkout")) == 1


@requires("checkout.releases", "leases.timeout", "leases.released", "leases.late")
@pytest.mark.parametrize("how", ["checkout", "timeout"])
def test_what_was_claimed_is_pending_again(crew: Crew, how: str) -> None:
    """Claimed and unfinished work is free again when its agent is gone, for the reason that the log tells."""
    held = {crew.task(): status for status in ("assigned", "in_progress", "blocked")}
    ann, bob = crew.checkin("ann"), crew.checkin("bob")
    for number, status in held.items():
        ann.claim_task(task_id=number)
        if status != "assigned":
            ann.update_task(task_id=number, status=status)
    epochs = {number: crew.kept(number).epoch for number in held}

    if how == "checkout":
        ann.checkout()
    else:
        crew.later(seconds=179)
        bob.heartbeat()
        crew.later(seconds=1)

    with every_row() as row:
        for number, status in held.items():
            with row(status):
                told = crew.row(number)
                assert (told["status"], told["assigned"]) == ("pending", None)
                assert crew.kept(number).epoch > epochs[number]
                (line,) = [each for each in crew.activity() if _says_why(each, number)]
                assert line["event_type"] == "task_updated"
                assert "ann is gone" in line["details"]["reason"]
                assert bob.claim_task(task_id=number)["claimed"] is True


@requires("leases.late", "update_task.assignee", "complete_task.assignee", "envelope.clean")
def test_a_late_report_is_refused(crew: Crew) -> None:
    """An agent that was gone, and is back, reports in vain on the tasks it held: they are free, or another's by now."""
    number = crew.task()
    ann, bob = crew.checkin("ann"), crew.checkin("bob")
    ann.claim_task(task_id=number)
    ann.update_task(task_id=number, status="in_progress")
    crew.later(seconds=179)
    bob.heartbeat()
    crew.later(seconds=1)
    back = crew.checkin("ann", by=crew.of(ann.secret))

    with crew.unchanged():
        for caller in (ann, back):
            no(caller, "update_task", task_id=number, status="blocked")
            no(caller, "complete_task", task_id=number, result_summary="late")
    bob.claim_task(task_id=number)
    with crew.unchanged():
        assert "'bob'" in no(back, "complete_task", task_id=number, result_summary="late")
    bob.complete_task(task_id=number, result_summary="in time")
    assert crew.kept(number).result == "in time"


@requires("leases.living", "claim_task.gone")
def test_a_living_holder_is_never_robbed(crew: Crew) -> None:
    """The task is its holder's while the holder sends heartbeats, however long it takes."""
    number = crew.task()
    ann, bob = crew.checkin("ann"), crew.member()
    ann.claim_task(task_id=number)
    for _ in range(20):
        crew.later(seconds=179)
        ann.heartbeat()
    thief = crew.checkin("bob", by=bob)

    assert no(thief, "claim_task", task_id=number) == "Task is no longer available"
    assert ann.complete_task(task_id=number, result_summary="s")["completed"] is True


@requires("leases.living")
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_heartbeat_and_the_end_of_its_time_do_not_both_win(crew: Crew, when: str) -> None:
    """A heartbeat in the last moment keeps the task; one moment later there is nothing left to keep."""
    number = crew.task()
    ann = crew.checkin("ann")
    ann.claim_task(task_id=number)

    crew.hub.clock.advance(timedelta(seconds=180) - timedelta(milliseconds=1 if when == "before" else 0))
    answers = [wait() for wait in [ann.soon("heartbeat"), crew.viewer().soon("list_tasks")]]

    assert ("ok" in answers[0]) is (when == "before")
    assert crew.row(number)["assigned"] == ("ann" if when == "before" else None)


@requires("leases.addressed", "claim_task.own")
@pytest.mark.parametrize("how", ["checkout", "timeout"])
def test_what_is_addressed_waits(crew: Crew, how: str) -> None:
    """Work addressed to an agent stays its own while it is gone, and is assigned to it anew when it is back."""
    number = crew.task(to="ann")
    ann = crew.checkin("ann")
    ann.claim_task(task_id=number)
    ann.update_task(task_id=number, status="in_progress")

    if how == "checkout":
        ann.checkout()
    else:
        crew.later(seconds=180)

    assert (crew.row(number)["status"], crew.row(number)["assigned"]) == ("in_progress", "ann")
    crew.later(seconds=5)
    back = crew.checkin("ann", by=crew.of(ann.secret))
    assert (crew.row(number)["status"], crew.row(number)["assigned"]) == ("assigned", "ann")
    assert back.claim_task(task_id=number)["claimed"] is True


@requires("checkout.releases")
def test_what_is_finished_stays_finished(crew: Crew) -> None:
    """Tasks completed or failed before the checkout are not touched by it."""
    done, lost = crew.task(), crew.task()
    ann = crew.checkin("ann")
    for number in (done, lost):
        ann.claim_task(task_id=number)
    ann.complete_task(task_id=done, result_summary="s")
    ann.update_task(task_id=lost, status="failed", reason="r")
    ann.checkout()

    assert [crew.row(number)["status"] for number in (done, lost)] == ["completed", "failed"]
    assert crew.kept(done).assignee == "ann"


@requires("checkout.releases")
def test_what_is_in_review_is_not_given_away(crew: Crew) -> None:
    """A task handed in for review before the checkout waits for the review."""
    number = crew.task()
    ann = crew.checkin("ann")
    ann.claim_task(task_id=number)
    crew.put(number, Status.IN_REVIEW)
    ann.checkout()

    assert (crew.row(number)["status"], crew.row(number)["assigned"]) == ("in_progress", "ann")


@requires("leases.relay")
def test_what_was_claimed_through_relay_does_not_lapse(crew: Crew) -> None:
    """A task that the agent claimed through Relay, which has no heartbeat, stays its own when its presence ends."""
    task = crew.made_task()
    ann = crew.checkin("ann")
    assert crew.team.member("ann").claim_task(task_id=str(task.id))["claimed"] is True
    ann.checkout()

    assert (crew.row(task.number)["status"], crew.row(task.number)["assigned"]) == ("in_progress", "ann")


@requires("checkout.releases", "checkin.replaces")
def test_a_replaced_presence_lets_go_too(crew: Crew) -> None:
    """Tasks claimed by the old presence of an agent are pending again when a new one replaces it."""
    number = crew.task()
    ann = crew.checkin("ann")
    ann.claim_task(task_id=number)

    crew.checkin("ann", by=crew.of(ann.secret))

    assert crew.row(number)["status"] == "pending"


@requires("heartbeat.gone", "checkin.opens")
def test_each_token_is_its_own(crew: Crew) -> None:
    """Each heartbeat keeps one of two agents of one bearer token there."""
    member = crew.member()
    ann, bob = crew.checkin("ann", by=member), crew.checkin("bob", by=member)
    crew.later(seconds=100)
    ann.heartbeat()
    crew.later(seconds=100)

    assert crew.here() == ["ann"]
    assert no(bob, "heartbeat") == EXPIRED
    assert token(ann) != token(bob)
