"""Notifications: told to a person who asked for them, looks elsewhere, and is needed."""

import re

import pytest
from playwright.sync_api import Page, expect

from hubbub.core import tasks
from hubbub.model.lifecycle import Event
from hubbub.model.records import Task
from hubbub.store.tx import Tx
from tests.dashboard.browser import Visit, inside
from tests.dashboard.scene import Scene
from tests.serve.hub import Hub

pytestmark = pytest.mark.usefixtures("scene")

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


def test_what_is_new_is_told_to_who_looks_elsewhere(visit: Visit, hub: Hub, scene: Scene) -> None:
    """A task that gets blocked is told in our words, with its number and title, and without what its agent said."""
    page = who_looks_elsewhere(visit)
    told = block(hub, scene.tasks["running"][4])
    expect(page.locator("body")).to_have_attribute("data-told", re.compile(f"^{{[^{{}}]*:{told}}}$"))


def test_one_need_does_not_hide_another(visit: Visit, hub: Hub, scene: Scene) -> None:
    """Of two tasks that get blocked one after the other, each has its own notification."""
    page = who_looks_elsewhere(visit)
    told = []
    for place in (2, 3):
        told.append(block(hub, scene.tasks["running"][place]))
        expect(page.locator("body")).to_have_attribute("data-told", re.compile(".*".join(told)))


def who_looks_elsewhere(visit: Visit) -> Page:
    """A page that nobody sees, of somebody who wants to be told."""
    page = visit("/")
    page.evaluate(LOOKS_ELSEWHERE)
    inside(page, "shell/notify.js", "m.switchNotifying(true)")
    return page


def block(hub: Hub, task: Task) -> str:
    """Let a task be blocked; returns what is to be told of it, as an expression."""
    said = {"reason": "click http://evil.example"}

    def step(tx: Tx) -> Task:
        found = tasks.find(tx, [hub.project.id], str(task.id))
        return tasks.step(tx, found, Event.BLOCK, actor=found.assignee, detail=said)

    blocked = hub.do(step)
    return re.escape(f'"Question for you: T-{blocked.number} {blocked.title}"')


def test_the_tab_says_how_much_waits(visit: Visit) -> None:
    """The page's title begins with the number of what waits, and its icon has a mark."""
    page = visit("/")
    count = page.evaluate("document.title.match(/^\\((\\d+)\\)/)[1]")
    assert int(count) == page.locator(".need").count()
    expect(page.locator("link[rel=icon]")).to_have_attribute("href", re.compile("/mark-waiting.svg$"))
