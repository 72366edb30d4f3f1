"""Artifacts and their reviews: what agents made, and what others think of it."""

import re

import pytest

from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.relay.callers import NOWHERE, Team, no, yes
from tests.dialects.relay.requirements import requires
from tests.dialects.running_hub import Json

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TYPES = ("figma_spec", "pr", "report", "analytics_plan", "design", "document")


def _review(team: Team, reviewer: str = "qa") -> str:
    """A review that was asked for; returns its id."""
    asked = team.agent("lead").request_review(artifact_id=team.artifact(), reviewer=reviewer)
    return str(yes(asked)["review_id"])


@requires("post_artifact.reply", "post_artifact.type", "post_artifact.task_id", "get_artifact.reply",
          "rows.get_artifact", "artifacts.verbatim", "all.times", "all.ids")  # fmt: skip
def test_an_artifact_is_posted_and_retrieved(anywhere: Team) -> None:
    """post_artifact answers the id, and anyone in the run gets all that was posted, to the letter."""
    anywhere.agent("lead").start_session(session_id="r")
    fe, be, task = anywhere.agent("fe"), anywhere.agent("be"), anywhere.task()
    content = '{"a": "🦊\\n"}\r\n\n## Ünïcode\t '

    with every_row() as row:
        for kind in TYPES:
            with row(kind):
                posted = yes(fe.post_artifact(name="login/fe pr", type=kind, content=content, task_id=task))
                assert posted.keys() == {"artifact_id"}
                assert UUID.fullmatch(posted["artifact_id"])
                assert yes(be.get_artifact(name="login/fe pr")) == {
                    "artifact": {
                        "id": posted["artifact_id"],
                        "name": "login/fe pr",
                        "type": kind,
                        "content": content,
                        "created_by": "fe",
                        "task_id": task,
                        "created_at": anywhere.hub.clock() // 1000,
                        "session_id": "r",
                    }
                }


@requires("post_artifact.task_id", "limits.refs")
def test_an_artifact_may_be_for_anything(anywhere: Team) -> None:
    """task_id may be left out, or name what no hub has: it comes back as it was given."""
    fe = anywhere.agent("fe")

    with every_row() as row:
        for task_id in (None, "", "LOGIN-7", NOWHERE, "7"):
            yes(fe.post_artifact(name="n", type="pr", content="", task_id=task_id))
            with row(repr(task_id)):
                assert yes(fe.get_artifact(name="n"))["artifact"]["task_id"] == (task_id or None)


@requires("artifacts.newest")
@both_engines
def test_the_newest_of_a_name_is_meant(team: Team) -> None:
    """Names repeat: each post has an id of its own, and the last one is what others get."""
    ids = [team.artifact("spec", by=name, content=name) for name in ("fe", "be", "fe2")]
    team.artifact("other")

    found = yes(team.agent("qa").get_artifact(name="spec"))["artifact"]

    assert len(set(ids)) == 3
    assert (found["id"], found["content"], found["created_by"]) == (ids[-1], "fe2", "fe2")


@requires("get_artifact.not_found", "envelope.refusal")
def test_an_artifact_that_is_not_there(team: Team) -> None:
    """A name that nothing has, to the letter: success false, artifact null, artifact not found."""
    team.artifact("spec")

    with every_row() as row:
        for name in ("nothing", "Spec", "spec ", "%", "spe_"):
            with row(repr(name)):
                answer = team.agent("lead").get_artifact(name=name)
                assert answer == {"success": False, "artifact": None, "error": "artifact not found"}


@requires(
    "request_review.reply", "submit_review.reply", "submit_review.status", "submit_review.comments", "all.ids"
)
@pytest.mark.parametrize("status", ["approved", "changes_requested"])
@pytest.mark.parametrize("comments", ["Überdenken 🦊\n\n- x", None])
def test_a_review_is_asked_for_and_given(team: Team, status: str, comments: str | None) -> None:
    """request_review answers an id, under which the reviewer says yes or no, with comments or without."""
    review_id = _review(team)

    given = yes(team.agent("qa").submit_review(review_id=review_id, status=status, comments=comments))

    assert UUID.fullmatch(review_id)
    assert given == {"review": {"id": review_id, "status": status, "reviewer": "qa", "comments": comments}}


