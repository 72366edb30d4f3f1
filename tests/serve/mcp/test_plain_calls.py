"""Plain calls, which are answered without the SDK: as it would answer them, and never for a token that has ended."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, ClassVar

import httpx2
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import encode_header_value
from starlette.types import Message

from hubbub.core.actions import inbox
from hubbub.core.people import access, members, projects, tokens, users
from hubbub.core.transaction import Transactions
from hubbub.dialects import discover
from hubbub.dialects.call import Call, HubContext, NotYet
from hubbub.dialects.dialect import Dialect, Shape, complete
from hubbub.model import json_chunks
from hubbub.model.errors import HubError, Invalid, NotFound, StoreUnavailable
from hubbub.model.fleet.calls import ToolResult, as_json
from hubbub.model.json_chunks import EncodedRow, EncodedRows
from hubbub.model.people.rights import SYSTEM, Actor, Role
from hubbub.serve.live.activity_source import LiveActivitySource
from hubbub.serve.live.ephemeral import EphemeralBroadcast
from hubbub.serve.live.log_tail import LogTail
from hubbub.serve.live.subscribers import Subscribers
from hubbub.serve.mcp.build import build
from hubbub.serve.mcp.connections import SEEN, Connections
from hubbub.serve.mcp.dialect_server import DialectServer
from hubbub.serve.mcp.endpoint import Endpoint
from hubbub.serve.mcp.request_context import Context
from hubbub.store.engine.sqlite import SQLite
from hubbub.store.tx import Store
from tests.serve.conftest import both_engines
from tests.serve.mcp.wire import ENVELOPE, MODERN, Json, call, message, post
from tests.serve.served_hub import Hub
from tests.support.waiting import patience, until

OLD = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
BARE = "bare"
TOLD = (ToolResult, HubError, MCPError)  # what a call comes to, unless it finds a bug
SESSION = "mcp-session-id"
SPOKEN = sorted(name for name, dialect in discover().items() if not dialect.streams)
THOROUGH = settings(
    max_examples=50, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate]
)

# JSON of any kind: also what is longer or odder than anybody sends, and numbers that are written in several ways.
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | NUMBERS | st.text(st.characters(exclude_categories=["Cs"]))
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)
RIGHT: Mapping[str, st.SearchStrategy[Any]] = {
    "string": st.sampled_from(["ada", "bob", "", "working", "hé \U0001f600\n\"\\\x7f"]) | st.text(max_size=20),
    "integer": st.integers(-2, 200) | st.integers(0, 200).map(float),
    "number": st.floats(0, 100),
    "boolean": st.booleans(),
    "null": st.none(),
}  # fmt: skip


# What rows hold that were encoded before.
PLAIN = st.none() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]))
ROWS = st.dictionaries(st.text(max_size=6), PLAIN | st.lists(PLAIN, max_size=2), max_size=3)


def encoded(rows: list[Json]) -> EncodedRows:
    return EncodedRows(EncodedRow.of(as_json(row)) for row in rows)


def fitting(schema: Json) -> st.SearchStrategy[Any]:
    """Return the values that a schema of an argument allows."""
    if "enum" in schema or "const" in schema:
        return st.sampled_from(schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return st.one_of(*map(fitting, schema["anyOf"]))
    kind = schema.get("type")
    if isinstance(kind, list):
        return st.one_of(*(fitting({**schema, "type": each}) for each in kind))
    if kind == "array":
        return st.lists(fitting(schema.get("items", {})), max_size=3)
    if kind == "object":
        return st.dictionaries(st.text(max_size=5), ANYTHING, max_size=3)
    return RIGHT.get(str(kind), ANYTHING)


@st.composite
def arguments(draw: st.DrawFn, schema: Json) -> Json:
    """Arguments of a tool: as its schema has them, some left out, some of another kind, some that nobody knows."""
    required = schema.get("required", [])
    chosen = {
        name: draw(ANYTHING if draw(st.integers(0, 9)) == 0 else fitting(prop))
        for name, prop in schema["properties"].items()
        if draw(st.integers(0, 19)) < (19 if name in required else 10)
    }
    return {**chosen, **draw(st.dictionaries(st.text(max_size=5), ANYTHING, max_size=1))}


@dataclass
class Answer:
    """An answer as a client sees it."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Way:
    """One way in to a dialect: an endpoint, spoken to as the guard would, and its open sessions by revision."""

    endpoint: Endpoint
    actor: Actor
    portal: BlockingPortal
    sessions: dict[str, str] = field(default_factory=dict)

    def ask(self, body: bytes, headers: list[tuple[bytes, bytes]], query: bytes = b"") -> Answer:
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/mcp/any",
            "query_string": query,
            "headers": headers,
            "state": {"actor": self.actor},
        }
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(told: Message) -> None:
            sent.append(told)

        self.portal.call(self.endpoint, scope, receive, send)
        said = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
        if SESSION in said:
            said[SESSION] = "any"
        return Answer(sent[0]["status"], said, b"".join(each.get("body", b"") for each in sent[1:]))

    def open(self, revision: str, *, answered: bool = True) -> str:
        """The id of a transport session, which the SDK has `answered` once already."""
        if revision not in self.sessions:
            hello = {
                "protocolVersion": revision,
                "capabilities": {},
                "clientInfo": {"name": "x", "version": "1"},
            }
            before = set(self.endpoint._plain._server_instances)
            self.ask(json.dumps(message("initialize", hello)).encode(), headers_of(revision))
            (name,) = set(self.endpoint._plain._server_instances) - before
            self.sessions[revision] = name
            if answered:
                told = [*headers_of(revision), (SESSION.encode(), name.encode())]
                self.ask(b'{"jsonrpc":"2.0","method":"notifications/initialized"}', told)
                self.ask(json.dumps(message("ping")).encode(), told)
        return self.sessions[revision]


