"""The live view of a run, for its watchers: first a snapshot, then the events; in Relay's words.

The tasks, messages, artifacts and reviews are those of the run; the agents and their memory are the project's. A
watcher asks for a run by its name, or sees the project's current one, and then follows it from one to the next.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.core.people import runs
from hubbub.core.work import artifacts, dependencies, reviews, task_search, tasks
from hubbub.dialects.call import HubContext
from hubbub.dialects.relay import vocabulary
from hubbub.dialects.relay.vocabulary import Row
from hubbub.model.errors import existing
from hubbub.model.lifecycle import Status
from hubbub.model.records import Activity, Condition, Presence, Run, Task
from hubbub.store.tx import Tx

MEMORY = "memory.updated"  # the only activity that leaves no trace in a snapshot
OCCUPYING = {Status.WORKING: Condition.WORKING, Status.BLOCKED: Condition.BLOCKED}
MOST_OCCUPIED = 10_000  # tasks searched for busy agents

# Activities by which an agent's status changes, or may change.
CHANGING = frozenset({
    "agent.checkin", "agent.changed", "agent.checkout", "agent.timeout", "task.progress",
    *tasks.KINDS.values(),
}) - {"task.delivered"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Frame:
    """One message to watchers. Of several `about` the same agent in short time only the last matters."""

    content: Row
    about: str | None = None


def watched_run(tx: Tx, project_id: UUID, name: str | None) -> Run:
    """Return the run of that name, or the current one for None, perhaps without a name. Raises `NotFound`."""
    if name is None:
        return runs.current(tx, project_id)
    run = runs.find(tx, project_id, name) if name.isascii() and name.isprintable() else None
    return existing(run, "session", name)


def begins_anew(run: Run, activity: Activity, *, is_chosen: bool) -> bool:
    """Tell whether watchers of the run, chosen by name or as the current one, have to begin anew after this."""
    if activity.kind == "run.started":
        return not is_chosen or activity.detail["run"] == run.name
    return activity.kind == "run.opened" and run.name is None


def run_started(run: Run, at: int) -> Row:
    """Return the message before a fresh snapshot."""
    return _content("session:started", at, sessionId=run.name)


def snapshot(tx: Tx, run: Run, site: HubContext) -> Row:
    """Return everything in the run, and the agents of its project."""
    needs = dependencies.of_run(tx, run)
    return _content(
        "session:snapshot",
        tx.now,
        sessionId=run.name,
        tasks=[_task_row(task, run, needs.get(task.id, ())) for task in tasks.of_run(tx, run)],
        messages=[vocabulary.message_row(message, run) for message in messages.of_run(tx, run)],
        artifacts=[vocabulary.artifact_row(artifact, run) for artifact in artifacts.of_run(tx, run)],
        reviews=[vocabulary.review_row(review, run) for review in reviews.of_run(tx, run)],
        agents=_agent_rows(tx, run.project_id),
        instanceId=site.instance,
        port=site.port,
    )


def frames(tx: Tx, run: Run, activities: Sequence[Activity], known: Collection[int] = ()) -> list[Frame]:
    """Return the frames for watchers of the run, in order.

    Several activities about one task, or one agent, make one frame with its present state. `known` are the activities,
    by their `seq`, that a snapshot has already shown to the watcher.
    """
    new = [each for each in activities if each.kind == MEMORY or each.seq not in known]
    last = {each.task_id: each.seq for each in new if each.kind.startswith("task.")}
    told = []
    for activity in new:
        if last.get(activity.task_id) == activity.seq:
            told.append(_task(tx, run, activity))
        elif activity.kind in EVENTS:
            told.append(EVENTS[activity.kind](tx, run, activity))
    return [Frame(content) for content in told if content is not None] + _statuses(tx, run, new)


def thinking(run: Run, whisper: Mapping[str, object], at: int) -> list[Frame]:
    """Return the frames of a whisper: the thought, and that its agent works; none for another run's."""
    if whisper["type"] != "thought" or whisper["run"] != run.name:
        return []
    name = str(whisper["agent"])
    return [
        Frame(_content("agent:thinking", at, agentId=name, chunk=whisper["text"])),
        Frame(_content("agent:status", at, agentId=name, status=Condition.WORKING), name),
    ]


