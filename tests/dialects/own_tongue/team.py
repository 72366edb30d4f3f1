"""Those who talk to a running hub in its own tongue."""

from dataclasses import dataclass, replace
from datetime import timedelta

from hubbub.core.presence import wakes
from hubbub.core.work import tasks
from hubbub.model.mail.wakes import WakeMethod, Waker, WakeResult
from hubbub.model.records import Task
from tests.dialects.running_hub import Caller, Json, Place

NOWHERE = "01a1fe36-5944-7000-93c0-6b7043a9f307"  # the id of nothing


@dataclass
class Team(Place):
    """One project of a running hub, fresh for one test, and everybody who works in it."""

    path = "/mcp"

    def joined(self, name: str, **said: object) -> Caller:
        """An agent, by a token that is bound to it, which has joined."""
        agent = self.agent(name)
        agent.join(**said)
        return agent

    def connection(self) -> Caller:
        """A program with a token that is bound to nobody, over a connection of its own that lasts."""
        return replace(self.caller(self.token()), mode="legacy")

    def mail(self, name: str, **said: object) -> list[Json]:
        """Return the letters in an agent's inbox."""
        letters: list[Json] = self.agent(name).inbox(**said)["letters"]
        return letters

    def task(self, ref: str) -> Task:
        """The task as the hub has it."""
        number = ref.removeprefix("T-")
        return self.hub.look(lambda tx: tasks.find(tx, [self.project.id], number))

    def woken(self, name: str, result: WakeResult) -> None:
        """Act as the waker beside an agent's client: take the wake for the unread mail, and report its result."""
        waker = Waker(
            project_id=self.project.id,
            agent=name,
            instance="i",
            method=WakeMethod.MONITOR,
            client="c",
            idle=True,
        )
        self.hub.do(lambda tx: wakes.register(tx, waker, timedelta(seconds=45)))
        wake = self.hub.do(lambda tx: wakes.take(tx, waker, gather=timedelta())).wake
        assert wake is not None
        self.hub.do(lambda tx: wakes.report(tx, wake, result))

    def work(self, text: str = "water the plants", *, by: str = "lead", **said: object) -> str:
        """A task that somebody gave; returns its id."""
        return str(self.joined(by).send(text=text, kind="task", **said)["id"])
