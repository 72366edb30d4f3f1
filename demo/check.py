"""The check that nothing was lost, done twice, or left open.

Three witnesses are compared: the hub (its tasks, its completions, its log), the ledger that those who work wrote
themselves, and the commander and the planner, who know what they were promised and what they were told.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from demo.jobs.desk import numbered
from demo.ledger import Execution, digest
from demo.orders import Letter
from demo.planner import Note
from hubbub.client import ActivityReply, TaskReply

DONE = "completed"
ENDS = ("task.completed", "task.failed")


class PartOfTask(TaskReply):
    """A task that may be a part of another."""

    parent_id: str | None


@dataclass(frozen=True, kw_only=True)
class Books:
    """The records of the three witnesses at the end."""

    tasks: Sequence[PartOfTask]
    completions: Sequence[Mapping[str, Any]]
    activities: Sequence[ActivityReply]
    followed: Sequence[ActivityReply]  # the log as it came live
    executions: Sequence[Execution]
    commander: str
    planner: str
    team: Collection[str]  # who works through Relay, where a result is the task's own and no completion
    promised: Sequence[str]
    letters: Sequence[Letter]  # to the commander
    notes: Sequence[Note]  # to the planner
    unread: Mapping[str, int] = field(default_factory=dict)  # by agent
    exits: Mapping[str, int] = field(default_factory=dict)  # how processes ended that were asked to

    def runs(self, task: PartOfTask) -> list[Execution]:
        return [each for each in self.executions if each.task == task["id"]]

    def happened(self, task: PartOfTask, *kinds: str) -> list[ActivityReply]:
        return [each for each in self.activities if each["task_id"] == task["id"] and each["kind"] in kinds]


def complaints(books: Books) -> list[str]:
    """A sentence for everything that is wrong; none, if all is well."""
    return [*lost(books), *doubled(books), *out_of_order(books), *left_open(books)]


def lost(books: Books) -> Iterator[str]:
    """Tasks that were promised and are not there, work without its answer, answers without their work."""
    known = {task["id"] for task in books.tasks}
    for task_id in {*books.promised, *(run.task for run in books.executions)} - known:
        yield f"lost: the hub does not know the task {task_id} any more"
    for task in books.tasks:
        if task["status"] == DONE:
            yield from _answers_lost(books, task)
    live, log = ([each["id"] for each in source] for source in (books.followed, books.activities))
    if live != log:
        yield "lost: what was followed live is not what the log says"


def _answers_lost(books: Books, task: PartOfTask) -> Iterator[str]:
    done = [run for run in books.runs(task) if run.is_done]
    if not done:
        yield f"lost: {_label(task)} is {DONE}, and no command has done it"
        return
    printed = done[-1].digest
    if printed not in [digest(result) for result in _kept(books, task)]:
        yield f"lost: what was printed for {_label(task)} is not what the hub has"
    noted = [digest(content) for content in _noted(books, task)]
    if task["sender"] == books.planner and printed not in noted:
        yield f"lost: the result of {_label(task)} never came to the {books.planner}"
    for subject in _subjects(books, task):
        if not [letter for letter in books.letters if _answers(letter, subject, task["id"], printed)]:
            yield f"lost: the answer to {_label(task)} never came to the {books.commander}"


def doubled(books: Books) -> Iterator[str]:
    """Work that was done, begun, kept or told more often than the log says."""
    for task in books.tasks:
        runs, done = books.runs(task), [run for run in books.runs(task) if run.is_done]
        if len(done) > 1:
            yield f"done twice: {_label(task)} was done {len(done)} times"
        for attempt, count in Counter(run.attempt for run in runs).items():
            if count > 1:
                yield f"done twice: attempt {attempt} of {_label(task)} was run {count} times"
        started = {each["detail"]["attempt"] for each in books.happened(task, "task.started")}
        for run in runs:
            if run.attempt not in started:
                yield f"done silently: the log knows nothing of attempt {run.attempt} of {_label(task)}"
        kept = _kept(books, task)
        if len(kept) > 1:
            yield f"done twice: the hub has {len(kept)} completions of {_label(task)}"
        if len(noted := _noted(books, task)) > 1:
            yield f"done twice: the {books.planner} got {len(noted)} results of {_label(task)}"
    expected = expected_letters(books)
    if len(books.letters) != expected:
        yield f"the {books.commander} got {len(books.letters)} letters, and should have got {expected}"


def out_of_order(books: Books) -> Iterator[str]:
    """Tasks that were begun before what they need was done."""
    by_id = {task["id"]: task for task in books.tasks}
    for task in books.tasks:
        begun = min((each["id"] for each in books.happened(task, "task.started")), default=None)
        for need in (by_id[task_id] for task_id in task["depends_on"]):
            done = [each["id"] for each in books.happened(need, "task.completed")]
            if begun is not None and not any(each < begun for each in done):
                yield f"out of order: {_label(task)} was begun before {_label(need)} was done"


def left_open(books: Books) -> Iterator[str]:
    """Unfinished tasks, commands that never ended, reviews not given, letters not read, processes that fell over."""
    for task in books.tasks:
        if task["status"] != DONE:
            yield f"left open: {_label(task)} is {task['status']}"
        given_up = {each["detail"]["attempt"] - 1 for each in books.happened(task, "task.released")}
        for run in books.runs(task):
            if run.ended_at is None and run.attempt not in given_up:
                yield f"left open: attempt {run.attempt} of {_label(task)} never ended"
    asked, given = (
        [each["detail"]["review_id"] for each in books.activities if each["kind"] == kind]
        for kind in ("review.requested", "review.submitted")
    )
    if sorted(asked) != sorted(given):
        yield f"left open: of {numbered(len(asked), 'review')} asked for, {len(given)} given"
    for agent, count in books.unread.items():
        if count:
            yield f"left open: {count} letters to {agent} are unread"
    for name, code in books.exits.items():
        if code:
            yield f"left open: the {name} was asked to end, and ended with exit code {code}"


def expected_letters(books: Books) -> int:
    """Return the number of letters due to the commander: at each end of a task, one for each subject that it sent."""
    ends = [each["task_id"] for each in books.activities if each["kind"] in ENDS]
    return sum(len(_subjects(books, task)) * ends.count(task["id"]) for task in books.tasks)


def _subjects(books: Books, task: PartOfTask) -> list[str]:
    """Return the subjects of the commander's letter when this task ends: the task and its parent, if it sent them."""
    by_id = {each["id"]: each for each in books.tasks}
    line, parent = [task], task["parent_id"]
    while parent in by_id:
        line.append(by_id[parent])
        parent = by_id[parent]["parent_id"]
    return [each["id"] for each in line if each["sender"] == books.commander]


def _kept(books: Books, task: PartOfTask) -> list[str]:
    """Return the copies of a task's result in the hub."""
    if task["assignee"] in books.team:
        return [task["result"] or ""]
    return [each["result"] for each in books.completions if each["task_id"] == task["id"]]


def _noted(books: Books, task: PartOfTask) -> list[str]:
    """Return the planner's messages in the thread of a task."""
    return [note["content"] for note in books.notes if note["thread_id"] == task["id"]]


def _answers(letter: Letter, subject: str, ended: str, printed: str | None) -> bool:
    status = "status" if subject == ended else f"child_task_id: {ended}, child_status"
    is_about_it = letter["context"] == f"in_reply_to: {subject}, {status}: replied"
    return is_about_it and digest(letter["content"]) == printed


def _label(task: PartOfTask) -> str:
    return f"T-{task['number']} {task['title']!r}"
