"""Notifications: told to a person who asked for them, looks elsewhere, and is needed."""

import re

import pytest
from playwright.sync_api import expect

from hubbub.core import tasks
from hubbub.model.lifecycle import Event
from tests.dashboard.browser import Visit, inside
from tests.dashboard.scene import Scene
from tests.serve.hub import Hub

pytestmark = pytest.mark.usefixtures("scene")

# A browser that says yes, a page that nobody sees, and a list of what would have been shown.
LOOKS_ELSEWHERE = """
    window.Notification = class {
        static permission = "granted";
        static requestPermission = async () => "granted";
        constructor(title, { body }) { document.body.dataset.told = `${title}: ${body}`; }
        close() {}
    };
    Object.defineProperty(document, "hidden", { get: () => true });
"""


def test_what_is_new_is_told_to_who_looks_elsewhere(visit: Visit, hub: Hub, scene: Scene) -> None:
    """A task that gets blocked is told in our words, with its number and title, and without what its agent said."""
    page = visit("/")
    page.evaluate(LOOKS_ELSEWHERE)
    inside(page, "shell/notify.js", "m.switchNotifying(true)")
    task = hub.do(lambda tx: tasks.find(tx, [hub.project.id], str(scene.tasks["running"][4].id)))
    said = {"reason": "click http://evil.example"}
    hub.do(lambda tx: tasks.step(tx, task, Event.BLOCK, actor=task.assignee, detail=said))
    told = f"Question for you: T-{task.number} {task.title}"
    expect(page.locator("body")).to_have_attribute("data-told", told)


def test_the_tab_says_how_much_waits(visit: Visit) -> None:
    """The page's title begins with the number of what waits, and its icon has a mark."""
    page = visit("/")
    count = page.evaluate("document.title.match(/^\\((\\d+)\\)/)[1]")
    assert int(count) == page.locator(".need").count()
    expect(page.locator("link[rel=icon]")).to_have_attribute("href", re.compile("/mark-waiting.svg$"))
