"""A running hub whose clock can be moved, and the people and agents who talk to it as CommHub's clients do."""

import asyncio
import json
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx2
from anyio.from_thread import BlockingPortal
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from hubbub.core import access, agents, projects, tasks, tokens, users
from hubbub.core.transaction import Transactions
from hubbub.dialects import discover
from hubbub.model.records import Node, Project, Task
from hubbub.model.rights import SYSTEM, Actor, Role
from hubbub.serve.application import Parts, application
from hubbub.serve.feed import Feed
from hubbub.serve.followers import Followers
from hubbub.serve.notified import Notified
from hubbub.serve.server import HubServer, configured
from hubbub.settings import Settings
from hubbub.store.projects import put_member
from hubbub.store.tx import Operation, Store, Tx, unix_ms

Json = dict[str, Any]
Row = tuple[tuple[str, object], ...]
World = dict[str, list[Row]]
T = TypeVar("T")

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # the clients' default takes 30 ms to make, each time
NEWEST = "2026-07-28"  # the revision of the protocol that needs no handshake
PATIENCE = 20.0  # seconds after which what a test waits for will not come any more
TABLES = (
    "agents", "presences", "nodes", "counters", "tasks", "task_tally", "messages", "deliveries", "completions",
    "activity", "tokens", "members", "invites",
)  # fmt: skip
HUB_TABLES = ("users", "projects", "idempotency")  # what belongs to no one project


class StillClock:
    """A clock that stands until a test moves it, so that the last moment before and the first after can be told."""

    def __init__(self) -> None:
        self._now = unix_ms() // 1000 * 1000

    def __call__(self) -> int:
        return self._now

    def advance(self, duration: timedelta) -> None:
        """Let `duration` pass at once."""
        self._now += duration // timedelta(milliseconds=1)


@dataclass
class Hub:
    """The running hub, from outside (`url`) and from below (`store`)."""

    url: str
    store: Store
    clock: StillClock
    portal: BlockingPortal
    owner: Actor

    def do(self, operation: Operation[T], actor: Actor | None = None) -> T:
        """Run an operation beside the hub; as its owner, unless somebody else is named."""
        return self.store.write_now(actor or self.owner, operation)

    def look(self, operation: Operation[T]) -> T:
        return self.store.read_now(SYSTEM, operation)


@contextmanager
def running_hub(store: Store, clock: StillClock, folder: Path, portal: BlockingPortal) -> Iterator[Hub]:
    """A hub on `store` that runs until the context ends. Nothing in it happens by time, but when somebody calls."""
    secret = store.write_now(SYSTEM, users.first_start) or ""
    owner = store.read_now(SYSTEM, lambda tx: access.authenticate(tx, secret))
    transactions = Transactions(store)
    feed, followers, notified = Feed(store), Followers(), Notified(transactions)
    feed.listen(followers.hear)

    @asynccontextmanager
    async def alive() -> AsyncIterator[None]:
        await feed.start()
        working = [asyncio.create_task(feed.run()), asyncio.create_task(notified.run())]
        yield
        for task in working:
            task.cancel()

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        host, port = listening.getsockname()
        parts = Parts(
            transactions=transactions,
            dialects=discover(),
            feed=feed,
            followers=followers,
            notified=notified,
            settings=Settings(data=folder),
            port=port,
            copier=None,
        )
        server = HubServer(configured(application(parts, alive), host, port), followers.close)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                thread.join(0.01)
            yield Hub(f"http://{host}:{port}", store, clock, portal, owner)
        finally:
            server.should_exit = True
            thread.join()


class Caller:
    """Somebody with a token who calls tools by the official client: `caller.send_task(alias=…, task=…)`."""

    def __init__(self, hub: Hub, secret: str, closing: ExitStack) -> None:
        self.hub, self.secret, self._closing = hub, secret, closing

    def __getattr__(self, tool: str) -> Callable[..., Json]:
        if tool.startswith("_"):
            raise AttributeError(tool)
        return partial(self._call, tool)

    def _call(self, tool: str, **arguments: object) -> Json:
        """The answer to a call that the protocol does not call an error, be it yes or no."""
        answer, is_error = self.ask(tool, arguments)
        assert not is_error, answer
        return answer

    def wrong(self, tool: str, **arguments: object) -> Json:
        """The answer to a call that the protocol calls an error."""
        answer, is_error = self.ask(tool, arguments)
        assert is_error, answer
        return answer

    def ask(self, tool: str, arguments: Json, **meta: object) -> tuple[Json, bool]:
        """The answer, and whether the protocol calls it an error; the same as text and as structured content."""
        call = partial(self.client.call_tool, tool, arguments, meta=meta or None)  # type: ignore[arg-type]
        result = self.hub.portal.call(call)
        (content,) = result.content
        answer: Json = json.loads(content.text)  # type: ignore[union-attr]
        assert answer == result.structured_content
        assert content.type == "text"
        return answer, bool(result.is_error)

    @cached_property
    def client(self) -> Client:
        """The official client, connected in the background."""
        return self._closing.enter_context(self.hub.portal.wrap_async_context_manager(self._connected()))

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {self.secret}"}
        http = httpx2.AsyncClient(headers=headers, timeout=PATIENCE, verify=NO_TLS)
        async with (
            http,
            Client(streamable_http_client(f"{self.hub.url}/mcp", http_client=http), mode=NEWEST) as client,
        ):
            yield client


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


