"""The machines in a browser: who is there and on it; inviting, removing, taking over; and an agent's terminal."""

import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hubbub.core.fleet import enrolment, managed_agents, nodes, shares
from hubbub.model.fleet.calls import NodeInfo
from hubbub.model.people.rights import Role
from tests.dashboard.browser import DESKTOP, PHONE, Visit, Watch, add_person, inside
from tests.dashboard.conftest import VIEWER
from tests.dashboard.looks import faults
from tests.serve.served_hub import Hub, running_hub

POLICY = """[files]
roots = ["../work"]
[rules]
deny = ["execute_command(id *)"]
allow = ["execute_command(echo *)", "agent_start(cat)", "agent_start(sleep *)"]
"""
OTHER = "borealis"


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory, port: int) -> Iterator[Hub]:
    """A hub whose own machine has rules, and that knows another machine."""
    folder = tmp_path_factory.mktemp("machines")
    for name in ("config", "work"):
        (folder / name).mkdir()
    (folder / "config" / "node.toml").write_text(POLICY)
    about = NodeInfo(name=OTHER, machine_id=OTHER, platform="Linux 6.12", version="0.1.0", sandbox="bwrap")
    with running_hub(folder / "hub", port=port, config=folder / "config", public_url=None) as running:
        running.do(lambda tx: nodes.report(tx, running.project, about))
        add_person(running, VIEWER, Role.VIEWER)
        yield running


@pytest.fixture(scope="module")
def own(hub: Hub) -> str:
    """The name of the hub's own machine, which was there before those that tests add."""
    first = min((each for each in machines(hub) if each.name != OTHER), key=lambda each: each.first_seen_at)
    return str(first.name)


def machines(hub: Hub) -> list[Any]:
    return list(hub.do(lambda tx: nodes.listed(tx, hub.project)))


def detail(page: Page, name: str) -> Any:
    return page.get_by_role("region", name=name, exact=True)


@pytest.mark.daily
def test_a_machine_is_shown_with_what_it_is(visit: Visit) -> None:
    """The list says whether a machine is there; a click shows the rest at its own address."""
    page = visit("/machines")
    card = page.get_by_role("list", name="Machines").get_by_role("link", name=f"{OTHER}, Online")
    card.click()
    expect(page).to_have_url(re.compile(f"node={OTHER}"))
    expect(detail(page, OTHER)).to_contain_text("Linux 6.12")
    expect(detail(page, OTHER)).to_contain_text("bwrap")
    expect(page.get_by_text("No agents here")).to_be_visible()


def test_the_hubs_own_machine_needs_no_link(visit: Visit, own: str) -> None:
    """The page does not say that the hub's own machine is not linked, and does not offer to remove it."""
    panel = detail(visit(f"/machines?node={own}"), own)
    remove = panel.get_by_role("button", name="Remove")
    expect(remove).to_be_disabled()
    expect(remove).to_have_attribute("title", "A hub runs on it, so it stays.")
    expect(panel).to_contain_text("not needed: the hub runs on it")
    expect(panel).not_to_contain_text("not linked")


def test_how_busy_a_machine_is_stands_on_its_card(visit: Visit, own: str) -> None:
    """The load of the last minute for so many processors, and how much memory is in use; of the rest, nothing."""
    cards = visit("/machines").get_by_role("list", name="Machines").get_by_role("listitem")
    expect(cards.filter(has_text=own).locator(".load")).to_contain_text(f"of {os.cpu_count()}")
    expect(cards.filter(has_text=OTHER).locator(".load")).to_have_count(0)


def test_an_invitation_is_told_once_with_its_command(visit: Visit, hub: Hub) -> None:
    """The code stands in the command that uses it, and is gone with the dialog; the log has who made it."""
    page = visit("/machines")
    page.get_by_role("button", name="Invite a machine").click()
    page.get_by_label("Name of the machine").fill("cobalt")
    page.get_by_role("button", name="Create code").click()
    expect(page.get_by_role("dialog")).to_contain_text(re.compile(r"expires in \d+[mh]"))
    told = page.get_by_role("dialog").locator("code")
    expect(told).to_have_text(re.compile(r"^hubbub node run --join join_\S+$"))
    page.get_by_role("button", name="I have copied it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert "join_" not in page.content()


def test_a_link_to_look_is_made_told_once_and_taken_back(visit: Visit, hub: Hub, own: str) -> None:
    """Making one shows its address once; the list tells who made it; taking it back ends it at the hub."""
    page = visit(f"/machines?node={own}")
    page.get_by_role("tab", name="Share links").click()
    page.get_by_role("button", name="Create link").click()
    expect(page.get_by_role("dialog").locator("code")).to_have_text(re.compile(r"^http\S+/share/\S+$"))
    page.get_by_role("button", name="I have stored it").click()
    expect(detail(page, own)).to_contain_text("by owner")
    expect(detail(page, own)).to_contain_text(re.compile(r"expires in \d+[mh]"))
    page.get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("No links")).to_be_visible()
    assert list(hub.do(lambda tx: shares.of_project(tx, hub.project))) == []