def headers_of(manner: str, more: Mapping[str, str] | None = None) -> list[tuple[bytes, bytes]]:
    """Return the headers that a client of that manner sends with every message."""
    own = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    if manner != BARE:
        own["mcp-protocol-version"] = manner
    return [(name.encode(), value.encode()) for name, value in {**own, **(more or {})}.items()]


@dataclass
class Both:
    """The two ways in to one dialect. The first that a call comes does it; the other has to make the same of it."""

    plain: Way
    sdk: Way
    seen: list[tuple[object, ...]] = field(default_factory=list)
    known: list[ToolResult | Exception] = field(default_factory=list)
    plainly: int = 0

    def compare(
        self, body: Json | bytes, manner: str, more: Mapping[str, str] | None = None, query: bytes = b""
    ) -> Answer:
        """Ask both, and see that the calls that they make of it and their answers are the same."""
        raw = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        self.seen, self.known = [], []
        answers = []
        for way in (self.plain, self.sdk):
            told = headers_of(manner, more)
            if manner in OLD:
                told.append((SESSION.encode(), way.open(manner).encode()))
                self.seen, self.known = (self.seen, self.known) if way is self.sdk else ([], [])
            answers.append(way.ask(raw, told, query))
        assert answers[0] == answers[1]
        assert len(self.seen) in (0, 2)
        assert self.seen[:1] == self.seen[1:]
        return answers[0]


class Performing:
    """Has a server record its calls, and perform only those that the other server has not."""

    both: ClassVar[list[Both]] = []

    def __init__(self, server: DialectServer, both: Both) -> None:
        self.does, self.both_ways = server.perform, both
        self.stub: ToolResult | Exception | None = None

    async def __call__(
        self, _transactions: object, actor: Actor, tool: str, given: Json, **more: Any
    ) -> ToolResult:
        both, around = self.both_ways, more["call"]
        assert isinstance(around, Call)
        heard = {name: value for name, value in around.headers.items() if name not in ("accept", SESSION)}
        said = {name: each for name, each in around.meta.items() if "progress" not in name}
        kept = around.connection is not None  # each has its own
        both.seen.append((actor, tool, dict(given), more["key"], more["asked"], heard, said, kept))
        if not both.known:
            both.known.append(await self._done(actor, tool, given, more))
        outcome = both.known[0]
        if isinstance(outcome, Exception):
            raise outcome
        shape: Shape = more.get("shape", complete)
        return shape(outcome)

    async def _done(self, actor: Actor, tool: str, given: Json, more: Json) -> ToolResult | Exception:
        if self.stub is not None:
            return self.stub
        server: DialectServer = self.does.__self__  # type: ignore[attr-defined]
        around = replace(more["call"], client=None, progress=None, may_wait=False)
        try:
            whole = {**more, "call": around, "shape": complete}
            return await self.does(server.transactions, actor, tool, given, **whole)
        except NotYet:
            return ToolResult({"waits": True})
        except Exception as error:  # noqa: BLE001  # whatever it is, both have to tell it alike
            return error


