"""Views of a new project: each names a command, and that command puts something there."""

import shlex

import pytest
from playwright.sync_api import expect

from hubbub.core import projects
from tests.cli.processes import hubbub
from tests.dashboard.browser import Visit
from tests.serve.hub import Hub

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


@pytest.mark.parametrize("view", ["", "fleet", "files", "machines"])
def test_the_command_of_an_empty_view_names_the_project(visit: Visit, hub: Hub, view: str) -> None:
    """What brings agents and machines is about the project that is shown, too."""
    slug = f"{view}-empty".strip("-")
    hub.do(lambda tx: projects.create(tx, slug), hub.owner)
    page = visit(f"/{view}?project={slug}")
    expect(page.locator("main .command code")).to_contain_text(f" --project {slug}")