def test_taking_over_is_a_click_of_its_own_and_each_command_is_judged(
    visit: Visit, watch: Watch, hub: Hub, own: str
) -> None:
    """The command line comes after a confirmation; what runs shows its output, what the gate denies its reason."""
    watch.expect(403)
    page = visit(f"/machines?node={own}")
    expect(page.get_by_label("Command", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Take over…").click()
    page.get_by_role("dialog").get_by_role("button", name="Take over").click()
    line = page.get_by_label("Command", exact=True)
    line.fill("echo hello from here")
    line.press("Enter")
    expect(page.locator(".take-over pre")).to_have_text("hello from here")
    line.fill("id -u")
    line.press("Enter")
    expect(page.locator(".take-over-run").nth(1).get_by_role("status")).to_contain_text("denies")
    page.goto(page.url.split("/machines")[0] + "/audit?kind=terminal")
    expect(page.get_by_role("cell", name="owner").first).to_be_visible()
    expect(page.get_by_text("echo hello from here")).to_be_visible()


def test_an_agent_is_started_read_paused_searched_and_stopped(visit: Visit, hub: Hub, own: str) -> None:
    """From the dialog to the end: the machine runs it, its terminal follows it, and stopping ends it."""
    page = visit(f"/machines?node={own}")
    page.get_by_role("button", name="Start an agent").click()
    page.get_by_label("Name of the agent").fill("coder")
    page.get_by_label("Command for each task").fill("cat; sleep 1000")
    page.get_by_role("dialog").get_by_role("button", name="Start an agent").click()
    expect(page.get_by_text("coder is started.")).to_be_visible()
    expect(detail(page, own)).to_contain_text("running")
    page.get_by_role("link", name="Terminal").click()
    terminal = page.get_by_role("log", name="Output of coder")
    expect(terminal).to_contain_text("ready")
    page.get_by_label("Find").fill("READY")
    expect(terminal.locator("mark").first).to_have_text("ready")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Back to the machine").click()
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    expect(page.get_by_text("coder is stopped.")).to_be_visible()
    assert hub.do(lambda tx: managed_agents.find(tx, hub.project, "coder")).status == "stopped"


def test_what_it_was_ordered_is_listed_with_what_came_of_it(visit: Visit) -> None:
    """A machine that was ordered nothing says what would be listed there."""
    page = visit(f"/machines?node={OTHER}")
    page.get_by_role("tab", name="Recent orders").click()
    expect(page.get_by_text("No orders yet")).to_be_visible()


def test_a_policy_that_does_not_load_is_told(visit: Visit, hub: Hub) -> None:
    """Who looks at a machine sees that it denies everything, and why."""
    fault = "node.toml: mode must be one of default, strict, bypass"
    about = NodeInfo(
        name="broken",
        machine_id="broken",
        platform="Linux",
        version="0.1.0",
        sandbox="none",
        policy_fault=fault,
    )
    hub.do(lambda tx: nodes.report(tx, hub.project, about))
    page = visit("/machines?node=broken")
    expect(page.get_by_text(f"It does not load, so the machine denies everything: {fault}")).to_be_visible()


def test_removing_a_machine_asks_first(visit: Visit, hub: Hub) -> None:
    """After a yes, the hub has forgotten it."""
    about = NodeInfo(name="old", machine_id="old", platform="Linux", version="0.1.0", sandbox="none")
    hub.do(lambda tx: enrolment.join(tx, hub.project, about), hub.owner)
    page = visit("/machines?node=old")
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("The machine is removed.")).to_be_visible()
    expect(page.get_by_role("link", name="old, Offline")).to_have_count(0)
    assert "old" not in [each.name for each in machines(hub)]


def test_escapes_for_a_terminal_are_taken_out(page: Page) -> None:
    """Colours, titles, links, moves and control characters of a program's output are no text."""
    given = [
        "\x1b[31mred\x1b[0m",
        "\x1b]0;title\x07x",
        "a\x1b]8;;http://x\x1b\\b",
        "a\rb\tc",
        "\x9bx\x1b(By",
        "\x1b[9",
    ]
    assert inside(page, "views/terminal.js", "x.map(m.plain)", given) == [
        "red",
        "x",
        "ab",
        "ab\tc",
        "xy",
        "9",
    ]


def test_a_viewer_has_no_buttons_that_would_be_refused(visit: Visit, own: str) -> None:
    """A viewer sees the machine, and no action on it."""
    page = visit(f"/machines?node={own}", who=VIEWER)
    expect(detail(page, own)).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Invite|Start|Take over|Remove|Stop"))).to_have_count(0)


def test_in_the_past_nothing_can_be_done(visit: Visit, own: str) -> None:
    """Time travel shows the machines of the moment, with every action disabled."""
    page = visit(f"/machines?node={own}")
    expect(page.get_by_role("button", name="Take over…")).to_be_enabled()
    page.keyboard.press("[")
    expect(page.get_by_role("note")).to_be_visible()
    for name in ("Start an agent", "Take over…", "Remove"):
        expect(page.get_by_role("button", name=name)).to_be_disabled()


def test_axe_finds_nothing(visit: Visit, own: str) -> None:
    """No rule is broken, in either theme and language, large and small."""
    page = visit(f"/machines?node={own}")
    expect(detail(page, own)).to_be_visible()
    assert faults(page, sizes=(DESKTOP, PHONE), chinese=True) == []
