"""The plugin's files for a client, as steps of its install: the plugin is the only source of hooks and skills.

The plugin calls `hubbub-hook` by its name; an install has the absolute command of this installation.
"""

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from hubbub.clients import plugin
from hubbub.clients.install.hook_command import hook_command
from hubbub.clients.install.install_plan import ConfigListItem, OwnedFile

SKILLS = "plugins/hubbub/skills"


def rendered(text: str, client: str) -> str:
    """Return a file of the plugin with the absolute commands of this installation."""
    return re.sub(
        rf'"hubbub-hook {client} (\w+)"', lambda found: json.dumps(hook_command(client, found[1])), text
    )


def hook_items(file: Path, language: str, place: str, client: str) -> Iterator[ConfigListItem]:
    """Yield the hooks in a file of the plugin, as elements of the lists in the client's configuration."""
    text = files(plugin).joinpath(place).read_text("utf-8")
    for event, hooks in json.loads(rendered(text, client))["hooks"].items():
        for each in hooks:
            yield ConfigListItem(file, language, ("hooks", event), each, mark=hook_command(client, event))


def skill_files(folder: Path) -> Iterator[OwnedFile]:
    """Yield the skills: how a model works with others through the hub, and leads them; `folder` is for all skills."""
    for each in sorted(files(plugin).joinpath(SKILLS).iterdir(), key=lambda skill: skill.name):
        yield OwnedFile(folder / each.name / "SKILL.md", each.joinpath("SKILL.md").read_text("utf-8"))
