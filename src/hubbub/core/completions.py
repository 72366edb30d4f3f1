"""Completions: what an agent says it has done, kept whole, and the task it ends."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from hubbub.core import endings, parts, tasks, verbs
from hubbub.model.errors import NotFound
from hubbub.model.ids import new_id
from hubbub.model.lifecycle import HELD, Event, Status, advance
from hubbub.model.parts import Manner, Verb
from hubbub.model.records import Completion, Task
from hubbub.store import completions
from hubbub.store.tx import Tx

# Nothing to decide: the store's own.
search = completions.search


RESULT_LENGTH = endings.RESULT_LENGTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A kept completion, the task it was about as it is now, and whether the task's result had to be cut."""

    completion: Completion
    task: Task | None
    truncated: bool


def complete(tx: Tx, task: Task, *, by: str, result: str) -> tuple[Task, Completion | None]:
    """Complete a task, and keep whole what its holder says; what others say of it is no completion.

    Raises what `verbs.complete` does.
    """
    if by == task.assignee:
        advance(task.status, Event.COMPLETE)
        outcome = report(tx, task.project_id, by, task=str(task.id), result=result)
        return outcome.task or task, outcome.completion
    kept = result[: endings.RESULT_LENGTH]
    return verbs.complete(tx, task, by=by, result=result, kept=kept), None


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
    kept = result[: endings.RESULT_LENGTH]
    ended = verbs.complete(tx, meant, by=agent, result=result, kept=kept)
    return Outcome(completion=completion, task=ended, truncated=kept != result)


def _meant(tx: Tx, project_id: UUID, agent: str, task: str) -> Task | None:
    try:
        named = tasks.find(tx, [project_id], task, lock=True, by_number=False)
    except NotFound:
        return _by_text(tx, project_id, agent, task)
    parts.require(tx, named, Verb.COMPLETE, agent, Manner.OWN)
    return named


def _by_text(tx: Tx, project_id: UUID, agent: str, text: str) -> Task | None:
    alike = [each for each in tasks.under_way(tx, project_id, agent, HELD) if each.text == text]
    begun = [each for each in alike if each.status is Status.WORKING]
    chosen = begun or alike
    return chosen[-1] if chosen else None
