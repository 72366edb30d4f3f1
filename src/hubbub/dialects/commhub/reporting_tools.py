"""The tools for an agent's reports on itself and its mail."""

from contextlib import suppress
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from hubbub.core.actions import completion_reports, inbox, task_actions
from hubbub.core.agents import agents
from hubbub.core.people import access
from hubbub.core.presence import presences
from hubbub.core.work import proof, tasks
from hubbub.dialects.commhub import vocabulary
from hubbub.dialects.commhub.tool_set import (
    DIALECT,
    WHOLE,
    LongText,
    Minutes,
    Name,
    OptionalId,
    Score,
    Text,
    no,
)
from hubbub.dialects.dialect import Reply
from hubbub.model.errors import HubError, MayNotBegin, NotFound, Unmet
from hubbub.model.lifecycle import ENDED, HELD, Status
from hubbub.model.records import Condition, Profile, Project, ReportedNode, Task
from hubbub.store.tx import Tx

HEARTBEAT_TTL = timedelta(minutes=10)
MOST_NAMED = 5  # tasks in a sentence
OUTPUT_LENGTH = 4_000  # characters of an agent's output that are kept


class NetworkTokenRequired(HubError):
    """A heartbeat came with a person's token, which belongs to no single network."""

    code = "network_token_required"


@DIALECT.tool(short=True)
def report_status(
    tx: Tx,
    resume_id: Name,
    alias: Name,
    status: Literal["working", "idle", "blocked", "error", "waiting_input", "offline"],
    task: Text | None = None,
    output: LongText | None = None,
    score: Score | None = None,
    progress: Annotated[float, Field(ge=0, le=100)] | None = None,
    server: str | None = None,
    hostname: str | None = None,
    agent: str | None = None,
    project_dir: str | None = None,
    version: str | None = None,
    tmux_name: str | None = None,
    node_id: str | None = None,
    session_id: str | None = None,
    config_path: str | None = None,
    channels: str | None = None,
    model: str | None = None,
    node_name: str | None = None,
    network_id: OptionalId = None,
) -> Reply:
    """Report agent status. Also serves as a heartbeat (recommended every 3 minutes)."""
    if tx.actor.is_person:
        raise NetworkTokenRequired("a heartbeat needs a token of a network (ntok_)")
    project = access.enter(tx, network_id)
    name = access.speak(tx, project.id, alias)
    profile = Profile(
        doing=task, output=output and output[:OUTPUT_LENGTH], score=score, progress=progress, server=server,
        hostname=hostname, runtime=agent, workdir=project_dir, version=version, terminal=tmux_name, node=node_id,
        thread=session_id, config_path=config_path, channels=channels, model=model,
    )  # fmt: skip
    condition = vocabulary.CONDITIONS[status]
    presences.report(
        tx, project.id, name, instance=resume_id, condition=condition, profile=profile, ttl=HEARTBEAT_TTL
    )
    if node_id:
        runtime = agent and agent.rpartition(":")[2]
        node = ReportedNode(
            project_id=project.id, key=node_id, name=node_name, model=model, runtime=runtime, seen_at=tx.now
        )
        agents.describe_node(tx, node)
    if task and condition is Condition.WORKING:
        _begin(tx, project, name, task)
    return {"resume_id": resume_id, "alias": name, "inbox_count": inbox.pending(tx, project.id, name)}


def _begin(tx: Tx, project: Project, name: str, words_of_task: str) -> None:
    """Start the task that a working agent names by its id or its text; nothing if there is none it could start."""
    if (task := _startable(tx, project, name, words_of_task)) is not None:
        with suppress(Unmet, MayNotBegin):  # it is a heartbeat all the same
            task_actions.start(tx, task, name, is_read=False)


def _startable(tx: Tx, project: Project, name: str, words: str) -> Task | None:
    ready, unhanded = (Status.DELIVERED, Status.ACCEPTED), HELD - {Status.IN_REVIEW}
    try:
        task: Task | None = tasks.find(tx, [project.id], words, lock=True, by_number=False)
    except NotFound:
        alike = [each for each in tasks.under_way(tx, project.id, name, unhanded) if each.text == words]
        if alike:  # a heartbeat that says it again starts no other one
            return alike[0] if all(each.status in ready for each in alike) else None
        task = tasks.by_short_id(tx, project.id, words)
    if task is None:
        return None
    may = task.status in ready if task.assignee == name else task.assignee is None and not task.is_ended
    return task if may else None


