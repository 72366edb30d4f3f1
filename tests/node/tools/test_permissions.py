"""`permissions_helper`: the gate explained, and rules that only a person can make."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hubbub.model.errors import Forbidden
from hubbub.model.fleet.calls import Answered, NodeCall, Question, QuestionKind, Ruling, ToolResult
from hubbub.node.audit.audit_log import FILE, AuditLog, AuditVerdict
from hubbub.node.policy.node_policy import APPROVED, PolicyFile
from hubbub.node.sandbox.landlock import Landlock
from hubbub.node.tools import permissions
from hubbub.node.tools.tool_context import ToolContext
from shellgate.decision import Mode
from shellgate.rules import parse
from tests.node.tool_contexts import SOMEBODY, NotingHub, place

pytestmark = pytest.mark.anyio


@dataclass
class AnsweringHub(NotingHub):
    """A hub with a person at it, who answers when the test says so."""

    questions: list[tuple[Question, timedelta]] = field(default_factory=list)
    said: "asyncio.Future[Ruling]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    async def put(self, question: Question, patience: timedelta, *, elicitation: bool = False) -> str:
        if self.refuses is not None:
            raise self.refuses
        self.questions.append((question, patience))
        return "approval-1"

    async def answer(self, approval_id: str) -> Answered:
        return Answered(await self.said, approval_id, by="ada")


@pytest.fixture
async def hub() -> AnsweringHub:
    return AnsweringHub()


@pytest.fixture
def here(tmp_path: Path, hub: AnsweringHub) -> ToolContext:
    """A machine with a policy of its own file."""
    made = place(tmp_path, hub=hub, secret="hidden-word")
    (tmp_path / "config").mkdir()
    return replace(made, policy=replace(made.policy, file=tmp_path / "config" / "node.toml"))


async def helped(here: ToolContext, operation: str, **arguments: object) -> Any:
    outcome = await asked(here, operation, **arguments)
    assert not outcome.is_error, outcome.value
    return outcome.value


async def asked(here: ToolContext, operation: str, **arguments: object) -> ToolResult:
    order = NodeCall(who=SOMEBODY, tool="permissions_helper", arguments={"operation": operation, **arguments})
    return await permissions.perform(here, order)


@pytest.mark.parametrize(
    ("command", "decision", "rule_id", "sentence"),
    [
        ("rm -rf /", "deny", "F1", "It would be denied, by F1 of the floor, which no setting turns off: "),
        (
            "git push",
            "deny",
            "Bash(git push *)",
            "It would be denied, because the rule Bash(git push *) forbids",
        ),
        (
            "ls",
            "allow",
            "shipped:execute_command",
            "It would be done without asking, since no rule decides it",
        ),
        (
            "make",
            "ask",
            "default",
            "A person would be asked first, since no rule decides it, by what the mode",
        ),
    ],
)
async def test_explain_says_what_would_be_decided_and_by_what(
    here: ToolContext, command: str, decision: str, rule_id: str, sentence: str
) -> None:
    """The decision, the rule that made it, and a sentence that a person understands; nothing is done."""
    here = replace(here, policy=replace(here.policy, deny=(parse("Bash(git push *)"),)))
    told = await helped(here, "explain", tool="execute_command", args={"command": command})
    assert (told["decision"], told["rule_id"], told["target"]) == (decision, rule_id, command)
    assert told["explanation"].startswith(sentence)


async def test_explain_knows_which_calls_run_behind_the_wall(here: ToolContext) -> None:
    """A command is decided about alike whether it is called by its own tool, or by `connect` on this very machine."""
    here = replace(here, policy=replace(here.policy, mode=Mode.BYPASS), sandbox=Landlock(abi=1, network=True))
    call: dict[str, object] = {"command": "sudo -l"}
    told = [
        await helped(here, "explain", tool="execute_command", args=call),
        await helped(here, "explain", tool="connect", args=call | {"operation": "exec", "hostname": "here"}),
    ]
    assert [each["decision"] for each in told] == ["allow", "allow"]


async def test_explain_asks_nobody_in_the_network(here: ToolContext) -> None:
    """To explain a download no name is looked up: what would be told by asking is told to nobody."""
    call = {"url": "http://secret.words.test/", "dest": "x"}
    told = await helped(here, "explain", tool="download_file", args=call)
    assert (told["decision"], told["rule_id"]) == ("ask", "F7")
    assert "not looked up" in told["reason"]


async def test_show_policy_shows_what_rules(here: ToolContext) -> None:
    """Mode, rules, roots, the wall; no key and no command of the runtime."""
    here = replace(here, policy=replace(here.policy, allow=(parse("Bash(make)"),)))
    shown = await helped(here, "show_policy")
    assert (shown["mode"], shown["rules"]) == ("default", {"deny": [], "ask": [], "allow": ["Bash(make)"]})
    assert shown["roots"] == [here.world.cwd]
    assert shown["sandbox"] == here.sandbox.name
    assert shown["approval_timeout_seconds"] == 300


async def test_show_audit_context_shows_the_last_decisions_of_the_project(here: ToolContext) -> None:
    """Those of the caller's project, the newest first, and of no other."""
    log = AuditLog(here.data / FILE)
    for number, who in enumerate(("shop/ada", "other/eve", "shop/bob")):
        log.decided(
            decision=AuditVerdict.DENY,
            tool="execute_command",
            target=f"command {number}",
            source="floor",
            rule_id="F1",
            reason="no",
            digest="0",
            sandbox="none",
            who=who,
        )
    shown = await helped(here, "show_audit_context")
    assert [each["target"] for each in shown["decisions"]] == ["command 2", "command 0"]


