"""People in browsers: signing in and out, the rights of a cookie, and the limits of other pages."""

import threading
from collections.abc import Iterator
from urllib.parse import quote

import httpx2
import pytest

from hubbub.core.people import logins, users
from hubbub.core.people.auth_attempts import TRIES
from hubbub.model.people.rights import Role
from hubbub.serve.http.hosts import Hosts
from hubbub.serve.http.login_cookies import cookie_name, csrf_of
from tests.serve.browser import COOKIE, Browser, browsing, field
from tests.serve.mcp.wire import call
from tests.serve.served_hub import Hub
from tests.serve.web_client import done, refusal
from tests.support.waiting import patience

PASSWORD = "correct horse battery"
FOREIGN = "https://evil.example"
OTHER_PROGRAM = "http://127.0.0.1:3000"  # on this machine, where cookies know no ports


@pytest.fixture
def browser(hub: Hub) -> Iterator[Browser]:
    with browsing(hub) as browser:
        yield browser


@pytest.fixture
def owner(browser: Browser) -> Browser:
    """The browser of the owner of the hub, signed in."""
    return browser.sign_in()


def give_password(browser: Browser, name: str = "owner", password: str = PASSWORD) -> None:
    headers = {"Authorization": f"Bearer {browser.hub.owner_secret}"}
    done(browser.http.put(f"/api/v1/users/{name}/password", json={"password": password}, headers=headers))


def make_person(hub: Hub, name: str, role: Role) -> str:
    """A person in the project; returns their token."""
    made = hub.do(lambda tx: users.create(tx, name, project=hub.project, role=role), hub.owner)
    return str(made[1])


def test_by_a_link(browser: Browser) -> None:
    """To look at a link changes nothing; its form signs in, once, and leads to the view that was wanted."""
    secret, _user, _end = browser.hub.do(logins.link, browser.hub.owner)
    address = f"/login/{secret}?next=%2Fboard%3Fq%3Dapi"
    for _ in range(2):
        page = browser.visit(address)
        assert (page.status_code, browser.cookie) == (200, None)

    answer = browser.submit(f"/login/{secret}", {"next": field(page, "next").replace("&amp;", "&")})

    assert (answer.status_code, answer.headers["location"]) == (303, "/board?q=api")
    assert browser.visit("/board").status_code == 200
    assert done(browser.call("GET", "/me"))["user"] == "owner"
    with browsing(browser.hub) as stranger:
        again = stranger.submit(f"/login/{secret}", {})
        assert again.status_code == 401
        assert "used already, or it has expired" in again.text


def test_a_used_link_leads_whoever_is_signed_in(browser: Browser) -> None:
    """In a browser that is signed in, a used link leads to its view and changes nothing."""
    secret, _user, _end = browser.hub.do(logins.link, browser.hub.owner)
    browser.submit(f"/login/{secret}", {})
    kept = browser.cookie
    again = browser.submit(f"/login/{secret}", {"next": "/fleet"})
    assert (again.status_code, again.headers["location"], browser.cookie) == (303, "/fleet", kept)
    assert browser.visit("/fleet").status_code == 200


def test_by_name_and_password(browser: Browser) -> None:
    """A person who knows the password is let in; any other, known or not, gets the same answer with the name kept."""
    give_password(browser)
    wrong = browser.submit("/login", {"name": "owner", "password": "guess", "next": "/fleet"})
    nobody = browser.submit("/login", {"name": "nobody", "password": "guess", "next": "/fleet"})
    assert (wrong.status_code, nobody.status_code) == (401, 401)
    assert wrong.text.replace("owner", "…") == nobody.text.replace("nobody", "…")
    assert (field(wrong, "name"), field(wrong, "next"), browser.cookie) == ("owner", "/fleet", None)

    right = browser.submit("/login", {"name": "owner", "password": PASSWORD, "next": "/fleet"})

    assert (right.status_code, right.headers["location"]) == (303, "/fleet")
    assert done(browser.call("GET", "/me"))["owns_hub"] is True


