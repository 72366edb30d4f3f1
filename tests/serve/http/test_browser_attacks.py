"""Attacks on people in browsers: by other pages, other programs of their machine, and what agents have written."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from hubbub.core.people import logins
from hubbub.model.people.rights import Role
from tests.serve.browser import COOKIE, FORM, Browser, browsing
from tests.serve.live.event_streams import following
from tests.serve.served_hub import Hub
from tests.serve.web_client import Visit, done, refusal

SECRET = "ghp_" + "0123456789abcdefghij" * 2
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
MARKUP = "<html><script>alert(document.cookie)</script>"


@pytest.fixture
def owner(hub: Hub) -> Iterator[Browser]:
    """The browser of the owner of the hub, signed in."""
    with browsing(hub) as browser:
        yield browser.sign_in()


def latest(hub: Hub) -> int:
    """The last activity of the whole hub."""
    return int(hub.do(lambda tx: tx.one("SELECT max(seq) AS seq FROM activity"))["seq"])


def link(hub: Hub) -> str:
    """The code of a fresh link for the owner."""
    return str(hub.do(logins.link, hub.owner)[0])


# Other pages


@pytest.mark.system
def test_no_other_page_changes_anything(hub: Hub, owner: Browser) -> None:
    """Whatever call it makes, in whatever way a browser sends it, a page that is not the hub's changes nothing."""
    paths = done(owner.call("GET", "/openapi.json"))["paths"]
    calls = [
        (method.upper(), f"/api/v1{path.format_map(_Ones())}")
        for path, methods in paths.items()
        for method in methods
        if method != "get"
    ]
    others = [
        "/mcp",
        "/mcp/cmdop",
        "/mcp/relay",
        "/api/task",
        "/api/v1/nonsense",
        "/_gxv/api/v1/tasks",
        "/board",
    ]
    csrf, own, before = owner.csrf, hub.url, latest(hub)
    forged = [
        {"Origin": own, "Sec-Fetch-Site": "same-origin", "Content-Type": "text/plain"},
        {"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site", "X-CSRF-Token": csrf},
        {
            "Origin": "null",
            "Sec-Fetch-Site": "cross-site",
            "Sec-Fetch-Mode": "navigate",
            "Content-Type": FORM,
        },
    ]
    for method, path in [*calls, *(("POST", path) for path in others)]:
        for headers in forged:
            answer = owner.http.request(method, path, content=b"{}", headers=headers)
            assert answer.status_code == 403, (method, path, headers, answer.text)
    assert latest(hub) == before


class _Ones(dict[str, str]):
    """Something for each name in a path."""

    def __missing__(self, name: str) -> str:
        return "1"


def test_a_method_is_what_it_is(hub: Hub, owner: Browser) -> None:
    """No header makes another method of one that changes nothing; one that nobody knows counts as a change.

    A query parameter that would is refused, like any that the call does not have.
    """
    for header in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
        assert owner.call("GET", "/logins", **{header: "DELETE"}).is_success
    assert owner.http.get("/api/v1/logins", params={"_method": "DELETE"}).status_code == 400
    assert done(owner.call("GET", "/me"))["user"] == "owner"
    for method in ("PROPFIND", "QUERY", "HEADS"):
        assert owner.http.request(method, "/api/v1/tasks").status_code in (400, 403), method


def test_every_answer_is_of_no_use_to_another_page(hub: Hub, owner: Browser) -> None:
    """An answer that is no page is in no frame, lent to no page, kept by no browser, and only what it says it is."""
    hub.meet("ada")
    made = owner.signed("POST", "/artifacts", {"name": MARKUP, "content": MARKUP, "kind": "text/html"})
    artifact = done(made)["artifact"]["id"]
    api = {
        "/api/v1/me?callback=alert": "application/json",
        f"/api/v1/artifacts/{artifact}": "application/json",
        "/api/v1/audit/entries.csv": "text/csv; charset=utf-8",
        "/api/v1/audit/entries.jsonl": "application/x-ndjson",
        "/api/v1/snapshot": "application/json",
        "/api/v1/nonsense": "application/json",
        "/health": "application/json",
        "/ws": "application/json",
    }
    for path, kind in api.items():
        answer = owner.http.get(path, headers={"Sec-Fetch-Site": "same-origin", "Accept": "*/*"})
        assert answer.headers["content-type"] == kind, path
        assert answer.headers["x-content-type-options"] == "nosniff", path
        assert answer.headers["cross-origin-resource-policy"] == "same-origin", path
        assert answer.headers["cache-control"] == "no-store", path
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy, path
        assert "frame-ancestors 'none'" in policy, path
        assert not [name for name in answer.headers if name.startswith("access-control-")], path
    assert "attachment" in owner.http.get("/api/v1/audit/entries.csv").headers["content-disposition"]
    assert "alert(" not in owner.http.get("/api/v1/me", params={"callback": "alert"}).text


def test_a_stream_is_of_no_use_to_another_page(hub: Hub, owner: Browser) -> None:
    """The live events say so too."""
    with owner.http.stream("GET", "/events", headers={"Sec-Fetch-Site": "same-origin"}) as stream:
        assert stream.headers["x-content-type-options"] == "nosniff"
        assert stream.headers["cross-origin-resource-policy"] == "same-origin"


# Other programs of the machine, which can set cookies too


