"""A budget that is spent, from outside: the hook as a client runs it, before whatever tool comes next."""

from pathlib import Path

import pytest

from hubbub.core.limits import budgets
from hubbub.core.limits.budgets import BudgetTerms
from hubbub.model.cost.prices import Prices, usual
from hubbub.model.cost.spending import Measure
from hubbub.model.limits.budgets import BudgetKind, BudgetUnit
from tests.clients.hook.hook_workbench import Workbench
from tests.serve.served_hub import Hub


@pytest.fixture
def spent(hub: Hub) -> None:
    """Spend the whole budget of ada."""
    asked = BudgetTerms(kind=BudgetKind.AGENT, whom="ada", unit=BudgetUnit.TOKENS, amount=1)
    hub.do(lambda tx: budgets.put(tx, hub.project, Prices({}, usual()), asked))
    use = budgets.Use(at=2**45, agent="ada", task_id=None, model="", used={Measure.INPUT: 1})
    hub.do(lambda tx: budgets.charge(tx, hub.project, Prices({}, usual()), [use]))


@pytest.mark.usefixtures("spent")
def test_whatever_tool_comes_next_is_denied(bench: Workbench, shop: Path) -> None:
    """Reading, running, editing within a repository and outside one: each is denied, with what to do instead."""
    ada = bench.editor("ada", shop)
    for tool, given in (
        ("Read", {"file_path": str(shop / "app.py")}),
        ("Bash", {"command": "make"}),
        ("Edit", {"file_path": str(shop / "app.py")}),
        ("Write", {"file_path": "/nowhere/in/a/repository"}),
        ("WebFetch", {"url": "http://example.org"}),
    ):
        heard = ada.tool("PreToolUse", tool, **given).specific
        assert heard["permissionDecision"] == "deny", tool
        assert "Finish with what there is" in heard["permissionDecisionReason"]


@pytest.mark.usefixtures("spent")
def test_the_tools_of_the_hub_go_on(bench: Workbench, shop: Path) -> None:
    """With the hub's own tools an agent without a budget reports its work and asks for more."""
    ada = bench.editor("ada", shop)
    assert ada.tool("PreToolUse", "mcp__hubbub__send", to="hub").is_silent
    assert ada.tool("PreToolUse", "mcp__plugin_hubbub_hubbub__task", action="done").is_silent


@pytest.mark.usefixtures("spent")
def test_others_and_who_has_no_hub_go_on(bench: Workbench, shop: Path) -> None:
    """Another's budget stops nobody; and where the hub cannot be asked, nothing is denied."""
    assert bench.editor("bob", shop).tool("PreToolUse", "Bash", command="make").is_silent
    ada = bench.editor("ada", shop)
    ada.environment["HUBBUB_URL"] = "http://127.0.0.1:9"
    assert ada.tool("PreToolUse", "Bash", command="make").is_silent
