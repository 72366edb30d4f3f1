"""Completion reports: an agent's report of finished work is kept whole, and ends its task."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from hubbub.core.actions import task_actions
from hubbub.core.work import completion, permissions, tasks
from hubbub.model.errors import NotFound
from hubbub.model.lifecycle import HELD, Status
from hubbub.model.records import CompletionReport, Task
from hubbub.model.work.permissions import Verb, VerbManner
from hubbub.store.tx import Tx
from hubbub.store.work import completion_reports

# These need no rule of their own, so they are the store's functions.
search = completion_reports.search


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedCompletion:
    """A stored completion, its task as it is now, and whether the task's result had to be cut."""

    completion: CompletionReport
    task: Task | None
    truncated: bool


def latest(tx: Tx, task: Task) -> CompletionReport | None:
    """Return the holder's last report if it was about this task."""
    last = search(tx, [task.project_id], agent=task.assignee, limit=1)
    return last[0] if last and last[0].task_id == task.id else None


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
) -> ReportedCompletion:
    """Store a report of work that `agent` has finished, and complete the task it means.

    `task` is the id of the task, or its text: of the agent's tasks with that text the newest that is begun, else the
    newest. If the task has ended or is still held back, or no task is
    found, only the report is kept. Records `completion.reported`.
    Raises `NotYours` if it is another agent's task.
    """
    meant = _meant(tx, project_id, agent, task)
    account = completion.WorkReport(
        task=task, artifacts=artifacts, score=score, duration_minutes=duration_minutes
    )
    if meant is None or meant.status not in HELD:
        task_id = meant.id if meant is not None else None
        kept = completion.keep(tx, project_id, agent, result, task_id=task_id, account=account)
        return ReportedCompletion(completion=kept, task=meant, truncated=False)
    ended = task_actions.complete(tx, meant, by=agent, result=result, account=account)
    if not ended.is_ended:  # it lacks proof, and waits for a review
        kept = completion.keep(tx, project_id, agent, result, task_id=meant.id, account=account)
        return ReportedCompletion(completion=kept, task=ended, truncated=False)
    said = latest(tx, ended)
    assert said is not None  # its holder has completed it
    return ReportedCompletion(completion=said, task=ended, truncated=(ended.result or "") != result)


def _meant(tx: Tx, project_id: UUID, agent: str, task: str) -> Task | None:
    try:
        named: Task | None = tasks.find(tx, [project_id], task, lock=True, by_number=False)
    except NotFound:
        named = _by_text(tx, project_id, agent, task) or tasks.by_short_id(tx, project_id, task)
    if named is not None:
        permissions.require(tx, named, Verb.COMPLETE, agent, VerbManner.OWN)
    return named


def _by_text(tx: Tx, project_id: UUID, agent: str, text: str) -> Task | None:
    alike = [each for each in tasks.under_way(tx, project_id, agent, HELD) if each.text == text]
    begun = [each for each in alike if each.status is Status.WORKING]
    chosen = begun or alike
    return chosen[-1] if chosen else None
