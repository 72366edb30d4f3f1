"""The costs page in a browser: a plot and lines, as of the moment that is shown."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hubbub.core.limits import budgets
from hubbub.core.limits.budgets import BudgetTerms, Use
from hubbub.model.cost.prices import Prices, usual
from hubbub.model.cost.spending import Measure
from hubbub.model.limits.budgets import BudgetKind, BudgetUnit
from tests.dashboard.browser import Visit, inside
from tests.serve.served_hub import Hub

AN_HOUR_AGO = """SELECT MAX(seq) AS seq FROM activity
                 WHERE project_id = :project_id AND at <= (SELECT MAX(at) FROM activity) - 3600000"""


def line(page: Page, name: str) -> Any:
    return page.get_by_role("region", name="Usage").get_by_role("row").filter(has_text=name)


@pytest.mark.daily
@pytest.mark.usefixtures("scene")
def test_what_agents_cost_is_shown_as_far_as_it_is_known(visit: Visit, hub: Hub) -> None:
    """A line has an estimate, or says that there is no price or no meter; in time travel all is as it was then."""
    page = visit("/cost?days=1")
    expect(line(page, "ember")).to_contain_text("$3.00")
    expect(line(page, "onyx")).to_contain_text("no price")
    expect(line(page, "grove")).to_have_text("groveunmetered")
    expect(page.locator(".cost-total")).to_contain_text("an estimate, by list prices")
    for figure in ("Used per hour", "Tasks ended per hour", "Median wait"):
        expect(page.get_by_role("figure", name=figure).locator("rect")).not_to_have_count(0)

    with page.expect_download() as kept:
        page.get_by_role("link", name="Export CSV").click()
    assert "agent,grove,,,unmetered" in kept.value.path().read_text()

    page.get_by_role("button", name="Model").click()
    expect(line(page, "claude-sonnet-5")).to_contain_text("1,500,000")

    then = hub.do(lambda tx: tx.one(AN_HOUR_AGO, project_id=hub.project.id))["seq"]
    inside(page, "shell/router.js", "m.set({ at: x })", then)
    expect(line(page, "claude-sonnet-5")).to_have_count(0)
    expect(line(page, "made-at-home")).to_have_count(1)


@pytest.mark.usefixtures("scene")
def test_a_budget_is_set_and_raised_on_a_telephone(visit: Visit, hub: Hub) -> None:
    """A spent budget is a need, which leads to where it is raised; what is unmetered says so."""
    asked = BudgetTerms(kind=BudgetKind.AGENT, whom="ember", unit=BudgetUnit.TOKENS, amount=100)
    hub.do(lambda tx: budgets.put(tx, hub.project, Prices({}, usual()), asked))
    use = Use(at=2**45, agent="ember", task_id=None, model="", used={Measure.INPUT: 150})
    hub.do(lambda tx: budgets.charge(tx, hub.project, Prices({}, usual()), [use]))
    page = visit("/", size=(390, 844))

    need = page.get_by_role("group", name="A budget is spent")
    expect(need).to_contain_text("Agent ember")
    need.get_by_role("link", name="Raise").click()
    page.get_by_role("dialog").get_by_role("textbox").fill("1,000")
    page.get_by_role("dialog").get_by_role("button", name="Change").click()

    budget = page.get_by_role("region", name="Budgets").get_by_role("listitem")
    expect(budget).to_contain_text("150 tokens of 1,000 tokens")
    page.get_by_role("button", name="New budget").click()
    page.get_by_role("dialog").get_by_role("textbox").fill("5")
    page.get_by_role("dialog").get_by_role("button", name="Change").click()
    expect(budget.filter(has_text="The whole project, daily")).to_contain_text("$5.00")
