"""The settings in a browser: every one of them, tried on the hub, and what each role is shown."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hubbub.core.agents import scopes
from hubbub.core.log import webhooks
from hubbub.core.people import access, projects, tokens, users
from hubbub.model.errors import Unauthorized
from hubbub.model.people.rights import Role
from tests.dashboard.browser import (
    DESKTOP,
    PHONE,
    Visit,
    Visitors,
    Watch,
    add_person,
    until_ready,
    until_whole,
)
from tests.dashboard.conftest import MEMBER, VIEWER
from tests.dashboard.looks import faults
from tests.serve.served_hub import Hub, running_hub

TABS = ("connect", "tokens", "people", "project", "webhooks", "rules", "log", "preferences")
ADMIN = "rita"


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory, port: int) -> Iterator[Hub]:
    """A hub that may tell addresses on this machine."""
    folder = tmp_path_factory.mktemp("hub")
    with running_hub(folder, port=port, public_url=None, webhook_private=True) as running:
        for name, role in ((VIEWER, Role.VIEWER), (MEMBER, Role.MEMBER), (ADMIN, Role.ADMIN)):
            add_person(running, name, role)
        running.do(lambda tx: users.create(tx, "nemo"), running.owner)
        yield running


def told(page: Page) -> str:
    """The secret that the dialog tells."""
    return page.get_by_role("dialog").locator(".once-text code").inner_text()


def close(page: Page) -> None:
    page.get_by_role("button", name="I have stored it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def part(page: Page, name: str) -> Any:
    return page.locator(".part-panel").filter(has=page.get_by_role("heading", name=name, exact=True))


def row(page: Page, text: str) -> Any:
    return page.get_by_role("row").filter(has_text=text)


@pytest.mark.daily
def test_a_token_is_told_once_works_and_is_revoked(visit: Visit, hub: Hub) -> None:
    """The secret proves the agent it is bound to; it is nowhere on the page afterwards; revoked it opens nothing."""
    page = visit("/settings?tab=tokens")
    page.get_by_role("button", name="Create token").click()
    page.get_by_label("Agent").fill("told-once")
    page.get_by_label("Valid for").select_option("30")
    page.get_by_role("dialog").get_by_role("button", name="Create token").click()
    expect(page.get_by_role("dialog")).to_contain_text("This is shown only once")
    secret = told(page)
    assert hub.do(lambda tx: access.authenticate(tx, secret)).agent == "told-once"
    close(page)
    assert secret not in page.content()
    row(page, "told-once").get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("The token is revoked.")).to_be_visible()
    expect(row(page, "told-once")).to_contain_text("revoked")
    with pytest.raises(Unauthorized):
        hub.do(lambda tx: access.authenticate(tx, secret))


def test_the_only_owner_of_a_project_stays(visit: Visit) -> None:
    """The only owner's role and place have no way out that the hub would refuse; the page says why."""
    page = visit("/settings?tab=people")
    owner = page.get_by_role("row").filter(has=page.get_by_role("cell", name="owner", exact=True))
    for way in (owner.get_by_role("combobox"), owner.get_by_role("button", name="Remove")):
        expect(way).to_be_disabled()
        expect(way).to_have_attribute(
            "title", "A project needs an owner. Make somebody else its owner first."
        )


def test_a_member_revokes_the_tokens_that_they_made(visit: Visit, hub: Hub) -> None:
    """A token of somebody else has no button that would be refused; a line says who can revoke it."""
    hub.do(lambda tx: tokens.for_project(tx, hub.project, role=Role.MEMBER, agent="of-the-owner"), hub.owner)
    page = visit("/settings?tab=tokens", who=MEMBER)
    page.get_by_role("button", name="Create token").click()
    page.get_by_label("Agent").fill("of-mia")
    page.get_by_role("dialog").get_by_role("button", name="Create token").click()
    close(page)
    expect(row(page, "of-mia").get_by_role("button", name="Revoke")).to_be_enabled()
    expect(row(page, MEMBER).filter(has_not_text="of-mia")).not_to_have_count(0)  # of a person: by their name
    expect(row(page, "of-the-owner").get_by_role("button", name="Revoke")).to_have_count(0)
    expect(page.get_by_text("A token is revoked by whoever made it, or by an admin")).to_be_visible()


