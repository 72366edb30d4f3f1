"""Those who talk to a running hub as Relay's agents do."""

from dataclasses import dataclass, replace
from functools import cached_property

from hubbub.model.people.rights import Role
from tests.dialects.commhub.callers import Fleet
from tests.dialects.running_hub import Caller, Json, Place

NOWHERE = "01a1fe36-5944-7000-93c0-6b7043a9f307"  # the id of nothing


@dataclass
class Team(Place):
    """One project of a running hub, fresh for one test, and everybody who works in it."""

    path = "/mcp/relay"

    def agent(self, name: str, role: Role = Role.MEMBER) -> Caller:
        """Return an agent with a token bound to it, which gives its agent_id in every call."""
        return self._known((name, role), lambda: self._called(name, self.token(name, role=role)))

    def member(self, name: str) -> Caller:
        """An agent by a token that is bound to nobody."""
        return self._known(("unbound", name), lambda: self.program().saying(agent_id=name))

    def watcher(self) -> Caller:
        """A viewer, who leaves no trace."""
        return self._known("watcher", lambda: self._called("watcher", self.token(role=Role.VIEWER)))

    def within(self, run: str, name: str = "lead") -> Caller:
        """Return an agent whose requests name their run."""
        return replace(self.agent(name), headers={"X-Relay-Session": run})

    def connection(self, name: str = "lead") -> Caller:
        """An agent with a connection of its own, that lasts and knows what was started over it."""
        return replace(self.agent(name), mode="legacy")

    def _called(self, name: str, secret: str) -> Caller:
        return replace(self.caller(secret), says={"agent_id": name})

    @cached_property
    def fleet(self) -> Fleet:
        """The same project as CommHub's agents see it."""
        return Fleet(self.hub, self.project, self.closing)

    def begin(self) -> None:
        """Have a run, so that calls which come at once need not wait for each other to make it."""
        self.agent("lead").start_session(session_id="begun")

    def task(self, title: str = "t", *, by: str = "lead", **more: object) -> str:
        """A task that was created; returns its id."""
        return str(yes(self.agent(by).create_task(title=title, **{"priority": "medium", **more}))["task_id"])

    def artifact(self, name: str = "spec", *, by: str = "lead", content: str = "c") -> str:
        """An artifact that was posted; returns its id."""
        posted = self.agent(by).post_artifact(name=name, type="document", content=content)
        return str(yes(posted)["artifact_id"])

    def tasks(self, **narrowed: object) -> list[Json]:
        """The rows of get_all_tasks."""
        rows: list[Json] = yes(self.watcher().get_all_tasks(**narrowed))["tasks"]
        return rows

    def row(self, task_id: str) -> Json:
        """The row of one task."""
        (row,) = [each for each in self.tasks(include_description=True) if each["id"] == task_id]
        return row

    def mail(self, name: str, **narrowed: object) -> list[Json]:
        """Return the messages that get_messages has for an agent."""
        rows: list[Json] = yes(self.agent(name).get_messages(**narrowed))["messages"]
        return rows


def yes(answer: Json) -> Json:
    """Return the fields of a successful answer."""
    assert answer["success"] is True, answer
    return {name: value for name, value in answer.items() if name != "success"}


def no(answer: Json) -> str:
    """The error of an answer that says no, and nothing else."""
    assert answer == {"success": False, "error": answer["error"]}, answer
    return str(answer["error"])
