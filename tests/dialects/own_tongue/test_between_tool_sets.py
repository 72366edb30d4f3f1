"""Work that an agent of the hub's own tools gives to agents of the other tool sets, and what it hears of it."""

import pytest

from tests.dialects.cmdop.callers import Board
from tests.dialects.commhub.callers import Fleet
from tests.dialects.golemxv.callers import Crew
from tests.dialects.own_tongue.team import Team
from tests.dialects.relay.callers import Team as Relay
from tests.dialects.running_hub import Json


def relay(team: Team) -> Relay:
    """The same project as Relay's agents see it."""
    return Relay(team.hub, team.project, team.closing)


def fleet(team: Team) -> Fleet:
    """The same project as CommHub's agents see it."""
    return Fleet(team.hub, team.project, team.closing)


def board(team: Team) -> Board:
    """The same project as cmdop's agents see it."""
    return Board(team.hub, team.project, team.closing)


def reviewed(team: Team, to: str) -> str:
    """A task that lacks nothing but a review, from lead; returns its id."""
    return team.work(to=to, done_when=["review"])


def heard(team: Team) -> Json:
    """The last letter to lead, without its times."""
    letter = team.mail("lead")[-1]
    return {name: letter.get(name) for name in ("kind", "text", "reply_to", "outcome", "note")}


def waits(text: str) -> Json:
    """What lead hears of its task T-1 that waits for its review."""
    note = "It waits for your review: approve or revise it."
    return {"kind": "reply", "text": text, "reply_to": "T-1", "outcome": "in_review", "note": note}


@pytest.mark.parametrize("tool", ["report_completion", "send_reply"])
def test_commhub_hands_in_what_lacks_only_a_review(team: Team, tool: str) -> None:
    """A CommHub agent's completion hands the task in: its sender is told, and approves it with that result."""
    carl = fleet(team).online("carl")
    ref = reviewed(team, "carl")
    task_id = str(team.task(ref).id)
    if tool == "report_completion":
        answer = carl.report_completion(alias="carl", task=task_id, result="drawn")
        assert heard(team) == waits("drawn")
    else:
        answer = carl.send_reply(alias="lead", text="drawn", in_reply_to=task_id)
        assert heard(team) == waits("drawn")
    assert answer["message"] == (
        "the task is in review, and not done yet: review (missing): nobody else has approved it yet"
    )
    assert team.agent("lead").task(action="approve", task=ref)["status"] == "completed"
    assert team.task(ref).result == "drawn"


def test_golemxv_hands_in_what_lacks_only_a_review(team: Team) -> None:
    """A GolemXV agent's completion hands the task in: the reply says so, and its sender is told."""
    gil = Crew(team.hub, team.project, team.closing).agent("gil")
    gil.checkin(project_slug=team.project.slug)
    ref = reviewed(team, "gil")
    gil.claim_task(task_id=1)
    answer = gil.complete_task(task_id=1, result_summary="drawn")
    assert (answer["completed"], team.task(ref).status) == (False, "in_review")
    assert heard(team) == waits("drawn")


def test_the_hubs_own_tools_hand_in_what_lacks_only_a_review(team: Team) -> None:
    """`complete` hands in a task that lacks only a review, and the reply says that it is not done yet."""
    ember = team.joined("ember")
    ref = reviewed(team, "ember")
    told = ember.task(action="complete", task=ref, text="drawn")
    assert (told["status"], told["note"][:38]) == ("in_review", "the task is in review, and not done ye")
    assert heard(team) == waits("drawn")


def test_the_sender_hears_that_relay_hands_in(team: Team) -> None:
    """Relay's in_review has no words of its own: the sender is told, and the words in the thread are the result."""
    rex = relay(team).agent("rex")
    rex.get_server_info()
    ref = team.work(to="rex")
    task_id = str(team.task(ref).id)
    rex.claim_task(task_id=task_id)
    rex.send_message(to="lead", content="drawn", thread_id=task_id)
    rex.update_task(task_id=task_id, status="in_review")
    assert heard(team) == waits("handed in for review")
    team.agent("lead").task(action="approve", task=ref)
    assert team.task(ref).result == "drawn"


def test_the_sender_hears_that_cmdop_hands_in(team: Team) -> None:
    """After cmdop's in_review the sender is told once, and the issue has the notice as a comment."""
    cmo = board(team).agent("cmo")
    cmo.issue_list()
    team.work(to="cmo")
    cmo.issue_update(id="1", status="in_review")
    cmo.issue_update(id="1", status="in_review")
    assert heard(team) == waits("handed in for review")
    assert len(team.mail("lead")) == 1
    assert [each["body"] for each in cmo.issue_get(id="1")["comments"]] == ["handed in for review"]


def test_relay_among_itself_sends_no_notice_of_a_review(team: Team) -> None:
    """Between agents of Relay, in_review is the status alone, as its documents have it."""
    rex, lea = relay(team).agent("rex"), relay(team).agent("lea")
    task_id = lea.create_task(title="draw", description="a fox", assignee="rex", priority="medium")["task_id"]
    rex.claim_task(task_id=task_id)
    rex.update_task(task_id=task_id, status="in_review")
    assert lea.get_messages()["messages"] == []


def test_cmdop_among_itself_puts_no_comment_on_an_issue_in_review(team: Team) -> None:
    """Between agents of cmdop, in_review is the status alone, and the issue has only the comments that were written."""
    cmo, cid = board(team).agent("cmo"), board(team).agent("cid")
    made = cid.issue_create(title="draw", assignee="cmo")["id"]
    cmo.issue_update(id=made, status="in_review")
    assert cid.issue_get(id=made)["comments"] == []
