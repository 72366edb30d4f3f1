"""One task at the side: what can be done to it, its life, why it is as it is, what was said and what happened."""

import re

import pytest
from playwright.sync_api import Page, expect

from hubbub.core.actions import task_actions
from hubbub.core.mail import messages
from hubbub.core.work import task_search, tasks
from hubbub.model.lifecycle import Status
from hubbub.model.records import Task
from tests.dashboard.browser import PHONE, Visit, until_told
from tests.dashboard.looks import axe
from tests.dashboard.scene import Scene
from tests.serve.served_hub import Hub

pytestmark = pytest.mark.usefixtures("scene")


def task_of(hub: Hub, task: Task) -> Task:
    """The task as the hub has it now."""
    found: Task = hub.do(lambda tx: tasks.find(tx, [hub.project.id], str(task.id)))
    return found


@pytest.mark.daily
def test_a_deep_link_opens_the_task(visit: Visit, scene: Scene) -> None:
    """`/t/NUMBER` is the board with the task at its side: its state, its life, why, and what happened."""
    task = scene.tasks["blocked"][0]
    page = visit(f"/t/{task.number}")
    side = page.get_by_role("complementary")
    expect(side.get_by_role("heading", level=2)).to_have_text(task.title.replace("`", ""))
    expect(side.locator(".rail [aria-current=step]")).to_contain_text("Blocked")
    expect(side.locator(".rail .is-reached")).to_have_count(5)
    expect(side.get_by_role("note")).to_contain_text("has been blocked since")
    expect(side.locator(".events")).to_contain_text("Blocked")
    assert axe(page) == []


def test_its_address_is_copied(visit: Visit, scene: Scene) -> None:
    """A button copies the link that opens the task in its project."""
    number = scene.tasks["blocked"][0].number
    page = visit(f"/board?task={number}")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    side = page.get_by_role("complementary", name="Task")
    side.get_by_role("button", name="Copy link").click()
    expect(side.get_by_role("button", name="Copied")).to_be_visible()
    assert str(page.evaluate("navigator.clipboard.readText()")).endswith(f"/t/{number}?project=default")


def test_escape_closes_it(visit: Visit, scene: Scene) -> None:
    """Esc closes the task; the view and its filter stay."""
    page = visit(f"/board?q=docs&task={scene.tasks['blocked'][0].number}")
    expect(page.get_by_role("complementary")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("complementary")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"/board\?q=docs&project=default$"))


@pytest.mark.daily
def test_work_in_review_is_approved(visit: Visit, hub: Hub, scene: Scene) -> None:
    """Approve work completes a task that is in review."""
    task = scene.tasks["review"][0]
    page = visit(f"/t/{task.number}")
    page.get_by_role("button", name="Approve work").click()
    expect(page.get_by_role("complementary").locator(".state-word")).to_have_text("Completed")
    until_told(page)
    assert task_of(hub, task).status is Status.COMPLETED


def test_changes_are_requested(visit: Visit, hub: Hub, scene: Scene) -> None:
    """Request changes sends a task back to work, and its assignee hears what is to be changed."""
    task = scene.tasks["review"][1]
    page = visit(f"/t/{task.number}")
    page.get_by_role("button", name="Request changes").click()
    page.get_by_label("What should change").fill("Name the constant.")
    page.get_by_role("dialog").get_by_role("button", name="Request changes").click()
    expect(page.get_by_role("complementary").locator(".state-word")).to_have_text("Working")
    until_told(page)
    assert task_of(hub, task).status is Status.WORKING
    thread = hub.do(lambda tx: messages.thread(tx, task.id, 50))
    assert any("Name the constant." in each.body for each in thread)


def test_a_task_is_cancelled_with_a_reason(visit: Visit, hub: Hub, scene: Scene) -> None:
    """Cancel task asks for a reason, which the task keeps."""
    task = scene.tasks["delivered"][0]
    page = visit(f"/t/{task.number}")
    page.get_by_role("button", name="Cancel task").click()
    page.get_by_label("Reason (optional").fill("superseded by T-1")
    page.get_by_role("dialog").get_by_role("button", name="Cancel task").click()
    expect(page.get_by_role("complementary").locator(".state-word")).to_have_text("Cancelled")
    until_told(page)
    assert task_of(hub, task).result == "superseded by T-1"


def test_a_claim_is_released(visit: Visit, hub: Hub, scene: Scene) -> None:
    """Release puts a held task back into the open queue; the panel tells who tried it; nobody is proposed for it."""
    task = scene.tasks["running"][2]
    page = visit(f"/t/{task.number}")
    page.locator(".inspector").get_by_role("button", name="Release").click()
    page.get_by_label("Reason (sent to the assignee)").fill("needed elsewhere")
    page.get_by_role("dialog").get_by_role("button", name="Release").click()
    expect(page.get_by_role("complementary").locator(".state-word")).to_have_text("Queued")
    until_told(page)
    assert task_of(hub, task).assignee is None
    attempts = page.get_by_role("region", name="Attempts").get_by_role("listitem")
    expect(attempts).to_contain_text(
        [f"1 {task.assignee} · Released by owner: needed elsewhere", "2 unassigned · Queued"]
    )
    page.locator(".inspector").get_by_role("button", name="Assign").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Agent")).to_have_value("")
    expect(dialog.get_by_role("button", name="Assign")).to_be_disabled()
    expect(dialog).not_to_contain_text("current assignee")
    dialog.get_by_label("Agent").select_option("birch")
    dialog.get_by_role("button", name="Assign").click()
    until_told(page)
    assert task_of(hub, task).assignee == "birch"


