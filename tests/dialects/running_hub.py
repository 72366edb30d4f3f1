"""A running hub whose clock can be moved, and those who talk to it: what the tests of all dialects share."""

import asyncio
import json
import re
import socket
import ssl
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property, partial
from typing import Any, ClassVar, Self, TypeVar
from uuid import UUID, uuid4

import httpx2
import pytest
from anyio.from_thread import BlockingPortal
from argon2 import PasswordHasher
from mcp.client import Client
from mcp.client.client import ConnectMode
from mcp.client.streamable_http import streamable_http_client

from hubbub.core.mail import deadletters
from hubbub.core.people import access, projects, tokens, users
from hubbub.core.transaction import Transactions
from hubbub.dialects import discover
from hubbub.model.people.rights import SYSTEM, Actor, Role
from hubbub.model.records import Project
from hubbub.serve.application import AppContext, application
from hubbub.serve.background.last_tools import LastTools
from hubbub.serve.fleet.linked_nodes import LinkedNodes
from hubbub.serve.fleet.proof_signing import ProofSigning
from hubbub.serve.http import passwords
from hubbub.serve.http.server import HubServer, server_config
from hubbub.serve.live.delivery_receipts import DeliveryReceipts
from hubbub.serve.live.ephemeral import EphemeralBroadcast
from hubbub.serve.live.log_tail import LogTail
from hubbub.serve.live.subscribers import Subscriber, Subscribers
from hubbub.serve.mcp import endpoint
from hubbub.settings import Settings
from hubbub.store import migrate
from hubbub.store.people.projects import put_member
from hubbub.store.tx import Operation, Store, Tx, unix_ms
from hubbub.workspace.locations import Workspace
from tests.dialects.plain_line import NEWEST, PlainLine
from tests.support.self_named import by_a_tool_set
from tests.support.waiting import patience, until

Json = dict[str, Any]
Row = tuple[tuple[str, object], ...]
World = dict[str, list[Row]]
T = TypeVar("T")

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # the clients' default takes 30 ms to make, each time
CHEAP = partial(PasswordHasher, time_cost=1, memory_cost=64, parallelism=1)  # argon2id all the same
TABLE = re.compile(r"CREATE TABLE (\w+) \((.*?)\n\)", re.DOTALL)
TABLES = {
    name: "project_id" in columns  # whether its rows belong to projects
    for migration in migrate.known()
    for name, columns in TABLE.findall(migration.text)
}


class StillClock:
    """A clock that stands until a test moves it, so that the last moment before and the first after can be told."""

    def __init__(self) -> None:
        self._now = unix_ms() // 1000 * 1000

    def __call__(self) -> int:
        return self._now

    def advance(self, duration: timedelta) -> None:
        """Let `duration` pass at once."""
        self._now += duration // timedelta(milliseconds=1)


class SeenFollowers(Subscribers):
    """Those who hold a response open, by project; a test can wait for them."""

    def __init__(self) -> None:
        super().__init__()
        self._here: Counter[UUID | None] = Counter()
        self._changed = threading.Condition()
        self._came = threading.Semaphore(0)

    @contextmanager
    def open(self, actor: Actor) -> Iterator[Subscriber]:
        with super().open(actor) as follower:
            self._came.release()
            self._count(actor.project_id, 1)
            try:
                yield follower
            finally:
                self._count(actor.project_id, -1)

    def wait_for(self, number: int, project: Project) -> None:
        """Block until as many of the project's agents and programs hold a response open."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._here[project.id] == number, patience())

    def wait_for_one(self) -> None:
        """Block until one has come for whom nobody has waited like this; for a hub that only one test uses."""
        assert self._came.acquire(timeout=patience())

    def _count(self, project_id: UUID | None, change: int) -> None:
        with self._changed:
            self._here[project_id] += change
            self._changed.notify_all()


class SeenNotified(DeliveryReceipts):
    """The notes taken after an answer; a test can tell how many there were."""

    def __init__(self, transactions: Transactions) -> None:
        super().__init__(transactions)
        self.asked = 0

    def do(self, operation: Operation[None]) -> None:
        self.asked += 1
        super().do(operation)


@dataclass
class Hub:
    """The running hub, from outside (`url`) and from below (`store`)."""

    url: str
    store: Store
    clock: StillClock
    portal: BlockingPortal
    owner: Actor
    followers: SeenFollowers
    notified: SeenNotified
    whispers: EphemeralBroadcast
    stop: Callable[[], None]

    def do(self, operation: Operation[T], actor: Actor | None = None) -> T:
        """Run an operation beside the hub; as its owner, unless somebody else is named."""
        return self.store.write_now(actor or self.owner, operation)

    def look(self, operation: Operation[T]) -> T:
        return self.store.read_now(SYSTEM, operation)

    def bury(self, after: timedelta) -> None:
        """Have what lay unread for so long declared dead; also what other tests have left, some at a time."""
        while due := self.look(lambda tx: deadletters.due(tx, after)):
            self.do(partial(deadletters.settle, due=due, after=after))


@contextmanager
def running_hub(
    store: Store,
    clock: StillClock,
    settings: Settings,
    portal: BlockingPortal,
    *,
    workspace: Workspace | None = None,
    workspace_project: str = projects.DEFAULT,
) -> Iterator[Hub]:
    """A hub on `store` that runs until the context ends. Nothing in it happens by time, but when somebody calls."""
    owner = store.read_now(SYSTEM, lambda tx: access.authenticate(tx, _owner_secret(store)))
    transactions = Transactions(store)
    feed, followers, notified, whispers = (
        LogTail(store),
        SeenFollowers(),
        SeenNotified(transactions),
        EphemeralBroadcast(store),
    )
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
        parts = AppContext(
            transactions=transactions,
            dialects=discover(),
            feed=feed,
            followers=followers,
            notified=notified,
            whispers=whispers,
            sightings=LastTools(transactions),
            settings=settings,
            url=f"http://{host}:{port}",
            port=port,
            fleet=(fleet := LinkedNodes(transactions, str(uuid4()))),
            signing=ProofSigning(fleet, None),
            workspace=workspace,
            workspace_project=workspace_project,
            copier=None,
        )

        async def release() -> None:
            followers.close()

        with pytest.MonkeyPatch.context() as cheap:
            cheap.setattr(passwords, "PasswordHasher", CHEAP)
            server = HubServer(server_config(application(parts, alive), host, port), release)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()

        def stop() -> None:
            server.should_exit = True
            thread.join()

        try:
            until(lambda: server.started or not thread.is_alive(), "the hub to listen")
            assert server.started, "the hub has ended before it listened"
            yield Hub(parts.url, store, clock, portal, owner, followers, notified, whispers, stop)
        finally:
            stop()


def _owner_secret(store: Store) -> str:
    """A token of the hub's owner, whom a new hub makes first."""
    return store.write_now(SYSTEM, lambda tx: users.first_start(tx) or users.owner_token(tx))