@requires("reviews.told")
def test_the_reviewer_is_told(team: Team) -> None:
    """The reviewer gets a message from who asks that names the artifact and the review; nobody else does."""
    artifact = team.artifact("spec")
    review = yes(team.agent("lead").request_review(artifact_id=artifact, reviewer="qa"))["review_id"]

    (row,) = team.mail("qa")
    assert (row["from_agent"], row["to_agent"], row["thread_id"]) == ("lead", "qa", review)
    assert all(word in row["content"] for word in ("spec", artifact, review))
    assert team.mail("fe") == []


@requires("reviews.told", "limits.names")
def test_a_reviewer_of_another_dialect_is_told(team: Team) -> None:
    """A CommHub agent, whatever its name, is asked in its inbox, and answers by Relay's tool under that name."""
    team.fleet.online("Dr. No")

    review = _review(team, "Dr. No")

    (row,) = team.fleet.inbox("Dr. No")
    assert (row["from_session"], row["type"]) == ("lead", "message")
    assert review in row["content"]
    yes(team.agent("Dr. No").submit_review(review_id=review, status="approved"))


@requires("submit_review.only_reviewer", "envelope.clean")
def test_only_the_reviewer_reviews(team: Team) -> None:
    """Anyone but the named reviewer, who asked for it among them, is denied, and nothing is kept."""
    review = _review(team)
    team.agent("fe").get_all_tasks()

    with team.unchanged():
        for name in ("lead", "fe"):
            answer = team.agent(name).submit_review(review_id=review, status="approved", comments="me")
            assert no(answer) == "permission denied"
        denied = team.agent("fe").submit_review(agent_id="qa", review_id=review, status="approved")
        assert no(denied) == "permission denied"


@requires("submit_review.once", "reviews.once", "envelope.clean")
@both_engines
def test_a_review_is_given_once(team: Team) -> None:
    """After the first verdict a second one, and the same again, is refused and changes nothing."""
    review = _review(team)
    qa = team.agent("qa")
    yes(qa.submit_review(review_id=review, status="approved"))

    with team.unchanged():
        for status in ("approved", "changes_requested"):
            assert no(qa.submit_review(review_id=review, status=status)) == "review already submitted"


@requires("reviews.once")
@both_engines
def test_of_many_verdicts_at_once_one_counts(team: Team) -> None:
    """One of twenty verdicts that come at once is taken, the others are refused, and one message tells of it."""
    asked = {"agent_id": "qa", "review_id": _review(team), "status": "approved"}
    verdicts: list[Json] = [{**asked, "comments": str(n)} for n in range(20)]

    answers = team.program().at_once("submit_review", verdicts)

    (given,) = [answer["review"] for answer in answers if answer["success"]]
    assert {no(answer) for answer in answers if not answer["success"]} == {"review already submitted"}
    (told,) = team.mail("lead")
    assert told["content"].endswith(f"\n\n{given['comments']}")


@requires("reviews.artifact", "reviews.unknown", "limits.refs", "tokens.foreign", "envelope.clean")
def test_what_is_not_there_is_not_reviewed(team: Team, elsewhere: Team) -> None:
    """Ids of nothing, or of another project's: artifact not found, review not found."""
    foreign_artifact, foreign_review = elsewhere.artifact(), _review(elsewhere)
    lead = team.agent("lead")
    lead.get_all_tasks()

    with team.unchanged(), elsewhere.unchanged():
        for ref in (NOWHERE, "", "spec", "名", foreign_artifact, foreign_review):
            assert no(lead.request_review(artifact_id=ref, reviewer="qa")) == "artifact not found"
            assert no(lead.submit_review(review_id=ref, status="approved")) == "review not found"


@requires("limits.names.awaited", "request_review.reply")
def test_several_may_review_one_artifact(team: Team) -> None:
    """Each reviewer, one that has yet to come among them, has a review of its own."""
    artifact = team.artifact()
    asked = {
        name: yes(team.agent("lead").request_review(artifact_id=artifact, reviewer=name))["review_id"]
        for name in ("qa", "newcomer")
    }

    assert len({*asked.values()}) == 2
    for name, review in asked.items():
        yes(team.agent(name).submit_review(review_id=review, status="approved"))
