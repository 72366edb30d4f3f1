"""Reviews: asking somebody to look at an artifact, and what they say."""

import pytest

from hubbub.core.mail import messages
from hubbub.core.people import runs
from hubbub.core.work import artifacts, reviews
from hubbub.model.errors import Conflict, NotFound, NotReviewer, UnknownAgent
from hubbub.model.ids import new_id
from hubbub.model.records import Artifact, LetterKind, Review, ReviewVerdict, Run
from hubbub.store.tx import Tx
from tests.core.conftest import RACERS, World, errors_of


@pytest.fixture
def run(world: World) -> Run:
    return world.do(runs.start, world.id, "monday", by="ann")


@pytest.fixture
def artifact(world: World, run: Run) -> Artifact:
    return world.do(artifacts.post, run, by="ann", name="plan", kind="text", content="one, two")


def request(world: World, artifact: Artifact, reviewer: str = "bob", *, awaited: bool = False) -> Review:
    return world.do(reviews.request, artifact, by="ann", reviewer=reviewer, awaited=awaited)


def submit(
    world: World,
    review: Review,
    verdict: ReviewVerdict = ReviewVerdict.APPROVED,
    by: str = "bob",
    comments: str | None = None,
) -> Review:
    return world.do(reviews.submit, review, verdict, by=by, comments=comments)


def found(world: World, review: Review) -> Review:
    return world.do(reviews.find, [world.id], str(review.id))


def test_the_reviewer_is_asked_by_a_message(world: World, artifact: Artifact) -> None:
    """A message tells the reviewer, naming artifact and review, in a thread of its own."""
    review = request(world, artifact)

    assert (review.requester, review.reviewer, review.verdict, review.submitted_at) == (
        "ann",
        "bob",
        None,
        None,
    )
    assert (review.artifact_id, review.run_id) == (artifact.id, artifact.run_id)
    assert found(world, review) == review
    (letter,) = world.inbox("bob")
    assert (letter.kind, letter.sender) == (LetterKind.MESSAGE, "ann")
    for word in ("plan", str(artifact.id), str(review.id)):
        assert word in letter.text
    recorded = world.log()[-1]
    assert (recorded.kind, recorded.actor, recorded.agent) == ("review.requested", "ann", "bob")
    assert recorded.detail == {
        "review_id": str(review.id),
        "artifact_id": str(artifact.id),
        "reviewer": "bob",
        "verdict": None,
    }


@pytest.mark.parametrize(
    ("verdict", "words"),
    [(ReviewVerdict.APPROVED, "approved"), (ReviewVerdict.CHANGES_REQUESTED, "changes requested")],
)
def test_the_verdict_is_told(world: World, artifact: Artifact, verdict: ReviewVerdict, words: str) -> None:
    """The verdict is kept with its comments and its time, and whoever asked is told by a message."""
    given = submit(world, request(world, artifact), verdict, comments="第二步太长")

    assert (given.verdict, given.comments) == (verdict, "第二步太长")
    assert given.submitted_at is not None
    assert found(world, given) == given
    assert world.mail("ann") == [f"Review of the artifact 'plan': {words}.\n\n第二步太长"]
    recorded = world.log()[-1]
    assert (recorded.kind, recorded.actor, recorded.agent) == ("review.submitted", "bob", "ann")
    assert recorded.detail["verdict"] == verdict


def test_a_verdict_may_be_without_comments(world: World, artifact: Artifact) -> None:
    """A reviewer without comments gives the verdict alone."""
    assert submit(world, request(world, artifact)).comments is None
    assert world.mail("ann") == ["Review of the artifact 'plan': approved."]


def test_only_the_reviewer_gives_the_verdict(world: World, artifact: Artifact) -> None:
    """Anybody else is refused, who asked included, and the review stays open."""
    review = request(world, artifact)
    for stranger in ("ann", "代码1号"):
        with pytest.raises(NotReviewer, match="asked of 'bob'"):
            submit(world, review, by=stranger)

    assert found(world, review) == review
    assert world.mail("ann") == []


def test_a_verdict_is_given_once(world: World, artifact: Artifact) -> None:
    """A second verdict is refused, and the first one stays, told once."""
    review = request(world, artifact)
    first = submit(world, review)
    with pytest.raises(Conflict, match="was submitted already"):
        submit(world, review, ReviewVerdict.CHANGES_REQUESTED)

    assert found(world, review) == first
    assert len(world.mail("ann")) == 1


def test_of_racing_verdicts_one_wins(world: World, artifact: Artifact) -> None:
    """However many verdicts are given at once, one is kept, recorded and told; the others are refused."""
    for turn in range(1, 4):
        review = request(world, artifact)

        def say(tx: Tx, verdict: ReviewVerdict, review: Review = review) -> Review:
            return reviews.submit(tx, review, verdict, by="bob", comments=verdict)

        outcomes = world.race(*[lambda tx, v=v: say(tx, v) for v in list(ReviewVerdict) * (RACERS // 2)])
        assert errors_of(outcomes) == [Conflict] * (RACERS - 1)
        assert [each for each in outcomes if isinstance(each, Review)] == [found(world, review)]
        assert world.kinds().count("review.submitted") == len(world.mail("ann")) == turn


def test_only_the_known_are_asked(world: World, artifact: Artifact) -> None:
    """A name that was never seen is refused, and nothing is kept; unless it is awaited, and then finds its mail."""
    before = world.kinds()
    with pytest.raises(UnknownAgent):
        request(world, artifact, "carol")
    assert world.kinds() == before
    assert world.do(reviews.of_run, world.do(runs.current, world.id)) == []

    review = request(world, artifact, "carol", awaited=True)
    assert len(world.mail("carol")) == 1
    assert submit(world, review, by="carol").verdict is ReviewVerdict.APPROVED


def test_ones_own_review_needs_no_answer(world: World, artifact: Artifact) -> None:
    """A reviewer of its own request is not told its own verdict."""
    review = request(world, artifact, "ann")
    mail = world.mail("ann")
    submit(world, review, by="ann")
    assert world.mail("ann") == mail


def test_the_reviews_of_a_run(world: World, run: Run, artifact: Artifact) -> None:
    """A run lists and counts its reviews, oldest first, whatever was said; another run has none of them."""
    first, second = request(world, artifact), request(world, artifact, "代码1号")
    given = submit(world, first)
    tuesday = world.do(runs.start, world.id, "tuesday", by="ann")

    assert world.do(reviews.of_run, run) == [given, second]
    assert world.do(reviews.number_in_run, run) == 2
    assert world.do(reviews.of_run, tuesday) == []
    assert world.do(reviews.number_in_run, tuesday) == 0


def test_its_messages_stay_in_the_run_of_the_artifact(world: World, run: Run, artifact: Artifact) -> None:
    """Question and answer belong to the artifact's run, also when another has become the current one."""
    tuesday = world.do(runs.start, world.id, "tuesday", by="ann")
    review = submit(world, request(world, artifact))

    assert [message.thread for message in world.do(messages.of_run, run)] == [str(review.id)] * 2
    assert world.do(messages.of_run, tuesday) == []


def test_nothing_of_another_project_is_found(world: World, artifact: Artifact) -> None:
    """An id of another project, of something else or of nothing is not found."""
    review = request(world, artifact)
    other = world.elsewhere("other")

    with pytest.raises(NotFound):
        other.do(reviews.find, [other.id], str(review.id))
    for nonsense in ("", "1", str(new_id()), str(artifact.id)):
        with pytest.raises(NotFound, match=r"^review .* not found$"):
            world.do(reviews.find, [world.id], nonsense)