def test_who_has_no_password_has_none_that_could_be_guessed(browser: Browser) -> None:
    """Without a password there is no signing in by one, not even by an empty one."""
    for guess in ("", "owner", "None"):
        assert browser.submit("/login", {"name": "owner", "password": guess}).status_code == 401


def test_guessing_is_slowed_down(browser: Browser) -> None:
    """After ten tries in a minute an address must wait, here and at the other login alike, and is told how long."""
    give_password(browser)
    for _ in range(TRIES):
        assert browser.submit("/login", {"name": "owner", "password": "guess"}).status_code == 401
    stopped = browser.submit("/login", {"name": "owner", "password": PASSWORD})
    assert (stopped.status_code, browser.cookie) == (429, None)
    assert 0 < int(stopped.headers["retry-after"]) <= 60
    assert "Too many attempts" in stopped.text
    other = browser.http.post("/api/auth/login", json={"username": "owner", "password": PASSWORD})
    assert other.status_code == 429


def test_nobody_is_shut_out_by_what_others_try(browser: Browser) -> None:
    """Where somebody has signed in before, nothing that others try from the same address slows them down."""
    give_password(browser)
    right = {"name": "owner", "password": PASSWORD}
    assert browser.submit("/login", right).status_code == 303
    assert browser.submit("/logout", {"csrf": browser.csrf}).status_code == 303
    with browsing(browser.hub) as stranger:
        answers = [stranger.submit("/login", {"name": "owner", "password": "guess"}) for _ in range(TRIES)]
        assert {each.status_code for each in answers} == {401}
        assert stranger.submit("/login", right).status_code == 429

    assert browser.submit("/login", right).status_code == 303


def test_good_logins_do_not_count(browser: Browser) -> None:
    """Only what was wrong counts: who knows the password may sign in as often as they like."""
    give_password(browser)
    for _ in range(TRIES + 1):
        signed_in = browser.http.post("/api/auth/login", json={"username": "owner", "password": PASSWORD})
        assert signed_in.status_code == 200


def test_a_known_browser_may_not_guess_on_and_on(browser: Browser) -> None:
    """A browser in which somebody has signed in before has ten tries a minute as well."""
    give_password(browser)
    assert browser.submit("/login", {"name": "owner", "password": PASSWORD}).status_code == 303
    answers = [browser.submit("/login", {"name": "owner", "password": "guess"}) for _ in range(TRIES + 1)]
    assert [each.status_code for each in answers] == [401] * TRIES + [429]


def test_the_cookie(browser: Browser) -> None:
    """It is out of reach for scripts and for other sites, for all of the hub, and over https for that alone."""
    secret, _user, _end = browser.hub.do(logins.link, browser.hub.owner)
    plain, _known = browser.submit(f"/login/{secret}", {}).headers.get_list("set-cookie")
    name, _, rest = plain.partition("=")
    assert name == COOKIE
    assert set(rest.split("; ")[1:]) == {"Max-Age=7776000", "Path=/", "HttpOnly", "SameSite=Strict"}

    public = {"Host": "hub.example.org", "Origin": "https://hub.example.org"}
    secret, _user, _end = browser.hub.do(logins.link, browser.hub.owner)
    assert "; Secure" in browser.submit(f"/login/{secret}", {}, **public).headers["set-cookie"]


def test_a_login_takes_the_place_of_the_one_before(owner: Browser) -> None:
    """A new login replaces the one in that browser: the old cookie ends."""
    before = owner.cookie
    owner.sign_in()
    assert len(done(owner.call("GET", "/logins"))["logins"]) == 1
    assert owner.cookie != before
    old = {"Cookie": f"{COOKIE}={before}"}
    assert httpx2.get(owner.hub.url + "/api/v1/me", headers=old).status_code == 401


