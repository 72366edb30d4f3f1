"""Notifications: told to a person who asked for them, looks elsewhere, and is needed."""

import re

import pytest
from playwright.sync_api import Page, expect

from hubbub.core.actions import task_actions
from hubbub.core.work import tasks
from hubbub.model.lifecycle import Event
from hubbub.model.log.attention import needed
from hubbub.model.records import Task
from hubbub.store.tx import Tx
from tests.dashboard.browser import Visit, inside
from tests.serve.served_hub import Hub
from tests.support.pictures import picture


@pytest.fixture(scope="module", autouse=True)
def _ann(hub: Hub) -> None:
    """Nobody else is there, and nothing waits: in a scene, work grows too old while a test goes on."""
    hub.meet("ann")


# A browser that says yes, a page that nobody sees, and a list of what would have been shown.
LOOKS_ELSEWHERE = """
    window.Notification = class {
        static permission = "granted";
        static requestPermission = async () => "granted";
        constructor(title, { body, tag }) {
            const told = { ...JSON.parse(document.body.dataset.told ?? "{}"), [tag]: `${title}: ${body}` };
            document.body.dataset.told = JSON.stringify(told); // what is seen: of one tag, the last
        }
        close() {}
    };
    Object.defineProperty(document, "hidden", { get: () => true });
"""


def test_what_is_new_is_told_to_who_looks_elsewhere(visit: Visit, hub: Hub) -> None:
    """A task that gets blocked is told in our words, with its number and title, and without what its agent said."""
    page = who_looks_elsewhere(visit, hub)
    told = block(hub, "Ask who may read it")
    expect(page.locator("body")).to_have_attribute("data-told", re.compile(f"^{{[^{{}}]*:{told}}}$"))


def test_one_need_does_not_hide_another(visit: Visit, hub: Hub) -> None:
    """Each of two tasks that get blocked one after the other has its own notification."""
    page = who_looks_elsewhere(visit, hub)
    told = []
    for title in ("Name the release", "Sign the release"):
        told.append(block(hub, title))
        expect(page.locator("body")).to_have_attribute("data-told", re.compile(".*".join(told)))


def who_looks_elsewhere(visit: Visit, hub: Hub) -> Page:
    """A page that nobody sees, of somebody who wants to be told of more than is there."""
    there = hub.do(lambda tx: len(needed(picture(tx, hub.project.id), tx.now)))
    page = visit("/")
    expect(page.locator(".need")).to_have_count(there)  # what is a second old at most is shown with the next
    page.evaluate(LOOKS_ELSEWHERE)
    inside(page, "shell/notifications.js", "m.switchNotifying(true)")
    return page


def block(hub: Hub, title: str) -> str:
    """Block a task; return the expected notification, as an expression."""
    said = {"reason": "click http://evil.example"}

    def step(tx: Tx) -> Task:
        sent = tasks.send(tx, hub.project.id, sender="hub", to="ann", text="work", title=title)
        begun = task_actions.start(tx, task_actions.accept(tx, sent, "ann"), "ann")
        return tasks.step(tx, begun, Event.BLOCK, actor="ann", detail=said)

    blocked = hub.do(step)
    return re.escape(f'"Question for you: T-{blocked.number} {blocked.title}"')


def test_the_tab_says_how_much_waits(visit: Visit, hub: Hub) -> None:
    """The page's title begins with the number of what waits, and its icon has a mark."""
    block(hub, "Say when")
    page = visit("/")
    needs = page.locator(".need")
    expect(needs.first).to_be_visible()
    expect(page).to_have_title(re.compile(rf"^\({needs.count()}\)"))
    expect(page.locator("link[rel=icon]")).to_have_attribute("href", re.compile("/mark-waiting.svg$"))
