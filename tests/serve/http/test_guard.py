"""The way in: host, origin, token, size."""

import asyncio
import json
from datetime import timedelta

import httpx2
import pytest
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from hubbub.core.people import users
from hubbub.core.transaction import Transactions
from hubbub.model.people.rights import SYSTEM
from hubbub.serve.http.guard import BODY_LIMIT, LARGE_BODY_LIMIT, Guard, actor_of, read_body
from hubbub.serve.http.hosts import Hosts
from hubbub.serve.http.login_cookies import LoginCookies
from hubbub.store.tx import Store
from tests.serve.conftest import with_own_hub
from tests.serve.mcp.wire import call, post
from tests.serve.served_hub import Hub
from tests.serve.web_client import refusal

ECHO = call("echo", text="hello")


def test_a_request_without_a_token_is_refused(hub: Hub) -> None:
    """Without a token the answer is 401, and names no OAuth metadata."""
    answer = httpx2.post(hub.url + "/mcp/tiny", json=ECHO)
    assert refusal(answer) == (401, "unauthorized")
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("scheme", ["Basic", "Bearer"])
def test_other_words_in_the_header_are_no_token(hub: Hub, scheme: str) -> None:
    """Only `Bearer` and a known secret will do."""
    secret = hub.token() if scheme == "Basic" else "ntok_" + "0" * 32
    assert post(hub, "", ECHO, Authorization=f"{scheme} {secret}").status_code == 401


def test_forged_expired_and_revoked_tokens_are_refused_alike(hub: Hub) -> None:
    """An answer does not tell in which way a token is bad."""
    revoked, expired = hub.token(), hub.token(ttl=timedelta(milliseconds=1))
    hub.revoke(revoked)
    answers = [post(hub, secret, ECHO) for secret in ("ntok_" + "f" * 32, revoked, expired, "x")]
    assert {(answer.status_code, answer.text) for answer in answers} == {(401, answers[0].text)}


def test_a_token_is_looked_up_on_every_request(hub: Hub) -> None:
    """A token that has just worked is refused as soon as it is revoked."""
    secret = hub.token()
    assert post(hub, secret, ECHO).status_code == 200
    hub.revoke(secret)
    assert post(hub, secret, ECHO).status_code == 401


def test_the_query_may_hold_the_token_of_an_event_stream(hub: Hub) -> None:
    """`?token=` serves `/events` only."""
    secret = hub.token("ada")
    with httpx2.stream("GET", hub.url + "/events/ada", params={"token": secret}) as stream:
        assert stream.status_code == 200
    assert httpx2.post(hub.url + "/mcp/tiny", params={"token": secret}, json=ECHO).status_code == 401


@pytest.mark.anyio
async def test_a_token_in_the_query_is_seen_by_nobody_behind_the_guard(store: Store) -> None:
    """The token is taken out of the query, so that whatever logs it, or repeats it, cannot."""
    seen: list[Scope] = []

    async def behind(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.append(scope)

    secret = await store.write(SYSTEM, users.first_start)
    query = f"after=7&token={secret}&x=".encode()
    request = {"type": "http", "path": "/events", "query_string": query, "headers": [(b"host", b"localhost")]}
    transactions, hosts = Transactions(store), Hosts.of("localhost", 1)
    logins = LoginCookies(transactions, hosts, 1)
    guard = Guard(behind, transactions=transactions, hosts=hosts, logins=logins)
    await guard(request, pytest.fail, pytest.fail)  # type: ignore[arg-type]  # nothing is read, nothing answered
    assert seen[0]["query_string"] == b"after=7&x="
    assert actor_of(seen[0]).user_name == "owner"


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:1", "127.0.0.1:65535", "[::1]:8420", "hub.example.org", "hub.example.org:443"],
)
def test_hosts_that_are_ours(hub: Hub, host: str) -> None:
    """Loopback is ours on any port, and so is the public name."""
    assert post(hub, hub.token(), ECHO, Host=host).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:8420",
        "evil-localhost:8420",
        "evil.hub.example.org",
        "a@localhost",
        "localhost:x",
        "-",
    ],
)
def test_hosts_that_are_not_ours(hub: Hub, host: str) -> None:
    """A name that merely leads to this machine is answered with 421, whatever the token."""
    assert post(hub, hub.token(), ECHO, Host=host).status_code == 421


