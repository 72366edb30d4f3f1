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
from hubbub.dialects.commhub.tool_set import DIALECT, WHOLE, LongText, Minutes, Name, Score, Text, no
from hubbub.dialects.dialect import Reply
from hubbub.model.errors import HubError, MayNotBegin, NotFound, Unmet
from hubbub.model.lifecycle import Status
from hubbub.model.records import Condition, Profile, Project, ReportedNode
from hubbub.store.tx import Tx

HEARTBEAT_TTL = timedelta(minutes=10)
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
    network_id: str | None = None,
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
    ready = (Status.DELIVERED, Status.ACCEPTED)
    try:
        task = tasks.find(tx, [project.id], words_of_task, lock=True, by_number=False)
    except NotFound:
        alike = [t for t in tasks.under_way(tx, project.id, name, ready) if t.text == words_of_task]
        found = alike[0] if alike else None
    else:
        may = task.status in ready if task.assignee == name else task.assignee is None and not task.is_ended
        found = task if may else None
    if found is not None:
        with suppress(Unmet, MayNotBegin):  # it is a heartbeat all the same
            task_actions.start(tx, found, name, is_read=False)


@DIALECT.tool(short=True)
def report_completion(
    tx: Tx,
    alias: Name,
    task: str,
    result: LongText,
    artifacts: Annotated[list[str], Field(max_length=50)] | None = None,
    score: Score | None = None,
    duration_minutes: Minutes | None = None,
    network_id: str | None = None,
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
    missing = proof.missing(tx, outcome.task) if outcome.task is not None else None
    about = {"message": missing} if missing is not None else {}
    return {"completion_id": str(outcome.completion.id), **cut, **about}


@DIALECT.tool(short=True)
def get_inbox(
    tx: Tx, alias: Name, limit: Annotated[float, Field(le=100, **WHOLE)] = 10, network_id: str | None = None
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
    tx: Tx, alias: Name, message_id: str, response: str | None = None, network_id: str | None = None
) -> Reply:
    """Acknowledge message receipt. After ACK, the message won't be returned by get_inbox."""
    project = _project_of_letter(tx, message_id, network_id)
    if not access.may_read_inbox(tx, alias):
        raise NotFound("message", message_id)
    inbox.ack(tx, project.id, alias, message_id)
    return {}


def _project_of_letter(tx: Tx, ref: str, network_id: str | None) -> Project:
    """Return the project of a letter; the caller may write there."""
    for project in access.visible(tx, network_id):
        if inbox.holds(tx, project.id, ref):
            return access.enter(tx, str(project.id))
    access.enter(tx, network_id)
    raise NotFound("message", ref)
