"""`task`: taking work, reporting on it, and ending it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from hubbub.core.actions import task_actions
from hubbub.core.log import activity
from hubbub.core.mail import threads
from hubbub.core.presence import wakes
from hubbub.core.work import dependencies, duplicates, permissions, proof, task_search, tasks
from hubbub.dialects.call import Call
from hubbub.dialects.dialect import Reply
from hubbub.dialects.hub import short_ids, vocabulary
from hubbub.dialects.hub.tool_set import (
    DIALECT,
    NOTHING,
    AlreadyYours,
    HeldByAnother,
    Key,
    Name,
    OwnContext,
    Paths,
    Ref,
    Stuck,
    Text,
    act,
    look,
)
from hubbub.model.errors import Invalid, InvalidTransition, NotHolder, Unavailable
from hubbub.model.lifecycle import HELD, Status
from hubbub.model.people.rights import HUB
from hubbub.model.records import Activity, Task
from hubbub.model.work.permissions import Verb
from hubbub.store.tx import Tx

MOST_SAID = 20  # messages about a task that are shown
MOST_DONE = 50  # activities of a task that are searched for its last progress

Percent = Annotated[int, Field(ge=0, le=100), WithJsonSchema({"type": "integer"})]

Action = Literal[
    "show", "claim", "start", "progress", "block", "submit", "complete", "fail",
    "cancel", "release", "retry", "reassign", "describe", "comment", "approve", "revise",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """The arguments about a task."""

    text: str | None
    proof: str | None
    files: list[str] | None
    to: str | None
    progress: int | None

    def result(self) -> str:
        """Return the result, with its proof."""
        return "\n\n".join(filter(None, [self.text, f"Proof: {self.proof}" if self.proof else None]))

    def need_text(self, what: str) -> str:
        """Return the text. Raises `Invalid` if there is none; `what` says its meaning."""
        if not (self.text or "").strip():
            raise Invalid(f"text is missing: say {what}")
        return self.text or ""


@DIALECT.tool(looks=lambda given: given.get("action") == "show", short=True)
def task(
    tx: Tx,
    call: Call,
    action: Action,
    task: Ref | None = None,
    text: Text | None = None,
    proof: Text | None = None,
    files: Paths | None = None,
    to: Name | None = None,
    progress: Percent | None = None,
    key: Key | None = None,
) -> Reply:
    """Work on a task. claim without a task takes the most urgent free one; of several who claim it one gets it.

    text: the result (complete), the reason (block, fail, cancel), or what you say. proof: what shows that it is done:
    a test run, a commit. submit hands it in; approve or revise is for another. release frees it. to: whom to reassign.
    """
    here = look(tx, call) if action == "show" else act(tx, call)
    said = _Said(text=text, proof=proof, files=files, to=to, progress=progress)
    if task is None and action == "claim":
        return _changed(tx, _claim_next(tx, here), action)
    if task is None:
        raise Invalid("task is missing: give its id, such as T-4")
    found = short_ids.task(tx, here.project.id, task, lock=action != "show")
    if action == "show":
        return _whole(tx, found)
    try:
        changed = _ACTIONS[action](tx, here, found, said)
    except InvalidTransition as error:
        raise Stuck(error, _possible(tx, here, found)) from None
    except NotHolder as error:
        if found.is_ended:
            raise
        raise HeldByAnother(error, _possible(tx, here, found)) from None
    return _changed(tx, changed, "claim" if found.assignee is None and action == "start" else action)


def _possible(tx: Tx, here: OwnContext, task: Task) -> str:
    """Return the actions that the caller may do to the task now, in a sentence."""

    def may(word: str) -> bool:
        return permissions.may(tx, task, Verb(word), here.name)

    words = list(filter(may, vocabulary.possible(task.status)))
    if task.status is Status.IN_REVIEW and task.assignee != here.name and may("approve"):
        words += ["approve", "revise"]
    return ", ".join(words) or NOTHING


def _changed(tx: Tx, task: Task, action: Action) -> Reply:
    """Return the reply to an action. Its text, which may be long, is told only to who takes the task."""
    begins = action in ("claim", "start") and task.status in vocabulary.BEGINNING
    is_taken = begins and action == "claim"
    return vocabulary.known(
        id=short_ids.short(short_ids.TASK, task.number),
        status=vocabulary.STATUS[task.status],
        to=task.assignee,
        title=task.title,
        text=task.text if is_taken else None,
        edited_by=task.edited_by if is_taken else None,
        context=task.context if is_taken else None,
        beside=(duplicates.beside(tx, task) or None) if begins else None,
        done_when=(proof.told(tx, task) or None) if begins else None,
        note=proof.missing(tx, task) if action == "complete" else None,
    )


def _whole(tx: Tx, task: Task) -> Reply:
    needs, rows = dependencies.needs(tx, task), task_search.deliveries(tx, task)
    said = threads.of_task(tx, task, limit=MOST_SAID)
    whole = vocabulary.task_whole(task, needs, rows, wakes.results(tx, rows), said, _percent(tx, task))
    return {"task": {**whole, **vocabulary.known(done_when=proof.told(tx, task) or None)}}


def _percent(tx: Tx, task: Task) -> int | None:
    """Return the holder's last progress in percent; None without one, and for a task that nobody works on."""
    if task.status not in HELD:
        return None
    done = activity.latest(tx, task.project_id, task_id=task.id, limit=MOST_DONE)
    told = (each.detail.get("progress") for each in done if _is_progress(each, task))
    return next((round(each) for each in told if isinstance(each, float | int)), None)


