"""Completions: what an agent says it has done, kept whole, and the task it ends."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from hubbub.core import endings, tasks
from hubbub.model.errors import NotFound, NotHolder
from hubbub.model.ids import new_id
from hubbub.model.lifecycle import HELD, Event, Status
from hubbub.model.records import Completion, Task
from hubbub.store import completions
from hubbub.store.tx import Tx

RESULT_LENGTH = 4_000  # of a result's characters, so many go to the task; all of them to the completion

# Nothing to decide: the store's own.
search = completions.search


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A kept completion, the task it was about as it is now, and whether the task's result had to be cut."""

    completion: Completion
    task: Task | None
    truncated: bool


def report(
    tx: Tx,
    project_id: UUID,
    agent: str,
    *,
    task: str,
    result: str,
    artifacts: Sequence[str] | None = None,
    score: float | None = None,
    duration_minutes: float | None = None,
) -> Outcome:
    """Keep what `agent` has done, and complete the task it means.

    `task` is the id of the task, else its text: then the one under way with that text, else the newest. One that has
    ended, or that nobody sent, is left alone, and the completion is kept all the same. Records `completion.reported`.
    Raises `NotHolder` if it is another agent's task.
    """
    meant = _meant(tx, project_id, agent, task)
    completion = completions.insert(
        tx,
        Completion(
            id=new_id(),
            project_id=project_id,
            agent=agent,
            task=task,
            task_id=meant.id if meant else None,
            result=result,
            artifacts=json.dumps(list(artifacts), ensure_ascii=False) if artifacts is not None else None,
            score=score,
            duration_minutes=duration_minutes,
            completed_at=tx.now,
        ),
    )
    tx.record(
        "completion.reported",
        project_id=project_id,
        actor=agent,
        agent=agent,
        task_id=completion.task_id,
        detail={"completion_id": str(completion.id)},
    )
    if meant is None or meant.is_ended:
        return Outcome(completion=completion, task=meant, truncated=False)
    kept = result[:RESULT_LENGTH]
    ended = endings.finish(tx, meant, Event.COMPLETE, by=agent, text=result, result=kept)
    return Outcome(completion=completion, task=ended, truncated=kept != result)


def _meant(tx: Tx, project_id: UUID, agent: str, task: str) -> Task | None:
    try:
        named = tasks.find(tx, [project_id], task, lock=True, by_number=False)
    except NotFound:
        return _by_text(tx, project_id, agent, task)
    if named.assignee != agent:
        raise NotHolder(named.assignee)
    return named


def _by_text(tx: Tx, project_id: UUID, agent: str, text: str) -> Task | None:
    alike = [each for each in tasks.under_way(tx, project_id, agent, HELD) if each.text == text]
    begun = [each for each in alike if each.status is Status.WORKING]
    chosen = begun or alike
    return chosen[-1] if chosen else None
