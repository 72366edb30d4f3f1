"""The pages that the hub makes itself: the shell of the views, the login, errors; what they say to whom."""

import json
import re
from collections.abc import Iterator

import httpx2
import pytest

from hubbub.serve.dashboard.translations import language_of
from hubbub.serve.http.page_paths import VIEWS, local
from tests.serve.browser import PAGE, Browser, browsing
from tests.serve.served_hub import Hub
from tests.serve.web_client import refusal

BOOT = re.compile(r'<script type="application/json" id="boot">(.*?)</script>', re.DOTALL)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types hubbub-html"
)


@pytest.fixture
def browser(hub: Hub) -> Iterator[Browser]:
    with browsing(hub) as browser:
        yield browser


@pytest.fixture
def owner(browser: Browser) -> Browser:
    """The browser of the owner of the hub, signed in."""
    return browser.sign_in()


def boot_of(page: httpx2.Response) -> dict[str, object]:
    """Return the data that the shell gives its scripts."""
    found = BOOT.search(page.text)
    assert found, page.text
    told: dict[str, object] = json.loads(found[1])
    return told


def test_who_has_not_signed_in_is_led_to_the_login(browser: Browser) -> None:
    """Every view leads to the login, and from there back to where one wanted to go."""
    for path in ("/", "/board?q=state%3Ablocked&task=1", "/t/%C3%A4", *(f"/{name}" for name in VIEWS)):
        answer = browser.visit(path)
        assert answer.status_code == 303, path
        there = httpx2.URL(answer.headers["location"])
        assert (there.path, local(there.params["next"]), there.host) == ("/login", path, "")
        assert browser.http.head(path).status_code == 303


def test_programs_are_told_as_ever(browser: Browser) -> None:
    """Without a token REST, streams and MCP answer 401 as JSON, whatever else a browser would like."""
    for path in ("/api/v1/me", "/events", "/mcp", "/assets/0/app.js"):
        assert refusal(browser.visit(path)) == (401, "unauthorized"), path


def test_each_view_is_the_shell(owner: Browser) -> None:
    """All views are one page, which tells its scripts who looks, and where they find everything."""
    for path in ("/", "/t/12", *(f"/{name}" for name in VIEWS)):
        page = owner.visit(path)
        assert page.status_code == 200, path
        boot = boot_of(page)
        assert boot["csrf"] == owner.csrf
        assert boot["me"] == owner.call("GET", "/me").json()
        assert f'src="{boot["assets"]}/app.js"' in page.text
        assert owner.http.get(f"{boot['assets']}/app.js").status_code == 200


def test_all_that_the_shell_names_is_there(owner: Browser) -> None:
    """Every file that a page of the hub names is served, with its kind; the manifest's too."""
    pages = [owner.visit(path) for path in ("/", "/board", "/settings")]
    manifest = owner.http.get("/manifest.webmanifest")
    named = {name for page in pages for name in re.findall(r'(?:href|src)="(/[^"]+)"', page.text)}
    named |= {icon["src"] for icon in manifest.json()["icons"]}
    assert len(named) > 10
    for name in named:
        answer = owner.http.get(name)
        assert (answer.status_code, bool(answer.headers["content-type"])) == (200, True), name


def test_pages_say_what_browsers_are_to_keep(owner: Browser) -> None:
    """Pages are not kept, load nothing from elsewhere, run nothing of others, and are shown in no frame."""
    with browsing(owner.hub) as stranger:
        for page in (
            owner.visit("/board"),
            stranger.visit("/login"),
            stranger.visit("/login/x"),
            stranger.visit("/x"),
        ):
            assert page.headers["content-security-policy"] == POLICY
            assert page.headers["cache-control"] == "no-store"
            assert page.headers["x-content-type-options"] == "nosniff"
            assert page.headers["cross-origin-opener-policy"] == "same-origin"
            assert page.headers["cross-origin-resource-policy"] == "same-origin"
            assert "strict-transport-security" not in page.headers
            assert not re.search(r"<script>|\sstyle=|\son[a-z]+=|javascript:|<style", page.text)
            assert not re.search(r'(?:href|src|action)="(?:[a-z]+:)?//', page.text)


def test_the_login_needs_nothing_that_needs_a_login(browser: Browser) -> None:
    """All that the page of the login names, who has not signed in may fetch; anything else not."""
    page = browser.visit("/login")
    named = re.findall(r'(?:href|src)="(/[^"]+)"', page.text)
    assert len(named) >= 5
    for name in [*named, "/favicon.ico", "/manifest.webmanifest"]:
        assert browser.http.get(name).status_code == 200, name
    root = named[0].rsplit("/", 1)[0]
    for name in ("app.js", "words/en.json", "vendor/ui.js", "styles/first.css", "login.js/x", "x/login.js"):
        assert browser.http.get(f"{root}/{name}").status_code == 401, name


