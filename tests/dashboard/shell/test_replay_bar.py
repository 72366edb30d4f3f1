"""The replay bar in a browser: any moment of the log, by mouse, finger and keys; and back."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hubbub.core.fleet import nodes
from hubbub.core.work import tasks
from tests.dashboard.browser import PHONE, Visit, inside, show_connection
from tests.dashboard.looks import faults
from tests.dashboard.scene import Scene
from tests.serve.served_hub import Hub

STRIP = "It is read-only"


@pytest.fixture(scope="module", autouse=True)
def _scene(scene: Scene) -> None:
    """All these pages show a team at work."""


def handle(page: Page) -> Any:
    return page.get_by_role("slider", name="Moment shown")


def moment(page: Page) -> Any:
    """The moment that is shown: its event, or null for live."""
    return inside(page, "model/store.js", "m.moment.value?.id ?? null")


def drag(page: Page, share: float) -> None:
    """Pull the handle to that share of the bar's length."""
    box = page.locator(".bar-track").bounding_box()
    assert box is not None
    x, y = box["x"], box["y"] + box["height"] / 2
    page.mouse.move(x + box["width"] - 2, y)
    page.mouse.down()
    page.mouse.move(x + box["width"] * (share + 1) / 2, y)
    page.mouse.move(x + box["width"] * share, y)
    page.mouse.up()


def test_dragging_shows_a_moment_and_a_button_leads_back(page: Page) -> None:
    """The past is shown with how long ago it was, and a strip that says that it cannot be changed."""
    expect(handle(page)).to_have_attribute("aria-valuetext", re.compile("Live, event"))
    drag(page, 0.4)
    strip = page.get_by_role("note")
    expect(strip).to_contain_text(STRIP)
    expect(strip).to_contain_text(re.compile(r"looking at \d\d:\d\d, 1h"))
    expect(page.locator(".bar-time")).to_contain_text(re.compile(r"^-1h \d+m"))
    expect(page).to_have_url(re.compile(r"at=\d+"))
    expect(page.locator(".connection")).to_contain_text("Past")
    page.get_by_role("button", name="Back to live").click()
    expect(strip).to_have_count(0)
    expect(page.locator(".connection")).to_contain_text("Live")
    expect(page).not_to_have_url(re.compile("at="))


def test_the_slider_is_moved_by_keys(page: Page) -> None:
    """Arrows move by one event, page keys by fifty, Home to the first that is loaded, End back to now."""
    handle(page).focus()
    total = int(handle(page).get_attribute("aria-valuemax") or 0)
    page.keyboard.press("ArrowLeft")
    expect(handle(page)).to_have_attribute("aria-valuenow", str(total - 1))
    page.keyboard.press("PageDown")
    expect(handle(page)).to_have_attribute("aria-valuenow", str(total - 51))
    page.keyboard.press("ArrowRight")
    expect(handle(page)).to_have_attribute("aria-valuenow", str(total - 50))
    page.keyboard.press("Home")
    expect(handle(page)).to_have_attribute("aria-valuenow", "1")
    page.keyboard.press("End")
    expect(handle(page)).to_have_attribute("aria-valuetext", re.compile("Live, event"))
    assert moment(page) is None


def test_brackets_step_and_space_plays(page: Page) -> None:
    """`[` and `]` step through the log from anywhere; space lets it run, and stops it."""
    total = int(handle(page).get_attribute("aria-valuemax") or 0)
    for key in "[[[]":
        page.keyboard.press(key)
    expect(page.get_by_text(STRIP)).to_be_visible()
    expect(handle(page)).to_have_attribute("aria-valuenow", str(total - 2))
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play from here")).to_be_visible()


def test_playing_moves_the_moment_on(visit: Visit) -> None:
    """From the moment that is shown, the past runs on by itself."""
    page = visit("/board?at=100")
    expect(page.get_by_text(STRIP)).to_be_visible()
    began = handle(page).get_attribute("aria-valuenow") or ""
    page.get_by_role("button", name="Play from here").click()
    expect(handle(page)).not_to_have_attribute("aria-valuenow", began)
    page.get_by_role("button", name="Pause").click()


def test_space_presses_the_button_that_has_the_focus(page: Page) -> None:
    """A key that has a meaning where the focus is, keeps it."""
    page.get_by_role("button", name="Load earlier events").focus()
    page.keyboard.press("Space")
    expect(page.get_by_text("This is the beginning of the log.")).to_be_visible()
    assert moment(page) is None