def test_a_cookie_is_not_pushed_aside(hub: Hub, owner: Browser) -> None:
    """However many cookies others set before it: beside one of theirs ours makes nobody, alone it is found."""
    name, ours = COOKIE, owner.cookie
    with browsing(hub) as other:
        theirs = other.sign_in().cookie
    many = "; ".join(f"other{number}={'x' * 100}" for number in range(80))

    def who(cookies: str) -> int:
        return httpx2.get(f"{hub.url}/api/v1/me", headers={"Cookie": cookies}).status_code

    assert who(f"{name}={theirs}; {many}; {name}={ours}") == 401
    assert who(f"{many}; {name}={ours}") == 200


# Links


def test_of_many_with_one_link_one_gets_in(hub: Hub) -> None:
    """A browser that sends the form of a link at the same moment as others gets in, or does not; never two."""
    code = link(hub)

    def redeem(_number: int) -> tuple[int, str | None]:
        with browsing(hub) as browser:
            return browser.submit(f"/login/{code}", {}).status_code, browser.cookie

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(redeem, range(8)))
    assert sorted(status for status, _cookie in answers) == [303, *[401] * 7]
    assert sum(cookie is not None for _status, cookie in answers) == 1


def test_who_is_signed_out_everywhere_has_no_link_left(hub: Hub, owner: Browser) -> None:
    """Signing out everywhere, and a new password, end the links that were not used, also those that a thief made."""
    ways = [
        ("PUT", "/users/owner/password", {"password": "correct horse battery"}),
        ("DELETE", "/logins", None),
    ]
    for method, path, body in ways:
        stolen = link(hub)
        done(owner.signed(method, path, body))
        with browsing(hub) as thief:
            assert thief.submit(f"/login/{stolen}", {}).status_code == 401
    with browsing(hub) as again:
        assert again.sign_in().cookie is not None


def test_a_link_is_told_to_nobody_else(hub: Hub) -> None:
    """The page of a link sends its address to no other site, is not kept, and its cookie is not the link's code."""
    code = link(hub)
    with browsing(hub) as browser:
        page = browser.visit(f"/login/{code}")
        assert page.headers["referrer-policy"] == "same-origin"
        assert page.headers["cache-control"] == "no-store"
        assert "http" not in page.text.replace("http-equiv", "")
        answer = browser.submit(f"/login/{code}", {})
        assert code not in str(answer.headers)
        assert code not in (browser.cookie or "")


# What goes on when a login has ended


def test_a_call_that_waits_ends_with_its_login(hub: Hub) -> None:
    """A login's waiting requests come to their end at once."""
    with (
        browsing(hub) as waiting,
        browsing(hub) as elsewhere,
        following(hub.url, hub.owner_secret) as _stream,
    ):
        waiting.sign_in()
        elsewhere.sign_in()
        hub.meet("ada")
        answers: list[httpx2.Response] = []

        def wait() -> None:
            path = "/api/v1/agents/ada/inbox"
            answers.append(waiting.http.get(path, params={"project": "default", "wait_seconds": 45}))

        call = threading.Thread(target=wait)
        call.start()
        done(elsewhere.signed("DELETE", "/logins"))
        call.join(20)
        assert not call.is_alive()
        assert answers[0].status_code in (200, 401)


# What agents write


def test_pictures_hold_no_secret_that_is_known_for_one(hub: Hub, owner: Browser) -> None:
    """Pictures and patches show words of agents to people, and reasons for giving up, without any likely secret."""
    hub.meet("ada")
    agent = {"Authorization": f"Bearer {hub.token('ada')}"}
    task = done(owner.signed("POST", "/tasks", {"to": "ada", "text": "work"}))["task"]["id"]
    for path, body in (
        ("/messages", {"to": "hub", "text": f"it is {SECRET}"}),
        (f"/tasks/{task}/accept", {}),
        (f"/tasks/{task}/fail", {"reason": f"it was {SECRET}"}),
    ):
        done(owner.call("POST", path, body, **agent))
    for path in ("/snapshot", "/replay", "/activity?patches=true"):
        content = done(owner.call("GET", path))
        told = content.get("activities") or content.get("activity") or []
        cards = str([content.get("picture"), *(each["patch"] for each in told)])
        assert "it is" in cards
        assert "it was" in cards
        assert SECRET not in cards, path


def test_other_projects_are_in_no_stream(hub: Hub, visit: Visit) -> None:
    """Neither pictures nor streams of another project are to be had, by its name or by its id."""
    web = visit(hub, hub.token(role=Role.ADMIN, project=hub.other_project()), root="")
    for project in ("default", str(hub.project.id)):
        for path in ("/events", "/ws", "/api/v1/snapshot", "/api/v1/replay"):
            headers = UPGRADE if path == "/ws" else None
            patches = {} if path.startswith("/api") else {"patches": "true"}
            answer = web.http.get(path, params={"project": project, **patches}, headers=headers)
            assert refusal(answer)[0] == 404, path


def test_a_conversation_is_rendered_as_far_as_it_does_not_take_long(hub: Hub, owner: Browser) -> None:
    """The newest messages of a huge conversation are HTML, and the others plain text."""
    hub.meet("ada")
    long = {"to": "ada", "thread": "flood", "text": "*a* " * 10_000}
    sent = [done(owner.signed("POST", "/messages?project=default", long))["message"]["id"] for _ in range(12)]
    whole = done(owner.call("GET", "/threads/flood?project=default&render=html"))["messages"]
    assert [each["id"] for each in whole] == sent
    assert [each["body_html"] is not None for each in whole] == [False] * 2 + [True] * 10
    assert all(each["body"] == long["text"] for each in whole)
