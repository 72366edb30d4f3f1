"""Views of a new project: each names a command, and that command puts something there."""

import shlex
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Route, expect

from hubbub.core.people import projects
from tests.cli.processes import hubbub
from tests.dashboard.browser import Visit, inside, settle
from tests.serve.served_hub import Hub

FILLED = {
    "board": ".board-card",
    "messages": ".threads .card",
    "graph": ".graph-node",
}


@pytest.mark.parametrize("view", FILLED)
def test_the_command_of_an_empty_view_fills_it(visit: Visit, hub: Hub, view: str) -> None:
    """What an empty view says to run works as it stands, in that project, and shows at once."""
    slug = f"new-{view}"
    hub.do(lambda tx: projects.create(tx, slug), hub.owner)
    page = visit(f"/{view}?project={slug}")
    command = page.locator("main .command code").inner_text()
    known = {"HUBBUB_URL": hub.url, "HUBBUB_TOKEN": hub.owner_secret}
    for each in command.split(" && "):
        program, *arguments = shlex.split(each)
        done = hubbub(*arguments, data=hub.served.settings.data, environment=known)
        assert (program, done.returncode) == ("hubbub", 0), done.stderr
    expect(page.locator(FILLED[view]).first).to_be_visible()


def test_the_command_of_an_empty_view_names_the_project(visit: Visit, hub: Hub) -> None:
    """What brings agents and machines is about the project that is shown, too."""
    hub.do(lambda tx: projects.create(tx, "new-and-empty"), hub.owner)
    page = visit("/?project=new-and-empty")
    for view in ("needs", "fleet", "files", "machines"):
        inside(page, "shell/router.js", "m.go(x)", view)
        expect(page.locator(f"main[data-view={view}] .command code")).to_contain_text(
            " --project new-and-empty"
        )


def test_nothing_is_said_to_be_empty_before_it_is_known(visit: Visit, hub: Hub) -> None:
    """While the picture of the project is on its way, a view shows that, and not that there is nothing."""
    hub.meet("ember")
    page = visit("/audit")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/v1/snapshot?*", hold)
    views = ("/", "/board", "/fleet", "/files", "/graph", "/machines")
    for path, place in [*((view, "main") for view in views), ("/board?agent=ember", ".agent-panel")]:
        with page.expect_request("**/api/v1/snapshot?*"):
            page.goto(urljoin(page.url, path))
        expect(page.locator(f"{place} .skeleton")).to_be_attached()
        settle(page)
        expect(page.locator(f"{place} .empty")).to_have_count(0)
        held.pop().continue_()
        expect(page.locator(".skeleton")).to_have_count(0)


def test_a_filter_that_leaves_no_machine_says_so(visit: Visit) -> None:
    """Where there are machines, none that matches is no reason to join one."""
    page = visit("/machines?q=nowhere")
    expect(page.get_by_text("Nothing here matches the filters")).to_be_visible()
    expect(page.locator("main .command")).to_have_count(0)
