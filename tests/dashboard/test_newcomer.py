"""Somebody who never read a line of documentation finds the blocked task, sees why, and frees it.

On a laptop and on a phone, by pointing and by keyboard alone; nobody uses a key here that the page does not show.
"""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from demo import encore
from hubbub.core.actions import inbox
from hubbub.core.work import tasks
from hubbub.model.lifecycle import Event, Status
from hubbub.model.records import Task
from tests.dashboard.browser import DESKTOP, PHONE, Visit, inside
from tests.dashboard.scene import BLOCKED, Scene
from tests.serve.served_hub import Hub

ANSWER = "Keep everything for 30 days, then forget it."
STOPS = 120  # times that somebody presses Tab before giving up

Press = Callable[[Locator], None]


@pytest.fixture(scope="module", autouse=True)
def _one_more(hub: Hub, scene: Scene) -> None:
    """Add as many blocked tasks as there are ways to free one."""
    for each in scene.tasks["running"][3:9]:
        _block(hub, _now(hub, each))


def _block(hub: Hub, task: Task) -> None:
    hub.do(lambda tx: tasks.step(tx, task, Event.BLOCK, detail={"reason": BLOCKED[0]}))


def _now(hub: Hub, task: Task | str) -> Task:
    """The task as the hub has it now."""
    ref = task.removeprefix("T-") if isinstance(task, str) else str(task.id)
    found: Task = hub.do(lambda tx: tasks.find(tx, [hub.project.id], ref))
    return found


@pytest.fixture(params=["pointing", "keyboard"])
def press(request: pytest.FixtureRequest) -> Press:
    """The way of pressing buttons: by mouse or finger, or with nothing but Tab and Enter."""
    return {"pointing": _point, "keyboard": _walk}[request.param]


def _point(button: Locator) -> None:
    is_touched = button.evaluate("() => matchMedia('(pointer: coarse)').matches")
    (button.tap if is_touched else button.click)()


def _walk(button: Locator) -> None:
    wanted = button.element_handle()  # to find it by its name after each step takes as long as the step
    for _ in range(STOPS):
        button.page.keyboard.press("Tab")
        if not wanted.evaluate("button => button.isConnected"):
            wanted = button.element_handle()
        if wanted.evaluate("button => button === document.activeElement"):
            expect(button).to_be_in_viewport()
            button.page.keyboard.press("Enter")
            return
    raise AssertionError(f"Tab does not lead to {button}")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["laptop", "phone"])
def test_the_first_screen_leads_to_the_blocked_task(
    visit: Visit, hub: Hub, size: tuple[int, int], press: Press
) -> None:
    """The first screen counts what waits; there the blocked task says why it is, and a written answer frees it."""
    page = visit("/", size=size)
    card = page.get_by_role("group", name="Blocked, waiting for you").first
    number = (card.get_by_role("link").text_content() or "").removeprefix(
        "Open "
    )  # also of what is not drawn yet
    card = page.get_by_role("group", name="Blocked, waiting for you").filter(has_text=number)
    task = _now(hub, number)
    assert task.note is not None
    expect(card).to_contain_text(task.title.replace("`", ""))
    expect(card).to_contain_text(task.note)
    press(card.get_by_role("button", name="Why?"))
    expect(card.get_by_role("note")).to_contain_text("a person unblocks it")
    press(card.get_by_role("button", name="Answer"))
    _answer(page, press)
    expect(card).to_have_count(0)
    _is_freed(hub, task)


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["laptop", "phone"])
def test_the_board_leads_to_the_blocked_task(
    visit: Visit, hub: Hub, scene: Scene, size: tuple[int, int], press: Press
) -> None:
    """On the board the blocked task stands in a column of that name; beside it stands why, and what can be done."""
    page = visit("/", size=size)
    press(page.get_by_role("navigation", name="Views").get_by_role("link", name="Board"))
    if size == PHONE:  # which shows one column
        press(page.get_by_role("group", name="Columns").get_by_role("button", name="Blocked or waiting"))
    column = page.get_by_role("region", name="Blocked or waiting")
    waiting = column.get_by_role("link", name=re.compile("^T-.* Blocked$"))
    expect(waiting.first).to_be_visible()
    task = _now(hub, str(waiting.first.get_attribute("aria-label")).split()[0])
    assert task.note is not None
    card = column.get_by_role("link", name=f"T-{task.number} ")
    card.scroll_into_view_if_needed()
    press(card)
    side = page.get_by_role("complementary", name="Task")
    expect(side.get_by_role("note")).to_contain_text(task.note)
    press(side.get_by_role("button", name="Answer"))
    _answer(page, press)
    expect(side).to_contain_text("Working")
    _is_freed(hub, task)


def _answer(page: Page, press: Press) -> None:
    """Write the answer where the dialog lets one begin to write, and send it."""
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Your answer", exact=True)).to_be_focused()
    page.keyboard.type(ANSWER)
    press(dialog.get_by_role("button", name="Answer"))
    expect(dialog).to_have_count(0)
    expect(page.locator(".toast")).to_be_visible()  # what shows at once is true only when the hub has said so


def _is_freed(hub: Hub, task: Task) -> None:
    """Wait until the task goes on and its holder has the answer, once."""
    assert _now(hub, task).status is Status.WORKING
    assert task.assignee is not None
    letters = hub.do(lambda tx: inbox.read(tx, hub.project.id, task.assignee, 50))
    assert [ANSWER in str(letter) for letter in letters].count(True) == 1


def test_the_demos_link_leads_to_where_its_story_begins(visit: Visit, hub: Hub, scene: Scene) -> None:
    """The board is shown as it was when nobody had begun the first task of all, and runs on from there, squeezed."""
    start, playing = hub.do(lambda tx: encore.beginning(tx, hub.project)).split("&play=")
    page = visit(start)
    expect(page.get_by_role("note")).to_contain_text("It is read-only")
    expect(page.locator("main [data-item^='task:']")).to_have_count(1)
    expect(page.get_by_role("main")).to_contain_text("T-1")
    moment = re.compile(start.rpartition("?")[2].rpartition("&")[2] + r"\b")
    expect(page).to_have_url(moment)
    page = visit(f"{start}&play={playing}")
    expect(page).not_to_have_url(re.compile("play="))
    expect(page).not_to_have_url(moment)
    assert inside(page, "hub/replay.js", "m.squeezed.value")
