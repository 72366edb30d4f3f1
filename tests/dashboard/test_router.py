"""Addresses lead to views, and back: what is shown stands in them."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hubbub.core.people import users
from hubbub.core.work import tasks
from hubbub.model.people.rights import Role
from tests.dashboard.browser import Visit, Watch, inside
from tests.dashboard.scene import Scene
from tests.serve.served_hub import Hub


def route(page: Page) -> Any:
    return inside(page, "shell/router.js", "m.route.value")


ADDRESSES = {
    "/": ("needs", {}),
    "/board?q=state:blocked": ("board", {"q": "state:blocked"}),
    "/t/12": ("board", {"task": "12"}),
    "/fleet?agent=ember": ("fleet", {"agent": "ember"}),
    "/settings?tab=tokens": ("settings", {"tab": "tokens"}),
}


@pytest.mark.daily
def test_an_address_says_the_view_and_what_is_asked_of_it(page: Page, scene: Scene) -> None:
    """Each view has its path, `/t/12` is a task on the board, and the rest is the query."""
    read = """(() => { history.pushState(null, "", x); dispatchEvent(new PopStateEvent("popstate"));
              return m.route.value; })()"""
    for address, (view, query) in ADDRESSES.items():
        assert inside(page, "shell/router.js", read, address) == {"view": view, "query": query}


def test_links_are_followed_without_a_reload_and_the_back_button_leads_back(page: Page, scene: Scene) -> None:
    """A click on a view changes the address and the view, not the page; back is where one was."""
    page.evaluate("document.documentElement.dataset.same = 'yes'")
    page.get_by_role("navigation").get_by_role("link", name="Board").first.click()
    expect(page.locator("main")).to_have_attribute("data-view", "board")
    assert page.url.endswith("/board?project=default")
    page.go_back()
    expect(page.locator("main")).to_have_attribute("data-view", "needs")
    expect(page.locator("html")).to_have_attribute("data-same", "yes")


def test_a_task_has_an_address_of_its_own(visit: Visit, scene: Scene) -> None:
    """`/t/` and a task's number opens the board with that task at its side."""
    task = scene.tasks["blocked"][0]
    page = visit(f"/t/{task.number}")
    expect(page.locator("main")).to_have_attribute("data-view", "board")
    expect(page.get_by_role("complementary")).to_contain_text(f"T-{task.number}")


def test_an_address_is_of_the_same_project_for_everybody(visit: Visit, hub: Hub, scene: Scene) -> None:
    """The address of a page says its project: who belongs to others, too, sees the same there."""
    other = hub.other_project()
    hub.do(lambda tx: tasks.send(tx, other.id, sender="hub", to=None, text="Of elsewhere"))
    hub.do(lambda tx: users.create(tx, "pam", project=other, role=Role.MEMBER), hub.owner)
    page = visit("/board", who="pam")
    page.locator("main [data-item^='task:']").first.click()
    expect(page).to_have_url(re.compile(r"/board\?project=elsewhere&task=1$"))
    page = visit(page.url.removeprefix(hub.url))
    expect(page.get_by_role("complementary", name="Task")).to_contain_text("Of elsewhere")


def test_of_a_project_that_is_not_there_nothing_is_shown(visit: Visit, scene: Scene) -> None:
    """An address of a project that one may not enter leads to the first screen of one's own, and says so."""
    page = visit("/board?project=nowhere&task=1")
    expect(
        page.get_by_role("alert").filter(has_text="There is no project nowhere that you can see.")
    ).to_be_visible()
    expect(page).to_have_url(re.compile(r"/\?project=default$"))


def test_a_project_and_a_moment_go_along_from_view_to_view(page: Page, scene: Scene) -> None:
    """Links to other views keep the project and the moment, and drop what only this view was asked."""
    inside(page, "shell/router.js", "m.go('board', { project: 'default', q: 'api', task: 3 })")
    assert inside(page, "shell/router.js", "m.href('fleet')") == "/fleet?project=default"
    inside(page, "shell/router.js", "m.set({ q: null })")
    assert route(page) == {"view": "board", "query": {"project": "default", "task": "3"}}


@pytest.mark.parametrize(
    "address", ["/t/%25zz", "/board?q=%22%3E%3Cscript%3E&task=%00", "/board?task=nobody"]
)
def test_odd_addresses_show_a_page(visit: Visit, watch: Watch, scene: Scene, address: str) -> None:
    """Whatever stands in an address, the page comes up and nothing is thrown."""
    watch.expect(400, 404)  # there is no such task
    page = visit(address)
    expect(page.locator("main")).to_have_attribute("data-view", "board")
