"""Skills: their list, and the machine's agent at work with one of them."""

import asyncio
from collections.abc import Mapping

from hubbub.model.errors import HubError
from hubbub.model.fleet.calls import NodeCall, RefusalCode, ToolResult, refused
from hubbub.node.runtimes.conversation import RuntimeFailed
from hubbub.node.skills.skill_file import Skill, SkillOrigin
from hubbub.node.skills.skill_registry import SkillRegistry
from hubbub.node.tools import machine_agent
from hubbub.node.tools.tool_context import Tool, ToolContext

TOOL = "skill_run"
CHANGED = "the skill {name!r} has changed since a person was asked, or cannot be read; call it again"


async def skill_list(place: ToolContext, _order: NodeCall) -> ToolResult:
    """List every skill of the hub, of the person and of the project, by name."""
    skills = sorted(await asyncio.to_thread(_shelf(place).skills), key=lambda each: each.name)
    rows = [{"name": s.name, "origin": s.origin.value, "description": s.description} for s in skills]
    return ToolResult(value=rows)


async def skill_run(place: ToolContext, order: NodeCall) -> ToolResult:
    """Have the machine's agent work on a prompt with a skill's text before it, and wait for it."""
    name, prompt = str(order.arguments["name"]), str(order.arguments["prompt"])
    shelf = _shelf(place)
    skill = await asyncio.to_thread(shelf.find, name)
    if skill is None:
        return _unknown(name)
    if not await asyncio.to_thread(shelf.is_seen, skill, order):
        return refused(RefusalCode.FAILED, CHANGED.format(name=name))
    await asyncio.to_thread(shelf.pin, skill, order)
    try:
        task_id, work = await machine_agent.start(
            place, order, title=f"{skill.name}: {prompt}", prompt=_introduced(skill, prompt), waits=False
        )
    except (HubError, RuntimeFailed) as error:
        return refused(RefusalCode.FAILED, str(error))
    try:
        answer = await work  # a caller that leaves does not want it any more
    except RuntimeFailed as failed:
        return refused(RefusalCode.FAILED, str(failed), task_id=task_id, status="failed")
    return ToolResult(value={**machine_agent.said(answer), "task_id": task_id, "status": "done"})


async def why_not(place: ToolContext, order: NodeCall) -> ToolResult | None:
    """Return the refusal of an unknown skill; everybody may know which exist."""
    if order.tool != TOOL:
        return None
    name = str(order.arguments["name"])
    found = await asyncio.to_thread(_shelf(place).find, name)
    return _unknown(name) if found is None else None


def _unknown(name: str) -> ToolResult:
    return refused(RefusalCode.NOT_FOUND, f"there is no skill {name!r}; skill_list tells which there are")


def _shelf(place: ToolContext) -> SkillRegistry:
    return SkillRegistry(place.world, place.policy, place.data)


def _introduced(skill: Skill, prompt: str) -> str:
    """Put the skill before the prompt; for a skill with files of its own, name their place."""
    where = "" if skill.origin is SkillOrigin.HUB else f"\n\nThe files of this skill are in {skill.folder}."
    return f"{skill.text}{where}\n\n---\n\n{prompt}"


TOOLS: Mapping[str, Tool] = {"skill_list": skill_list, TOOL: skill_run}