@contextmanager
def both_ways(store: Store, actor: Actor, dialect: Dialect) -> Iterator[tuple[Both, list[Performing]]]:
    """The two ways in to a dialect, over one store."""
    transactions, followers, feed = Transactions(store), Subscribers(), LogTail(store)
    news = LiveActivitySource(feed, followers)
    site = HubContext(
        url="http://hub",
        port=1,
        instance="one",
        news=news,
        tell=lambda *_: None,
        note=lambda _operation: None,
    )
    with start_blocking_portal() as portal, ExitStack() as running:
        ways, servers = [], []
        for _ in range(2):
            sessions = Connections(transactions.quotas)
            served = build(
                transactions,
                {dialect.name: dialect},
                followers,
                sessions,
                root=dialect.name,
                site=site,
                whispers=EphemeralBroadcast(store),
            )
            running.enter_context(portal.wrap_async_context_manager(served.run()))
            (endpoint,) = portal.call(served.endpoints).values()
            ways.append(Way(endpoint, actor, portal))
            servers.append(endpoint.served)
        both = Both(ways[0], ways[1])
        ways[1].endpoint.calls = None
        performing = [Performing(server, both) for server in servers]
        for server, each in zip(servers, performing, strict=True):
            server.perform = each  # type: ignore[method-assign,assignment]
        plain = ways[0].endpoint.calls
        assert plain is not None
        seen = plain.seen

        def counted(scope: Any, body: bytes) -> Any:
            found = seen(scope, body)
            both.plainly += found is not None
            return found

        plain.seen = counted  # type: ignore[method-assign]
        yield both, performing


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Actor]]:
    """A store with a project, and one of its programs."""
    store = SQLite.open(tmp_path_factory.mktemp("plain"))

    def begin(tx: Any) -> Actor:
        tx.actor = access.authenticate(tx, users.first_start(tx) or "")
        project = projects.show(tx, projects.DEFAULT)
        token, _secret = tokens.for_project(tx, project, role=Role.MEMBER, agent=None, ttl=None)
        return Actor(token_id=token.id, project_id=project.id, role=Role.MEMBER)

    yield store, store.write_now(SYSTEM, begin)
    store.close()


def put(manner: str, params: Json, given_id: object = 1) -> tuple[Json, dict[str, str]]:
    """A call with these params in that manner, and the headers that go with it."""
    if manner != MODERN:
        return {"jsonrpc": "2.0", "id": given_id, "method": "tools/call", "params": params}, {}
    meta = params.get("_meta", {})
    told = {**params, "_meta": {**ENVELOPE, **meta} if isinstance(meta, dict) else meta}
    headers = {"mcp-method": "tools/call", "mcp-name": encode_header_value(str(params.get("name", "")))}
    return {"jsonrpc": "2.0", "id": given_id, "method": "tools/call", "params": told}, headers


@pytest.mark.system
@pytest.mark.parametrize("manner", [BARE, OLD[0], OLD[-1], MODERN])
@pytest.mark.parametrize("dialect", SPOKEN)
def test_a_plain_call_is_answered_byte_for_byte_as_by_the_sdk(
    world: tuple[Store, Actor], dialect: str, manner: str
) -> None:
    """Whatever a tool is called with, the answer without the SDK is the answer with it, and none is that of a bug."""
    spoken = discover()[dialect]
    tools = spoken.tools
    with both_ways(*world, spoken) as (both, _performing):

        @THOROUGH
        @given(st.data())
        def every(data: st.DataObject) -> None:
            name = data.draw(st.sampled_from([*tools, "nonsense"]))
            schema: Any = tools[name].schema if name in tools else {"properties": {}}
            params: Json = {"name": name, "arguments": data.draw(arguments(schema))}
            if data.draw(st.booleans()):
                params["_meta"] = {
                    "progressToken": data.draw(st.integers() | st.text()),
                    "com.example/x": [1],
                }
            body, more = put(manner, params, data.draw(st.integers() | st.text()))
            query = data.draw(st.sampled_from([b"", b"unread=true", b"tools=nonsense", b"unread=x"]))
            before = both.plainly
            both.compare(body, manner, more, query)
            assert all(isinstance(outcome, TOLD) for outcome in both.known)
            is_right = query in (b"", b"unread=true") and spoken.is_one_step(name, params["arguments"])
            assert both.plainly == before + is_right

        every()