def test_a_cookie_opens_all_that_a_token_does(owner: Browser) -> None:
    """REST, MCP and the live events take it; a share link and the link of machines do not need it, nor know it."""
    keyed = {"Idempotency-Key": "k"}
    owner.hub.meet("ada")
    sent = owner.signed("POST", "/tasks", {"to": "ada", "text": "work"}, **keyed)
    assert done(owner.signed("POST", "/tasks", {"to": "ada", "text": "work"}, **keyed)) == done(sent)

    headers = {"Accept": "application/json", "X-CSRF-Token": owner.csrf}
    assert owner.http.post("/mcp/tiny", json=call("echo", text="hello"), headers=headers).status_code == 200
    with owner.http.stream("GET", "/events", headers={"Sec-Fetch-Site": "same-origin"}) as stream:
        assert stream.status_code == 200


def test_nothing_is_changed_without_the_csrf_token(owner: Browser) -> None:
    """A page that does not know the value that belongs to the cookie changes nothing, whatever else it knows."""
    for method, path in [
        ("POST", "/api/v1/tasks"),
        ("DELETE", "/api/v1/logins"),
        ("PUT", "/api/v1/users/owner/password"),
        ("PATCH", "/api/v1/tasks/1"),
        ("POST", "/api/task"),
        ("POST", "/mcp/tiny"),
        ("DELETE", "/mcp/tiny"),
    ]:
        for shown in (None, "", "0" * 64, "csrf", "é"):
            headers = {} if shown is None else {b"X-CSRF-Token": shown.encode()}
            answer = owner.http.request(method, path, json={}, headers=headers)
            assert refusal(answer) == (403, "forbidden"), path
            assert "X-CSRF-Token" in answer.text  # to MCP clients it is an error of JSON-RPC
    assert done(owner.call("GET", "/me"))["user"] == "owner"


def test_the_csrf_token_of_another_login_is_none(owner: Browser) -> None:
    """Each login has its own value."""
    with browsing(owner.hub) as other:
        other.sign_in()
        assert other.csrf != owner.csrf
        assert owner.call("DELETE", "/logins", **{"X-CSRF-Token": other.csrf}).status_code == 403


