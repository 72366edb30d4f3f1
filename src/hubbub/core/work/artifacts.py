"""Artifacts: things that agents make and show to each other. Names repeat; a name means its newest artifact.

Where work is done by runs, that is the newest in the run; elsewhere the newest in the project.
"""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.errors import NotFound, existing
from hubbub.model.ids import new_id, parse_id
from hubbub.model.records import Artifact, Run, Task
from hubbub.store import sequence_numbers
from hubbub.store.tx import Tx
from hubbub.store.work import artifacts, tasks

NOUN = "artifact"

# These need no rule of their own, so they are the store's functions.
find_by_number = artifacts.find_by_number
content = artifacts.content
of_run = artifacts.of_run
of_project = artifacts.of_project
number_in_run = artifacts.number_in_run


def post(
    tx: Tx, run: Run, *, by: str, name: str, kind: str, content: str, task: str | None = None
) -> Artifact:
    """Post an artifact to everyone in the run; `task` is its purpose, in its maker's words.

    Records `artifact.posted`, for that task if it belongs to the project.
    """
    artifact = Artifact(
        id=new_id(),
        project_id=run.project_id,
        run_id=run.id,
        number=sequence_numbers.next_number(tx, run.project_id, NOUN),
        name=name,
        kind=kind,
        creator=by,
        task=task,
        length=len(content),
        created_at=tx.now,
    )
    artifacts.insert(tx, artifact, content)
    tx.record(
        "artifact.posted",
        project_id=run.project_id,
        actor=by,
        task_id=_task_of(tx, run.project_id, task) if task else None,
        detail={"artifact_id": str(artifact.id), "name": name, "kind": kind, "length": artifact.length},
    )
    return artifact


def _task_of(tx: Tx, project_id: UUID, ref: str) -> UUID | None:
    """Return the project's task with that id; None for another project's, or for no id."""
    task_id = parse_id(ref)
    task = tasks.find(tx, task_id) if task_id is not None else None
    return task.id if task is not None and task.project_id == project_id else None


def newest(tx: Tx, run: Run, name: str) -> Artifact:
    """Return the newest artifact with that name in the run. Raises `NotFound`."""
    return existing(artifacts.newest(tx, run.id, name), "artifact", name)


def newest_of_project(tx: Tx, project_id: UUID, name: str) -> Artifact:
    """Return the newest artifact of that name in any run. Raises `NotFound`."""
    return existing(artifacts.newest_of_project(tx, project_id, name), "artifact", name)


def find(tx: Tx, project_ids: Sequence[UUID], ref: str) -> Artifact:
    """Return the artifact with that id. Raises `NotFound`, also for one of another project."""
    artifact_id = parse_id(ref)
    artifact = artifacts.find(tx, artifact_id) if artifact_id else None
    if artifact is None or artifact.project_id not in project_ids:
        raise NotFound("artifact", ref)
    return artifact


def of_task(tx: Tx, task: Task) -> list[Artifact]:
    """Return a task's artifacts, oldest first: in any run by its id, in its own by any of its names."""
    names = [str(task.number), f"#{task.number}"]
    names += [task.external_id] if task.external_id is not None else []
    return artifacts.of_task(tx, task.project_id, str(task.id), task.run_id, names)
