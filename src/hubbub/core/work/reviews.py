"""Reviews: an agent is asked to look at an artifact, and gives one verdict."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.core.mail import messages
from hubbub.model.errors import Conflict, NotFound, NotReviewer
from hubbub.model.ids import new_id, parse_id
from hubbub.model.records import Artifact, Review, ReviewVerdict, Run
from hubbub.store.tx import Tx
from hubbub.store.work import artifacts

# These need no rule of their own, so they are the store's functions.
of_artifact = artifacts.reviews_of
number_in_run = artifacts.number_of_reviews_in_run


def request(tx: Tx, artifact: Artifact, *, by: str, reviewer: str, awaited: bool = False) -> Review:
    """Ask the reviewer by a message. Records `review.requested`.

    Raises `UnknownAgent`, unless the reviewer is `awaited`.
    """
    review = artifacts.insert_review(
        tx,
        Review(
            id=new_id(),
            project_id=artifact.project_id,
            run_id=artifact.run_id,
            artifact_id=artifact.id,
            requester=by,
            reviewer=reviewer,
            verdict=None,
            comments=None,
            created_at=tx.now,
            submitted_at=None,
        ),
    )
    asks = f"Please review the artifact {artifact.name!r} (artifact {artifact.id}, review {review.id})."
    _tell(tx, review, sender=by, to=reviewer, text=asks, awaited=awaited)
    _record(tx, "review.requested", review, actor=by, agent=reviewer)
    return review


def find(tx: Tx, project_ids: Sequence[UUID], ref: str) -> Review:
    """Return the review of that id. Raises `NotFound`, also for one of another project."""
    review_id = parse_id(ref)
    review = artifacts.find_review(tx, review_id) if review_id else None
    if review is None or review.project_id not in project_ids:
        raise NotFound("review", ref)
    return review


def submit(tx: Tx, review: Review, verdict: ReviewVerdict, *, by: str, comments: str | None) -> Review:
    """Give the verdict and tell the requester by a message. Records `review.submitted`.

    Raises `NotReviewer` unless `by` was asked, and `Conflict` if there is a verdict already.
    """
    if by != review.reviewer:
        raise NotReviewer(review.reviewer)
    given = artifacts.submit(tx, review.id, verdict, comments)
    if given is None:
        raise Conflict("the review was submitted already")
    if review.requester != by:
        artifact = artifacts.find(tx, review.artifact_id)
        assert artifact is not None  # a reviewed artifact is never deleted
        says = f"Review of the artifact {artifact.name!r}: {verdict.replace('_', ' ')}."
        text = f"{says}\n\n{comments}" if comments else says
        _tell(tx, given, sender=by, to=review.requester, text=text)
    _record(tx, "review.submitted", given, actor=by, agent=review.requester)
    return given


def of_run(tx: Tx, run: Run) -> list[Review]:
    """The run's reviews, oldest first."""
    return artifacts.reviews_of_run(tx, run.id)


def _tell(tx: Tx, review: Review, *, sender: str, to: str, text: str, awaited: bool = False) -> None:
    thread = messages.Thread(run_id=review.run_id, name=str(review.id))
    messages.send(tx, review.project_id, sender=sender, to=to, body=text, thread=thread, awaited=awaited)


def _record(tx: Tx, kind: str, review: Review, *, actor: str, agent: str) -> None:
    tx.record(
        kind,
        project_id=review.project_id,
        actor=actor,
        agent=agent,
        detail={
            "review_id": str(review.id),
            "artifact_id": str(review.artifact_id),
            "reviewer": review.reviewer,
            "verdict": review.verdict,
        },
    )
