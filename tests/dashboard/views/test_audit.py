"""The audit in a browser: who allowed, made and changed what; the machines' own logs; and taking it along."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hubbub.core.fleet import approvals, audit_heads
from hubbub.core.people import tokens
from hubbub.model.people.rights import Role
from tests.dashboard.browser import Visit
from tests.dashboard.conftest import VIEWER
from tests.dashboard.scene import Scene
from tests.serve.served_hub import Hub

PAGE = 100  # entries of one page


@pytest.fixture(scope="module", autouse=True)
def _scene(scene: Scene) -> None:
    """All these pages show a team at work."""


def entries(page: Page) -> Any:
    return page.get_by_role("region", name="Audit entries").get_by_role("row")


@pytest.mark.daily
def test_an_answer_tells_who_gave_it_and_how_long_it_took(visit: Visit, hub: Hub, scene: Scene) -> None:
    """A question that somebody answers while the page is open appears with their name and the time it waited."""
    page = visit("/audit?kind=approvals")
    expect(entries(page).filter(has_text="uv publish")).to_have_count(1)
    asked = scene.approvals[0]
    hub.do(lambda tx: approvals.answer(tx, str(asked), approved=False), hub.owner)
    answered = entries(page).nth(1)
    expect(answered).to_contain_text("denied run_command to ember")
    expect(answered).to_contain_text("owner")
    expect(answered.get_by_role("cell").nth(2)).to_contain_text(re.compile(r"answered after \d+(m|s|h)"))


def test_tokens_are_of_their_own_group_and_open_to_the_detail(visit: Visit, hub: Hub) -> None:
    """A new token is listed under Tokens, with all but its secret."""
    made = hub.do(
        lambda tx: tokens.for_project(tx, hub.project, role=Role.MEMBER, agent="auditee"), hub.owner
    )
    page = visit("/audit")
    page.get_by_role("button", name="Tokens").click()
    expect(page).to_have_url(re.compile("kind=tokens"))
    row = entries(page).filter(has_text="created a token for auditee")
    expect(row).to_have_count(1)
    row.get_by_role("button").click()
    told = page.locator(".activity-detail").text_content() or ""
    assert str(made[0].id) in told
    assert made[1] not in told


def test_entries_are_paged(visit: Visit, hub: Hub) -> None:
    """Entries beyond one page come with the next."""

    def make(tx: Any) -> None:
        for number in range(PAGE):
            tokens.for_project(tx, hub.project, role=Role.MEMBER, agent=f"paged-{number}")

    hub.do(make, hub.owner)
    page = visit("/audit?kind=tokens")
    expect(entries(page)).to_have_count(PAGE + 1)
    page.get_by_role("button", name="Show earlier entries").click()
    expect(entries(page).filter(has_text="paged-0")).to_have_count(1)


def test_what_is_listed_is_taken_along(visit: Visit) -> None:
    """The links export what is chosen, as CSV and as lines of JSON."""
    page = visit("/audit?kind=approvals")
    expect(entries(page).nth(1)).to_be_visible()
    for name, ending in (("Export CSV", ".csv"), ("Export JSONL", ".jsonl")):
        with page.expect_download() as coming:
            page.get_by_role("link", name=name).click()
        assert coming.value.suggested_filename.endswith(ending)
    lines = coming.value.path().read_text().splitlines()
    assert {json.loads(line)["kind"].split(".")[0] for line in lines} == {"approval"}


def test_a_changed_log_of_a_machine_is_unmissable(visit: Visit, hub: Hub) -> None:
    """A machine whose audit log holds is told so; one whose log was changed stands first, in words and red."""
    for node, digests in {"atlas": "a", "cobalt": "bc"}.items():
        for digest in digests:
            hub.do(lambda tx, at=(node, digest): audit_heads.keep(tx, hub.project, at[0], 7, at[1] * 64))
    page = visit("/audit")
    heads = page.get_by_role("region", name="Audit logs of the machines").get_by_role("listitem")
    expect(heads.nth(0)).to_contain_text("cobalt")
    expect(heads.nth(0)).to_contain_text("was changed: line 7 does not match")
    expect(heads.nth(1)).to_contain_text("intact through line 7")


def test_a_viewer_is_shown_what_it_may_see(visit: Visit) -> None:
    """A viewer sees the entries, and nothing of the heads, which are for those who manage."""
    page = visit("/audit", who=VIEWER)
    expect(entries(page).nth(1)).to_be_visible()
    expect(page.get_by_role("heading", name="Audit logs of the machines")).to_have_count(0)


def test_in_the_past_only_what_had_happened_is_there(visit: Visit) -> None:
    """Time travel cuts the audit at its moment: nobody had asked for anything yet."""
    page = visit("/audit?at=60&kind=approvals")
    expect(page.get_by_role("note")).to_be_visible()
    expect(page.get_by_text("Nothing to audit yet")).to_be_visible()
