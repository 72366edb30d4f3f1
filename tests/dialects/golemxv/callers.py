"""Those who talk to a running hub as GolemXV's agents do."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self
from uuid import uuid4

from hubbub.core.agents import agents, scopes
from hubbub.core.mail import messages
from hubbub.core.people import projects
from hubbub.core.work import completion, tasks
from hubbub.model.lifecycle import Event, Status, route
from hubbub.model.people.rights import Role
from hubbub.model.records import Priority, Task
from hubbub.store.tx import Tx
from tests.dialects.commhub.callers import Fleet
from tests.dialects.relay.callers import Team
from tests.dialects.running_hub import Caller, Hub, Json, Place

REST = "/_gxv/api/v1"
EXPIRED = "Session not found or expired"
GONE = "Task is no longer available"
NOWHERE = "0" * 40  # the token of nobody

SAID = {
    Status.QUEUED: "pending", Status.DELIVERED: "assigned", Status.ACCEPTED: "assigned",
    Status.WORKING: "in_progress", Status.IN_REVIEW: "in_progress", Status.BLOCKED: "blocked",
    Status.COMPLETED: "completed", Status.FAILED: "failed", Status.EXPIRED: "failed",
    Status.CANCELLED: "cancelled",
}  # fmt: skip


@dataclass
class Crew(Place):
    """One project of a running hub, fresh for one test, and everybody who works in it."""

    path = "/mcp/golemxv"

    @classmethod
    @contextmanager
    def made(
        cls,
        hub: Hub,
        *,
        conflict_mode: str = "warn",
        name: str | None = None,
        repo_url: str | None = None,
        interval: int = projects.HEARTBEAT_INTERVAL,
        ttl: int = projects.HEARTBEAT_TTL,
    ) -> Iterator[Self]:
        """A fresh project with settings of its own."""
        project = hub.do(
            lambda tx: projects.create(
                tx,
                f"place-{uuid4().hex}",
                name=name,
                conflict_mode=conflict_mode,
                repo_url=repo_url,
                heartbeat_interval=interval,
                heartbeat_ttl=ttl,
            )
        )
        with cls.again(hub, project) as crew:
            yield crew

    @property
    def slug(self) -> str:
        return self.project.slug

    def member(self) -> Caller:
        """A program with a token of its own that is bound to nobody, and names the project in every call."""
        return self.of(self.token())

    def viewer(self) -> Caller:
        """Return an onlooker, who leaves no trace."""
        return self._known("viewer", lambda: self.of(self.token(role=Role.VIEWER)))

    def of(self, secret: str) -> Caller:
        """Return a caller with the token, who names the project in every call."""
        return replace(self.caller(secret), says={"project_slug": self.slug})

    def with_headers(self, caller: Caller, headers: Mapping[str, str], **says: object) -> Caller:
        """Return the same caller with these headers on its requests and only `says` in its calls."""
        return replace(caller, headers=headers, says=says)

    def checkin(self, name: str | None = None, by: Caller | None = None, **scope: object) -> Caller:
        """An agent that has checked in, and shows its session_token in every call."""
        caller = by or self.member()
        told = caller.checkin(agent_name=name, **scope)
        return caller.saying(project_slug=self.slug, session_token=told["session_token"])

    def say(self, name: str, *texts: str) -> None:
        """Have an agent say things to itself, one after the other, quicker than by its tool."""

        def send(tx: Tx) -> None:
            for text in texts:
                messages.send(tx, self.project.id, sender=name, to=name, body=text)

        self.hub.do(send)

    def area(self, slug: str, *patterns: str, name: str = "An area", description: str | None = None) -> None:
        """Give the project an area."""
        self.hub.do(
            lambda tx: scopes.put_area(
                tx, self.project, slug, name=name, patterns=patterns, description=description
            )
        )

    def task(self, title: str = "t", **more: Any) -> int:
        """A task in the open queue, or addressed with `to`; returns its number."""
        return self.made_task(title, **more).number

    def made_task(
        self,
        title: str = "t",
        *,
        text: str | None = None,
        to: str | None = None,
        priority: Priority = Priority.MEDIUM,
        area: str | None = None,
        issue: str | None = None,
        needs: Sequence[int] = (),
    ) -> Task:
        """Make a task and return it whole."""

        def send(tx: Tx) -> Task:
            for name in filter(None, ("planner", to)):
                agents.meet(tx, self.project.id, name)
            needed = [tasks.find(tx, [self.project.id], str(number)) for number in needs]
            return tasks.send(
                tx, self.project.id, sender="planner", to=to, title=title, text=text or title,
                priority=priority, area=area, issue=issue, needs=needed,
            )  # fmt: skip

        return self.hub.do(send)

    def task_of(self, name: str, status: Status) -> int:
        """A task of that agent's that has come to be in that status; a queued one waits for another."""
        if status is Status.QUEUED:
            return self.task(to=name, needs=[self.task("needed")])
        number = self.task(to=name)
        self.put(number, status)
        return number

    def put(self, number: int, status: Status) -> None:
        """Bring a task to a status, as other dialects may."""

        def step(tx: Tx) -> None:
            task = tasks.find(tx, [self.project.id], str(number), lock=True)
            ends = {
                Status.COMPLETED: Event.COMPLETE, Status.FAILED: Event.FAIL,
                Status.CANCELLED: Event.CANCEL, Status.EXPIRED: Event.EXPIRE,
            }  # fmt: skip
            if status in ends:
                completion.end(tx, task, ends[status], by="planner", text="x", result="x")
            elif events := route(task.status, status):
                tasks.step(tx, task, *events)

        self.hub.do(step)

    def kept(self, number: int) -> Task:
        """The task as it is kept."""
        return self.hub.look(lambda tx: tasks.find(tx, [self.project.id], str(number)))

    def row(self, number: int) -> Json:
        """The row of one task in list_tasks."""
        (row,) = [each for each in self.viewer().list_tasks(limit=50)["tasks"] if each["id"] == number]
        return dict(row)

    def here(self) -> list[str]:
        """The names in presence."""
        return [each["agent_name"] for each in self.viewer().presence()["agents"]]

    def stays(self, **narrowed: object) -> list[Json]:
        """The rows of sessions."""
        rows: list[Json] = self.viewer().sessions(**narrowed)["sessions"]
        return rows

    def messages(self, **narrowed: object) -> list[Json]:
        """The rows of get_messages."""
        rows: list[Json] = self.viewer().get_messages(**narrowed)["messages"]
        return rows

    def activity(self, **narrowed: object) -> list[Json]:
        """The rows of activity_log."""
        rows: list[Json] = self.viewer().activity_log(**narrowed)["activity"]
        return rows

    @cached_property
    def fleet(self) -> Fleet:
        """The same project as CommHub's agents see it."""
        return Fleet(self.hub, self.project, self.closing)

    @cached_property
    def team(self) -> Team:
        """The same project as Relay's agents see it."""
        return Team(self.hub, self.project, self.closing)


def no(caller: Caller, tool: str, **arguments: object) -> str:
    """Return the error by which a call is refused, which is the whole answer."""
    answer = caller.wrong(tool, **arguments)
    assert answer == {"error": answer["error"]}, answer
    return str(answer["error"])


def token(agent: Caller) -> str:
    """The session_token of an agent that has checked in."""
    return str(agent.says["session_token"])


def scope(area: str | None, *files: str) -> Json:
    """A scope as arguments."""
    return {"declared_area": area, "declared_files": list(files)}