def test_pages_of_others_get_nothing_by_a_cookie(owner: Browser) -> None:
    """A request of another page is refused, though it knew the CSRF token, and though it only wants to read."""
    csrf, own = owner.csrf, owner.hub.url
    for headers in (
        {"Origin": OTHER_PROGRAM},
        {"Origin": "http://localhost:3000"},
        {"Origin": "https://hub.example.org.evil.example"},
        {"Origin": FOREIGN},
        {"Origin": "null"},
        {"Origin": own, "Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        for method, path in [
            ("POST", "/api/v1/tasks"),
            ("GET", "/api/v1/me"),
            ("GET", "/events"),
            ("POST", "/mcp/tiny"),
        ]:
            answer = owner.http.request(method, path, headers={"X-CSRF-Token": csrf, **headers})
            assert answer.status_code == 403, (headers, path)


def test_a_link_from_another_page_may_lead_here(owner: Browser) -> None:
    """Following a link is no harm: where a browser sends the cookie along, the view is shown."""
    headers = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"}
    assert owner.visit("/board", **headers).status_code == 200


def test_a_link_leads_to_views_alone(owner: Browser) -> None:
    """A link from another page opens a view in a window of its own: no call, no stream, and no frame."""
    link = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"}
    assert owner.visit("/board", **link, **{"Sec-Fetch-Dest": "iframe"}).status_code == 403
    for path in ("/api/v1/me", "/api/v1/agents/ada/inbox?project=default", "/events"):
        assert owner.http.get(path, headers={**link, "Sec-Fetch-Dest": "document"}).status_code == 403, path


def test_a_proxy_may_call_the_hub_by_another_name(owner: Browser) -> None:
    """Behind its public address the hub's own pages are known by that, whatever name the proxy uses."""
    headers = {"Origin": "https://hub.example.org", "Sec-Fetch-Site": "same-origin"}
    assert owner.signed("POST", "/tasks", {"text": "work"}, **headers).is_success


def test_a_web_socket_is_for_the_hubs_own_pages(owner: Browser) -> None:
    """With a cookie a WebSocket opens for a page of the hub only; browsers always say whose page it is."""
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    for origin, status in [
        ({}, 403),
        ({"Origin": OTHER_PROGRAM}, 403),
        ({"Origin": "http://localhost"}, 403),
        ({"Origin": owner.hub.url}, 101),
    ]:
        with owner.http.stream("GET", "/ws", headers={**upgrade, **origin}) as answer:
            assert answer.status_code == status, origin


def test_a_token_counts_more_than_a_cookie(owner: Browser) -> None:
    """A request with both counts for the token's owner, and needs no CSRF token; a bad token is refused."""
    agent = {"Authorization": f"Bearer {owner.hub.token('ada')}"}
    assert done(owner.call("GET", "/me", **agent))["agent"] == "ada"
    assert done(owner.call("GET", "/me", **agent))["csrf"] is None
    assert owner.call("POST", "/tasks", {"text": "work"}, **agent).is_success
    assert owner.call("GET", "/me", Authorization="Bearer nonsense").status_code == 401


def test_a_cookie_is_no_bearer_token(owner: Browser) -> None:
    """Neither is taken for the other."""
    assert owner.cookie is not None
    for bearer in (owner.cookie, owner.csrf):
        answer = httpx2.get(owner.hub.url + "/api/v1/me", headers={"Authorization": f"Bearer {bearer}"})
        assert answer.status_code == 401
    cookie = {"Cookie": f"{COOKIE}={owner.hub.owner_secret}"}
    assert httpx2.get(owner.hub.url + "/api/v1/me", headers=cookie).status_code == 401
    assert httpx2.get(f"{owner.hub.url}/events?token={owner.cookie}").status_code == 401


def whose(hub: Hub, cookies: str) -> str | None:
    """Return the user of a browser with these cookies; None for nobody."""
    answer = httpx2.get(hub.url + "/api/v1/me", headers={"Cookie": cookies})
    return str(answer.json()["user"]) if answer.status_code == 200 else None


def test_a_cookie_that_is_no_logins_signs_nobody_out(owner: Browser) -> None:
    """Another program of this machine can set a cookie of our name too; what is no login is passed over."""
    name, secret = COOKIE, owner.cookie
    for tossed in (f"login_{'0' * 32}", "x", "", owner.hub.owner_secret):
        for cookies in (f"{name}={tossed}; {name}={secret}", f"{name}={secret}; {name}={tossed}"):
            assert whose(owner.hub, cookies) == "owner", cookies
    assert whose(owner.hub, f"{name}={secret}; other=1; {name}={secret}") == "owner"
    assert whose(owner.hub, f"x{name}={secret}") is None
    many = "; ".join(f"{name}={number}" for number in range(1000))
    assert whose(owner.hub, f"{many}; {name}={secret}") is None


def test_of_two_logins_none_is_believed(owner: Browser) -> None:
    """Nobody acts in a login that somebody else has put beside theirs; signing in anew ends both."""
    make_person(owner.hub, "eve", Role.MEMBER)
    name, mine = COOKIE, owner.cookie
    with browsing(owner.hub) as other:
        other.submit(f"/login/{owner.hub.do(lambda tx: logins.link(tx, 'eve'), owner.hub.owner)[0]}", {})
        hers = other.cookie
    for cookies in (f"{name}={mine}; {name}={hers}", f"{name}={hers}; {name}={mine}"):
        assert whose(owner.hub, cookies) is None
    code, _user, _end = owner.hub.do(logins.link, owner.hub.owner)
    owner.http.cookies.clear()
    owner.submit(f"/login/{code}", {}, Cookie=f"{name}={mine}; {name}={hers}")
    assert (whose(owner.hub, f"{name}={mine}"), whose(owner.hub, f"{name}={hers}")) == (None, None)
    assert whose(owner.hub, f"{name}={owner.cookie}") == "owner"


def test_over_https_no_other_program_sets_the_cookie(owner: Browser) -> None:
    """The cookie has the prefix that browsers take from this host alone; beside it one without does not count."""
    pinned, plain = f"__Host-{COOKIE}", COOKIE
    public = {"Host": "hub.example.org", "Origin": "https://hub.example.org"}
    code, _user, _end = owner.hub.do(logins.link, owner.hub.owner)
    answer = owner.submit(f"/login/{code}", {}, **public)
    forgotten, kept, known = answer.headers.get_list("set-cookie")
    assert known.startswith(f"{pinned}_known=")
    assert kept.startswith(f"{pinned}=login_")
    assert {"Path=/", "Secure"} <= set(kept.split("; "))
    assert "Domain" not in kept
    assert forgotten.startswith(f"{plain}=; Max-Age=0; ")

    secret = kept.partition("=")[2].partition(";")[0]
    with browsing(owner.hub) as other:
        other.submit(f"/login/{owner.hub.do(logins.owners_link)}", {})
        assert whose(owner.hub, f"{plain}={other.cookie}; {pinned}={secret}") == "owner"
        assert whose(owner.hub, f"{plain}={other.cookie}; {pinned}=x") is None
    left = owner.submit("/logout", {"csrf": csrf_of(secret)}, Cookie=f"{pinned}={secret}", **public)
    assert [each.partition("=")[0] for each in left.headers.get_list("set-cookie")] == [pinned, plain]
    assert whose(owner.hub, f"{pinned}={secret}") is None


def test_programs_of_one_public_address_share_a_login() -> None:
    """Behind a public address several programs serve one hub, on ports of their own; without one the port counts."""
    one = {name(port, "https://hub.example.org") for port in (18501, 18502)}
    assert one == {COOKIE}
    assert name(1, "https://hub.example.org:8443") == "hubbub_hub.example.org_8443"
    assert name(1, "http://[::1]:9000") == "hubbub_--1_9000"  # no colon may be in a name
    assert (name(18501, None), name(18502, None)) == ("hubbub_18501", "hubbub_18502")


def name(port: int, public_url: str | None) -> str:
    return cookie_name(port, Hosts.of("127.0.0.1", port, public_url))


def test_a_login_form_of_another_page_signs_nobody_in(browser: Browser) -> None:
    """Nobody is signed in as somebody else by a page that sends the form for them."""
    give_password(browser)
    secret, _user, _end = browser.hub.do(logins.link, browser.hub.owner)
    fields = {"name": "owner", "password": PASSWORD}
    for headers in ({"Origin": OTHER_PROGRAM}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": FOREIGN}):
        for path in ("/login", f"/login/{secret}"):
            assert browser.submit(path, fields, **headers).status_code == 403
    assert browser.cookie is None
    assert browser.submit(f"/login/{secret}", {}).status_code == 303  # it was not used up


def test_signing_out(owner: Browser) -> None:
    """The form of the dashboard ends this login and forgets the cookie; afterwards the views lead to the login."""
    cookie = f"{COOKIE}={owner.cookie}"
    refused = owner.submit("/logout", {"csrf": "guess"})
    assert (refused.status_code, owner.cookie is None) == (403, False)

    answer = owner.submit("/logout", {"csrf": owner.csrf})

    assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    assert owner.cookie is None
    assert httpx2.get(owner.hub.url + "/api/v1/me", headers={"Cookie": cookie}).status_code == 401
    assert owner.submit("/logout", {}).status_code == 303  # once more does no harm
    assert owner.http.get("/logout").status_code == 405


def test_signing_out_ends_what_is_open(owner: Browser) -> None:
    """A stream of a login ends with it, at once and properly."""
    cookie = {"Cookie": f"{COOKIE}={owner.cookie}"}
    begun = threading.Event()
    said: list[bytes] = []

    def follow() -> None:
        with httpx2.stream("GET", owner.hub.url + "/events", headers=cookie, timeout=patience()) as stream:
            begun.set()
            said.extend(stream.iter_bytes())

    follower = threading.Thread(target=follow)
    follower.start()
    assert begun.wait(10)
    done(owner.signed("DELETE", "/logins"))
    follower.join(10)
    assert not follower.is_alive()
    assert b"following" in b"".join(said)


def test_where_one_is_signed_in(owner: Browser) -> None:
    """A person sees their browsers, ends one of them, or all; others' only the owner of the hub."""
    make_person(owner.hub, "eve", Role.MEMBER)
    with browsing(owner.hub) as second, browsing(owner.hub) as hers:
        second.sign_in()
        link = done(owner.signed("POST", "/logins/links", {"user": "eve"}))["url"]
        hers.submit(f"/login/{link.rpartition('/')[2]}", {})
        assert done(hers.call("GET", "/me"))["user"] == "eve"

        mine = done(owner.call("GET", "/logins"))["logins"]
        assert [(each["browser"], each["current"]) for each in mine] == [
            ("Testbrowser 1", True),
            ("Testbrowser 1", False),
        ]
        assert refusal(hers.call("GET", "/logins?user=owner")) == (403, "forbidden")
        assert refusal(hers.signed("DELETE", f"/logins/{mine[0]['id']}")) == (404, "not_found")
        assert len(done(owner.call("GET", "/logins?user=eve"))["logins"]) == 1

        assert done(owner.signed("DELETE", f"/logins/{mine[1]['id']}")) == {"ended": 1}
        assert second.call("GET", "/me").status_code == 401
        assert done(owner.signed("DELETE", "/logins?user=eve")) == {"ended": 1}
        assert hers.call("GET", "/me").status_code == 401
        assert done(owner.signed("DELETE", "/logins")) == {"ended": 1}
        assert owner.call("GET", "/me").status_code == 401


def test_a_viewer_stays_a_viewer(hub: Hub) -> None:
    """A login does what its person may in each project, and no more."""
    make_person(hub, "vic", Role.VIEWER)
    secret = hub.do(lambda tx: logins.link(tx, "vic"), hub.owner)[0]
    with browsing(hub) as browser:
        browser.submit(f"/login/{secret}", {})
        me = done(browser.call("GET", "/me"))
        assert [each["role"] for each in me["projects"]] == ["viewer"]
        assert refusal(browser.signed("POST", "/tasks", {"text": "work"})) == (403, "forbidden")
        assert refusal(browser.signed("POST", "/logins/links", {"user": "owner"})) == (403, "forbidden")


def test_no_agent_makes_a_link(hub: Hub, browser: Browser) -> None:
    """Links, logins and passwords are people's; an agent's token gets at none, whatever its role."""
    agent = {"Authorization": f"Bearer {hub.token(role=Role.OWNER)}"}
    for method, path, body in [
        ("POST", "/logins/links", {}),
        ("POST", "/logins/links", {"user": "owner"}),
        ("GET", "/logins", None),
        ("DELETE", "/logins", None),
        ("PUT", "/users/owner/password", {"password": PASSWORD}),
    ]:
        assert refusal(browser.call(method, path, body, **agent)) == (403, "forbidden"), path


def test_a_link_is_told_once(owner: Browser) -> None:
    """Where a call is repeated by its key, the link is not told again; and it leads to the hub as it was called."""
    key = {"Idempotency-Key": "once"}
    made = done(owner.signed("POST", "/logins/links", {}, **key))
    assert made["url"].startswith("https://hub.example.org/login/")
    assert refusal(owner.signed("POST", "/logins/links", {}, **key)) == (409, "conflict")


def test_passwords_that_would_be_guessed_are_refused(owner: Browser) -> None:
    """A password is neither short nor common, and whoever is nobody gets none."""
    for password in ("short", "password1", "x" * 1001):
        assert owner.signed("PUT", "/users/owner/password", {"password": password}).status_code == 400
    assert refusal(owner.signed("PUT", "/users/nobody/password", {"password": PASSWORD})) == (
        404,
        "not_found",
    )


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' OR 1=1 --",
    "{{7*7}}",
    "{% raw %}",
    "../../etc/passwd",
    "..%2f..%2fowner-token",
    "\r\nSet-Cookie: a=b",
    "\u202egnp.exe",
    "\u200b\u200b",
    "\x00",
    "a\x00b",
    "%00",
    "%0d%0aX: y",
    "\\\\evil.example\\x",
    "//evil.example",
    "/\\evil.example",
    "/%5cevil.example",
    "https://evil.example/",
    "javascript:alert(1)",
    "data:text/html,<script>1</script>",
    "/login?next=/login",
    "/api/v1/me",
    "/logout",
    "/board\u2028x",
    "/board<",
    "/t/" + "a" * 3000,
    "/board?next=//evil.example",
    "/.//evil.example",
    "/;@evil.example",
    "////evil.example",
    "/board/../../evil",
    "é" * 50,
    "名前",
    "😀" * 100,
    "x" * 8000,
    "&#x27;&quot;",
    "</title><script>",
    "<!--",
    "]]>",
]


def test_hostile_texts_are_texts(browser: Browser) -> None:
    """Any text as a name, a place to go on to, or a code is answered by our own page, which repeats no markup."""
    for payload in HOSTILE:
        code = quote(payload, safe="")
        answers = [
            browser.submit("/login", {"name": payload, "password": payload, "next": payload}),
            browser.visit(f"/login?next={code}"),
            browser.submit(f"/login/{code}", {"next": payload}),
            browser.visit(f"/login/{code}?next={code}"),
            browser.visit(f"/t/{code}"),
        ]
        for answer in answers:
            assert answer.status_code in (200, 303, 400, 401, 404, 429), payload
            assert "<script>" not in answer.text
            assert "onerror=alert(1)>" not in answer.text
            assert answer.headers.get("set-cookie") is None
            assert "evil" not in answer.headers.get("location", "").partition("?")[0]


def test_one_is_led_nowhere_else(browser: Browser) -> None:
    """A person who has signed in goes on to a view of this hub, whatever the form says."""
    for payload in HOSTILE:
        secret, _user, _end = browser.hub.do(logins.link, browser.hub.owner)
        there = browser.submit(f"/login/{secret}", {"next": payload}).headers["location"]
        assert there in ("/", "/board?next=//evil.example"), payload


def test_what_is_no_form_is_said_so(browser: Browser) -> None:
    """Nonsense is answered with a sentence on the page, and signs nobody in."""
    form = "application/x-www-form-urlencoded"
    for content, kind in [
        (b"name=owner&password=x", "application/json"),
        (b"\xff\xfe", form),
        (b"name=%ff&password=%c0%af", form),
        (b"&".join([b"a=b"] * 50), form),
        (b"name=" + b"x" * 20_000, form),
        (b"--x\r\n\r\n", "multipart/form-data; boundary=x"),
    ]:
        for path in ("/login", "/login/nonsense"):
            answer = browser.http.post(path, content=content, headers={"Content-Type": kind})
            assert answer.status_code == 400, content
            assert "could not be read" in answer.text


def test_methods_that_are_none_of_a_page(owner: Browser) -> None:
    """A page is read, by GET or HEAD; anything else is refused with what is allowed."""
    for path in ("/", "/board", "/t/1", "/login/x", "/favicon.ico"):
        answer = owner.http.request("DELETE", path, headers={"X-CSRF-Token": owner.csrf})
        assert answer.status_code == 405, path
        assert "GET" in answer.headers["allow"]


def test_the_csrf_token_is_made_from_the_cookie() -> None:
    """It is no secret of its own that would have to be kept, and tells nothing of the cookie."""
    assert csrf_of("login_a") != csrf_of("login_b")
    assert "login_a" not in csrf_of("login_a")