def _is_progress(each: Activity, task: Task) -> bool:
    is_of_this_try = task.accepted_at is None or each.at >= task.accepted_at
    return each.kind == "task.progress" and each.actor == task.assignee and is_of_this_try


def _claim_next(tx: Tx, here: OwnContext) -> Task:
    _require_agent(here)
    free = tasks.next_free(tx, here.project.id)
    if free is None:
        raise Unavailable("none is free just now; inbox with wait sleeps until something comes")
    return task_actions.accept(tx, free, here.name)


def _require_agent(here: OwnContext) -> None:
    """Raise `Unavailable` for a person, who takes no free task."""
    if here.name == HUB:
        raise Unavailable("only an agent works on one; reassign it to an agent, or join by an agent's name")


def _claim(tx: Tx, here: OwnContext, task: Task, _said: _Said) -> Task:
    if task.assignee is None:
        _require_agent(here)
    if task.assignee == here.name and task.status in HELD - {Status.DELIVERED}:
        raise AlreadyYours(f"you hold it already, and it is {task.status}; start, progress or complete it")
    return task_actions.accept(tx, task, here.name)


def _start(tx: Tx, here: OwnContext, task: Task, _said: _Said) -> Task:
    return task_actions.start(tx, task, here.name)


def _progress(tx: Tx, here: OwnContext, task: Task, said: _Said) -> Task:
    if said.progress is None and said.text is None:
        raise Invalid("progress is missing: say how far you are in percent, or in words as text")
    percent = float(said.progress) if said.progress is not None else None
    return task_actions.progress(tx, task, here.name, output=said.text, progress=percent, note=said.text)


def _block(tx: Tx, here: OwnContext, task: Task, said: _Said) -> Task:
    return task_actions.block(tx, task, by=here.name, reason=said.need_text("what it waits for"), leased=True)


def _submit(tx: Tx, here: OwnContext, task: Task, said: _Said) -> Task:
    return task_actions.submit(tx, task, by=here.name, result=said.result())


def _complete(tx: Tx, here: OwnContext, task: Task, said: _Said) -> Task:
    said.need_text("what came of it")
    return task_actions.complete(tx, task, by=here.name, result=said.result(), files=said.files)


def _fail(tx: Tx, here: OwnContext, task: Task, said: _Said) -> Task:
    return task_actions.fail(tx, task, by=here.name, reason=said.need_text("why it cannot be done"))


def _cancel(tx: Tx, here: OwnContext, task: Task, said: _Said) -> Task:
    return task_actions.cancel(tx, task, by=here.name, reason=said.text)


def _release(tx: Tx, here: OwnContext, task: Task, said: _Said) -> Task:
    return task_actions.release(tx, task, by=here.name, reason=said.text or f"released by {here.name}")


def _retry(tx: Tx, here: OwnContext, task: Task, _said: _Said) -> Task:
    return task_actions.retry(tx, task, by=here.name)


def _reassign(tx: Tx, here: OwnContext, task: Task, said: _Said) -> Task:
    if said.to is None:
        raise Invalid("to is missing: say who gets it")
    return task_actions.reassign(tx, task, to=said.to, by=here.name, reason=said.text)


def _describe(tx: Tx, here: OwnContext, task: Task, said: _Said) -> Task:
    return task_actions.describe(tx, task, said.need_text("what is to be done"), by=here.name)


def _comment(tx: Tx, here: OwnContext, task: Task, said: _Said) -> Task:
    task_actions.comment(tx, task, said.need_text("what there is to say"), by=here.name)
    return task


def _approve(tx: Tx, here: OwnContext, task: Task, said: _Said) -> Task:
    return task_actions.approve(tx, task, by=here.name, comment=said.text)


def _revise(tx: Tx, here: OwnContext, task: Task, said: _Said) -> Task:
    return task_actions.request_changes(tx, task, by=here.name, comment=said.need_text("what to change"))


_ACTIONS: Mapping[str, Callable[[Tx, OwnContext, Task, _Said], Task]] = {
    "claim": _claim, "start": _start, "progress": _progress, "block": _block, "submit": _submit,
    "complete": _complete, "fail": _fail, "cancel": _cancel, "release": _release, "retry": _retry,
    "reassign": _reassign, "describe": _describe, "comment": _comment, "approve": _approve, "revise": _revise,
}  # fmt: skip
