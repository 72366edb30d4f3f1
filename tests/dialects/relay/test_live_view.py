"""The words of the live view: what a batch of activities comes to, and how agents are. Its way over the wire: serve."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import pytest

from hubbub.core.actions import task_actions
from hubbub.core.agents import agents
from hubbub.core.people import projects, runs
from hubbub.core.presence import presences
from hubbub.core.work import memory, tasks, transfers
from hubbub.dialects.call import HubContext
from hubbub.dialects.relay import live_view
from hubbub.dialects.relay.live_view import Frame
from hubbub.model.errors import NotFound
from hubbub.model.lifecycle import Event
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Activity, Condition, Profile, Project, Task
from hubbub.serve.live.activity_source import LiveActivitySource
from hubbub.serve.live.log_tail import LogTail
from hubbub.serve.live.subscribers import Subscribers
from hubbub.store.log import activity
from hubbub.store.tx import Store, Tx

T = TypeVar("T")

TEN_MINUTES = timedelta(minutes=10)


@dataclass(frozen=True)
class Scene:
    """A project with two agents, and what happened in it since its beginning."""

    store: Store
    project: Project

    def do(self, operation: Callable[[Tx], T]) -> T:
        return self.store.write_now(SYSTEM, operation)

    def log(self) -> list[Activity]:
        return self.do(lambda tx: activity.history(tx, self.project.id, limit=1000))[::-1]

    def frames(self, activities: list[Activity], known: tuple[int, ...] = ()) -> list[Frame]:
        return self.do(lambda tx: live_view.frames(tx, runs.current(tx, self.project.id), activities, known))

    def told(self, event: str) -> list[Frame]:
        """The frames of that type to which all that happened comes."""
        return [frame for frame in self.frames(self.log()) if frame.content["type"] == event]

    def statuses(self) -> dict[object, object]:
        """Return the states of the agents from the frames; the snapshot agrees on all that it knows."""
        told = {frame.content["agentId"]: frame.content["status"] for frame in self.told("agent:status")}
        site = _site(self.store)
        shown = self.do(lambda tx: live_view.snapshot(tx, runs.current(tx, self.project.id), site))
        rows = shown["agents"]
        assert isinstance(rows, list)
        assert told.items() <= {row["id"]: row["status"] for row in rows}.items()
        return told

    def begun(self, by: str) -> Task:
        """A task that the agent has begun."""
        sent = self.do(lambda tx: tasks.send(tx, self.project.id, sender="ann", to=by, text="work"))
        return self.do(lambda tx: task_actions.start(tx, sent, by))

    def step(self, task: Task, event: Event) -> Task:
        return self.do(lambda tx: tasks.step(tx, task, event))

    def report(self, name: str, condition: Condition) -> None:
        self.do(
            lambda tx: presences.report(
                tx,
                self.project.id,
                name,
                instance="first",
                condition=condition,
                profile=Profile(),
                ttl=TEN_MINUTES,
            )
        )


def _site(store: Store) -> HubContext:
    return HubContext(
        url="http://127.0.0.1:8420",
        port=8420,
        instance="i",
        news=LiveActivitySource(LogTail(store), Subscribers()),
        tell=lambda _project, _content: None,
        note=lambda _operation: None,
    )


@pytest.fixture
def scene(store: Store) -> Scene:
    """A fresh scene on either engine."""

    def make(tx: Tx) -> Project:
        project = projects.create(tx, "lab")
        for name in ("ann", "bob"):
            agents.meet(tx, project.id, name)
        return project

    return Scene(store, store.write_now(SYSTEM, make))


def test_a_task_is_told_once_and_as_it_is_now(scene: Scene) -> None:
    """However often a task changed meanwhile, one frame tells it, in the place and at the time of the last change."""
    first, second = scene.begun("bob"), scene.begun("ann")
    scene.step(first, Event.SUBMIT)
    last = scene.log()[-1]

    told = [frame.content for frame in scene.told("task:updated")]

    assert [(each["task"]["id"], each["task"]["status"]) for each in told] == [  # type: ignore[index]
        (str(second.id), "in_progress"),
        (str(first.id), "in_review"),
    ]
    assert told[-1]["timestamp"] == last.at


def test_what_a_snapshot_held_is_not_told_again(scene: Scene) -> None:
    """The live view tells nothing of activities that it knows; but memory, which no snapshot holds, is told."""
    scene.begun("bob")
    scene.do(lambda tx: memory.write(tx, scene.project.id, "bob", "key", "text"))
    log = scene.log()

    told = scene.frames(log, tuple(each.seq for each in log))

    assert [frame.content["type"] for frame in told] == ["memory:updated"]


def test_an_agent_without_a_presence_is_as_its_tasks_are(scene: Scene) -> None:
    """An agent that has begun a task is working, or blocked; one that is done, or lost it to another, is idle."""
    task = scene.begun("bob")
    assert scene.statuses() == {"bob": "working"}
    task = scene.step(task, Event.BLOCK)
    assert scene.statuses() == {"bob": "blocked"}
    scene.do(lambda tx: transfers.pass_on(tx, task, to="ann", by="ann"))
    assert scene.statuses() == {"bob": "idle", "ann": "blocked"}


def test_who_works_and_waits_is_working(scene: Scene) -> None:
    """The last made of several tasks says how their holder is."""
    scene.step(scene.begun("bob"), Event.BLOCK)
    scene.begun("bob")
    assert scene.statuses() == {"bob": "working"}


def test_what_an_agent_says_counts(scene: Scene) -> None:
    """A live presence says how the agent is, except that one which is idle and has begun a task is working."""
    scene.report("bob", Condition.WAITING)
    scene.begun("bob")
    assert scene.statuses() == {"bob": "waiting"}
    scene.report("bob", Condition.IDLE)
    assert scene.statuses() == {"bob": "working"}


def test_who_has_left_is_offline(scene: Scene) -> None:
    """An agent whose presence has ended is offline; one that never had any is not."""
    scene.report("bob", Condition.IDLE)
    scene.report("bob", Condition.OFFLINE)
    assert scene.statuses() == {"bob": "offline"}


def test_of_who_is_yet_to_come_nothing_is_told(scene: Scene) -> None:
    """A task that passes to a name which nobody has yet tells nothing of how that agent is."""
    task = scene.begun("bob")
    scene.do(lambda tx: transfers.pass_on(tx, task, to="someone", by="ann"))
    assert scene.statuses() == {"bob": "idle"}


def test_statuses_can_be_held_back_by_agent(scene: Scene) -> None:
    """A frame on how an agent is says whom it is about, so that only the last of several need be told."""
    scene.begun("bob")
    assert {frame.about for frame in scene.told("agent:status")} == {"bob"}
    assert {frame.about for frame in scene.told("task:updated")} == {None}


def test_thoughts_of_other_runs_are_nobodys_business(scene: Scene) -> None:
    """A whisper is told as a thought if it is one, and of the run that is shown."""
    run = scene.do(lambda tx: runs.resolve(tx, scene.project.id, "r"))
    thought = {"type": "thought", "run": "r", "agent": "bob", "text": "hm"}

    told = live_view.thinking(run, thought, 7)

    assert [each.content for each in told] == [
        {"type": "agent:thinking", "agentId": "bob", "chunk": "hm", "timestamp": 7},
        {"type": "agent:status", "agentId": "bob", "status": "working", "timestamp": 7},
    ]
    assert [each.about for each in told] == [None, "bob"]
    assert live_view.thinking(run, {**thought, "run": "s"}, 7) == []
    assert live_view.thinking(run, {**thought, "type": "other"}, 7) == []


def test_a_chosen_run_begins_anew_by_its_own_name_only(scene: Scene) -> None:
    """A new run moves the watchers of the current run, and those who chose that very run."""
    shown = scene.do(lambda tx: runs.start(tx, scene.project.id, "mine", by="ann"))
    scene.do(lambda tx: runs.start(tx, scene.project.id, "other", by="ann"))
    _opened, mine, opened, other = [each for each in scene.log() if each.kind.startswith("run.")]

    def begins(each: Activity, *, is_chosen: bool) -> bool:
        return live_view.begins_anew(shown, each, is_chosen=is_chosen)

    assert (begins(mine, is_chosen=True), begins(other, is_chosen=True)) == (True, False)
    assert (begins(mine, is_chosen=False), begins(other, is_chosen=False)) == (True, True)
    assert not begins(opened, is_chosen=False)


def test_a_run_that_is_not_there_cannot_be_shown(scene: Scene) -> None:
    """Asking for a run makes none: it is not found."""
    with pytest.raises(NotFound, match="session 'nowhere' not found"):
        scene.do(lambda tx: live_view.watched_run(tx, scene.project.id, "nowhere"))
    assert len(scene.do(lambda tx: runs.of_project(tx, scene.project.id))) == 1