@pytest.mark.system
@pytest.mark.parametrize("manner", [BARE, *OLD, MODERN])
def test_every_outcome_is_written_byte_for_byte_as_by_the_sdk(
    world: tuple[Store, Actor], manner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every outcome of a tool, also a refusal or a bug, is written as the SDK writes it: each number, each character.

    So it is where it is large, and written in pieces.
    """
    monkeypatch.setattr(json_chunks, "SOME", 2)
    monkeypatch.setattr(json_chunks, "LONG", 12)
    monkeypatch.setattr(json_chunks, "SENT", 12)
    outcomes = st.builds(
        ToolResult,
        st.dictionaries(st.text(max_size=8), ANYTHING, max_size=4) | st.lists(ANYTHING, max_size=3),
        is_error=st.booleans(),
        texts=st.none() | st.lists(st.text(max_size=20), max_size=2).map(tuple),
    )
    errors = st.sampled_from(
        [Invalid("no"), NotFound("task", "x"), StoreUnavailable("full"), RuntimeError("the secret is 42")]
    )
    told = st.fixed_dictionaries({"ok": st.booleans(), "é": PLAIN, "rows": st.lists(ROWS).map(encoded)})
    with both_ways(*world, discover()["relay"]) as (both, performing):

        @THOROUGH
        @given(outcomes | errors | st.builds(ToolResult, told))
        def every(outcome: ToolResult | Exception) -> None:
            for each in performing:
                each.stub = outcome
            body, more = put(manner, {"name": "any", "arguments": {}})
            answer = both.compare(body, manner, more)
            assert b"the secret is 42" not in answer.body

        every()
        assert both.plainly


WRONG: list[bytes | Json] = [
    b"",
    b"{",
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":NaN}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud800"}}',
    b'[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}]',
    b'{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"x","name":"y"}}',
    {"jsonrpc": "1.0", "id": 1, "method": "tools/call", "params": {"name": "x"}},
    {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "x"}},
    {"jsonrpc": "2.0", "id": None, "method": "tools/call", "params": {"name": "x"}},
    {"jsonrpc": "2.0", "id": 1.5, "method": "tools/call", "params": {"name": "x"}},
    {"jsonrpc": "2.0", "id": True, "method": "tools/call", "params": {"name": "x"}},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call"},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": None},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": []},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/calls", "params": {"name": "tools/call"}},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x"}, "result": {}},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x"}, "more": 1},
]


NO_ARGUMENTS: list[object] = [None, [], "x", {}]
NO_META: list[object] = [None, [], {}, {"progressToken": {}}, {"progressToken": True}]


@pytest.mark.parametrize("manner", [BARE, OLD[-1], MODERN])
def test_what_is_wrong_with_a_call_is_told_as_the_sdk_tells_it(
    world: tuple[Store, Actor], manner: str
) -> None:
    """A message, its params and its headers may be wrong in many ways; none is answered differently."""
    odd: list[Json] = [
        *({"name": name} for name in (None, 7, "", "x" * 300)),
        {},
        *({"name": "any", "arguments": each} for each in NO_ARGUMENTS),
        *({"name": "any", "_meta": each} for each in NO_META),
        *({"name": "any", "_meta": {"hubbub/idempotency-key": key}} for key in (None, 7, "", "one", "x" * 300)),
        *(
            {"name": "any", "_meta": {"hubbub/idempotency-key": "one", "hubbub/idempotency-attempt": number}}
            for number in (None, 1, 0, -1, 1.0, "1", True, 2**53)
        ),
        {"name": "any", "_meta": {"hubbub/idempotency-attempt": "x"}},
        {"name": "any", "_meta": {"io.modelcontextprotocol/protocolVersion": "2025-11-25"}},
        {"name": "any", "_meta": {"io.modelcontextprotocol/clientCapabilities": {"elicitation": 7}}},
        {"name": "any", "_meta": {"io.modelcontextprotocol/clientInfo": {"name": "x"}}},
        {"name": "any", "_meta": {"io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"}}},
        {"name": "any", "requestState": "x"},
        {"name": "any", "inputResponses": {}},
        {"name": "any", "task": {"ttl": 1}},
    ]  # fmt: skip
    headers: list[dict[str, str]] = [
        {"accept": "application/json"}, {"accept": "text/event-stream"}, {"accept": "*/*"}, {"accept": "text/html"},
        {"accept": ""}, {"content-type": "application/vnd.x+json"}, {"content-type": "application/json; charset=utf-8"},
        {"mcp-protocol-version": "nonsense"}, {"mcp-protocol-version": " 2025-11-25"}, {"mcp-method": "tools/list"},
        {"mcp-name": "other"}, {"mcp-param-x": "y"}, {"idempotency-key": "one"}, {"idempotency-key": " one "},
        {"idempotency-attempt": "x"},
        *({"idempotency-key": "one", "idempotency-attempt": number} for number in ("1", "0", "x", "+1", "9" * 20)),
        {SESSION: "nonsense"},
    ]  # fmt: skip
    with both_ways(*world, discover()["relay"]) as (both, performing):
        for each in performing:
            each.stub = ToolResult({"fine": True})
        for body in WRONG:
            both.compare(body, manner)
        for params in odd:
            told, more = put(manner, params)
            both.compare(told, manner, more)
        for said in headers:
            told, more = put(manner, {"name": "any", "arguments": {}})
            both.compare(told, manner, {**more, **said})
        assert both.plainly


@pytest.mark.parametrize("revision", OLD)
def test_no_call_of_a_session_needs_the_sdk(world: tuple[Store, Actor], revision: str) -> None:
    """Neither the first call of a session nor one after a long time is written by the SDK, which takes it whole."""
    heard: list[str] = []

    async def hear(ctx: Context, call_next: CallNext) -> HandlerResult:
        heard.append(ctx.method)
        return await call_next(ctx)

    with both_ways(*world, discover()[SPOKEN[0]]) as (both, _performing):
        way, (body, _more) = both.plain, put(revision, {"name": "nonsense", "arguments": {}})
        told = [*headers_of(revision), (SESSION.encode(), way.open(revision, answered=False).encode())]
        way.endpoint.server.middleware.append(hear)
        first, second = [way.ask(json.dumps(body).encode(), told).body for _ in range(2)]
        way.endpoint.sessions._now = lambda: time.monotonic() + SEEN + 1
        late = way.ask(json.dumps(body).encode(), told).body
    assert heard == ["ping", "ping"]
    assert b"nonsense" in first
    assert {first} == {second, late}


def test_a_call_that_waited_behind_the_end_of_its_token_is_refused(hub: Hub) -> None:
    """A call in line behind the end of its own token is refused."""
    hub.meet("bob")
    secret, note = hub.token("ada"), call("note", to="bob", text="too late")
    assert post(hub, secret, note).status_code == 200
    token_id = hub.do(lambda tx: access.authenticate(tx, secret)).token_id
    held, going = threading.Event(), threading.Event()
    assert isinstance(hub.store, SQLite)
    writer = hub.store._writer

    def hold(_tx: Any) -> None:
        held.set()
        going.wait(patience())

    with ThreadPoolExecutor(3) as threads:
        holding = threads.submit(hub.do, hold)
        held.wait(patience())
        ended = threads.submit(hub.do, lambda tx: tokens.revoke(tx, token_id), hub.owner)
        until(lambda: writer.line, "the end of the token to stand in line")
        late = threads.submit(post, hub, secret, note)
        until(lambda: writer.line >= 2, "the call to stand in line")
        going.set()
        holding.result()
        ended.result()
        refused = late.result()
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert refused.content == post(hub, "ntok_" + "f" * 32, note).content
    assert [letter.body for letter in letters(hub)] == ["too late"]


def letters(hub: Hub) -> Any:
    return hub.do(lambda tx: inbox.read(tx, hub.project.id, "bob", 10_000))


CALLERS = 6


@both_engines
@pytest.mark.parametrize("stateful", [False, True])
def test_no_call_gets_through_after_its_token_was_revoked(hub: Hub, stateful: bool) -> None:
    """Many call as fast as they can while their token is revoked: what is begun after that is refused, and undone."""
    hub.meet("bob")
    secret = hub.token("ada")
    over = threading.Event()
    done: list[int] = []

    def calling() -> list[tuple[bool, int]]:
        """Return for each call whether it began after the token had ended, and its status."""
        seen: list[tuple[bool, int]] = []
        with httpx2.Client(headers=_told(hub, secret, stateful=stateful), timeout=patience()) as http:
            while not seen or seen[-1][1] == 200:
                began_after = over.is_set()
                answer = http.post(hub.url + "/mcp/tiny", json=call("note", to="bob", text="now"))
                seen.append((began_after, answer.status_code))
                done.append(answer.status_code)
        return seen

    with ThreadPoolExecutor(CALLERS) as threads:
        callers = [threads.submit(calling) for _ in range(CALLERS)]
        until(lambda: done.count(200) >= 3 * CALLERS, "some calls to have got through")
        hub.revoke(secret)
        over.set()
        seen = [each for caller in callers for each in caller.result()]
    assert {status for began_after, status in seen if began_after} <= {401}
    assert {status for _began_after, status in seen} == {200, 401}
    assert len(letters(hub)) == sum(status == 200 for _began_after, status in seen)


def _told(hub: Hub, secret: str, *, stateful: bool) -> dict[str, str]:
    """Return the headers of a client, which has opened a session if it is `stateful`."""
    own = {"Authorization": f"Bearer {secret}", "Accept": "application/json, text/event-stream"}
    if not stateful:
        return own
    about = {"protocolVersion": OLD[-1], "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    begun = httpx2.post(hub.url + "/mcp/tiny", json=message("initialize", about), headers=own)
    own |= {SESSION: begun.headers[SESSION], "mcp-protocol-version": OLD[-1]}
    httpx2.post(
        hub.url + "/mcp/tiny", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=own
    )
    return own


@both_engines
def test_what_has_changed_of_a_person_holds_for_the_next_call(hub: Hub) -> None:
    """A member who was made a viewer may not write, and one who was removed sees nothing, from the next call on."""
    hub.meet("bob")
    user, secret = hub.do(lambda tx: users.create(tx, "pia"), hub.owner)
    note = call("note", to="bob", text="hello")

    def said() -> object:
        return post(hub, secret, note).json()["result"]["structuredContent"].get("why")

    def make(role: Role) -> None:
        hub.do(lambda tx: members.put(tx, hub.project, user.name, role), hub.owner)

    make(Role.MEMBER)
    assert said() is None
    make(Role.VIEWER)
    assert said() == "forbidden"
    make(Role.MEMBER)
    assert said() is None
    hub.do(lambda tx: members.remove(tx, hub.project, user.name), hub.owner)
    assert said() in ("project_denied", "project_required")


def test_an_expired_token_is_refused_although_it_was_known(hub: Hub) -> None:
    """The time of a token may run out between two calls."""
    secret = hub.token(ttl=timedelta(seconds=30))
    echo = call("echo", text="hello")
    assert post(hub, secret, echo).status_code == 200
    hub.do(lambda tx: tx.run("UPDATE tokens SET expires_at = :now WHERE expires_at IS NOT NULL", now=tx.now))
    assert post(hub, secret, echo).status_code == 401


def test_also_what_needs_no_transaction_is_refused_to_a_token_that_has_ended(hub: Hub) -> None:
    """An unknown tool, wrong arguments and a message that is none tell nothing to who may not call."""
    secret = hub.token()
    wrong = [
        call("nonsense"),
        call("echo"),
        message("tools/list"),
        message("ping"),
        b"{",
        call("echo", text=7),
    ]
    assert {post(hub, secret, each).status_code for each in wrong} == {200, 400}
    hub.revoke(secret)
    assert {post(hub, secret, each).status_code for each in wrong} == {401}
