"""The tools for showing artifacts, and for reviewing them."""

from typing import Annotated, Literal

from pydantic import Field

from hubbub.core.work import artifacts, reviews
from hubbub.dialects.call import Call
from hubbub.dialects.dialect import Reply
from hubbub.dialects.relay import vocabulary
from hubbub.dialects.relay.tool_set import (
    DIALECT,
    Id,
    Name,
    OptionalId,
    RelayContext,
    addressee,
    enter,
    no,
    require_room,
)
from hubbub.model.errors import Conflict, NotFound
from hubbub.model.people.rights import Right
from hubbub.model.records import Artifact, Review, ReviewVerdict
from hubbub.store.tx import Tx

Title = Annotated[str, Field(min_length=1, max_length=256)]


@DIALECT.tool()
def post_artifact(
    tx: Tx,
    call: Call,
    agent_id: Name,
    name: Title,
    type: Literal["figma_spec", "pr", "report", "analytics_plan", "design", "document"],  # noqa: A002
    content: Annotated[str, Field(max_length=524_288)],
    task_id: OptionalId = None,
) -> Reply:
    """Share a deliverable. The newest of a name is the one that others get."""
    here = enter(tx, call, agent_id)
    if call.site.caps.artifacts is not None:
        require_room(artifacts.number_in_run(tx, here.run), call.site.caps.artifacts, "artifacts")
    posted = artifacts.post(tx, here.run, by=here.name, name=name, kind=type, content=content, task=task_id)
    return {"artifact_id": str(posted.id)}


@DIALECT.tool({NotFound: lambda e: no(f"{e.kind} not found", artifact=None)}, reads=True)
def get_artifact(tx: Tx, call: Call, agent_id: Name, name: Title) -> Reply:
    """Retrieve the newest artifact of that name."""
    here = enter(tx, call, agent_id, Right.READ)
    artifact = artifacts.newest(tx, here.run, name)
    content = artifacts.content(tx, artifact)
    return {"artifact": {**vocabulary.artifact_row(artifact, here.run), "content": content}}


@DIALECT.tool()
def request_review(tx: Tx, call: Call, agent_id: Name, artifact_id: Id, reviewer: Name) -> Reply:
    """Ask an agent to review an artifact; a message tells it so."""
    here = enter(tx, call, agent_id)
    name = addressee(tx, here.project, "reviewer", reviewer)
    artifact = _artifact(tx, here, artifact_id)
    if call.site.caps.reviews is not None:
        require_room(reviews.number_in_run(tx, here.run), call.site.caps.reviews, "reviews")
    review = reviews.request(tx, artifact, by=here.name, reviewer=name, awaited=True)
    return {"review_id": str(review.id)}


@DIALECT.tool({Conflict: lambda _e: no("review already submitted")})
def submit_review(
    tx: Tx,
    call: Call,
    agent_id: Name,
    review_id: Id,
    status: Literal["approved", "changes_requested"],
    comments: Annotated[str, Field(max_length=16_384)] | None = None,
) -> Reply:
    """Submit your review of an artifact: only who was asked may, and only once."""
    here = enter(tx, call, agent_id)
    review = _review(tx, here, review_id)
    given = reviews.submit(tx, review, ReviewVerdict(status), by=here.name, comments=comments)
    return {
        "review": {
            "id": str(given.id),
            "status": given.verdict,
            "reviewer": given.reviewer,
            "comments": given.comments,
        }
    }


def _artifact(tx: Tx, here: RelayContext, ref: str) -> Artifact:
    artifact = artifacts.find(tx, [here.project.id], ref)
    if artifact.run_id != here.run.id:
        raise NotFound("artifact", ref)
    return artifact


def _review(tx: Tx, here: RelayContext, ref: str) -> Review:
    review = reviews.find(tx, [here.project.id], ref)
    if review.run_id != here.run.id:
        raise NotFound("review", ref)
    return review
