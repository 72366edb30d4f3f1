"""SQL for artifacts, and for the reviews of them."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.records import Artifact, Review, ReviewVerdict, Run
from hubbub.store import sequence_numbers
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_ARTIFACTS, _REVIEWS = Table("artifacts", Artifact), Table("reviews", Review)


def insert(tx: Tx, artifact: Artifact, content: str) -> Artifact:
    """Add the artifact, and its content beside it."""
    _ARTIFACTS.insert(tx, artifact)
    tx.run(
        "INSERT INTO artifact_contents (artifact_id, content) VALUES (:id, :content)",
        id=artifact.id,
        content=content,
    )
    return artifact


def find(tx: Tx, artifact_id: UUID) -> Artifact | None:
    return _ARTIFACTS.find(tx, id=artifact_id)


def find_by_number(tx: Tx, project_id: UUID, number: int) -> Artifact | None:
    return _ARTIFACTS.find(tx, project_id=project_id, number=number)


def newest(tx: Tx, run_id: UUID, name: str) -> Artifact | None:
    """Return the newest artifact with that name in the run."""
    return _ARTIFACTS.one(
        tx, "WHERE run_id = :run_id AND name = :name ORDER BY number DESC LIMIT 1", run_id=run_id, name=name
    )


def newest_of_project(tx: Tx, project_id: UUID, name: str) -> Artifact | None:
    """Return the newest artifact with that name in the project."""
    return _ARTIFACTS.one(
        tx,
        "WHERE project_id = :project_id AND name = :name ORDER BY number DESC LIMIT 1",
        project_id=project_id,
        name=name,
    )


def of_run(tx: Tx, run: Run) -> list[Artifact]:
    """List the run's artifacts, oldest first."""
    return _ARTIFACTS.all(tx, "WHERE run_id = :run_id ORDER BY number", run_id=run.id)


def of_task(tx: Tx, project_id: UUID, task: str, run_id: UUID | None, names: Sequence[str]) -> list[Artifact]:
    """List the project's artifacts for the task with that id, or the run's for one of these names, oldest first."""
    called = {f"name{number}": name for number, name in enumerate(names)}
    return _ARTIFACTS.all(
        tx,
        f"""WHERE project_id = :project_id AND task IN (:task, {", ".join(f":{name}" for name in called)})
              AND (task = :task OR run_id = :run_id)
            ORDER BY number""",
        project_id=project_id,
        task=task,
        run_id=run_id,
        **called,
    )


def of_project(tx: Tx, project_id: UUID, *, before: int | None = None, limit: int) -> list[Artifact]:
    """List the project's artifacts, newest first, without their contents; `before` is the number to go on from."""
    return _ARTIFACTS.all(
        tx,
        "WHERE project_id = :project_id AND number < :before ORDER BY number DESC LIMIT :limit",
        project_id=project_id,
        before=before or sequence_numbers.LAST,
        limit=limit,
    )


def content(tx: Tx, artifact: Artifact) -> str:
    row = tx.one("SELECT content FROM artifact_contents WHERE artifact_id = :id", id=artifact.id)
    assert row is not None  # it was added together with the artifact
    return str(row["content"])


def number_in_run(tx: Tx, run: Run) -> int:
    return tx.count("FROM artifacts WHERE run_id = :run_id", run_id=run.id)


insert_review = _REVIEWS.insert


def find_review(tx: Tx, review_id: UUID) -> Review | None:
    return _REVIEWS.find(tx, id=review_id)


def submit(tx: Tx, review_id: UUID, verdict: ReviewVerdict, comments: str | None) -> Review | None:
    """Store the verdict; None if there is one already."""
    return _REVIEWS.update(
        tx,
        "SET verdict = :verdict, comments = :comments, submitted_at = :now WHERE id = :id AND verdict IS NULL",
        id=review_id,
        verdict=verdict,
        comments=comments,
        now=tx.now,
    )


def reviews_of_run(tx: Tx, run_id: UUID) -> list[Review]:
    """List the run's reviews, oldest first."""
    return _REVIEWS.all(tx, "WHERE run_id = :run_id ORDER BY id", run_id=run_id)


def reviews_of(tx: Tx, artifact: Artifact) -> list[Review]:
    """List the artifact's reviews, oldest first."""
    return _REVIEWS.all(
        tx, "WHERE run_id = :run_id AND artifact_id = :id ORDER BY id", run_id=artifact.run_id, id=artifact.id
    )


def number_of_reviews_in_run(tx: Tx, run: Run) -> int:
    return tx.count("FROM reviews WHERE run_id = :run_id", run_id=run.id)
