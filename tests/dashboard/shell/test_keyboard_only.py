"""The ten commonest ways through the page, by the keyboard alone: nothing needs a mouse or a finger."""

import re

import pytest
from playwright.sync_api import Page, expect

from hubbub.core.work import task_search, tasks
from hubbub.model.lifecycle import Status
from tests.dashboard.browser import Visit, chord, enter_list, until_told, until_whole
from tests.dashboard.scene import Scene
from tests.serve.served_hub import Hub

FARTHEST = 80  # presses of Tab
NAMED = """() => {
  const { labels, textContent } = document.activeElement;
  return [document.activeElement.getAttribute("aria-label") ?? "", labels?.[0]?.textContent ?? "", textContent ?? ""];
}"""


@pytest.fixture
def page(visit: Visit, scene: Scene) -> Page:
    """The first screen of a team at work; pressing it anywhere fails."""
    assert scene.tasks
    page = visit("/")
    page.evaluate("addEventListener('pointerdown', () => { throw new Error('a mouse') }, true)")
    return page


def tab_to(page: Page, name: str) -> None:
    """Press Tab until what has the focus is called that."""
    for _ in range(FARTHEST):
        page.keyboard.press("Tab")
        if any(said.strip().startswith(name) for said in page.evaluate(NAMED)):
            return
    raise AssertionError(f"{name} is not reached by {FARTHEST} presses of Tab")


def test_ten_ways_without_a_mouse(page: Page, hub: Hub, scene: Scene) -> None:
    """Approve, answer, create, search, filter, open, write, cancel several, message an agent, look at the past."""
    keys, heading = page.keyboard, page.get_by_role("heading", level=1)

    keys.press("a")  # the first approval has the focus now
    expect(page.locator("[data-item^='need:approval']").first).to_be_focused()
    keys.press("a")
    expect(page.get_by_role("status").filter(has_text="Approved. ")).to_be_visible()

    page.locator("[data-item^='need:question']").first.focus()
    keys.press("r")
    expect(page.get_by_role("dialog").get_by_role("textbox")).to_be_focused()
    keys.type("Keep it for a year.")
    keys.press("Control+Enter")
    expect(page.get_by_role("status").filter(has_text="Sent")).to_be_visible()

    keys.press("c")
    expect(page.get_by_role("dialog").get_by_label("Title")).to_be_focused()
    keys.type("Cut the release")
    keys.press("Control+Enter")
    expect(page.get_by_role("complementary").get_by_role("heading", level=2)).to_have_text("Cut the release")
    keys.press("Escape")

    task = scene.tasks["running"][0]
    keys.press("Control+k")
    keys.type(f"T-{task.number}")
    expect(page.get_by_role("option", name=re.compile(f"T-{task.number}\\b")).first).to_be_visible()
    keys.press("Enter")
    side = page.get_by_role("complementary", name="Task")
    expect(side).to_contain_text(task.title.replace("`", "")[:20])
    until_whole(page)

    keys.press("r")
    expect(page.get_by_role("dialog").get_by_role("textbox")).to_be_focused()
    keys.type("How far are you?")
    keys.press("Control+Enter")
    expect(side.locator(".thread-message").last).to_contain_text("How far are you?")
    keys.press("Escape")
    expect(side).to_have_count(0)

    chord(page, "g", "b")
    expect(heading).to_have_text("Board")
    keys.press("/")
    keys.type("state:delivered")
    keys.press("Escape")
    expect(page.locator(".board-card")).to_have_count(3)
    enter_list(page)  # at what needs somebody most, above the columns
    for _ in scene.tasks["delivered"]:
        keys.press("j")
        keys.press("x")
    expect(page.get_by_role("toolbar")).to_contain_text("3 selected")
    tab_to(page, "Cancel task")
    keys.press("Enter")
    expect(page.get_by_role("dialog", name="Cancel 3 tasks").get_by_role("textbox")).to_be_focused()
    keys.press("Control+Enter")
    expect(page.get_by_role("status").filter(has_text="3 tasks cancelled.")).to_be_visible()

    chord(page, "g", "f")
    enter_list(page)
    keys.press("Enter")
    panel = page.get_by_role("complementary", name="Agent")
    expect(panel.get_by_role("heading", level=2)).to_be_focused()
    tab_to(page, "Message")
    keys.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    tab_to(page, "Text")
    keys.type("Well done.")
    keys.press("Control+Enter")
    expect(heading).to_have_text("Messages")

    keys.press("[")
    expect(page.get_by_role("note").filter(has_text="It is read-only.")).to_be_visible()
    tab_to(page, "Moment shown")
    keys.press("End")
    expect(page.get_by_role("note").filter(has_text="It is read-only.")).to_have_count(0)

    until_told(page)
    statuses = {hub.do(lambda tx, each=each: tasks.find(tx, [hub.project.id], str(each.id))).status
                for each in scene.tasks["delivered"]}  # fmt: skip
    assert statuses == {Status.CANCELLED}
    assert hub.do(lambda tx: task_search.search(tx, [hub.project.id], text="Cut the release", limit=5))
