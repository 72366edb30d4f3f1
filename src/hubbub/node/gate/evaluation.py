"""Evaluation of a call by the gate, under the policy and the facts of one moment.

Performing a call and explaining its fate both ask here, so that both get the same decision.
"""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

from hubbub.model.fleet.calls import NodeCall
from hubbub.node.gate import analysis
from hubbub.node.policy.node_policy import Policy
from hubbub.node.sandbox import Sandbox
from hubbub.node.sandbox.no_sandbox import NoSandbox
from hubbub.node.skills.skill_registry import TOOL as RUN_SKILL
from hubbub.node.skills.skill_registry import SkillRegistry
from shellgate.analysis import Analysis
from shellgate.decide import decide
from shellgate.decision import Decision
from shellgate.floor.downloads import INTERNET, Network
from shellgate.world import World

CONNECT = "connect"
IN_SANDBOX = frozenset({"execute_command", "connect exec"})  # tools that run in the sandbox

OUTSIDE = frozenset({"agent_start"})  # tools that run programs outside the sandbox


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A call as the gate has read it, and the gate's decision."""

    order: NodeCall  # tied to the very skill that it would run
    policy: Policy
    world: World
    sandbox: Sandbox
    reading: Analysis
    decision: Decision


async def evaluate(
    order: NodeCall,
    policy: Policy,
    world: World,
    sandbox: Sandbox,
    *,
    data: Path,
    node: str,
    network: Network = INTERNET,
) -> Evaluation:
    """Evaluate an order at the gate of the machine `node`; `data` is the machine's own folder."""
    doubts: tuple[Decision, ...] = ()
    if order.tool == RUN_SKILL:  # it is looked up on the disk
        order, doubts = await asyncio.to_thread(SkillRegistry(world, policy, data).examined, order)
    reading = await analysis.analyse(order.tool, order.arguments, world, network, here=node)
    reading = replace(reading, floor=reading.floor + doubts)
    sandbox = NoSandbox() if named(order) in OUTSIDE else sandbox
    is_walled = named(order) in IN_SANDBOX and sandbox.name != "none"
    decision = decide(reading, policy, order.tool, sandboxed=is_walled)
    return Evaluation(order, policy, world, sandbox, reading, decision)


def named(order: NodeCall) -> str:
    """Return the name of the tool; for `connect`, with its operation."""
    if order.tool == CONNECT:
        return f"{CONNECT} {order.arguments.get('operation')}"
    return order.tool