def test_a_message_reaches_its_thread(visit: Visit, scene: Scene) -> None:
    """⌘Enter sends the text at the foot, which appears in the thread with how far it got."""
    task = scene.tasks["running"][3]
    page = visit(f"/t/{task.number}")
    page.get_by_label(f"Message {task.assignee}").fill("Is **this** <b>done</b>?")
    page.keyboard.press("Control+Enter")
    message = page.locator(".thread-message").last
    expect(message.locator("strong", has_text="this")).to_be_visible()
    expect(message).to_contain_text("<b>done</b>")
    expect(message.get_by_role("listitem")).to_contain_text("not delivered yet")


def test_it_follows_what_happens(visit: Visit, hub: Hub, scene: Scene) -> None:
    """Changes of the open task appear by themselves."""
    task = task_of(hub, scene.tasks["acked"][0])
    page = visit(f"/t/{task.number}")
    expect(page.locator(".inspector .state-word")).to_have_text("Accepted")
    hub.do(lambda tx: task_actions.start(tx, task, str(task.assignee)))
    expect(page.locator(".inspector .state-word")).to_have_text("Working")
    expect(page.locator(".events li").first).to_contain_text("Working")


def test_the_past_cannot_be_changed(visit: Visit, scene: Scene) -> None:
    """While replaying, the actions of a task are there and disabled."""
    task = scene.tasks["blocked"][1]
    page = visit(f"/t/{task.number}")
    expect(page.get_by_role("button", name="Answer").first).to_be_enabled()
    page.keyboard.press("[")
    expect(page.locator(".inspector").get_by_role("button", name="Answer")).to_be_disabled()


def test_viewers_have_nothing_to_press(visit: Visit, scene: Scene) -> None:
    """A viewer sees neither actions nor a field to write."""
    page = visit(f"/t/{scene.tasks['blocked'][2].number}", who="vera")
    expect(page.locator(".inspector .rail")).to_be_visible()
    expect(page.locator(".inspector").get_by_role("button", name="Answer")).to_have_count(0)
    expect(page.locator(".inspector-reply")).to_have_count(0)


def test_it_is_a_page_of_its_own_on_a_phone(visit: Visit, scene: Scene) -> None:
    """On a phone the task fills the screen, and axe-core finds nothing in it."""
    page = visit(f"/t/{scene.tasks['failed'][2].number}", size=PHONE, theme="light", language="zh-CN")
    expect(page.locator(".inspector .rail")).to_be_visible()
    expect(page.locator(".side")).to_have_css("width", f"{PHONE[0]}px")  # once its styles are there
    expect(page.locator(".events")).to_contain_text(f"失败 （{scene.tasks['failed'][2].assignee}）")
    assert axe(page) == []


def test_a_task_is_created(page: Page, hub: Hub) -> None:
    """“+ Task” makes a task for somebody, and opens it."""
    page.get_by_role("button", name="Task", exact=True).click()
    page.get_by_label("Title").fill("Write the changelog")
    page.get_by_label("For", exact=True).select_option("cedar")
    page.get_by_label("Priority").select_option("high")
    page.get_by_role("button", name="Create task").click()
    expect(page.get_by_role("complementary").get_by_role("heading", level=2)).to_have_text(
        "Write the changelog"
    )
    found = hub.do(lambda tx: task_search.search(tx, [hub.project.id], assignee="cedar", limit=50))
    assert "Write the changelog" in [each.title for each in found]


def test_one_word_of_fifty_thousand_letters_is_shown(visit: Visit, hub: Hub) -> None:
    """The longest text that the hub takes, without a space, is laid out at once and sticks out nowhere."""
    word = "A" * 50_000
    task = hub.do(
        lambda tx: tasks.send(tx, hub.project.id, sender="hub", to=None, title="One word", text=word)
    )
    page = visit(f"/t/{task.number}")
    expect(page.locator(".inspector .markdown").first).to_contain_text("AAAA")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("(() => { const box = document.querySelector('.inspector-body');"
                         " return box.scrollWidth <= box.clientWidth; })()")  # fmt: skip


def test_a_task_is_edited(visit: Visit, hub: Hub, scene: Scene) -> None:
    """*Edit*, among the actions of a task, changes its description and who is to do it in one form."""
    task = scene.tasks["queued"][1]
    page = visit(f"/t/{task.number}")
    side = page.get_by_role("complementary", name="Task")
    side.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Edit").click()
    dialog = page.get_by_role("dialog", name=f"Edit T-{task.number}")
    expect(dialog.get_by_label("Description")).to_have_value(re.compile("Done when its tests pass"))
    dialog.get_by_label("Description").fill("Only the second half.")
    dialog.get_by_label("For", exact=True).select_option("maple")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    expect(side.locator(".markdown").first).to_have_text("Only the second half.")
    until_told(page)
    changed = task_of(hub, task)
    assert (changed.description, changed.assignee, changed.title) == (
        "Only the second half.",
        "maple",
        task.title,
    )


def test_every_action_on_a_task_is_at_hand(visit: Visit, scene: Scene) -> None:
    """What the panel has no button for is in the menu beside them: work under way can be completed, and edited."""
    page = visit(f"/t/{scene.tasks['running'][1].number}")
    side = page.get_by_role("complementary", name="Task")
    side.get_by_role("button", name="More actions").click()
    for name in ("Complete", "Edit"):
        expect(page.get_by_role("menuitem", name=name)).to_be_visible()