@dataclass
class Fleet:
    """One project of a running hub, fresh for one test, and everybody who works in it."""

    hub: Hub
    project: Project
    closing: ExitStack
    _callers: dict[object, Caller] = field(default_factory=dict)

    @property
    def network_id(self) -> str:
        return access.short_name(self.project)

    def program(self, role: Role = Role.MEMBER) -> Caller:
        """A program with a token of the project that is bound to no agent."""
        return self._known(role, lambda: self.token(role=role))

    def agent(self, name: str, role: Role = Role.MEMBER) -> Caller:
        """A program with a token that is bound to the agent of that name."""
        return self._known((name, role), lambda: self.token(name, role=role))

    def online(self, name: str, status: str = "idle", **report: object) -> Caller:
        """An agent that has reported."""
        agent = self.agent(name)
        answer = agent.report_status(resume_id=f"run of {name}", alias=name, status=status, **report)
        assert answer["ok"], answer
        return agent

    def person(self, *memberships: tuple[Project, Role]) -> Caller:
        """A person (`utok_`) with these memberships."""
        name = f"person-{uuid4().hex[:8]}"
        user, secret = self.hub.do(lambda tx: users.create(tx, name))
        for project, role in memberships:
            self.hub.do(partial(put_member, project_id=project.id, user_id=user.id, role=role))
        return Caller(self.hub, secret, self.closing)

    def token(
        self, agent: str | None = None, *, role: Role = Role.MEMBER, ttl: timedelta | None = None
    ) -> str:
        """The secret of a new token for the project."""
        made = self.hub.do(lambda tx: tokens.for_project(tx, self.project, role=role, agent=agent, ttl=ttl))
        return made[1]

    def revoke(self, secret: str) -> None:
        """Take a token back."""
        self.hub.do(lambda tx: tokens.revoke(tx, access.authenticate(tx, secret).token_id or uuid4()))

    def later(self, **duration: float) -> None:
        """Let time pass."""
        self.hub.clock.advance(timedelta(**duration))

    def free_task(self, text: str = "for anyone") -> str:
        """A task that is addressed to nobody, as other dialects make them; returns its id."""

        def send(tx: Tx) -> Task:
            agents.meet(tx, self.project.id, "planner")
            return tasks.send(tx, self.project.id, sender="planner", to=None, text=text)

        return str(self.hub.do(send).id)

    def task(self, task_id: str) -> Json:
        """The whole row of a task, as `get_task` shows it."""
        row: Json = self.program().get_task(task_id=task_id)["task"]
        return row

    def inbox(self, alias: str) -> list[Json]:
        """What is pending for an agent, as a looker-on sees it, who changes nothing."""
        rows: list[Json] = self.program(Role.VIEWER).get_inbox(alias=alias, limit=100)["messages"]
        return rows

    def row(self, alias: str) -> Json:
        """An agent's row of `get_all_status`."""
        sessions = self.program().get_all_status()["sessions"]
        (row,) = [each for each in sessions if each["alias"] == alias]
        return dict(row)

    def nodes(self) -> list[Node]:
        return self.hub.look(lambda tx: agents.nodes(tx, self.project.id))

    def log(self) -> list[Json]:
        """What the project's activity log says happened, oldest first."""
        rows = self.hub.look(
            lambda tx: tx.all(
                "SELECT kind, actor, agent, task_id, detail FROM activity WHERE project_id = :id ORDER BY tx, seq",
                id=self.project.id,
            )
        )
        return [{**row, "detail": json.loads(row["detail"])} for row in rows]

    def world(self) -> World:
        """Everything that is kept of the project, row by row, and how much there is of the hub beside it."""

        def rows(tx: Tx) -> World:
            ours = {
                table: tx.all(f"SELECT * FROM {table} WHERE project_id = :id", id=self.project.id)
                for table in TABLES
            }
            others = {table: tx.all(f"SELECT count(*) FROM {table}") for table in HUB_TABLES}
            found = {**ours, **others}
            return {name: sorted((tuple(row.items()) for row in found[name]), key=repr) for name in found}

        return self.hub.look(rows)

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """What happens in the context leaves no trace: nothing half done, nothing to hear of."""
        before = self.world()
        yield
        assert self.world() == before

    def post(
        self, body: object, secret: str | None = None, path: str = "/mcp", **headers: str
    ) -> httpx2.Response:
        """Post a message, or raw bytes, as a client without any MCP library does."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {
            "Authorization": f"Bearer {secret or self.program().secret}",
            "Content-Type": "application/json",
        }
        return httpx2.post(
            self.hub.url + path,
            content=content,
            headers={**given, **headers},
            timeout=PATIENCE,
            verify=NO_TLS,
        )

    @contextmanager
    def events(self, name: str, secret: str | None = None, *, after: str = "") -> Iterator[Frames]:
        """The event stream of an inbox, after its first frame; with `after`, from the event of that id on."""
        headers = {"Authorization": f"Bearer {secret or self.agent(name).secret}"}
        if after:
            headers["Last-Event-ID"] = after
        with httpx2.stream(
            "GET",
            f"{self.hub.url}/events/{quote(name, safe='')}",
            headers=headers,
            timeout=PATIENCE,
            verify=NO_TLS,
        ) as response:
            assert response.status_code == 200, response.read()
            frames = Frames(response)
            assert frames.next() == {"type": "connected", "session": name, "network_id": self.network_id}
            yield frames

    def _known(self, key: object, secret: Callable[[], str]) -> Caller:
        if key not in self._callers:
            self._callers[key] = Caller(self.hub, secret(), self.closing)
        return self._callers[key]


def call(tool: str, **arguments: object) -> Json:
    """A bare call of a tool as it goes over the line."""
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }


@contextmanager
def fresh_fleet(hub: Hub) -> Iterator[Fleet]:
    """A new project of the hub, and everybody's connections closed when the context ends."""
    project = hub.do(lambda tx: projects.create(tx, f"fleet-{uuid4().hex}"))
    with ExitStack() as closing:
        yield Fleet(hub, project, closing)