def test_a_client_is_told_what_to_write_with_the_token_just_made(visit: Visit) -> None:
    """Each client has its own lines, with the tools chosen; a token stands there only if it was made here."""
    page = visit("/settings?tab=connect")
    expect(page.locator(".snippet").first).to_contain_text("hubbub install claude-code")
    by_hand = page.locator(".part-panel").nth(1)
    snippet = by_hand.locator(".snippet")
    for client, words in {
        "Claude Code": "claude mcp add --transport http",
        "Codex": "[mcp_servers.hubbub]",
        "Gemini CLI": "gemini mcp add",
        "Cursor": '"mcpServers"',
        "opencode": '"remote"',
    }.items():
        page.get_by_role("tab", name=client).click()
        expect(snippet.first).to_contain_text(words)
        expect(snippet.first).to_contain_text("/mcp/hub")
    page.get_by_label("Tools").select_option("relay")
    expect(snippet.first).to_contain_text("/mcp/relay")
    assert "ntok_…" in by_hand.inner_text()
    page.get_by_role("button", name="Create token").click()
    page.get_by_role("dialog").get_by_role("button", name="Create token").click()
    expect(page.get_by_role("dialog")).to_contain_text("The new token")
    secret = told(page)
    close(page)
    expect(snippet.first).to_contain_text(secret)


def test_a_person_is_invited_added_promoted_and_removed(visit: Visit, hub: Hub) -> None:
    """Codes and tokens are told once; roles change at the hub when they change here, and back by Undo."""
    page = visit("/settings?tab=people")
    page.get_by_role("button", name="Invite").click()
    page.get_by_role("button", name="Create link").click()
    expect(page.get_by_role("dialog")).to_contain_text("can register with it within a week")
    expect(page.get_by_role("dialog")).to_contain_text(f"hubbub login {hub.url}")
    assert "/register/inv_" in told(page)
    close(page)
    page.get_by_role("button", name="Add a person").click()
    page.get_by_label("Name", exact=True).fill("ada")
    page.get_by_role("dialog").get_by_role("button", name="Add a person").click()
    expect(page.get_by_role("dialog")).to_contain_text("ada is added")
    secret = told(page)
    ada = hub.do(lambda tx: access.authenticate(tx, secret))
    close(page)
    page.get_by_label("Role of ada").select_option("admin")
    expect(page.get_by_text("ada is admin now.")).to_be_visible()
    assert [role for _project, role in hub.do(access.memberships, ada)] == [Role.ADMIN]
    page.get_by_role("status").filter(has_text="ada is admin now.").get_by_role("button", name="Undo").click()
    expect(page.get_by_text("ada is member now.")).to_be_visible()
    assert [role for _project, role in hub.do(access.memberships, ada)] == [Role.MEMBER]
    row(page, "ada").get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("ada is no longer a member.")).to_be_visible()
    assert list(hub.do(access.memberships, ada)) == []


def test_an_invited_person_registers_and_lands_in_the_project(
    visit: Visit, visitors: Visitors, hub: Hub, watch: Watch
) -> None:
    """From a link to the project's first screen by keyboard alone, on a telephone; what is refused is told there."""
    watch.expect(400)
    code = hub.do(lambda tx: users.invite(tx, hub.project, Role.ADMIN), hub.owner)
    page = visit(f"/register/{code}", size=PHONE, ready=False)
    visitors.forget(None)  # whoever registers ends the browser's login before it
    expect(page.get_by_role("heading", name="Join")).to_be_visible()
    page.keyboard.type("grace")
    page.keyboard.press("Tab")
    page.keyboard.type("password1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("must not be a common one")
    page.get_by_label("Password").fill("correct horse battery")
    page.keyboard.press("Enter")
    until_ready(page)
    expect(page).to_have_url(re.compile(rf"/\?project={hub.project.slug}$"))
    page.goto(page.url.replace("/?", "/settings?tab=people&"))
    expect(page.get_by_label("Role of grace")).to_have_value("admin")


def test_a_role_that_the_hub_refuses_is_not_shown(visit: Visit, watch: Watch) -> None:
    """A refusal is told in the hub's sentence, and the page shows what is true, whatever was chosen."""
    watch.expect(409)
    page = visit("/settings?tab=people")
    role = page.get_by_label("Role of owner", exact=True)
    role.evaluate("(each) => { each.disabled = false; }")  # as it was a moment ago, with another owner
    role.select_option("member")
    expect(page.get_by_role("alert")).to_contain_text("needs an owner")
    expect(role).to_have_value("owner")


def test_nobody_is_offered_to_give_more_than_they_have(visit: Visit) -> None:
    """An admin makes no owners and leaves them what they are; a member makes no tokens of an admin."""
    page = visit("/settings?tab=people", who=ADMIN)
    owner = page.get_by_role("row").filter(has=page.get_by_role("cell", name="owner", exact=True))
    expect(owner.first).to_be_visible()
    expect(owner.locator("select, button")).to_have_count(0)
    offered = page.get_by_label(f"Role of {MEMBER}").locator("option")
    expect(offered).to_have_text(["viewer", "member", "admin"])
    page = visit("/settings?tab=tokens", who=MEMBER)
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_role("dialog").get_by_label("Role").locator("option")).to_have_text(
        ["member", "viewer"]
    )


