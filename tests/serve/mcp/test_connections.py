"""The limit on a token's transport sessions, and the contents of an opening request."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from hubbub.core.agents import agents
from hubbub.model.agents.connections import SPOKE_HEADER
from hubbub.model.people.rights import Role
from tests.serve.mcp.wire import BOTH, LEGACY, PATH, call, message
from tests.serve.served_hub import Hub, running_hub
from tests.serve.web_client import Visit, Web, refusal

MANY = 3
A_MINUTE = 60_000  # milliseconds
SESSION = "mcp-session-id"


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """A hub at which a token may have few sessions; it counts them all, so that each test has its own."""
    with running_hub(tmp_path / "hub", no_node=True, mcp_connections=MANY) as running:
        yield running


@pytest.fixture
def web(hub: Hub, visit: Visit) -> Web:
    """A viewer: who may only read can open sessions too."""
    return visit(hub, hub.token("vera", role=Role.VIEWER), "")


def opened(web: Web, path: str = PATH, **more: object) -> httpx2.Response:
    params = {
        "protocolVersion": LEGACY,
        "clientInfo": {"name": "x", "version": "1"},
        "capabilities": {"experimental": more},
    }
    return web.http.post(path, json=message("initialize", params), headers=BOTH)


def pinged(web: Web, session: str, path: str = PATH) -> int:
    headers = {**BOTH, SESSION: session, "mcp-protocol-version": LEGACY}
    return web.http.post(path, json=message("ping"), headers=headers).status_code


def test_the_session_idle_longest_gives_way(hub: Hub, web: Web, visit: Visit) -> None:
    """A token beyond its number of sessions, in whatever dialects, loses the one that it used longest ago."""
    other = visit(hub, hub.token("ann"), "")
    theirs = opened(other).headers[SESSION]
    first, second, third = (opened(web).headers[SESSION] for _ in range(MANY))
    assert pinged(web, first) == 200

    opened(web, "/mcp/relay").raise_for_status()

    assert [pinged(web, each) for each in (first, second, third)] == [200, 404, 200]
    assert pinged(other, theirs) == 200
    told = visit(hub, hub.owner_secret, "").http.get("/metrics").text
    assert f"hubbub_mcp_connections {MANY + 1}.0" in told


def test_where_all_sessions_are_in_use_another_is_refused(hub: Hub, visit: Visit) -> None:
    """No session gives way in which something is under way; what has ended makes room."""
    web = visit(hub, hub.token("bob"), "")
    sessions = [opened(web).headers[SESSION] for _ in range(MANY)]
    following = [{**BOTH, SESSION: each, "mcp-protocol-version": LEGACY} for each in sessions]
    with (
        web.http.stream("GET", PATH, headers=following[0]),
        web.http.stream("GET", PATH, headers=following[1]),
        web.http.stream("GET", PATH, headers=following[2]),
    ):
        assert refusal(opened(web)) == (429, "too_many")
        web.http.delete(PATH, headers=following[0])
        assert opened(web).status_code == 200


def test_opening_a_session_brings_little(web: Web) -> None:
    """The content of `initialize` is kept with the session, so it is at most 64 KiB: also where calls may be large."""
    refused = opened(web, "/mcp/relay", x={"y": "z" * 65_536})

    assert refused.status_code == 400
    assert refused.json()["error"]["message"] == "initialize takes at most 64 KiB"
    assert opened(web, "/mcp/relay", x={"y": "z" * 60_000}).status_code == 200


def test_an_agent_is_offline_a_minute_after_its_client_ended_its_session(hub: Hub, visit: Visit) -> None:
    """After DELETE the agent that spoke in the session has a minute, unless it speaks in another session, too.

    A client that calls beside its session says so.
    """
    token = hub.token("ada")
    web = visit(hub, token, "")

    def is_leaving() -> bool:
        here, now = hub.do(lambda tx: (agents.presence(tx, hub.project.id, "ada"), tx.now))
        return bool(here.expires_at <= now + A_MINUTE)

    def session(*, speaks: bool) -> dict[str, str]:
        headers = {**BOTH, SESSION: opened(web, "/mcp").headers[SESSION], "mcp-protocol-version": LEGACY}
        if speaks:
            web.http.post("/mcp", json=call("join"), headers=headers).raise_for_status()
        return headers

    first, silent = session(speaks=True), session(speaks=False)
    assert not is_leaving()
    web.http.delete("/mcp", headers=silent).raise_for_status()
    assert not is_leaving()
    hub.do(
        lambda tx: tx.run("UPDATE presences SET seen_at = seen_at - 60000")
    )  # so that the next call is news
    second = session(speaks=True)
    web.http.delete("/mcp", headers=first).raise_for_status()
    assert not is_leaving()
    web.http.delete("/mcp", headers=second).raise_for_status()
    assert is_leaving()

    beside = session(speaks=False)
    web.http.post("/mcp", json=call("join"), headers=BOTH).raise_for_status()
    assert not is_leaving()
    web.http.delete("/mcp", headers={**beside, SPOKE_HEADER: "1"}).raise_for_status()
    assert is_leaving()
