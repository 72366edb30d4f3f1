"""The live stream of the page, while hubs are killed, logs are cut and logins end."""

import re
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hubbub.store.engine.sqlite import DATABASE
from tests.cli.processes import RunningHub
from tests.dashboard.browser import (
    Tabs,
    Watch,
    chord,
    inside,
    until_connected,
    until_ready,
    visiting,
    visitors_to,
)
from tests.dashboard.pictures import live, told

Json = dict[str, Any]
Looking = tuple[Callable[..., Page], Watch]

CARDS = "Object.fromEntries([...m.live.value.tasks].map(([id, { title, status }]) => [title, status]))"


@pytest.fixture
def killable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    """A hub that can be killed, and comes back at its address."""
    running = RunningHub(tmp_path_factory.mktemp("killable"))
    running.start()
    running.meet("ann")
    yield running
    running.close()


@pytest.fixture
def looking(killable: RunningHub, tabs: Tabs) -> Iterator[Looking]:
    """Opens the board of that hub."""

    def code(who: str | None) -> str:
        url: str = killable.client().post("/logins/links", {"user": who})["url"]
        return url.rpartition("/")[2]

    with visitors_to(killable.url, code, tabs) as visitors, visiting(visitors) as (visit, watch):
        yield lambda who=None: visit("/board", who=who), watch


def caught_up(page: Page, hub: RunningHub) -> None:
    """Wait until the page has folded the last activity that the hub has."""
    last = hub.client().get("/activity", limit="1")["activity"][0]["id"]
    inside(
        page,
        "hub/stream.js",
        "new Promise((done) => m.connection.subscribe(({ id }) => id >= x && done()))",
        last,
    )


def shown(page: Page) -> Json:
    """The tasks of the live picture: title and status."""
    found: Json = inside(page, "model/store.js", CARDS)
    return found


@pytest.mark.daily
def test_what_happened_while_the_hub_was_dead_is_there_when_it_is_back(
    killable: RunningHub, looking: Looking
) -> None:
    """A killed hub shows as reconnecting; when it is back the page goes on from where the stream broke."""
    look, watch = looking
    watch.expect(0)
    killable.send("ann", "before")
    page = look()
    snapshots = requests_for(page, "/snapshot")
    killable.stop(signal.SIGKILL)
    until_connected(page, "reconnecting")
    page.context.set_offline(True)  # so that it is not back before that is sent
    killable.start()
    killable.send("ann", "after")
    page.context.set_offline(False)
    until_connected(page, "live")
    caught_up(page, killable)
    assert shown(page) == {"before": "delivered", "after": "delivered"}
    assert snapshots == []
    assert live(page) == told(page)
    ids = inside(page, "model/store.js", "m.recent.value.map(({ id }) => id)")
    assert ids == sorted(set(ids))


def test_a_log_that_was_cut_makes_the_page_look_anew(killable: RunningHub, looking: Looking) -> None:
    """Where the log does not go on from what the page has seen, it takes a fresh snapshot by itself."""
    look, watch = looking
    watch.expect(0)
    page = look()
    caught_up(page, killable)
    snapshots = requests_for(page, "/snapshot")
    killable.stop(signal.SIGKILL)
    until_connected(page, "reconnecting")
    with closing(sqlite3.connect(killable.data / DATABASE)) as database:
        database.execute("DELETE FROM activity")
        database.commit()
    killable.start()
    killable.send("ann", "of another time")
    until_connected(page, "live")
    inside(page, "model/store.js", "new Promise((done) => m.tasks.subscribe((all) => all.size && done()))")
    assert shown(page) == {"of another time": "delivered"}
    assert len(snapshots) == 1


def test_who_is_signed_out_elsewhere_is_asked_to_sign_in(killable: RunningHub, looking: Looking) -> None:
    """When a login ends its page leaves for the form at once, and says where it was."""
    look, watch = looking
    watch.expect(401)
    page = look()
    killable.client().delete("/logins")
    expect(page).to_have_url(
        re.compile(r"/login\?next=")
    )  # it may leave twice: for the stream, and for a call
    assert page.url.endswith("/login?next=%2Fboard%3Fproject%3Ddefault")


