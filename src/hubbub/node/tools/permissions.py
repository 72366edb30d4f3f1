"""`permissions_helper`: an agent may see the gate's reasons, and ask for a rule; it cannot make one."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from hubbub.model.errors import HubError, Invalid
from hubbub.model.fleet.calls import (
    NodeCall,
    Question,
    QuestionKind,
    RefusalCode,
    Ruling,
    ToolResult,
    call_digest,
    refused,
)
from hubbub.model.visible_text import visible
from hubbub.node.audit.audit_log import FILE, AuditLog
from hubbub.node.gate.evaluation import evaluate
from hubbub.node.policy import node_policy as policies
from hubbub.node.policy.approver_keys import UNSIGNED, is_signed
from hubbub.node.policy.node_policy import Policy
from hubbub.node.tools.tool_context import Tool, ToolContext
from hubbub.processes.log import structlog
from shellgate.decision import Decision, Effect, Source
from shellgate.floor.downloads import Unplugged

log = structlog.get_logger("hubbub")

NAME = "permissions_helper"
PATIENCE = timedelta(hours=1)  # a suggested rule waits longer for a person than a call does
DECISIONS = 20  # that are shown
_HAPPENS = {
    Effect.ALLOW: "It would be done without asking",
    Effect.ASK: "A person would be asked first",
    Effect.DENY: "It would be denied",
}
_BECAUSE = {
    Source.FLOOR: "by {rule_id} of the floor, which no setting turns off: {reason}",
    Source.RULE: "because {reason}",
    Source.MODE: "since no rule decides it, by what the mode says ({rule_id}): {reason}",
    Source.PERSON: "because {reason}",
}


async def perform(place: ToolContext, order: NodeCall) -> ToolResult:
    """Do one of the operations; only `suggest_rule` has an effect, and only if a person says yes."""
    match order.arguments.get("operation"):
        case "explain":
            return await _explain(place, order)
        case "show_policy":
            return ToolResult(value=_shown(place.policy, place.sandbox.name))
        case "show_audit_context":
            audit = AuditLog(place.data / FILE)
            decisions = await asyncio.to_thread(audit.recent, order.who.project, DECISIONS)
            return ToolResult(value={"decisions": decisions})
        case "suggest_rule":
            return await _suggest(place, order)
    return refused(
        RefusalCode.INVALID, "operation must be one of explain, show_policy, show_audit_context, suggest_rule"
    )


async def _explain(place: ToolContext, order: NodeCall) -> ToolResult:
    tool, arguments = order.arguments.get("tool"), order.arguments.get("args", {})
    if not isinstance(tool, str) or not isinstance(arguments, Mapping):
        return refused(RefusalCode.INVALID, "explain needs tool, the name of one, and args, an object")
    weighed = await evaluate(
        replace(order, tool=tool, arguments=arguments),
        place.policy,
        place.world,
        place.sandbox,
        data=place.data,
        node=place.node,
        network=Unplugged(),
    )
    decision = weighed.decision
    return ToolResult(
        value={
            "tool": tool,
            "target": weighed.reading.target,
            "decision": decision.effect.word,
            "source": str(decision.source),
            "rule_id": decision.rule_id,
            "reason": decision.reason,
            "explanation": _sentence(decision),
        }
    )


def _sentence(decision: Decision) -> str:
    because = _BECAUSE[decision.source].format(rule_id=decision.rule_id, reason=decision.reason)
    return f"{_HAPPENS[decision.effect]}, {because}"


def _shown(policy: Policy, sandbox: str) -> dict[str, object]:
    """Return the policy in the form for agents."""
    return {
        "mode": str(policy.mode),
        "rules": {
            name: [rule.source for rule in rules]
            for name, rules in (("deny", policy.deny), ("ask", policy.ask), ("allow", policy.allow))
        },
        "roots": [str(root) for root in policy.roots],
        "approval_timeout_seconds": policy.approval_timeout.total_seconds(),
        "runtime": policy.runtime.kind if policy.runtime is not None else None,
        "sandbox": sandbox,
        "network": policy.network,
        "fault": policy.fault,
    }


async def _suggest(place: ToolContext, order: NodeCall) -> ToolResult:
    """Put a rule to a person. The answer is awaited in the background; a yes makes it a rule of the machine."""
    rule, named = order.arguments.get("rule"), order.arguments.get("effect")
    effect = next((each for each in Effect if each.word == named), None)
    if not isinstance(rule, str) or effect is None:
        return refused(RefusalCode.INVALID, "suggest_rule needs rule, a text, and effect: allow, ask or deny")
    if place.policy.file is None:
        return refused(RefusalCode.FAILED, "this machine has no file for rules")
    try:
        policies.rule_of(rule)
        question = _question(place, order, rule, effect)
        approval_id = await place.hub.put(question, PATIENCE)
    except Invalid as error:
        return refused(RefusalCode.INVALID, str(error))
    except HubError as error:
        return refused(RefusalCode.FAILED, f"nobody can be asked: {error}")
    place.errands.keep(_taken_up(place, approval_id, question, rule, effect))
    return ToolResult(value={"approval_id": approval_id, "status": "pending"})


def _question(place: ToolContext, order: NodeCall, rule: str, effect: Effect) -> Question:
    arguments = {"rule": rule, "effect": effect.word}
    reason = order.arguments.get("reason")
    return Question(
        who=order.who,
        node=place.node,
        tool=NAME,
        arguments=arguments,
        folder=place.world.cwd,
        shown=visible(place.redact(f"always {effect.word}: {rule}")),
        reason=visible(place.redact(reason)) if isinstance(reason, str) and reason else "no reason was given",
        digest=call_digest(order.who, NAME, arguments, place.world.cwd, place.node),
        kind=QuestionKind.RULE,
    )


async def _taken_up(
    place: ToolContext, approval_id: str, question: Question, rule: str, effect: Effect
) -> None:
    """Wait for the answer, and store the rule after a yes."""
    assert place.policy.file is not None
    try:
        answered = await place.hub.answer(approval_id)
        if answered.ruling is not Ruling.APPROVED:
            return
        if is_signed(place.policy.approvers, place.machine_id, question, answered):
            await asyncio.to_thread(policies.add, place.policy.file, rule, effect)
            log.info("a person has added a rule", rule=rule, effect=effect.word, approval=approval_id)
        else:
            log.error("a suggested rule was not taken up", rule=rule, reason=UNSIGNED)
    except HubError as error:
        log.warning("a suggested rule was not taken up", rule=rule, reason=str(error))


TOOLS: Mapping[str, Tool] = {NAME: perform}
