"""The frame around the views: where one is, what waits, whether it is live, how it looks, and who looks."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from tests.dashboard.browser import (
    DESKTOP,
    IDLE,
    PHONE,
    TABLET,
    Visit,
    Visitors,
    inside,
    settle,
    show_connection,
    until_ready,
)
from tests.dashboard.conftest import MEMBER, VIEWER
from tests.dashboard.scene import Scene

VIEWS = {
    "Needs you": "/", "Board": "/board", "Fleet": "/fleet", "Messages": "/messages", "Files": "/files",
    "Graph": "/graph", "Activity": "/activity", "Machines": "/machines", "Audit": "/audit", "Settings": "/settings",
}  # fmt: skip
# Counts in the page how often something grey was put into the view.
WATCH_GREY = """() => new MutationObserver((all) => {
  const added = all.flatMap(({ addedNodes }) => [...addedNodes]).filter((each) => each.nodeType === 1);
  const grey = added.filter((each) => each.matches(".skeleton") || each.querySelector(".skeleton"));
  document.body.dataset.grey = Number(document.body.dataset.grey) + grey.length;
}).observe(document.querySelector("main"), { childList: true, subtree: true })"""
# How many icons there are; of one that leads nowhere or shows nothing, an error.
DRAWN_ICONS = """() => [...document.querySelectorAll(".icon use")].map((icon) => {
  const isDrawn = document.querySelector(icon.getAttribute("href")) && icon.getBBox().width > 0;
  if (!isDrawn && icon.checkVisibility()) throw new Error(icon.outerHTML);
}).length"""
STATUSES = {"reconnecting": "Reconnecting…", "paused": "Paused", "refused": "Not connected"}
IN_CHINESE = {"Board": "看板", "Settings": "设置"}


@pytest.fixture(scope="module", autouse=True)
def _scene(scene: Scene) -> None:
    """All these pages show a team at work."""


@pytest.mark.daily
def test_every_view_has_a_place_in_the_navigation_an_address_and_a_title(page: Page) -> None:
    """Each of the ten views is one click away, and says in the address and in the tab where one is."""
    for name, path in VIEWS.items():
        link = page.get_by_role("navigation", name="Views").get_by_role("link", name=name, exact=False)
        link.click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        expect(link).to_have_attribute("aria-current", "page")
        expect(page).to_have_url(re.compile(rf"{re.escape(path)}\?project=default$"))
        expect(page).to_have_title(re.compile(f"{name} · default · hubbub"))


def test_who_comes_back_to_a_view_sees_it_at_once(page: Page) -> None:
    """A view whose module is there is drawn without the grey that keeps the place of what is on its way."""
    page.evaluate(WATCH_GREY)
    for name, is_first in (("board", True), ("needs", False), ("board", False)):
        page.evaluate("document.body.dataset.grey = 0")
        inside(page, "shell/router.js", "m.go(x)", name)
        expect(page.locator(f"main[data-view={name}] .card").first).to_be_visible()
        assert bool(int(page.evaluate("document.body.dataset.grey"))) is is_first, name


def test_the_icons_are_a_part_of_the_page(page: Page) -> None:
    """Each icon is drawn from what the page has, and the file of all icons is asked for once and not for each."""
    expect(page.locator("symbol#icon-inbox")).to_be_attached()
    assert page.evaluate(DRAWN_ICONS) > 20
    assert (
        page.evaluate(
            "performance.getEntriesByType('resource').filter(({ name }) => /icons/.test(name)).length"
        )
        < 3
    )


def test_what_waits_is_counted_beside_the_view(page: Page) -> None:
    """The badge of the first screen counts what needs a person, in the navigation and in the tab's title."""
    badge = page.get_by_role("link", name="Needs you").locator(".badge")
    expect(badge).to_have_text(re.compile(r"^\d+$"))
    expect(page).to_have_title(re.compile(rf"^\({badge.inner_text()}\) "))


def test_the_connection_is_always_in_sight(page: Page) -> None:
    """The frame says that the page is live, and which event it has seen last."""
    connection = page.locator(".nav .connection")
    expect(connection).to_contain_text("Live, under 1 s behind")
    expect(connection).to_contain_text(re.compile(r"event \d+"))