def test_what_was_asked_for_while_the_hub_was_dead_comes_when_it_is_back(
    killable: RunningHub, looking: Looking
) -> None:
    """A view that could not be fetched says so, and is there as soon as the hub is."""
    look, watch = looking
    watch.expect(0)
    page = look()
    killable.stop(signal.SIGKILL)
    until_connected(page, "reconnecting")
    page.get_by_role("link", name="Fleet").click()
    expect(page.get_by_role("main").get_by_role("alert")).to_contain_text("The hub cannot be reached.")
    killable.start()
    expect(page.get_by_role("main")).to_contain_text("ann")


def test_letters_are_no_commands_while_the_hub_is_dead(killable: RunningHub, looking: Looking) -> None:
    """While no hub answers a letter does nothing but say so, and so do all that are typed after it."""
    look, watch = looking
    watch.expect(0)
    page = look()
    killable.stop(signal.SIGKILL)
    until_connected(page, "reconnecting")
    page.keyboard.type("c big draft, g b?")
    expect(page.get_by_role("alert").filter(has_text="The hub cannot be reached.")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"/board\?project=default$"))


def test_a_view_that_a_newer_hub_has_no_more_comes_with_its_page(looking: Looking) -> None:
    """Where the hub has other scripts than the page, the page is loaded anew for the view, once."""
    look, watch = looking
    watch.expect(404)
    page = look()
    page.evaluate("document.documentElement.dataset.same = 'yes'")
    page.route("**/views/fleet.js", lambda route: route.fulfill(status=404), times=2)
    chord(page, "g", "f")
    expect(page.get_by_role("main")).to_contain_text("ann")
    expect(page.locator("html")).not_to_have_attribute("data-same", "yes")


def test_views_that_never_come_reload_the_page_once_each(looking: Looking) -> None:
    """A page that was loaded anew for a view that is still missing is not loaded anew for it again."""
    look, watch = looking
    watch.expect(404)
    page = look()
    page.route(re.compile(r"/views/(fleet|machines)\.js$"), lambda route: route.fulfill(status=404))
    loads: list[str] = []
    page.on("request", lambda request: loads.append(request.url) if request.is_navigation_request() else None)
    for letter in "fn":
        page.evaluate("document.documentElement.dataset.same = 'yes'")
        chord(page, "g", letter)
        expect(page.locator("html")).not_to_have_attribute("data-same", "yes")
        until_ready(page)
    chord(page, "g", "f")
    expect(page.locator("main[data-view=fleet] .refused")).to_be_visible()
    chord(page, "g", "b")
    expect(page.locator(".board")).to_be_visible()
    assert len(loads) == 2


def test_buttons_go_with_the_right_to_them(killable: RunningHub, looking: Looking) -> None:
    """A person who becomes a viewer while a page is open loses its buttons at once, without a reload."""
    look, _watch = looking
    killable.client().post("/users", {"name": "mia", "project": "default", "role": "member"})
    page = look("mia")
    button = page.get_by_role("button", name="Task", exact=True)
    expect(button).to_be_visible()
    killable.client().put("/projects/default/members/mia", {"role": "viewer"})
    expect(button).to_have_count(0)
    until_connected(page, "live")


def test_a_project_that_is_closed_to_the_page_is_said(killable: RunningHub, looking: Looking) -> None:
    """A person who may no longer see the project reads the hub's sentence in its place, and the page stops asking."""
    look, watch = looking
    watch.expect(0, 403, 404)
    killable.client().post("/users", {"name": "vera", "project": "default", "role": "viewer"})
    page = look("vera")
    killable.client().delete("/projects/default/members/vera")
    killable.stop(signal.SIGKILL)
    until_connected(page, "reconnecting")
    killable.start()
    until_connected(page, "refused")
    expect(page.get_by_role("main")).to_contain_text(inside(page, "hub/stream.js", "m.connection.value.why"))
    expect(page.locator(".board")).to_have_count(0)


def requests_for(page: Page, path: str) -> list[str]:
    """The requests of the page for a path of REST, from now on."""
    found: list[str] = []
    page.on("request", lambda request: found.append(request.url) if path in request.url else None)
    return found