def _content(event: str, at: int, **fields: object) -> Row:
    return {"type": event, **fields, "timestamp": at}


def _task(tx: Tx, run: Run, activity: Activity) -> Row | None:
    task = tasks.find(tx, [run.project_id], str(activity.task_id), by_number=False)
    if task.run_id != run.id:
        return None
    return _content("task:updated", activity.at, task=_task_row(task, run, dependencies.of_task(tx, task)))


def _task_row(task: Task, run: Run, needs: Sequence[UUID]) -> Row:
    return vocabulary.task_row(task, run, needs, vocabulary.described(task))


def _joined(_tx: Tx, _run: Run, activity: Activity) -> Row:
    return _content("agent:joined", activity.at, agentId=activity.agent)


def _remembered(_tx: Tx, _run: Run, activity: Activity) -> Row:
    return _content("memory:updated", activity.at, agentId=activity.agent)


def _message(tx: Tx, run: Run, activity: Activity) -> Row | None:
    message = messages.find(tx, [run.project_id], str(activity.message_id))
    if message.run_id != run.id:
        return None
    return _content("message:new", activity.at, message=vocabulary.message_row(message, run))


def _artifact(tx: Tx, run: Run, activity: Activity) -> Row | None:
    artifact = artifacts.find(tx, [run.project_id], str(activity.detail["artifact_id"]))
    if artifact.run_id != run.id:
        return None
    return _content("artifact:posted", activity.at, artifact=vocabulary.artifact_row(artifact, run))


def _requested(tx: Tx, run: Run, activity: Activity) -> Row | None:
    return _review(tx, run, activity, "review:requested")


def _submitted(tx: Tx, run: Run, activity: Activity) -> Row | None:
    return _review(tx, run, activity, "review:updated")


def _review(tx: Tx, run: Run, activity: Activity, event: str) -> Row | None:
    review = reviews.find(tx, [run.project_id], str(activity.detail["review_id"]))
    if review.run_id != run.id:
        return None
    return _content(event, activity.at, review=vocabulary.review_row(review, run))


EVENTS: Mapping[str, Callable[[Tx, Run, Activity], Row | None]] = {
    "agent.met": _joined,
    "message.sent": _message,
    "artifact.posted": _artifact,
    "review.requested": _requested,
    "review.submitted": _submitted,
    MEMORY: _remembered,
}


def _statuses(tx: Tx, run: Run, activities: Sequence[Activity]) -> list[Frame]:
    """Return the present states of the agents that the activities may have changed."""
    changed: dict[str, int] = {}
    for activity in activities:
        if activity.kind in CHANGING:
            names = (activity.agent, activity.detail.get("taken_from"))
            changed.update({name: activity.at for name in names if isinstance(name, str)})
    return [
        Frame(_content("agent:status", at, agentId=name, status=_status_of(tx, run.project_id, name)), name)
        for name, at in changed.items()
        if agents.is_known(tx, run.project_id, name)
    ]


def _status_of(tx: Tx, project_id: UUID, name: str) -> Condition:
    occupied = task_search.search(tx, [project_id], status=OCCUPYING, assignee=name, limit=1)
    presence = agents.presence(tx, project_id, name)
    return _status(tx, presence, OCCUPYING[occupied[0].status] if occupied else None)


def _agent_rows(tx: Tx, project_id: UUID) -> list[Row]:
    """List every agent that the project knows, with its status."""
    present = {presence.agent: presence for presence in agents.presences(tx, [project_id])}
    known = agents.of_project(tx, project_id)
    busy = {
        task.assignee: OCCUPYING[task.status]
        for task in reversed(task_search.search(tx, [project_id], status=OCCUPYING, limit=MOST_OCCUPIED))
    }
    return [
        {"id": agent.name, "status": _status(tx, present.get(agent.name), busy.get(agent.name))}
        for agent in known
    ]


def _status(tx: Tx, presence: Presence | None, occupation: Condition | None) -> Condition:
    """Return an agent's own condition; if it reports none, the one that follows from its begun task."""
    is_live = presence is not None and presence.is_live(tx.now)
    if presence is not None and is_live and presence.condition is not Condition.IDLE:
        return presence.condition
    if occupation is not None:
        return occupation
    return Condition.IDLE if is_live or presence is None else Condition.OFFLINE