def test_a_page_that_is_behind_says_so_in_words_and_by_its_mark(page: Page) -> None:
    """A page that is not live says so in words, aloud, and by a mark of another shape and colour."""
    live = page.locator(".nav .dot").evaluate("dot => getComputedStyle(dot).backgroundColor")
    for status, words in STATUSES.items():
        show_connection(page, status)
        expect(page.locator(".nav .connection")).to_contain_text(words)
        expect(page.locator(".nav .connection [role=status]")).to_have_text(words)
        expect(page.locator(".nav .dot")).not_to_have_css("background-color", live)


def test_on_a_tablet_the_navigation_is_icons_that_keep_their_names(visit: Visit) -> None:
    """Below 1180 px only icons are left; screen readers and tooltips still say the names."""
    page = visit("/board", size=TABLET)
    link = page.get_by_role("link", name="Fleet")
    expect(link).to_have_attribute("title", "Fleet (g f)")
    box = page.get_by_role("navigation", name="Views").bounding_box()
    assert box is not None
    assert box["width"] == 56


def test_on_a_phone_the_navigation_is_tabs_at_the_lower_edge(visit: Visit) -> None:
    """Below 760 px four views and a menu with the others stand below, large enough for thumbs."""
    page = visit("/board", size=PHONE)
    tabs = page.get_by_role("navigation", name="Views")
    box = tabs.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] == pytest.approx(PHONE[1], abs=1)
    for name in ("Needs you", "Board", "Fleet", "Activity"):
        tab = tabs.get_by_role("link", name=name).bounding_box()
        assert tab is not None
        assert min(tab["width"], tab["height"]) >= 44
    more = tabs.get_by_role("button", name="More")
    expect(more).not_to_have_attribute("aria-current", "true")
    more.click()
    page.get_by_role("menuitem", name="Settings").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
    expect(more).to_have_attribute("aria-current", "true")
    more.click()
    expect(page.get_by_role("menuitem", name="Settings")).to_have_attribute("aria-current", "page")


def test_on_a_phone_there_is_a_place_for_the_project_and_for_playing(visit: Visit) -> None:
    """The menu below says which project is shown, and leads to others; the bar plays what happened."""
    page = visit("/board", size=PHONE)
    expect(page.get_by_role("button", name="Play from here")).to_be_visible()
    page.get_by_role("navigation", name="Views").get_by_role("button", name="More").click()
    expect(page.get_by_role("menuitemradio", name="default", checked=True)).to_be_visible()


def test_no_view_is_wider_than_a_phone(visit: Visit) -> None:
    """On a phone nothing but what is meant to scroll sideways is wider than the screen."""
    page = visit("/", size=PHONE)
    for path in VIEWS.values():
        inside(page, "shell/router.js", "m.go(x)", path.strip("/") or "needs")
        expect(page.locator(".main .skeleton")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE[0], path
        assert page.locator("main").evaluate("main => main.scrollWidth <= main.clientWidth"), path


def test_the_theme_is_chosen_once_and_stays(visit: Visit) -> None:
    """Dark, light or as the system: the choice changes the page at once and is there after a reload."""
    page = visit("/settings", theme="dark")
    root = page.locator("html")
    page.get_by_role("button", name="Theme").click()
    page.get_by_role("menuitemradio", name="Light").click()
    expect(root).to_have_attribute("data-theme", "light")
    expect(page.locator("body")).to_have_css("color", "rgb(20, 24, 29)")
    page.reload()
    expect(root).to_have_attribute("data-theme", "light")
    page.get_by_role("button", name="Theme").click()
    page.get_by_role("menuitemradio", name="Same as system").click()
    expect(page.locator("body")).to_have_css("color", "rgb(233, 236, 240)")
    page.reload()
    expect(root).not_to_have_attribute("data-theme", re.compile("."))


@pytest.mark.daily
def test_the_language_is_chosen_once_and_stays(visit: Visit) -> None:
    """Chinese is two clicks away, changes every word at once, and is there after a reload."""
    page = visit("/board")
    page.get_by_role("button", name="Account").click()
    page.get_by_role("menuitemradio", name="简体中文").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(IN_CHINESE["Board"])
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    page.reload()
    expect(page.get_by_role("link", name=IN_CHINESE["Settings"])).to_be_visible()


def test_the_filter_stands_in_the_address(page: Page) -> None:
    """Words, an area's chip and exact states make one filter, which a link carries along."""
    page.get_by_role("link", name="Board").click()
    field = page.get_by_role("searchbox", name="Filter tasks, agents, files")
    field.fill("harden")
    chip = page.get_by_role("search").get_by_role("button", name="store", exact=True)
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="State").click()
    page.get_by_role("menuitemcheckbox", name="Blocked").click()
    page.get_by_role("menuitemcheckbox", name="Waiting").click()
    page.keyboard.press("Escape")
    expect(field).to_have_value("harden area:store state:blocked state:waiting")
    expect(page.get_by_role("button", name="2 states")).to_be_focused()
    page.reload()
    expect(field).to_have_value("harden area:store state:blocked state:waiting")
    page.get_by_role("button", name="Clear the filter").click()
    expect(field).to_have_value("")