def test_who_has_signed_in_is_led_on(owner: Browser) -> None:
    """The page of the login is none for who has signed in already."""
    answer = owner.visit("/login?next=/fleet")
    assert (answer.status_code, answer.headers["location"]) == (303, "/fleet")


def test_both_languages(browser: Browser) -> None:
    """The pages speak the language that was chosen, else the one that the browser would rather have."""
    english, chinese = (
        browser.visit("/login"),
        browser.visit("/login", **{"Accept-Language": "zh-TW,zh;q=0.9,en"}),
    )
    assert ('<html lang="en"' in english.text, "Sign in" in english.text) == (True, True)
    assert ('<html lang="zh-CN"' in chinese.text, "登录" in chinese.text) == (True, True)
    cookie = {"Cookie": "hubbub_language=zh-CN; hubbub_theme=dark", "Accept-Language": "en"}
    chosen = browser.visit("/login", **cookie)
    assert '<html lang="zh-CN" data-theme="dark"' in chosen.text
    nonsense = browser.visit("/login", Cookie='hubbub_language="><b>; hubbub_theme=pink')
    assert '<html lang="en">' in nonsense.text


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("fr", "en"),
        ("zh", "zh-CN"),
        ("fr;q=1, zh-Hans;q=0.8, en;q=0.5", "zh-CN"),
        ("en-GB,zh;q=0.9", "en"),
        ("zh;q=0.2, en;q=0.7", "en"),
        ("zh;q=0", "en"),
        ("*", "en"),
        ("zh;q=9, ;;;,q=, zh;q=x", "en"),
        ("," * 5000 + "zh", "en"),
    ],
)
def test_which_language_is_meant(accepted: str, language: str) -> None:
    """The weights count, and nonsense is as good as nothing."""
    assert language_of({}, accepted) == language


def test_what_goes_wrong_is_said_on_a_page(owner: Browser) -> None:
    """A person in a browser gets a page with the sentence and a way back; a program the same as JSON."""
    page = owner.visit("/nowhere")
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is no page at this address." in page.text
    assert 'href="/"' in page.text
    with browsing(owner.hub) as stranger:
        refused = stranger.visit("/nowhere")
    assert (refused.status_code, "Sign in first" in refused.text) == (401, True)
    assert "Bearer" not in refused.text
    assert refusal(owner.http.get("/nowhere")) == (404, "not_found")
    assert refusal(owner.visit("/api/v1/nowhere")) == (404, "not_found")
    chinese = owner.visit("/nowhere", **{"Accept-Language": "zh-CN"})
    assert "此地址没有页面" in chinese.text
    with browsing(owner.hub) as stranger:
        wrong_host = stranger.visit("/", Host="evil.example")
        assert (wrong_host.status_code, wrong_host.headers["content-type"][:9]) == (421, "text/html")
        assert "this hub is not that host" in wrong_host.text


def test_a_bug_is_not_shown_on_a_page(owner: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the hub errs, the page says so, and nothing of what went wrong."""
    monkeypatch.setattr("hubbub.serve.dashboard.login_pages.Me", None)
    page = owner.visit("/board")
    assert (page.status_code, page.headers["content-type"][:9]) == (500, "text/html")
    assert "its log has the details" in page.text
    assert "NoneType" not in page.text


def test_nothing_in_a_project_can_leave_the_shells_data(owner: Browser) -> None:
    """Names of projects are people's texts: no markup in them ends the data that the shell carries."""
    name = "</script><script>alert(1)</script><!--\u2028"
    made = owner.signed("POST", "/projects", {"slug": "odd", "name": name})
    assert made.is_success, made.text
    page = owner.visit("/board")
    assert page.text.count("</script>") == 2
    projects = boot_of(page)["me"]["projects"]  # type: ignore[index]
    assert name in [each["name"] for each in projects]


def test_without_a_script_one_is_told_so(owner: Browser) -> None:
    """The views say what they need, and what does the same without."""
    assert re.search(r"<noscript>[^<]*JavaScript[^<]*</noscript>", owner.visit("/").text)


def test_the_mark_is_where_browsers_look_for_it(browser: Browser) -> None:
    """There is an icon without being told where."""
    answer = browser.http.get("/favicon.ico", headers={"Accept": PAGE})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