def test_a_marker_names_the_machine_that_went_offline_also_on_a_telephone(visit: Visit, hub: Hub) -> None:
    """The menu of moments says which machine was gone, at any width."""
    machine = hub.do(lambda tx: nodes.find(tx, hub.project, "cobalt"))
    hub.do(lambda tx: nodes.record(tx, "node.offline", machine))
    page = visit("/board", size=PHONE)
    page.get_by_role("button", name="Speed, idle time, markers").click()
    expect(page.get_by_role("menuitem", name="cobalt went offline")).to_be_visible()


def test_what_went_wrong_is_marked_on_the_bar(page: Page) -> None:
    """Failures and agents that fell silent are red marks above the bars."""
    marks = page.locator(".bar-bad").get_attribute("d") or ""
    assert marks.count("M") >= 2


def test_the_moment_survives_a_reload_and_goes_along(visit: Visit) -> None:
    """The address names the moment: a reload, and every other view, show the same one."""
    page = visit("/board?at=200")
    expect(page.get_by_text(STRIP)).to_be_visible()
    page.get_by_role("link", name="Fleet").click()
    expect(page).to_have_url(re.compile(r"/fleet\?.*at=200"))
    page.reload()
    expect(page.get_by_text(STRIP)).to_be_visible()
    assert moment(page) == 200


def test_replay_changes_nothing_and_live_goes_on_underneath(visit: Visit, hub: Hub) -> None:
    """New events are not shown in the past, and are there on coming back."""
    page = visit("/activity")
    page.keyboard.press("[")
    expect(page.get_by_text(STRIP)).to_be_visible()
    hub.do(lambda tx: tasks.send(tx, hub.project.id, sender="amber", to="birch", text="Meanwhile"))
    expect(page.get_by_text("Meanwhile")).to_have_count(0)
    page.get_by_role("button", name="Back to live").click()
    expect(page.locator(".activity-row").first).to_contain_text("Meanwhile")


def test_a_tap_on_a_phone_shows_that_moment(visit: Visit) -> None:
    """The bar is there on a phone, and a finger moves it."""
    page = visit("/board", size=PHONE)
    box = page.locator(".bar-track").bounding_box()
    assert box is not None
    assert box["height"] >= 40
    page.touchscreen.tap(box["x"] + box["width"] / 3, box["y"] + 20)
    expect(page.get_by_text(STRIP)).to_be_visible()
    page.get_by_role("button", name="Back to live").tap()
    expect(page.get_by_text(STRIP)).to_have_count(0)


def test_a_lost_connection_is_told_on_the_pill(page: Page) -> None:
    """Where the navigation has no room for it, as on phones, the pill says how the page is connected."""
    show_connection(page, "reconnecting")
    expect(page.locator(".bar-live")).to_have_text("Reconnecting…")


def test_axe_finds_nothing_in_the_past(visit: Visit) -> None:
    """The bar and its strip break no rule, whatever the width, theme and language."""
    page = visit("/board?at=300")
    expect(page.get_by_role("note")).to_be_visible()
    assert faults(page, context=".bar", chinese=True) == []


def test_the_bar_says_how_fast_and_squeezes_idle_time(visit: Visit) -> None:
    """A menu has the speeds, markers with names that lead to their moments, and idle time to be squeezed on the bar."""
    page = visit("/board?at=100")
    expect(page.get_by_text(STRIP)).to_be_visible()
    before = handle(page).get_attribute("style")
    options = page.get_by_role("button", name="Speed, idle time, markers")
    options.click()
    page.get_by_role("menuitemradio", name="4×").click()
    expect(options).to_contain_text("4×")
    options.click()
    page.get_by_role("menuitemcheckbox", name="Squeeze idle time").click()
    expect(handle(page)).not_to_have_attribute("style", before or "")
    assert inside(page, "hub/replay.js", "m.longestGap(x)", [0, 1000, 2000, 900_000]) == 3000
    page.get_by_role("menuitem", name=re.compile("failed|blocked|silent|approval")).first.click()
    expect(page).not_to_have_url(re.compile(r"at=100\b"))
    expect(page.get_by_text(STRIP)).to_be_visible()