def test_a_viewer_is_shown_no_button_that_would_fail(visit: Visit) -> None:
    """A viewer has no button for a new task, neither in the frame nor in the search."""
    page = visit("/board", who=VIEWER)
    expect(page.get_by_role("button", name="Search")).to_be_visible()
    expect(page.get_by_role("button", name="Task", exact=True)).to_have_count(0)
    page.keyboard.press("Control+k")
    page.keyboard.type("create task")
    expect(page.get_by_role("option", name="Create task")).to_have_count(0)


def test_the_account_says_who_looks_and_as_what(visit: Visit) -> None:
    """The menu names the person and the role in the project that is shown."""
    page = visit("/board", who=VIEWER)
    page.get_by_role("button", name=f"Account: {VIEWER}").click()
    expect(page.get_by_role("menu")).to_contain_text(f"{VIEWER} · role: viewer")


@pytest.mark.daily
def test_signing_out_ends_the_login(visit: Visit, visitors: Visitors) -> None:
    """Requests under way come first, and no more; then the page is the login's, and leads in no longer."""
    first = visit("/board", who=MEMBER)
    visitors.forget(MEMBER)
    page, held = first.context.new_page(), list[Route]()
    page.add_init_script(IDLE)
    page.route("**/shell/help.js", lambda route: held.append(route))  # noqa: PLW0108  # Playwright marks it
    with page.expect_request("**/shell/help.js"):
        page.goto(first.url)
    first.close()
    until_ready(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(urlsplit(request.url).path))

    page.get_by_role("button", name="Account").click()
    page.get_by_role("menuitem", name="Sign out", exact=True).click()
    settle(page)
    assert "/logout" not in asked
    held[0].continue_()
    expect(page).to_have_url(re.compile("/login"))

    assert not [path for path in asked if path.endswith(("/task/forms.js", "/views/compose.js"))]
    # Not by `goto`: Firefox may tell it of the way to the login as of another page that got in its way.
    page.evaluate("() => { setTimeout(() => location.assign('/board')); }")
    expect(page).to_have_url(re.compile(r"/login\?next="))


def test_the_content_is_one_key_away(page: Page) -> None:
    """The first Tab offers to skip the navigation."""
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["laptop", "phone"])
def test_a_filter_says_which_keys_it_does_not_know(visit: Visit, size: tuple[int, int]) -> None:
    """A key that the filter does not know is named in one sentence, which names those it knows."""
    page = visit("/board?q=foo:bar", size=size)
    said = page.get_by_role("search").get_by_role("status")
    expect(said).to_have_text(
        "The filter does not know foo; it searches for the whole word. "
        "It knows state, agent, area, priority, and is."
    )
    box, screen = said.bounding_box(), page.viewport_size
    assert box is not None
    assert screen is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= screen["width"]
    page.get_by_role("searchbox").fill("state:blocked is:open plain")
    expect(said).to_be_empty()
