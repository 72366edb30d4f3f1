"""The board: who is there, what needs a person, and every task in the column of its state."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from hubbub.core.work import tasks
from hubbub.model.lifecycle import Status
from tests.dashboard.browser import PHONE, Visit, inside, until_told, until_whole
from tests.dashboard.scene import Scene
from tests.serve.served_hub import Hub

HELD = """(card) => card.dispatchEvent(
    new PointerEvent("contextmenu", { pointerType: "touch", bubbles: true, cancelable: true }))"""

pytestmark = pytest.mark.usefixtures("scene")


@pytest.mark.daily
def test_a_card_says_how_its_task_is(visit: Visit, scene: Scene) -> None:
    """A blocked task stands in its column, with its number, its title, its holder and the reason."""
    task = scene.tasks["blocked"][0]
    card = visit("/board").locator(f".column.is-blocked .card:has([data-item='task:{task.id}'])")
    title = task.title.replace("`", "")
    for text in (f"T-{task.number}", title, task.assignee or "", "Waits for a decision on retention"):
        expect(card).to_contain_text(text)
    expect(card.get_by_role("link")).to_have_accessible_name(re.compile(f"^T-{task.number} .*Blocked$"))


def test_the_strip_filters_by_agent(visit: Visit) -> None:
    """A click on an agent's tile shows only what has to do with it, and a second click everything again."""
    page = visit("/board")
    tile = page.get_by_role("group", name="Agents by machine").get_by_role("button", name="Bi birch")
    tile.click()
    expect(page).to_have_url(re.compile(r"q=agent%3Abirch"))
    expect(tile).to_have_attribute("aria-pressed", "true")
    others = page.locator(".board-card .board-foot").filter(has_not_text="birch")
    expect(others).to_have_count(0)
    tile.click()
    expect(others.first).to_be_visible()


def in_each_width(page: Page, *widths: int) -> Iterator[int]:
    """The page, made narrower step by step."""
    for width in widths:
        page.set_viewport_size({"width": width, "height": 800})
        until_whole(page)
        yield width


def test_the_strip_shows_every_machine(visit: Visit) -> None:
    """Agents that do not fit beside each other are on the next line; the strip does not scroll sideways."""
    page = visit("/board")
    strip = page.get_by_role("group", name="Agents by machine")
    for width in in_each_width(page, 1440, 1180, 1024, 800):
        expect(strip.get_by_role("button", name="Ze zephyr")).to_be_in_viewport()
        assert strip.evaluate("(strip) => strip.scrollWidth <= strip.clientWidth"), width


def test_five_columns_have_whole_headings(visit: Visit) -> None:
    """The name of no column is cut off where five stand beside each other, and none is wider for its cards."""
    page = visit("/board")
    names = page.locator(".column-name")
    for width in in_each_width(page, 1440, 1180, 1024):
        expect(names).to_have_count(5)
        cut = "(all) => all.filter((name) => name.scrollWidth > name.clientWidth).length"
        assert names.evaluate_all(cut) == 0, width
        assert page.locator(".columns").evaluate("(all) => all.scrollWidth <= all.clientWidth"), width


def test_several_are_cancelled_by_keys(visit: Visit, hub: Hub, scene: Scene) -> None:
    """`x` chooses cards; what is done to all of them is told in one sentence."""
    page = visit("/board")
    chosen = scene.tasks["delivered"][:2]
    for task in chosen:
        page.locator(f"[data-item='task:{task.id}']").focus()
        page.keyboard.press("x")
    bar = page.get_by_role("toolbar", name="Actions for the selected tasks")
    expect(bar).to_contain_text("2 selected")
    bar.get_by_role("button", name="Cancel task").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel task").click()
    expect(page.get_by_role("status").filter(has_text="2 tasks cancelled.")).to_be_visible()
    for task in chosen:
        found = hub.do(lambda tx, ref=str(task.id): tasks.find(tx, [hub.project.id], ref))
        assert found.status is Status.CANCELLED


def test_esc_selects_nothing(visit: Visit) -> None:
    """Esc drops what is selected first, and closes the task at the side after that."""
    page = visit("/board?task=1")
    page.locator("main [data-item^='task:']").first.focus()
    page.keyboard.press("x")
    bar = page.get_by_role("toolbar", name="Actions for the selected tasks")
    expect(bar).to_contain_text("1 selected")
    page.keyboard.press("Escape")
    expect(bar).to_have_count(0)
    expect(page.get_by_role("complementary", name="Task")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("complementary", name="Task")).to_have_count(0)


def test_several_are_selected_by_touch(visit: Visit) -> None:
    """On a phone a long press selects a card, and then a tap another one, instead of opening it."""
    page = visit("/board", size=PHONE)
    cards = page.locator("main .board-card [data-item^='task:']")
    cards.first.evaluate(HELD)  # Chromium without a window makes no such event of a touch
    bar = page.get_by_role("toolbar", name="Actions for the selected tasks")
    expect(bar).to_contain_text("1 selected")
    cards.nth(1).tap()
    expect(bar).to_contain_text("2 selected")
    expect(page.get_by_role("complementary")).to_have_count(0)


