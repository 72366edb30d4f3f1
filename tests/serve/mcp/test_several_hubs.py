"""MCP at several hubs over one database, behind a balancer that knows nothing: any request comes to any of them."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import cycle
from pathlib import Path

import httpx2
import pytest

from hubbub.core.transaction import Transactions
from hubbub.dialects.call import Call
from hubbub.dialects.dialect import Dialect, Reply
from hubbub.model.fleet.calls import Principal, Question, ToolResult
from hubbub.model.people.rights import Actor
from hubbub.store.tx import Tx
from tests.serve.live.test_resources import open_streams
from tests.serve.mcp.test_connections import SESSION
from tests.serve.mcp.test_protocol import contents
from tests.serve.mcp.wire import BOTH, LEGACY, Json, Peer, call, frames, message
from tests.serve.served_hub import TINY, Hub, running_hub
from tests.support.waiting import patience, until

PATH = "/mcp/commhub"
QUESTION = Question(
    who=Principal(project="default", name="ann"),
    node="box",
    tool="execute_command",
    arguments={},
    folder="/",
    shown="make",
    reason="the mode asks",
    digest="0" * 64,
)


class Curious(Dialect):
    """A tool set with one tool, which says what it is at, and asks whoever sits at the client."""

    async def call(  # noqa: PLR0917  # as the tool sets that there are
        self,
        transactions: Transactions,
        actor: Actor,
        name: str,
        arguments: Mapping[str, object],
        key: str | None = None,
        call: Call | None = None,
        **_shape: object,
    ) -> ToolResult:
        assert call is not None
        assert call.progress is not None
        await call.progress("looking")
        said = await call.client.ask(QUESTION, "1") if call.client is not None else None
        return ToolResult({"said": said})


CURIOUS = Curious(
    name="curious",
    guide="Say `wonder`.",
    success=TINY.success,
    refusals=TINY.refusals,
    invalid=TINY.invalid,
    unknown=TINY.unknown,
    streams=True,
)


@CURIOUS.tool()
def wonder(_tx: Tx) -> Reply:
    """Ask."""
    raise AssertionError("the tool set does it")


class Hubs:
    """Three hubs, each owned by a stack, and a client whose requests go round among those that are left."""

    def __init__(self, folder: Path, database: str) -> None:
        self.stacks = [ExitStack() for _ in range(3)]
        self.hubs: list[Hub] = []
        for number, stack in enumerate(self.stacks):
            running = running_hub(folder / str(number), also=CURIOUS, database=database, no_node=True)
            self.hubs.append(stack.enter_context(running))
        self.secret = self.hubs[0].token("ann")
        self.session, self.path = "", PATH
        self._round = cycle(range(3))

    def stop(self, number: int) -> None:
        self.stacks[number].close()
        self._round = cycle(left for left in range(3) if left != number)

    @contextmanager
    def stream(self, method: str, body: object = None, *, at: int) -> Iterator[Iterator[Json]]:
        """Yield the frames of an answer that is a stream, as they come."""
        with httpx2.stream(
            method,
            f"{self.hubs[at].url}{self.path}",
            json=body,
            headers=self._headers(),
            timeout=patience(60),
        ) as response:
            assert response.status_code == 200, response.read()
            yield frames(response)

    def ask(
        self, body: object, *, at: int | None = None, secret: str = "", path: str = ""
    ) -> httpx2.Response:
        hub = self.hubs[next(self._round) if at is None else at]
        return httpx2.post(
            f"{hub.url}{path or self.path}", json=body, headers=self._headers(secret), timeout=patience(60)
        )

    def _headers(self, secret: str = "") -> dict[str, str]:
        headers = {**BOTH, "Authorization": f"Bearer {secret or self.secret}"}
        if self.session:
            headers |= {SESSION: self.session, "mcp-protocol-version": LEGACY}
        return headers

    def streams_end(self, *, at: int) -> None:
        """Wait until no client has a stream there."""
        until(lambda: not open_streams(self.hubs[at], self.hubs[0].owner_secret), "the end of the stream")

    def begin(self, *, at: int) -> None:
        """Begin a transport session at one of the hubs."""
        params = {
            "protocolVersion": LEGACY,
            "clientInfo": {"name": "x", "version": "1"},
            "capabilities": {"elicitation": {}},
        }
        self.session = self.ask(message("initialize", params), at=at).headers[SESSION]


@pytest.fixture
def hubs(tmp_path: Path, postgres_url: str) -> Iterator[Hubs]:
    running = Hubs(tmp_path, postgres_url)
    yield running
    for stack in running.stacks:
        stack.close()


def test_a_session_goes_on_at_every_hub(hubs: Hubs) -> None:
    """A client whose requests come to any hub notices nothing, also when the hub that began its session is gone."""
    hubs.begin(at=0)
    assert hubs.ask({"jsonrpc": "2.0", "method": "notifications/initialized"}, at=1).status_code == 202
    for number in range(6):
        sent = contents(hubs.ask(call("send_task", alias="ann", task=f"task {number}")).json()["result"])
        assert sent["ok"], sent
    hubs.stop(0)
    inbox = hubs.ask(call("get_inbox", alias="ann")).json()["result"]
    assert [f"task {number}" in str(inbox) for number in range(6)] == [True] * 6


def test_a_session_of_another_hub_belongs_to_its_token(hubs: Hubs) -> None:
    """At no hub does a session serve another token, or another dialect, and what no hub began is unknown."""
    hubs.begin(at=0)
    other = hubs.hubs[0].token("bob")
    for at in range(3):
        assert hubs.ask(message("ping"), at=at).status_code == 200
        assert hubs.ask(message("ping"), at=at, secret=other).status_code == 404
        assert hubs.ask(message("ping"), at=at, path="/mcp/relay").status_code == 404
    hubs.session = "0" * len(hubs.session)
    assert [hubs.ask(message("ping"), at=at).status_code for at in range(3)] == [404] * 3


def test_what_tools_know_of_a_session_they_know_at_every_hub(hubs: Hubs) -> None:
    """An agent that joined at one hub is known by its name at the others, over the same session."""
    hubs.path, hubs.secret = "/mcp", hubs.hubs[0].token()
    hubs.begin(at=0)
    session = hubs.session
    hubs.session = ""
    hubs.begin(at=1)
    hubs.ask(call("join", name="eve"), at=1).raise_for_status()  # so that the token alone does not tell
    hubs.session = session
    assert contents(hubs.ask(call("join", name="ann"), at=1).json()["result"])["you"] == "ann"
    for at in range(3):
        hubs.ask(call("send", to="ann", text=f"at {at}"), at=at).raise_for_status()
    sent = hubs.hubs[0].do(lambda tx: tx.all("SELECT sender FROM messages"))
    assert [each["sender"] for each in sent] == ["ann"] * 3


def test_a_stream_may_be_at_any_hub_and_what_it_follows_said_at_another(hubs: Hubs) -> None:
    """A client hears what it follows at whichever hub its stream is, and at another when that is gone."""
    hubs.begin(at=0)
    tasks, agents = "hubbub://tasks", "hubbub://agents"
    hubs.ask(message("resources/subscribe", {"uri": tasks}), at=2).raise_for_status()
    with hubs.stream("GET", at=1) as heard:
        hubs.hubs[2].send_task("ann")
        assert next(heard)["params"] == {"uri": tasks}
        hubs.ask(message("resources/subscribe", {"uri": agents}), at=0).raise_for_status()
        # A hub looks for news whenever another rings, and so may tell of the tasks once more.
        assert {"uri": agents} in (each["params"] for each in heard)
        hubs.ask(message("resources/unsubscribe", {"uri": tasks}), at=2).raise_for_status()
        with hubs.stream("GET", at=2) as later:
            hubs.streams_end(at=1)  # each message goes to one stream only
            assert {"uri": agents} not in [each["params"] for each in heard]
            assert next(later)["params"] == {"uri": agents}  # for what happened in between
            hubs.hubs[0].send_task("ann")
            hubs.hubs[0].meet("eve")
            assert next(later)["params"] == {"uri": agents}


def test_a_question_is_asked_at_any_hub_and_answered_at_another(hubs: Hubs) -> None:
    """While a call is done the client hears of progress and is asked, and may answer to whichever hub."""
    hubs.path = "/mcp/curious"
    hubs.begin(at=0)
    params = {"name": "wonder", "arguments": {}, "_meta": {"progressToken": "p"}}
    for at in range(3):
        with hubs.stream("POST", message("tools/call", params), at=at) as said:
            assert next(said)["params"]["message"] == "looking"
            asked = next(said)
            assert asked["method"] == "elicitation/create"
            answer = {"action": "accept", "content": {"approve": True}}
            brought = hubs.ask({"jsonrpc": "2.0", "id": asked["id"], "result": answer}, at=(at + 1) % 3)
            assert brought.status_code == 202
            assert contents(next(said)["result"]) == {"said": True}


def test_a_call_may_be_called_off_at_another_hub(hubs: Hubs) -> None:
    """A client that calls off what another hub is at is told there that it was."""
    hubs.path = "/mcp/curious"
    hubs.begin(at=0)
    asking = message("tools/call", {"name": "wonder", "arguments": {}})
    with hubs.stream("POST", asking, at=1) as said:
        asked = next(said)["id"]
        off = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": asking["id"]}}
        assert hubs.ask(off, at=2).status_code == 202
        assert next(said)["params"] == {"requestId": asked}
        assert next(said)["error"]["message"] == "Request cancelled"


def test_a_session_that_ends_at_one_hub_ends_at_all(hubs: Hubs) -> None:
    """A session that ends at one hub ends at all: no hub knows it any more, and its stream ends."""
    hubs.begin(at=0)
    for at in range(3):
        assert hubs.ask(message("ping"), at=at).status_code == 200
    with hubs.stream("GET", at=1) as heard:
        ended = httpx2.delete(f"{hubs.hubs[2].url}{PATH}", headers=hubs._headers())
        assert ended.status_code == 200
        hubs.streams_end(at=1)
        assert list(heard) == []
    for at in range(3):
        until(lambda: hubs.ask(message("ping"), at=at).status_code == 404, "the news of it")  # noqa: B023


def test_a_session_outlives_its_hub(tmp_path: Path) -> None:
    """A client whose only hub was started anew goes on, and hears of what it follows."""
    path = f"{PATH}"
    with running_hub(tmp_path / "data", no_node=True) as before:
        one = Peer(before, before.token("ann"), LEGACY, path)
        one.ask("resources/subscribe", uri="hubbub://tasks")
    with running_hub(tmp_path / "data", no_node=True) as after:
        one.url = f"{after.url}{path}"
        with one.http.stream("GET", one.url) as response:
            after.send_task("ann")
            assert next(frames(response))["params"] == {"uri": "hubbub://tasks"}
