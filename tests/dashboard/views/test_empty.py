"""Views of a new project: each names a command, and that command puts something there."""

import json
import re
import shlex
from functools import partial
from pathlib import Path
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Route, expect

from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.core.people import access, projects, tokens
from hubbub.model.people.rights import Actor, Role
from hubbub.store.people import projects as members
from hubbub.store.people import users
from tests.cli.processes import hubbub
from tests.dashboard.browser import Visit, inside, settle
from tests.dashboard.conftest import MEMBER
from tests.serve.served_hub import Hub

WORDS = Path(__file__).parents[3] / "src/hubbub/serve/dashboard/static/words"
FILLED = {
    "board": ".board-card",
    "messages": ".threads .card",
    "graph": ".graph-node",
}


@pytest.mark.parametrize("view", FILLED)
def test_the_command_of_an_empty_view_fills_it(visit: Visit, hub: Hub, view: str) -> None:
    """The command in an empty view works as it stands, in that project, and shows at once."""
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
    """Commands that bring agents and machines name the shown project; the hub's machine serves none of a member's."""
    member = hub.do(lambda tx: users.find_by_name(tx, MEMBER))
    of_member = Actor(token_id=None, user_id=member.id, user_name=MEMBER)
    hub.do(lambda tx: projects.create(tx, "new-and-empty"), of_member)
    page = visit("/?project=new-and-empty", who=MEMBER)
    for view in ("needs", "fleet", "files", "machines"):
        inside(page, "shell/router.js", "m.go(x)", view)
        command = page.locator(f"main[data-view={view}] .command code").filter(
            has_text=re.compile("^hubbub ")
        )
        expect(command).to_contain_text(" --project new-and-empty")


def test_the_first_screen_leads_through_the_first_steps(visit: Visit, hub: Hub) -> None:
    """Each step has a tick when it is done; the echo answers and is removed; when two have talked nothing is left."""
    project = hub.do(lambda tx: projects.create(tx, "new-and-young"), hub.owner)
    page = visit("/?project=new-and-young")
    steps = page.get_by_role("region", name="First steps")
    expect(steps.locator(".is-done")).to_have_text(re.compile("The hub is running"))
    expect(steps.locator("[aria-current=step]")).to_contain_text("hubbub install claude-code --as ember")

    steps.get_by_role("button", name="Try it").click()
    expect(steps.locator("[aria-current=step]")).to_contain_text("From here with Ctrl K")
    expect(steps.locator("[aria-current=step]")).to_contain_text("hubbub send echo")
    steps.get_by_role("button", name="Write to it").click()
    page.get_by_role("textbox", name="Text").fill("Hello?")
    page.get_by_role("dialog").get_by_role("button", name="Send message").click()
    conversation = page.get_by_role("region", name="Conversation", exact=True)
    expect(conversation.get_by_text("Hello?", exact=True)).to_have_count(3)
    inside(page, "shell/router.js", "m.go(x)", "needs")
    expect(page.get_by_role("group", name="Message to you")).to_contain_text("Hello?")
    steps.get_by_role("button", name="Remove it").click()
    expect(steps.get_by_role("button", name="Try it")).to_be_visible()
    assert not hub.do(lambda tx: agents.is_known(tx, project.id, "echo"))

    for name in ("ember", "birch", "cedar", "dune"):
        installing = partial(tokens.for_project, project=project, role=Role.MEMBER, agent=name)
        hub.do(partial(installing, program="claude-code"), hub.owner)
    expect(steps.locator("[aria-current=step]")).to_contain_text("Start an agent")
    hub.do(lambda tx: messages.send(tx, project.id, sender="ember", to="birch", body="And you?"))
    expect(steps).to_have_count(0)
    settle(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    hub.do(lambda tx: messages.send(tx, project.id, sender="birch", to="hub", body="It is done"))
    expect(page.get_by_role("group", name="Message to you").filter(has_text="It is done")).to_be_visible()
    settle(page)
    assert [each for each in asked if "first-steps" in each] == []


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_who_has_no_hub_of_their_own_reaches_it_from_another_machine(
    visit: Visit, hub: Hub, language: str
) -> None:
    """A member's first steps begin with the hub's address and a token of theirs, with which commands work there.

    The owner of the hub, whose commands find it by its data folder, is told none of that.
    """
    slug = f"shared-{language.lower()}"
    project = hub.do(lambda tx: projects.create(tx, slug), hub.owner)
    person = hub.do(lambda tx: users.find_by_name(tx, MEMBER))
    hub.do(lambda tx: members.put_member(tx, project.id, person.id, Role.MEMBER))
    words = json.loads((WORDS / f"{language}.json").read_text("utf-8"))["steps"]
    page = visit(f"/?project={slug}", who=MEMBER, language=language)
    own = page.get_by_role("region", name=words["terminal"])
    command = own.locator(".command code")
    expect(command).to_have_text(f"export HUBBUB_URL={hub.url} HUBBUB_TOKEN=utok_… HUBBUB_PROJECT={slug}")

    own.get_by_role("button", name=words["terminal_token"]).click()

    expect(own.get_by_role("status")).to_have_text(words["terminal_once"])
    _export, *pairs = shlex.split(command.inner_text())
    known = dict(pair.split("=", 1) for pair in pairs)
    shown = hubbub("tasks", "--json", data=hub.served.settings.data / "elsewhere", environment=known)
    assert (shown.returncode, json.loads(shown.stdout)) == (0, []), shown.stderr
    assert hub.do(lambda tx: access.authenticate(tx, known["HUBBUB_TOKEN"])).user_name == MEMBER
    expect(visit(f"/?project={slug}").get_by_role("region", name="First steps")).not_to_contain_text(
        "HUBBUB_URL"
    )


def test_where_all_is_quiet_a_member_is_led_to_a_client(visit: Visit, hub: Hub) -> None:
    """Where the first steps are done, the empty first screen leads who has no hub of their own to how to connect."""
    project = hub.do(lambda tx: projects.create(tx, "quiet"), hub.owner)
    person = hub.do(lambda tx: users.find_by_name(tx, MEMBER))
    hub.do(lambda tx: members.put_member(tx, project.id, person.id, Role.MEMBER))
    for name in ("ember", "birch"):
        hub.do(partial(agents.meet, project_id=project.id, name=name))
    hub.do(lambda tx: messages.send(tx, project.id, sender="ember", to="birch", body="And you?"))
    page = visit("/?project=quiet", who=MEMBER)
    page.get_by_role("link", name="Connect a client of your own").click()
    expect(page.get_by_role("region", name="Connect your own machine")).to_contain_text(
        f"HUBBUB_URL={hub.url}"
    )
    assert visit("/?project=quiet").get_by_role("link", name="Connect a client of your own").count() == 0


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