def test_the_logins_are_listed_and_ended_everywhere(visit: Visit, hub: Hub, visitors: Visitors) -> None:
    """One sees where one is signed in; signing out everywhere ends at the login page, and the cookie is worthless."""
    page = visit("/settings?tab=people", who=MEMBER)
    visitors.forget(MEMBER)
    expect(part(page, "Where you are signed in")).to_contain_text("this one")
    part(page, "Where you are signed in").get_by_role("button", name="Sign out everywhere").click()
    page.get_by_role("dialog").get_by_role("button", name="Sign out everywhere").click()
    expect(page).to_have_url(re.compile("/login"))
    assert page.request.get(f"{hub.url}/api/v1/me").status == 401


def test_the_project_is_changed_and_gets_areas(visit: Visit, hub: Hub) -> None:
    """Name, mode and areas are the hub's once they are saved."""
    page = visit("/settings?tab=project")
    page.get_by_label("Name", exact=True).fill("The website")
    page.get_by_label("When claims overlap").select_option("block")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    changed = hub.do(lambda tx: projects.show(tx, hub.project.slug), hub.owner)
    assert (changed.name, changed.conflict_mode) == ("The website", "block")
    page.get_by_role("button", name="Add an area").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Short name").fill("api")
    dialog.get_by_label("Name", exact=True).fill("The API")
    dialog.get_by_label("Patterns").fill("src/api/**\nschema/")
    dialog.get_by_role("button", name="Save").click()
    expect(row(page, "The API")).to_contain_text("src/api/**")
    row(page, "The API").get_by_role("button", name="Change").click()
    dialog.get_by_label("Patterns").fill("src/rest/**")
    dialog.get_by_role("button", name="Save").click()
    expect(row(page, "The API")).to_contain_text("src/rest/**")
    (area,) = hub.do(lambda tx: scopes.areas(tx, hub.project.id))
    assert (area.slug, list(area.patterns)) == ("api", ["src/rest/**"])


def test_a_project_is_added(visit: Visit, hub: Hub) -> None:
    """The new one is opened as soon as it is there."""
    page = visit("/settings?tab=project")
    page.get_by_role("button", name="Add a project").click()
    page.get_by_role("dialog").get_by_label("Short name").fill("another")
    page.get_by_role("dialog").get_by_role("button", name="Add a project").click()
    expect(page).to_have_url(re.compile(r"/board\?project=another"))
    until_ready(page)
    assert hub.do(lambda tx: projects.show(tx, "another"), hub.owner).slug == "another"


@pytest.mark.parametrize(("who", "slug"), [(VIEWER, "of-vera"), ("nemo", "of-nemo")])
def test_anybody_adds_a_project_of_their_own(visit: Visit, hub: Hub, who: str, slug: str) -> None:
    """A viewer, or a person without a project, adds a project from the menu, and is at once in it."""
    page = visit("/", who=who)
    if who == VIEWER:
        page.get_by_role("button", name="switch project").click()
        page.get_by_role("menuitem", name="Add project…").click()
    else:
        views = page.get_by_role("navigation", name="Views")
        expect(views.get_by_text("Connecting…")).to_have_count(0)
        views.get_by_role("button", name="Add project…").click()
    page.get_by_role("dialog").get_by_label("Short name").fill(slug)
    page.get_by_role("dialog").get_by_role("button", name="Add a project").click()
    expect(page).to_have_url(re.compile(rf"/board\?project={slug}"))
    until_ready(page)
    expect(page.get_by_role("button", name=f"{slug}, switch project")).to_be_visible()