_OFFICIALLY_CALLED: set[tuple[str, str]] = set()  # addresses and tools, in this process


@dataclass(frozen=True)
class Caller:
    """Somebody with a token who calls tools as the official client does: `caller.send_task(alias=…, task=…)`."""

    hub: Hub
    secret: str
    path: str
    closing: ExitStack
    mode: ConnectMode = NEWEST
    headers: Mapping[str, str] = field(default_factory=dict)
    says: Mapping[str, object] = field(default_factory=dict)  # in every call, unless the call says otherwise

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
        """The answer, and whether the protocol calls it an error."""
        given = {**self.says, **arguments}
        if not self.is_plain or (self.path, tool) not in _OFFICIALLY_CALLED:
            answer = self.hub.portal.call(_asked, self.client, tool, given, meta)
            _OFFICIALLY_CALLED.add((self.path, tool))
            return answer
        result = self.line.call(tool, given, meta)
        (content,) = result["content"]
        assert content["type"] == "text"
        return _same(content["text"], result["structuredContent"]), bool(result.get("isError"))

    def at_once(self, tool: str, calls: Sequence[Json]) -> list[Json]:
        """The answers to calls of a tool that all go out before the first is answered."""

        async def together(client: Client) -> list[tuple[Json, bool]]:
            return await asyncio.gather(*(_asked(client, tool, {**self.says, **each}, {}) for each in calls))

        answers = self.hub.portal.call(together, self.client)
        assert not any(is_error for _answer, is_error in answers), answers
        return [answer for answer, _is_error in answers]

    def soon(self, tool: str, **arguments: object) -> Callable[[], Json]:
        """Call a tool in the background; the result waits for the answer."""
        if self.is_plain:
            beside = ThreadPoolExecutor(1)
            called = beside.submit(self.ask, tool, arguments)
            beside.shutdown(wait=False)
            return lambda: called.result(patience())[0]
        asked = self.hub.portal.start_task_soon(_asked, self.client, tool, {**self.says, **arguments}, {})
        return lambda: asked.result(patience())[0]

    def saying(self, **says: object) -> Self:
        """The same caller, over the same connection, who says that in every call."""
        other = replace(self, says=says)
        shared = "line" if self.is_plain else "client"
        vars(other)[shared] = getattr(self, shared)
        return other

    @property
    def is_plain(self) -> bool:
        """Whether each call goes out by itself.

        The official client is for the first call of each tool in a process, and for calls that go together or in a
        session.
        """
        return self.mode == NEWEST and endpoint.PLAINLY

    @cached_property
    def line(self) -> PlainLine:
        """What single calls go over, as the official client would send them."""
        line = PlainLine(f"{self.hub.url}{self.path}", self.secret, self.headers)
        self.closing.callback(line.close)
        return line

    @cached_property
    def client(self) -> Client:
        """The official client, connected in the background."""
        return self.closing.enter_context(self.hub.portal.wrap_async_context_manager(self._connected()))

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {self.secret}", **self.headers}
        http = httpx2.AsyncClient(headers=headers, timeout=patience(), verify=NO_TLS)
        transport = streamable_http_client(f"{self.hub.url}{self.path}", http_client=http)
        async with http, Client(transport, mode=self.mode) as client:
            yield client


