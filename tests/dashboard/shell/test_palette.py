"""⌘K: everything by its name, without a mouse."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from hubbub.core.work import tasks
from tests.dashboard.browser import Visit, settle
from tests.dashboard.scene import Scene
from tests.serve.served_hub import Hub


@pytest.fixture(scope="module", autouse=True)
def _scene(scene: Scene) -> None:
    """There is a team at work to be found."""


def ask(page: Page, words: str) -> Locator:
    """Open the palette and type; return its offers."""
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search tasks, agents, files, actions")
    expect(field).to_be_focused()
    page.keyboard.type(words)
    return page.get_by_role("option")


def close(page: Page) -> None:
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.daily
def test_a_task_is_found_by_its_number_and_opens_at_the_side(page: Page, scene: Scene) -> None:
    """Typing T-12 and Enter shows that task, whatever view one is in."""
    task = scene.tasks["blocked"][0]
    options = ask(page, f"t-{task.number}")
    expect(options.first).to_contain_text(task.title.replace("`", ""))
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary", name="Task")).to_contain_text(f"T-{task.number}")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_task_with_exactly_the_number_comes_first(page: Page) -> None:
    """T-3 stands before T-30, however it is written."""
    for typed in ("T-3", "#3", "3"):
        expect(ask(page, typed).first).to_contain_text(re.compile(r"^T-3\b"))
        close(page)


def test_what_can_be_done_to_a_task_is_offered_with_its_number(page: Page, scene: Scene) -> None:
    """With a number the palette offers the task's own actions: "Cancel T-12"."""
    task = scene.tasks["running"][0]
    ask(page, f"cancel t-{task.number}")
    expect(page.get_by_role("option", name=re.compile(f"^Cancel .*T-{task.number}$"))).to_be_visible()


@pytest.mark.parametrize(
    ("language", "offers"),
    [
        ("en", {"send": "New message", "language": "Language: English", "sign out": "Sign out"}),
        ("zh-CN", {"发送": "新消息", "退出": "退出登录"}),
    ],
    ids=["English", "Chinese"],
)
def test_what_the_menus_do_is_found_by_its_words(visit: Visit, language: str, offers: dict[str, str]) -> None:
    """Writing to somebody, another language and the end of the login are commands, too."""
    page = visit("/board", language=language)
    for typed, offered in offers.items():
        page.keyboard.press("Control+k")
        page.keyboard.type(typed)
        expect(page.get_by_role("option").filter(has_text=offered).first).to_be_visible()
        close(page)


def test_what_can_be_done_to_the_open_task_is_offered_without_its_number(visit: Visit, scene: Scene) -> None:
    """With a task open at the side, "cancel" is enough."""
    number = scene.tasks["running"][0].number
    page = visit(f"/board?task={number}")
    expect(page.get_by_role("complementary", name="Task")).to_contain_text(f"T-{number}")
    ask(page, "cancel")
    expect(page.get_by_role("option", name=re.compile(f"^Cancel .*T-{number}$"))).to_be_visible()


def test_views_agents_and_files_are_found_by_their_names(page: Page, scene: Scene) -> None:
    """Any part of a name finds it; the arrows choose, and say so to screen readers."""
    options = ask(page, scene.agents[0])
    expect(options.filter(has_text=scene.agents[0]).first).to_be_visible()
    page.keyboard.press("Escape")
    options = ask(page, "mach")
    expect(options.filter(has_text="Machines")).to_be_visible()
    while "Machines" not in options.and_(page.locator("[aria-selected=true]")).inner_text():
        page.keyboard.press("ArrowDown")
        settle(page)
    field = page.get_by_role("combobox")
    chosen = page.locator(f"[id='{field.get_attribute('aria-activedescendant')}']")
    expect(chosen).to_contain_text("Machines")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Machines")


def test_old_tasks_are_asked_of_the_hub(page: Page, hub: Hub) -> None:
    """The palette asks the hub for what the page does not have: words of a description find a task too."""
    told = "the heliotrope is in the vestibule"
    hub.do(lambda tx: tasks.send(tx, hub.project.id, sender="hub", to="amber", text=told, title="Water"))
    options = ask(page, "heliotrope")
    expect(options.filter(has_text="Water")).to_be_visible()


def test_nothing_found_is_said(page: Page) -> None:
    """Where nothing fits the palette says so, to ears as well, and Enter does nothing."""
    ask(page, "xyzzy plugh")
    expect(page.get_by_text("No results.")).to_be_visible()
    expect(page.get_by_role("dialog").get_by_role("status").filter(has_text="results")).to_have_text(
        "0 results"
    )
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Search")).to_be_visible()


def test_the_focus_goes_back_to_where_it_was(visit: Visit) -> None:
    """Esc closes the palette; the button that opened it has the focus again."""
    page = visit("/fleet")
    button = page.get_by_role("button", name="Search")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
