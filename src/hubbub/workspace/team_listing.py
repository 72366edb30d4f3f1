"""Views of a team's agents: the full one for their colleagues; one without prompts for choosing among them."""

from collections.abc import Mapping

from hubbub.workspace import teams
from hubbub.workspace.locations import Workspace
from hubbub.workspace.teams import TeamAgent

Row = Mapping[str, object]


def team(workspace: Workspace, run: str) -> list[Row]:
    """List the agents of a run's team. Raises `TeamError`."""
    return [_member(persona) for persona in teams.team(workspace, run)]


def pool(workspace: Workspace) -> list[Row]:
    """List the agents of the pool. Raises `TeamError`."""
    return [_candidate(persona) for persona in teams.pool(workspace)]


def _member(persona: TeamAgent) -> Row:
    return {
        "id": persona.id,
        "name": persona.name,
        "emoji": persona.emoji,
        "description": persona.description,
        "tools": list(persona.tools),
        "systemPrompt": persona.system_prompt,
        "basePersonaId": persona.base_id,
        **_checks(persona),
    }


def _candidate(persona: TeamAgent) -> Row:
    return {
        "id": persona.id,
        "name": persona.name,
        "emoji": persona.emoji,
        "description": persona.description,
        **({"tags": list(persona.tags)} if persona.tags is not None else {}),
        "tools": list(persona.tools),
        **_checks(persona),
    }


def _checks(persona: TeamAgent) -> Row:
    return {
        "validate_prompt": persona.validate_prompt,
        "review_checklist": persona.review_checklist,
        "language": persona.language,
    }