async def _asked(client: Client, tool: str, arguments: Json, meta: Json) -> tuple[Json, bool]:
    """Return the answer, which must be the same as text and as structured content, and whether it is an error."""
    result = await client.call_tool(tool, arguments, meta=meta or None)  # type: ignore[arg-type]
    (content,) = result.content
    assert content.type == "text"
    return _same(content.text, result.structured_content), bool(result.is_error)


def _same(text: str, structured: Json | None) -> Json:
    answer: Json = json.loads(text)
    assert answer == structured
    return answer


@dataclass
class Place:
    """One project of a running hub, fresh for one test, and everybody who works in it."""

    path: ClassVar[str] = "/mcp"  # of the dialect that is spoken here

    hub: Hub
    project: Project
    closing: ExitStack
    _callers: dict[object, Caller] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def fresh(cls, hub: Hub, slug: str | None = None) -> Iterator[Self]:
        """A new project of the hub, and everybody's connections closed when the context ends."""
        project = hub.do(lambda tx: projects.create(tx, slug or f"place-{uuid4().hex}"))
        with cls.again(hub, project) as place:
            yield place

    @classmethod
    @contextmanager
    def again(cls, hub: Hub, project: Project) -> Iterator[Self]:
        """A project that is there already."""
        with ExitStack() as closing:
            yield cls(hub, project, closing)

    def program(self, role: Role = Role.MEMBER) -> Caller:
        """A program with a token of the project that is bound to no agent."""
        return self._known(role, lambda: self.caller(self.token(role=role)))

    def agent(self, name: str, role: Role = Role.MEMBER) -> Caller:
        """A program with a token that is bound to the agent of that name."""
        return self._known((name, role), lambda: self.caller(self.token(name, role=role)))

    def person(self, *memberships: tuple[Project, Role]) -> Caller:
        """A person (`utok_`) with these memberships."""
        name = f"person-{uuid4().hex[:8]}"
        user, secret = self.hub.do(lambda tx: users.create(tx, name))
        for project, role in memberships:
            self.hub.do(partial(put_member, project_id=project.id, user_id=user.id, role=role))
        return self.caller(secret)

    def caller(self, secret: str) -> Caller:
        """Return a caller with the token."""
        return Caller(self.hub, secret, self.path, self.closing)

    def token(
        self, agent: str | None = None, *, role: Role = Role.MEMBER, ttl: timedelta | None = None
    ) -> str:
        """The secret of a new token for the project."""
        if agent is not None:
            self.hub.do(lambda tx: by_a_tool_set(tx, self.project.id, agent))
        made = self.hub.do(lambda tx: tokens.for_project(tx, self.project, role=role, agent=agent, ttl=ttl))
        return made[1]

    def revoke(self, secret: str) -> None:
        """Take a token back."""
        self.hub.do(lambda tx: tokens.revoke(tx, access.authenticate(tx, secret).token_id or uuid4()))

    def later(self, **duration: float) -> None:
        """Let time pass."""
        self.hub.clock.advance(timedelta(**duration))

    def log(self) -> list[Json]:
        """Return the events of the project's activity log, oldest first."""
        rows = self.hub.look(
            lambda tx: tx.all(
                "SELECT kind, actor, agent, task_id, detail FROM activity WHERE project_id = :id ORDER BY tx, seq",
                id=self.project.id,
            )
        )
        return [{**row, "detail": json.loads(row["detail"])} for row in rows]

    def world(self) -> World:
        """Return every row of the project, and the number of rows of each table that belongs to no project."""

        def rows(tx: Tx) -> World:
            found = {
                table: tx.all(f"SELECT * FROM {table} WHERE project_id = :id", id=self.project.id)
                if is_of_projects
                else tx.all(f"SELECT count(*) FROM {table}")
                for table, is_of_projects in TABLES.items()
            }
            return {name: sorted((tuple(row.items()) for row in found[name]), key=repr) for name in found}

        return self.hub.look(rows)

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Check that the context leaves no trace: nothing half done, no news."""
        before = self.world()
        yield
        now = self.world()
        changes = {name: (rows, now[name]) for name, rows in before.items() if now[name] != rows}
        assert changes == {}, changes

    def post(
        self, body: object, secret: str | None = None, path: str | None = None, **headers: str
    ) -> httpx2.Response:
        """Post a message, or raw bytes, as a client without any MCP library does."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {
            "Authorization": f"Bearer {secret or self.program().secret}",
            "Content-Type": "application/json",
        }
        return httpx2.post(
            self.hub.url + (path or self.path),
            content=content,
            headers={**given, **headers},
            timeout=patience(),
            verify=NO_TLS,
        )

    def _known(self, key: object, made: Callable[[], Caller]) -> Caller:
        if key not in self._callers:
            self._callers[key] = made()
        return self._callers[key]


def call(tool: str, **arguments: object) -> Json:
    """A bare call of a tool as it goes over the line."""
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
