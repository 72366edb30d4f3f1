"""Files that an install takes from the plugin: the skills, put where a client looks for some."""

from pathlib import Path

import pytest

from hubbub.clients import plugin
from hubbub.clients.install.client_installer import PROJECT, USER
from hubbub.clients.install.known_clients import CLIENTS
from tests.clients.install.conftest import Place

SHIPPED = Path(plugin.__path__[0]) / "plugins" / "hubbub" / "skills"


def skills(folder: Path) -> dict[str, str]:
    """Return the text of every skill in a folder."""
    return {each.parent.name: each.read_text("utf-8") for each in folder.glob("*/SKILL.md")}


@pytest.mark.parametrize(
    ("client", "scope", "place_of_skills"),
    [
        ("codex", USER, "home/.codex/skills"),
        ("codex", PROJECT, "project/.codex/skills"),
        ("gemini", USER, "home/.gemini/skills"),
        ("gemini", PROJECT, "project/.gemini/skills"),
        ("opencode", USER, "home/.config/opencode/skills"),
        ("opencode", PROJECT, "project/.opencode/skills"),
    ],
)
def test_a_client_gets_the_skills_of_the_plugin(
    place: Place, client: str, scope: str, place_of_skills: str
) -> None:
    """They are put where the client looks for some; one that a person has there stays, and ours go again."""
    folder = place.home.parent / place_of_skills
    own = folder / "baking" / "SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text("---\nname: baking\n---\n", "utf-8")
    before = place.tree()
    done = place.install(CLIENTS[client], scope)

    assert skills(folder) == {**skills(SHIPPED), "baking": own.read_text("utf-8")}
    assert {"hubbub", "hubbub-lead"} <= skills(folder).keys()
    place.uninstall(done)
    assert place.tree() == before
