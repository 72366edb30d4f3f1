"""The same call again and again, from outside: the hook as a client runs it, and a hub with the limit of a project."""

from pathlib import Path

from hubbub.core.limits import breakers
from hubbub.model.limits.breakers import BreakerRules, LoopKind
from tests.clients.hook.hook_workbench import Workbench
from tests.serve.served_hub import Hub


def test_the_same_call_too_often_in_a_row_is_stopped(bench: Workbench, shop: Path, hub: Hub) -> None:
    """At the project's limit the call is denied, and whatever comes next; another call between begins anew."""
    hub.do(lambda tx: breakers.put_rules(tx, hub.project, BreakerRules(repeating=6)))
    ada = bench.editor("ada", shop)

    for command in ("make", "make", "make", "ls", "make", "make", "make", "make", "make"):
        assert ada.tool("PreToolUse", "Bash", command=command).is_silent
    heard = ada.tool("PreToolUse", "Bash", command="make").specific

    assert heard["permissionDecision"] == "deny"
    assert "ada made the same tool call 6 times in a row" in heard["permissionDecisionReason"]
    assert not ada.tool("PreToolUse", "Bash", command="ls").is_silent
    [stop] = hub.do(lambda tx: breakers.of_project(tx, hub.project.id))
    assert (stop.kind, stop.agents) == (LoopKind.REPEATING, ("ada",))
