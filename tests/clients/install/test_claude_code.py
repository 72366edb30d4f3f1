"""Claude Code's install: the plugin with this installation's commands, and a project's hooks."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hubbub.clients import plugin
from hubbub.clients.install.adapters.claude_code import CLIENT
from hubbub.clients.install.client_installer import PROJECT, USER
from hubbub.clients.install.hook_command import program
from hubbub.clients.install.install_plan import InstallPlan
from tests.clients.install.conftest import SECRET, Place

SHIPPED = Path(plugin.__path__[0])
OWN = """{
\t"permissions": {"allow": ["Bash(ls:*)", "mcp__hubbub__inbox"], "deny": []},
\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}
}
"""


def market(place: Place) -> Path:
    return place.config / "marketplace" / "claude-code"


def load(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


def commands(content: Any) -> list[str]:
    """Every command in a file of hooks or monitors."""
    if isinstance(content, dict):
        own = [content["command"]] if "command" in content else []
        return own + [each for value in content.values() for each in commands(value)]
    return [each for value in content for each in commands(value)] if isinstance(content, list) else []


def test_a_users_install_registers_the_plugin_by_settings_alone(place: Place) -> None:
    """The marketplace lies in our own folder, so the client finds it without a network."""
    place.install(CLIENT, USER)

    settings = load(place.home / ".claude" / "settings.json")
    assert settings["extraKnownMarketplaces"]["hubbub"]["source"] == {
        "source": "directory",
        "path": str(market(place)),
    }
    assert settings["enabledPlugins"] == {"hubbub@hubbub": True}
    assert settings["env"]["HUBBUB_TOKEN"] == SECRET
    assert (place.home / ".claude" / "settings.json").stat().st_mode & 0o077 == 0
    assert (
        load(market(place) / ".claude-plugin" / "marketplace.json")["plugins"][0]["source"]
        == "./plugins/hubbub"
    )


def test_every_command_of_the_plugin_is_absolute(place: Place) -> None:
    """Hooks and the monitor run wherever the client was started, so they name this installation's interpreter."""
    place.install(CLIENT, USER)

    shown = market(place) / "plugins" / "hubbub"
    found = commands([load(shown / "hooks/hooks.json"), load(shown / "monitors/monitors.json")])
    assert len(found) == 10
    for each in found:
        assert each.startswith(f"{program()[0]} ")
        assert re.search(r" claude-code \w+$", each)


def test_the_installed_plugin_brings_no_server_of_its_own(place: Place) -> None:
    """The entry stands in the client's own file; a second one would be a second connection."""
    place.install(CLIENT, USER)

    assert not (market(place) / "plugins" / "hubbub" / ".mcp.json").exists()
    assert set(load(place.home / ".claude.json")["mcpServers"]) == {"hubbub"}


def test_a_projects_hooks_wait_behind_the_clients_back(place: Place) -> None:
    """Without the plugin a hook after the start and one after each turn wait for mail, and nothing else waits."""
    place.install(CLIENT, PROJECT)

    hooks = load(place.project / ".claude" / "settings.local.json")["hooks"]
    waiting = {
        event: [hook for group in groups for hook in group["hooks"] if hook.get("asyncRewake")]
        for event, groups in hooks.items()
    }
    assert {event: len(found) for event, found in waiting.items() if found} == {"SessionStart": 1, "Stop": 1}
    assert set(hooks) == set(load(SHIPPED / "plugins/hubbub/hooks/hooks.json")["hooks"])


def test_a_projects_install_touches_nothing_outside_of_it(place: Place) -> None:
    """Clients in other folders do not notice."""
    place.install(CLIENT, PROJECT)

    assert not [*place.home.iterdir()]
    assert not market(place).exists()


@pytest.mark.parametrize("scope", [USER, PROJECT])
def test_what_a_person_allowed_and_hooked_stays(place: Place, scope: str) -> None:
    """Ours is added behind; what was allowed already is neither added nor taken away with ours."""
    name = (
        place.home / ".claude/settings.json"
        if scope == USER
        else place.project / ".claude/settings.local.json"
    )
    name.parent.mkdir()
    name.write_text(OWN, "utf-8")

    done = place.install(CLIENT, scope)
    content = load(name)
    assert content["permissions"]["allow"][:2] == ["Bash(ls:*)", "mcp__hubbub__inbox"]
    assert content["permissions"]["allow"].count("mcp__hubbub__inbox") == 1
    assert content["hooks"]["Stop"][0] == {"hooks": [{"type": "command", "command": "say done"}]}
    place.uninstall(done)
    assert name.read_text("utf-8") == OWN


def test_only_what_stays_in_the_hub_is_allowed_without_asking(place: Place) -> None:
    """An idle agent reads and answers its mail by itself; having another machine do something, a person is asked."""
    place.install(CLIENT, USER)

    allowed = load(place.home / ".claude" / "settings.json")["permissions"]["allow"]
    assert "mcp__hubbub__inbox" in allowed
    assert "mcp__hubbub__ask" not in allowed
    assert not [each for each in allowed if "*" in each]


def test_what_the_client_noted_of_us_goes_too(place: Place) -> None:
    """The client writes down which marketplaces it knows; ours is taken out, another's stays."""
    known = place.home / ".claude" / "plugins" / "known_marketplaces.json"
    other = '{\n  "other": {\n    "installLocation": "other"\n  }\n}'
    done = place.install(CLIENT, USER)
    known.parent.mkdir()
    known.write_text(other.replace("\n}", ',\n  "hubbub": {\n    "installLocation": "ours"\n  }\n}'), "utf-8")
    place.uninstall(done)

    assert load(known) == json.loads(other)


def test_nothing_that_the_client_noted_is_no_trouble(place: Place) -> None:
    """A client that was never started has noted nothing, and its folder is not made for that."""
    before = place.tree()
    place.uninstall(place.install(CLIENT, USER))

    assert place.tree() == before


def test_another_folder_of_configuration_is_respected(place: Place) -> None:
    """Where a variable names the client's folder, all of its files are in there."""
    folder = place.home / "elsewhere"
    plan = InstallPlan()
    plan.add(CLIENT.changes(place.request(USER, CLAUDE_CONFIG_DIR=str(folder))))
    files = {Path(each["file"]) for each in plan.done if each.get("language")}

    assert files == {
        folder / ".claude.json",
        folder / "settings.json",
        folder / "plugins/known_marketplaces.json",
    }


@pytest.mark.parametrize(
    "folder", sorted((SHIPPED / "plugins/hubbub/skills").iterdir()), ids=lambda each: each.name
)
def test_a_skill_is_as_the_specification_has_it(folder: Path) -> None:
    """Its name is its folder's, its description says when to use it, and nothing else stands in front."""
    front = (folder / "SKILL.md").read_text("utf-8").split("---\n")[1]
    fields = dict(line.split(": ", 1) for line in front.splitlines())

    assert fields["name"] == folder.name
    assert 0 < len(fields["description"]) <= 1024
    assert "Use when" in fields["description"]
    assert set(fields) <= {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}


@pytest.mark.parametrize("name", ["inbox", "send", "claim", "done"])
def test_a_command_may_use_the_tools_that_it_names(name: str) -> None:
    """A person who types a command is not asked whether its tools may be used."""
    text = (SHIPPED / f"plugins/hubbub/commands/{name}.md").read_text("utf-8")
    front, body = text.split("---\n")[1:]
    allowed = set(re.findall(r"mcp__hubbub__(\w+)", front))

    assert allowed >= set(re.findall(r"tool `(\w+)`", body))
    assert "$ARGUMENTS" in body