@DIALECT.tool(short=True)
def report_completion(
    tx: Tx,
    alias: Name,
    task: str,
    result: LongText,
    artifacts: Annotated[list[str], Field(max_length=50)] | None = None,
    score: Score | None = None,
    duration_minutes: Minutes | None = None,
    network_id: OptionalId = None,
) -> Reply:
    """Report task completion. Automatically updates session status to idle."""
    project = access.enter(tx, network_id)
    name = access.speak(tx, project.id, alias)
    outcome = completion_reports.report(
        tx, project.id, name,
        task=task, result=result, artifacts=artifacts, score=score, duration_minutes=duration_minutes,
    )  # fmt: skip
    presences.rest(tx, project.id, name)
    cut = {"truncated": True} if outcome.truncated else {}
    undone = _undone(tx, outcome.task) if outcome.task is not None else _unmatched(tx, project, name)
    about = {"message": undone} if undone is not None else {}
    return {"completion_id": str(outcome.completion.id), **cut, **about}


def _undone(tx: Tx, task: Task) -> str | None:
    """Return why a report has not completed its task; None if the task is completed."""
    if task.status in ENDED - {Status.COMPLETED}:
        return f"the report is kept, but the task is {vocabulary.STATUS[task.status]} already, and stays so"
    if task.status is Status.QUEUED:
        return "the report is kept, but the task is not completed: it waits for tasks that it needs"
    return proof.missing(tx, task)


def _unmatched(tx: Tx, project: Project, name: str) -> str | None:
    """Say that a report has ended no task, to an agent that has some to end; to any other, that is no news."""
    held = [
        f"{each.id} ({vocabulary.STATUS[each.status]})"
        for each in tasks.under_way(tx, project.id, name, HELD)
    ]
    if not held:
        return None
    more = f", and {len(held) - MOST_NAMED} more" if len(held) > MOST_NAMED else ""
    return (
        "the report is kept, but no task of yours has this id or text, so none is completed; "
        f"yours are {', '.join(held[:MOST_NAMED])}{more}"
    )


@DIALECT.tool(short=True)
def get_inbox(
    tx: Tx, alias: Name, limit: Annotated[float, Field(le=100, **WHOLE)] = 10, network_id: OptionalId = None
) -> Reply:
    """Fetch pending messages, most urgent first. Acknowledge each with ack_inbox, or it is delivered again."""
    access.require_inbox(tx, alias)
    found = [
        (letter, project)
        for project in access.visible(tx, network_id)
        for letter in inbox.read(tx, project.id, alias, int(limit))
    ]
    found = sorted(found, key=lambda each: (each[0].delivery.priority, each[0].delivery.id))[: int(limit)]
    if access.reads_for_agent(tx):
        inbox.note_seen(tx, [letter for letter, _project in found])
    return {"messages": [vocabulary.letter_row(letter, project) for letter, project in found]}


@DIALECT.tool({NotFound: lambda e: no("message not found or not yours")}, short=True)
def ack_inbox(
    tx: Tx, alias: Name, message_id: str, response: str | None = None, network_id: OptionalId = None
) -> Reply:
    """Acknowledge message receipt. After ACK, the message won't be returned by get_inbox."""
    project, letter_id = _letter(tx, message_id, network_id)
    if not access.may_read_inbox(tx, alias):
        raise NotFound("message", message_id)
    inbox.ack(tx, project.id, alias, letter_id)
    return {}


def _letter(tx: Tx, ref: str, network_id: str | None) -> tuple[Project, str]:
    """Return the project and the id of a letter, also of a task's by its short id; the caller may write there."""
    known = access.visible(tx, network_id)
    task = tasks.by_short_id(tx, known[0].id, ref) if len(known) == 1 else None
    letter_id = str(task.id) if task is not None else ref
    for project in known:
        if len(known) == 1 or inbox.holds(tx, project.id, letter_id):
            return access.enter(tx, str(project.id)), letter_id
    access.enter(tx, network_id)
    raise NotFound("message", ref)