@pytest.mark.parametrize("origin", ["http://localhost:3000", "https://hub.example.org", "http://127.0.0.1"])
def test_origins_that_are_ours(hub: Hub, origin: str) -> None:
    """Web pages of the hub itself and of this machine may use it."""
    assert post(hub, hub.token(), ECHO, Origin=origin).status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost.evil.example", "file://"]
)
def test_origins_that_are_not_ours(hub: Hub, origin: str) -> None:
    """A foreign web page is answered with 403, whatever the token."""
    assert post(hub, hub.token(), ECHO, Origin=origin).status_code == 403


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", None]
)
def test_what_a_form_of_any_page_could_send_is_no_call(hub: Hub, kind: str | None) -> None:
    """Only a body that is sent as JSON is read: a page of any site may send the other kinds without being asked."""
    said = {"Content-Type": kind} if kind else {}
    headers = {"Authorization": f"Bearer {hub.token('ada')}", **said}
    for method, path in [
        ("POST", "/mcp/tiny"),
        ("POST", "/mcp"),
        ("DELETE", "/mcp/tiny"),
        ("POST", "/api/v1/tasks"),
        ("PUT", "/api/v1/tasks/1/description"),
        ("POST", "/api/task"),
        ("POST", "/api/auth/login"),
        ("POST", "/_gxv/api/v1/checkin"),
        ("POST", "/api/v1/nodes/join"),
    ]:
        answer = httpx2.request(method, hub.url + path, content=json.dumps(ECHO), headers=headers)
        assert refusal(answer) == (415, "unsupported_media_type"), path
        assert "Content-Type: application/json" in answer.text


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON"])
def test_json_is_json(hub: Hub, kind: str) -> None:
    """However the kind is written, and where there is no body none is needed."""
    headers = {"Authorization": f"Bearer {hub.token('ada')}", "Content-Type": kind}
    assert httpx2.post(hub.url + "/mcp/tiny", content=json.dumps(ECHO), headers=headers).status_code == 200
    plain = {**headers, "Content-Type": "text/plain"}
    empty = httpx2.post(hub.url + "/api/v1/agents/ada/inbox/1/ack", headers=plain)
    assert empty.status_code != 415


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-protected-resource/mcp/tiny",
        "/mcp/tiny/.well-known/openid-configuration",
    ],
)
def test_discovery_of_oauth_finds_nothing(hub: Hub, path: str) -> None:
    """There is no OAuth here, which discovery hears as a JSON 404, with or without a token."""
    answer = httpx2.get(hub.url + path)
    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        ("/events/ada", BODY_LIMIT),
        ("/mcp/tiny", BODY_LIMIT),
        ("/mcp/relay", LARGE_BODY_LIMIT),
        ("/api/v1/artifacts", LARGE_BODY_LIMIT),
    ],
)
@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_is_bounded(hub: Hub, path: str, limit: int, chunked: bool) -> None:
    """A body of the limit is taken, one byte more is 413, whether its length is declared or not."""
    headers = {"Authorization": f"Bearer {hub.token()}", "Content-Type": "application/json"}

    def status(size: int) -> int:
        body = b" " * size
        content = iter([body[: size // 2], body[size // 2 :]]) if chunked else body
        return httpx2.request("GET", hub.url + path, content=content, headers=headers).status_code

    assert status(limit) != 413
    assert status(limit + 1) == 413


def test_a_body_that_breaks_off_is_not_acted_upon() -> None:
    """A half-received request reaches nobody."""
    parts: list[Message] = [
        {"type": "http.request", "body": b"{", "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> Message:
        return parts.pop(0)

    refusal = asyncio.run(read_body(receive, BODY_LIMIT))
    assert isinstance(refusal, Response)
    assert refusal.status_code == 400


@with_own_hub
def test_when_the_store_is_gone_nobody_is_let_in(hub: Hub) -> None:
    """A token that cannot be looked up is neither good nor bad: 503."""
    secret = hub.token()
    hub.store.close()
    assert post(hub, secret, ECHO).status_code == 503