def test_on_a_phone_every_column_and_every_agent_is_one_tap_away(visit: Visit) -> None:
    """One column is shown, below a tab for each with its count; the row of agents opens below its summary."""
    page = visit("/board", size=PHONE)
    tabs = page.get_by_role("group", name="Columns")
    for name in ("Working", "Blocked or waiting", "In review", "Finished", "Queued"):
        tabs.get_by_role("button", name=name).click()
        expect(page.locator(".columns").get_by_role("heading")).to_have_text(re.compile(f"^{name} "))
    tile = page.get_by_role("button", name="Bi birch")
    expect(tile).to_be_hidden()
    page.get_by_role("button", name="28 agents").click()
    tile.tap()
    expect(page).to_have_url(re.compile(r"q=agent%3Abirch"))
    inside(page, "shell/router.js", "m.set({ q: x })", "nothing is called that")
    expect(page.get_by_role("heading", name="No task matches the filter")).to_be_visible()


def test_cards_are_grouped_and_sorted_and_that_is_kept(visit: Visit) -> None:
    """Each column has its cards under headings and in another order, as the address says; a saved view has it again."""
    page = visit("/board")
    queued = page.locator(".column.is-queued")
    menu = page.get_by_role("button", name="View", exact=True)
    for choice in ("Agent", "Newest first"):
        menu.click()
        page.get_by_role("menuitemradio", name=choice).click()
    expect(page).to_have_url(re.compile("group=agent.*sort=newest"))
    expect(queued.locator("h3").last).to_have_text(re.compile(r"^unassigned \d+$"))
    free = queued.locator(".board-group").last.locator("~ .board-card .ref").all_inner_texts()
    assert free == sorted(free, key=lambda ref: -int(ref.removeprefix("T-")))
    assert len(free) > 1

    menu.click()
    page.get_by_role("menuitem", name="Save this view…").click()
    page.get_by_label("Name").fill("By hand")
    page.keyboard.press("Enter")
    menu.click()
    expect(page.get_by_role("menuitemradio", name="By hand", checked=True)).to_be_visible()
    page.get_by_role("menuitemradio", name="Most important first").click()
    page.reload()
    menu.click()
    page.get_by_role("menuitemradio", name="By hand").click()
    expect(page).to_have_url(re.compile("group=agent.*sort=newest"))
    menu.click()
    page.get_by_role("menuitem", name="Delete “By hand”").click()
    menu.click()
    expect(page.get_by_role("menuitemradio", name="By hand")).to_have_count(0)


def test_a_card_is_dragged_to_an_agent_and_that_is_undone(visit: Visit, hub: Hub, scene: Scene) -> None:
    """Let go over an agent's tile it is that agent's; *Undo* gives it back to whoever had it."""
    task = scene.tasks["acked"][0]
    page = visit("/board")
    card = page.locator(f"[data-item='task:{task.id}']")
    holder = page.locator(f".board-card:has([data-item='task:{task.id}']) .board-foot")
    to = page.get_by_role("group", name="Agents by machine").get_by_role("button", name="Ce cedar")
    card.drag_to(to)
    expect(holder).to_contain_text("cedar")
    page.get_by_role("status").filter(has_text="is assigned to cedar").get_by_role(
        "button", name="Undo"
    ).click()
    expect(holder).to_contain_text(str(task.assignee))
    until_told(page)
    found = hub.do(lambda tx: tasks.find(tx, [hub.project.id], str(task.id)))
    assert found.assignee == task.assignee


def test_a_card_is_dragged_to_where_something_leads(visit: Visit, hub: Hub, scene: Scene) -> None:
    """Work in review that is let go over *Finished* is approved; over a column where only agents lead it stays."""
    task = scene.tasks["review"][0]
    page = visit("/board")
    card = page.locator(f"[data-item='task:{task.id}']")
    card.drag_to(page.get_by_role("region", name="Blocked or waiting").locator("h2"))
    card.drag_to(page.get_by_role("region", name="Finished").locator("h2"))
    expect(page.get_by_role("status").filter(has_text=f"T-{task.number} is approved")).to_be_visible()
    until_told(page)
    found = hub.do(lambda tx: tasks.find(tx, [hub.project.id], str(task.id)))
    assert found.status is Status.COMPLETED


def test_only_what_finished_lately_is_shown(visit: Visit) -> None:
    """Of finished tasks those of a chosen time are shown and no others; the address keeps the choice."""
    page = visit("/board")
    finished = page.locator(".column.is-finished")
    expect(finished.locator(".board-done").first).to_be_visible()
    everything = finished.locator(".board-done").count()
    page.keyboard.press("f")
    expect(page).to_have_url(re.compile("finished=today"))
    expect(finished.locator(".column-head")).to_contain_text("Today")
    page.keyboard.press("f")
    expect(page).to_have_url(re.compile("finished=7d"))
    page.keyboard.press("f")
    expect(page).not_to_have_url(re.compile("finished"))

    menu = page.get_by_role("button", name="View", exact=True)
    menu.click()
    page.get_by_role("menuitemradio", name="From … to …").click()
    page.get_by_label("First day").fill("2001-01-01")
    page.get_by_label("Last day").fill("2001-01-02")
    page.get_by_role("dialog").get_by_role("button", name="Show").click()
    expect(page).to_have_url(re.compile(r"finished=2001-01-01\.\.2001-01-02"))
    expect(finished.locator(".board-done")).to_have_count(0)
    page.reload()
    expect(finished.locator(".column-head")).to_contain_text(re.compile(r"Finished 0"))
    menu.click()
    page.get_by_role("menuitemradio", name="At any time").click()
    expect(finished.locator(".board-done")).to_have_count(everything)
