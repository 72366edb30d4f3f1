"""Those who talk to a running hub as CommHub's clients do."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import quote

import httpx2

from hubbub.core.agents import agents
from hubbub.core.people import access
from hubbub.core.work import tasks
from hubbub.model.people.rights import Role
from hubbub.model.records import ReportedNode, Task
from hubbub.store.tx import Tx
from tests.dialects.running_hub import NO_TLS, Caller, Json, Place
from tests.support.waiting import patience


class Frames:
    """An event stream: `next` is the content of the next frame, and `last_id` its id."""

    def __init__(self, response: httpx2.Response) -> None:
        self.lines = response.iter_lines()
        self.last_id = ""
        self.fields: list[str] = []

    def next(self) -> Json:
        content: Json | None = None
        self.fields = []
        for line in self.lines:
            name, _, value = line.partition(": ")
            if line and name:
                self.fields.append(name)
            if name == "id":
                self.last_id = value
            elif name == "data":
                content = json.loads(value)
            elif not line and content is not None:
                return content
        raise EOFError


class Fleet(Place):
    """One project of a running hub, fresh for one test, and everybody who works in it."""

    path = "/mcp/commhub"

    @property
    def network_id(self) -> str:
        return access.short_name(self.project)

    def online(self, name: str, status: str = "idle", **report: object) -> Caller:
        """An agent that has reported."""
        agent = self.agent(name)
        answer = agent.report_status(resume_id=f"run of {name}", alias=name, status=status, **report)
        assert answer["ok"], answer
        return agent

    def free_task(self, text: str = "for anyone", *, needs: Sequence[str] = ()) -> str:
        """Make a task that is addressed to nobody, as other dialects do; return its id."""

        def send(tx: Tx) -> Task:
            agents.meet(tx, self.project.id, "planner")
            needed = [tasks.find(tx, [self.project.id], each) for each in needs]
            return tasks.send(tx, self.project.id, sender="planner", to=None, text=text, needs=needed)

        return str(self.hub.do(send).id)

    def task(self, task_id: str) -> Json:
        """The whole row of a task, as `get_task` shows it."""
        row: Json = self.program().get_task(task_id=task_id)["task"]
        return row

    def inbox(self, alias: str) -> list[Json]:
        """Return an agent's pending mail as an onlooker sees it, who changes nothing."""
        rows: list[Json] = self.program(Role.VIEWER).get_inbox(alias=alias, limit=100)["messages"]
        return rows

    def row(self, alias: str) -> Json:
        """An agent's row of `get_all_status`."""
        sessions = self.program().get_all_status()["sessions"]
        (row,) = [each for each in sessions if each["alias"] == alias]
        return dict(row)

    def nodes(self) -> list[ReportedNode]:
        return self.hub.look(lambda tx: agents.nodes(tx, self.project.id))

    @contextmanager
    def events(
        self, name: str, secret: str | None = None, *, after: str = "", **query: str
    ) -> Iterator[Frames]:
        """The event stream of an inbox, after its first frame; with `after`, from the event of that id on."""
        headers = {"Authorization": f"Bearer {secret or self.agent(name).secret}"}
        if after:
            headers["Last-Event-ID"] = after
        with httpx2.stream(
            "GET",
            f"{self.hub.url}/events/{quote(name, safe='')}",
            headers=headers,
            params=query,
            timeout=patience(),
            verify=NO_TLS,
        ) as response:
            assert response.status_code == 200, response.read()
            frames = Frames(response)
            assert frames.next() == {"type": "connected", "session": name, "network_id": self.network_id}
            yield frames
