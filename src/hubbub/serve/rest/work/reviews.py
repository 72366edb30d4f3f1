"""Reviews: an agent is asked to look at an artifact, and gives one verdict."""

from http import HTTPStatus

from pydantic import Field

from hubbub.core.log.idempotency import Reply
from hubbub.core.people import access
from hubbub.core.work import artifacts, reviews
from hubbub.model.people.rights import Right
from hubbub.model.records import Review, ReviewVerdict
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Body, LongText, Model, Name, ReviewShape
from hubbub.serve.rest.work.runs import named
from hubbub.store.tx import Tx

router = Router("reviews")


class Reviews(Model):
    reviews: list[ReviewShape]


class OneReview(Model):
    review: ReviewShape


class NewReview(Body):
    artifact: Name = Field(description="the id of the artifact")
    reviewer: Name
    by: Name | None = None


class Judgement(Body):
    verdict: ReviewVerdict
    comments: LongText | None = None
    by: Name | None = None


@router.get("/reviews")
async def list_reviews(call: Call, run: str | None = None) -> Reviews:
    """List the reviews of the run of that name, or else of the current one, oldest first."""

    def look(tx: Tx) -> list[Review]:
        return reviews.of_run(tx, named(tx, call.enter(tx, Right.READ), run))

    return Reviews(reviews=[ReviewShape.of(review) for review in await call.read(look)])


@router.post("/reviews", status_code=HTTPStatus.CREATED, response_model=OneReview)
async def request_review(call: Call, body: NewReview) -> Reply:
    """Ask an agent by a message to review an artifact."""

    def request(tx: Tx) -> OneReview:
        project = call.enter(tx)
        review = reviews.request(
            tx,
            artifacts.find(tx, [project.id], body.artifact),
            by=access.speak(tx, project.id, body.by),
            reviewer=body.reviewer,
        )
        return OneReview(review=ReviewShape.of(review))

    return await call.create(request)


@router.post("/reviews/{review_id}", response_model=OneReview)
async def submit_review(call: Call, review_id: str, body: Judgement) -> Reply:
    """Submit the verdict on an artifact; only the asked reviewer may, and only once."""

    def submit(tx: Tx) -> OneReview:
        project = call.enter(tx)
        given = reviews.submit(
            tx,
            reviews.find(tx, [project.id], review_id),
            body.verdict,
            by=access.speak(tx, project.id, body.by),
            comments=body.comments,
        )
        return OneReview(review=ReviewShape.of(given))

    return await call.create(submit)
