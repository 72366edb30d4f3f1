"""Ends of tasks, and the replies about them: to the sender, the ancestors' senders, and all who waited."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from hubbub.core.log import outbox
from hubbub.core.mail import deadletters, messages
from hubbub.core.work import completion_checks, dependencies, proof, proof_statement, tasks
from hubbub.model.ids import new_id
from hubbub.model.lifecycle import Event
from hubbub.model.people.rights import HUB
from hubbub.model.records import CHILD, CompletionReport, LetterKind, Task
from hubbub.store.tx import Tx
from hubbub.store.work import completion_reports
from hubbub.store.work import tasks as task_rows

RESULT_LENGTH = 4_000  # characters of a result that the task keeps; the completion report keeps all
CHAIN_LENGTH = 5  # number of ancestors that hear of a task's end


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkReport:
    """An agent's further report on its work; `task` is its own name for the task, by default the task's id."""

    task: str | None = None
    artifacts: Sequence[str] | None = None
    score: float | None = None
    duration_minutes: float | None = None


EMPTY_REPORT = WorkReport()


def end(
    tx: Tx,
    task: Task,
    event: Event,
    *,
    by: str,
    text: str,
    result: str | None,
    told: str | None = None,
    files: Sequence[str] | None = None,
    account: WorkReport = EMPTY_REPORT,
) -> Task:
    """End a task by `COMPLETE`, `FAIL`, `CANCEL` or `EXPIRE`, and tell everyone who waits for it.

    Its sender gets `text` as a reply, unless they end it or were `told` already; the senders of its ancestors get it as
    a chained reply. The issue of a completed task gets it as a comment, from the outbox. The task keeps the beginning
    of `result`, and the changed `files`; the holder's own words are kept whole, with an `account` of the work. Records
    `task.completed` and so on. Raises `InvalidTransition` if it has ended, `BeingChecked` if it is to be completed
    during a check, `Lacking` without the demanded proof.
    """
    if event is Event.COMPLETE:
        completion_checks.require_none(tx, task)
        proof.settle(tx, task, by=by)
        if by == task.assignee:
            keep(tx, task.project_id, by, result or "", task_id=task.id, account=account)
    changes: dict[str, object] = {"result": result and result[:RESULT_LENGTH], "leased": 0}
    if files is not None:
        changes["files"] = json.dumps(files, ensure_ascii=False)
    said = text if event is not Event.COMPLETE else None
    ended = tasks.step(tx, task, event, changes=changes, actor=by, said=said)
    if (
        event is Event.COMPLETE
    ):  # before any mail: a transaction that ends one of the others takes its lock first, too
        proof_statement.prepare(tx, ended)
        dependencies.release(tx, ended, by=by)
        outbox.put_comment(tx, ended, text, by=by)
    if event in (Event.COMPLETE, Event.FAIL):
        tasks.acknowledge(tx, ended)
    else:
        tasks.withdraw(tx, ended)
    if ended.sender not in (by, told):
        _reply(tx, ended, about=ended, text=text, by=by)
    _chain(tx, ended, text, by)
    return ended


def expire(tx: Tx, task: Task) -> None:
    """Expire a task that nobody began in time, and tell all who wait for it. Records `task.expired`."""
    given_at = task.delivered_at or task.created_at
    seconds = ((task.expires_at or tx.now) - given_at) // 1000
    text = f"expired: nobody began it within {seconds} s"
    ended = end(tx, task, Event.EXPIRE, by=HUB, text=text, result=None)
    deadletters.expired(tx, ended)


def keep(
    tx: Tx,
    project_id: UUID,
    agent: str,
    result: str,
    *,
    task_id: UUID | None,
    account: WorkReport = EMPTY_REPORT,
) -> CompletionReport:
    """Store an agent's report of finished work. Records `completion.reported`."""
    made = account.artifacts
    completion = completion_reports.insert(
        tx,
        CompletionReport(
            id=new_id(),
            project_id=project_id,
            agent=agent,
            task=account.task or str(task_id),
            task_id=task_id,
            result=result,
            artifacts=_as_json(made) if made is not None else None,
            score=account.score,
            duration_minutes=account.duration_minutes,
            completed_at=tx.now,
        ),
    )
    tx.record(
        "completion.reported",
        project_id=project_id,
        actor=agent,
        agent=agent,
        task_id=task_id,
        detail={"completion_id": str(completion.id)},
    )
    return completion


def _as_json(texts: Sequence[str]) -> str:
    """Return a JSON array without blanks, as JavaScript writes it: some readers compare the text."""
    return json.dumps(list(texts), ensure_ascii=False, separators=(",", ":"))


def _reply(tx: Tx, ended: Task, *, about: Task, text: str, by: str) -> None:
    """Tell the sender of a task, `about` that one, that a task has ended: itself, or one derived from it."""
    messages.send(
        tx,
        ended.project_id,
        sender=by,
        to=about.sender,
        addressee=about.author,
        body=text,
        kind=LetterKind.REPLY,
        in_reply_to=about.id,
        outcome=ended.status,
        thread=messages.Thread(
            run_id=ended.run_id, metadata={CHILD: str(ended.id)} if about.id != ended.id else None
        ),
    )


def _chain(tx: Tx, ended: Task, text: str, by: str) -> None:
    """Tell the senders of the task's ancestors that it has ended; the ancestors themselves stay as they are."""
    parent_id = ended.parent_id
    for _ in range(CHAIN_LENGTH):
        parent = task_rows.find(tx, parent_id) if parent_id else None
        if parent is None:
            return
        parent_id = parent.parent_id
        if parent.sender == by:
            continue
        _reply(tx, ended, about=parent, text=text, by=by)
        tx.record(
            "task.chained",
            project_id=ended.project_id,
            actor=by,
            agent=parent.sender,
            task_id=parent.id,
            detail={
                "addressee": parent.author,
                "child_id": str(ended.id),
                "child_assignee": ended.assignee,
                "child_status": ended.status,
            },
        )
