"""Commands that a project lets run only under a lease, from outside: the hook as a client runs it, and a hub."""

from pathlib import Path

import pytest

from hubbub.core.work import lease_rules, leases
from tests.clients.hook.hook_workbench import Workbench
from tests.serve.served_hub import Hub

UP = "docker compose up -d"


@pytest.fixture(autouse=True)
def _rule(hub: Hub) -> None:
    """The project has a rule for one command."""
    hub.do(lambda tx: lease_rules.put(tx, hub.project, "docker compose up", ["port:5432"]))


def test_a_command_that_needs_a_lease_is_denied_with_how_to_run_it(bench: Workbench, shop: Path) -> None:
    """A command under a rule of the project is denied; the reason is the command to run instead."""
    heard = bench.editor("ada", shop).tool("PreToolUse", "Bash", command=f"cd app && {UP}").specific

    assert heard["permissionDecision"] == "deny"
    assert heard["permissionDecisionReason"].endswith(f"hubbub with port:5432 -- sh -c 'cd app && {UP}'")


def test_what_is_under_a_lease_runs(bench: Workbench, shop: Path, hub: Hub) -> None:
    """Under `hubbub with`, in a client that was started under it, and where the agent holds it, the hook is silent."""
    ada = bench.editor("ada", shop)
    assert ada.tool("PreToolUse", "Bash", command=f"hubbub with port:5432 -- {UP}").is_silent
    assert ada.tool("PreToolUse", "Bash", command="docker compose down").is_silent

    lease = hub.do(lambda tx: leases.ask(tx, hub.project, ["port:5432"], by="bob"))
    assert not ada.tool("PreToolUse", "Bash", command=UP).is_silent
    ada.environment["HUBBUB_LEASE_ID"] = str(lease.id)
    assert ada.tool("PreToolUse", "Bash", command=UP).is_silent


def test_a_hub_that_is_away_denies_nothing(bench: Workbench, shop: Path) -> None:
    """Commands run while the hub cannot be asked."""
    ada = bench.editor("ada", shop)
    ada.environment["HUBBUB_URL"] = "http://127.0.0.1:9"

    assert ada.tool("PreToolUse", "Bash", command=UP).is_silent