async def test_a_suggested_rule_waits_for_a_person(here: ToolContext, hub: AnsweringHub) -> None:
    """It is put before people as it is, and answered at once; until they say yes nothing is a rule."""
    told = await helped(here, "suggest_rule", rule="Bash(make *)", effect="allow", reason="it is hidden-word")
    assert told == {"approval_id": "approval-1", "status": "pending"}
    [(question, patience)] = hub.questions
    assert (question.kind, question.tool) == (QuestionKind.RULE, "permissions_helper")
    assert question.shown == "always allow: Bash(make *)"
    assert question.reason == "it is [redacted]"
    assert patience > here.policy.approval_timeout
    assert list(rules(here)) == []


@pytest.mark.parametrize(
    ("ruling", "expected"), [(Ruling.APPROVED, ["Bash(make *)"]), (Ruling.DENIED, []), (Ruling.EXPIRED, [])]
)
async def test_only_a_yes_changes_the_policy(
    here: ToolContext, hub: AnsweringHub, ruling: Ruling, expected: list[str]
) -> None:
    """A person's yes makes it a rule of the machine from the next call on; a no, or silence, does not."""
    await helped(here, "suggest_rule", rule="Bash(make *)", effect="allow")
    hub.said.set_result(ruling)
    await settled()
    assert rules(here) == expected


async def test_a_suggestion_does_not_outlive_its_process(here: ToolContext, hub: AnsweringHub) -> None:
    """When the machine's program ends, nobody waits for the answer any more, and it changes nothing."""
    await helped(here, "suggest_rule", rule="Bash(make *)", effect="allow")
    await here.errands.close()
    assert hub.said.cancelled()
    assert rules(here) == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"rule": "Bash("},
        {"rule": "NoTool(x)", "effect": "allow"},
        {"rule": "Bash(x)", "effect": "maybe"},
        {"effect": "allow"},
        {"rule": "Bash(a\u202eb)", "effect": "allow"},
    ],
)
async def test_what_is_no_rule_is_put_before_nobody(
    here: ToolContext, hub: AnsweringHub, arguments: dict[str, str]
) -> None:
    """It is refused at once, with what is allowed."""
    outcome = await asked(here, "suggest_rule", **arguments)
    assert outcome.is_error
    assert hub.questions == []


async def test_where_nobody_can_be_asked_it_says_so(here: ToolContext, hub: AnsweringHub) -> None:
    """A hub that refuses, or is not there, is a refusal in a sentence."""
    hub.refuses = Forbidden("this token may not ask")
    outcome = await asked(here, "suggest_rule", rule="Bash(make)", effect="allow")
    assert outcome.value == {"error": "nobody can be asked: this token may not ask", "code": "failed"}


@pytest.mark.parametrize("operation", ["explain", "grant", ""])
async def test_what_it_does_not_know_is_invalid(here: ToolContext, operation: str) -> None:
    """Another operation, or one without what it needs, is refused."""
    outcome = await asked(here, operation)
    assert isinstance(outcome.value, dict)
    assert outcome.value["code"] == "invalid"


def rules(here: ToolContext) -> list[str]:
    """The allow rules of the machine, as the next call would find them."""
    assert here.policy.file is not None
    policy = PolicyFile(here.policy.file, Path(here.world.cwd)).current()
    assert here.policy.file.with_name(APPROVED).exists() or not policy.allow
    return [rule.source for rule in policy.allow]


async def settled() -> None:
    """Let what waits in the background go on until it has ended."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    waiting = [task for task in others if task.get_coro().__name__ == "_taken_up"]  # type: ignore[union-attr]
    await asyncio.gather(*waiting)