def test_an_address_is_told_and_told_no_more(visit: Visit, hub: Hub, watch: Watch) -> None:
    """A webhook's secret is told once; what cannot be an address is refused with the hub's sentence."""
    watch.expect(400)
    page = visit("/settings?tab=webhooks")
    page.get_by_role("button", name="Add webhook").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Address").fill("ftp://example.org/")
    dialog.get_by_role("button", name="Add webhook").click()
    expect(dialog.get_by_role("alert")).to_contain_text("http")
    dialog.get_by_label("Address").fill("http://127.0.0.1:9/hook")
    dialog.get_by_label("Events").fill("task.failed, task.blocked")
    dialog.get_by_role("button", name="Add webhook").click()
    expect(dialog).to_contain_text("The secret of this webhook")
    assert told(page)
    close(page)
    (kept,) = hub.do(lambda tx: webhooks.of_project(tx, hub.project))
    assert list(kept.events) == ["task.failed", "task.blocked"]
    row(page, "127.0.0.1:9").get_by_role("button", name="Remove").click()
    dialog.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("No addresses yet")).to_be_visible()
    assert list(hub.do(lambda tx: webhooks.of_project(tx, hub.project))) == []


def test_the_rules_of_the_machine_are_told(visit: Visit) -> None:
    """Its mode, its folders, and what it denies, asks about and allows."""
    page = visit("/settings?tab=rules")
    expect(page.get_by_text("asks unless it is harmless")).to_be_visible()
    for heading in ("Denied", "Asks first", "Allowed"):
        expect(page.get_by_role("heading", name=heading)).to_be_visible()


def test_preferences_hold_after_a_reload(visit: Visit) -> None:
    """Theme, language and single letters are this browser's, and kept."""
    page = visit("/settings?tab=preferences")
    page.get_by_role("combobox", name="Theme").select_option("light")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.get_by_role("checkbox", name="Single-letter keys").uncheck()
    page.get_by_role("combobox", name="Language").select_option("zh-CN")
    expect(page.get_by_role("tab", name="偏好")).to_be_visible()
    page.reload()
    expect(page.get_by_role("combobox", name="主题")).to_have_value("light")
    expect(page.get_by_role("checkbox", name="单字母快捷键")).not_to_be_checked()


def test_a_viewer_is_told_what_others_may(visit: Visit) -> None:
    """A viewer has no buttons that would be refused, and reads whose they are."""
    page = visit("/settings?tab=webhooks", who=VIEWER)
    expect(page.get_by_text("Only admins and owners of the project")).to_be_visible()
    page.get_by_role("tab", name="Rules").click()
    expect(page.get_by_text("Only members of the project")).to_be_visible()
    for tab in ("Tokens", "People", "Project", "Connect"):
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("tabpanel").first.get_by_role("heading").first).to_be_visible()
        acting = page.get_by_role(
            "button", name=re.compile("^(Make|Invite|Add an|Revoke|Remove|Save|Change)")
        )
        expect(acting).to_have_count(0)


@pytest.mark.daily
def test_hostile_names_are_texts(visit: Visit, hub: Hub) -> None:
    """Markup and words without end in names stay texts, and move nothing."""
    name = "<b onclick=alert(1)>" + "w" * 150
    hub.meet(name)
    hub.do(lambda tx: tokens.for_project(tx, hub.project, role=Role.MEMBER, agent=name), hub.owner)
    page = visit("/settings?tab=tokens", size=PHONE)
    expect(page.get_by_text("<b onclick").first).to_be_attached()
    widths = page.locator("main").evaluate("main => [main.scrollWidth, main.clientWidth]")
    assert widths[0] <= widths[1]


def test_axe_finds_nothing(visit: Visit) -> None:
    """No rule is broken in any tab, in either theme and language, large and small."""
    page = visit("/settings")
    found = {}
    for place, tab in enumerate(TABS):
        page.locator(".settings > [role=tablist] [role=tab]").nth(place).click()
        until_whole(page)
        found[tab] = faults(page, sizes=(DESKTOP, PHONE), chinese=True)
    assert {tab: wrong for tab, wrong in found.items() if wrong} == {}
