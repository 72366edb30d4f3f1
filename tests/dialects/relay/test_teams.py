"""Before the work: what there is to know of the hub, and who is in the team."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal

from hubbub.settings import Settings
from hubbub.store.engine.sqlite import SQLite
from hubbub.workspace.locations import Workspace
from tests.dialects.relay.callers import Team, no, yes
from tests.dialects.relay.requirements import requires
from tests.dialects.running_hub import StillClock, running_hub

TEAM = """
language: de
review_checklist: "- is it safe?"
shared_blocks:
  rules: "Be kind, {agent_id}."
agents:
  fe:
    name: Front End
    emoji: 🎨
    description: draws
    tools: [send_message, claim_task]
    systemPrompt: "You draw. {{rules}}"
    validate_prompt: "Is it pretty?"
  be2:
    extends: be
    name: Back End 2
  qa: {}
  gone: {name: G, emoji: x, tools: [], systemPrompt: p, disabled: true}
"""

POOL = """
agents:
  be:
    name: Back End
    emoji: ⚙️
    description: serves
    tags: [server, db]
    tools: [claim_task]
    systemPrompt: You serve.
  qa:
    name: Tester
    emoji: 🔍
    tools: []
    systemPrompt: You test.
    language: en
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A project's folder with a relay folder in it, both empty."""
    found = Workspace(tmp_path / "work", tmp_path / "work" / ".relay")
    found.folder.mkdir(parents=True)
    return found


@pytest.fixture
def crew(tmp_path: Path, workspace: Workspace, portal: BlockingPortal) -> Iterator[Team]:
    """The project that the hub's own relay folder is for."""
    clock = StillClock()
    store = SQLite.open(tmp_path / "data", clock=clock)
    settings = Settings(data=tmp_path, public_url="https://hub.example.org")
    try:
        with (
            running_hub(store, clock, settings, portal, workspace=workspace, workspace_project="crew") as hub,
            Team.fresh(hub, "crew") as team,
        ):
            yield team
    finally:
        store.close()


@requires("get_server_info.reply", "get_server_info.dashboard")
def test_what_there_is_to_know_of_the_hub(anywhere: Team) -> None:
    """get_server_info gives where the hub is, which process of it, and which session calls take place in."""
    anywhere.agent("lead").start_session(session_id="r")

    info = yes(anywhere.agent("fe").get_server_info())

    instance = info.pop("instanceId")
    assert info == {
        "dashboardUrl": anywhere.hub.url,
        "dashboardAvailable": True,
        "port": int(anywhere.hub.url.rpartition(":")[2]),
        "sessionId": "r",
    }
    assert isinstance(instance, str)
    assert yes(anywhere.agent("be").get_server_info())["instanceId"] == instance


@requires("get_server_info.public")
def test_a_hub_is_known_by_its_public_address(crew: Team) -> None:
    """The dashboard of a hub that is reached from outside is at its public address."""
    assert yes(crew.agent("lead").get_server_info())["dashboardUrl"] == "https://hub.example.org"


@requires("list_agents.file", "list_agents.row", "rows.list_agents", "teams.inherits")
def test_a_team_is_listed(crew: Team, workspace: Workspace) -> None:
    """The agents of a session's file come in its order with all that they are, and inherit, prompts filled in."""
    (workspace.folder / "session-agents-r.yml").write_text(TEAM, "utf-8")
    (workspace.folder / "agents.pool.yml").write_text(POOL, "utf-8")

    fe, be2, qa = yes(crew.agent("lead").list_agents(session_id="r"))["agents"]

    assert fe == {
        "id": "fe",
        "name": "Front End",
        "emoji": "🎨",
        "description": "draws",
        "tools": ["send_message", "claim_task"],
        "systemPrompt": "You draw. Be kind, fe.",
        "basePersonaId": None,
        "validate_prompt": "Is it pretty?",
        "review_checklist": "- is it safe?",
        "language": "de",
    }
    inherited = {
        "name": "Back End 2",
        "basePersonaId": "be",
        "systemPrompt": "You serve.",
        "tools": ["claim_task"],
    }
    assert be2.items() >= inherited.items()
    assert (qa["id"], qa["name"], qa["systemPrompt"]) == ("qa", "Tester", "You test.")


@requires("list_pool_agents.row", "list_pool_agents.no_prompt", "rows.list_pool_agents")
@pytest.mark.parametrize("where", ["relay folder", "project root"])
def test_the_pool_is_listed(crew: Team, workspace: Workspace, where: str) -> None:
    """The agents of the pool come with what is to be known of them, and without their prompts."""
    folder = workspace.folder if where == "relay folder" else workspace.root
    (folder / "agents.pool.yml").write_text(POOL, "utf-8")

    be, qa = yes(crew.agent("lead").list_pool_agents())["agents"]

    assert be == {
        "id": "be",
        "name": "Back End",
        "emoji": "⚙️",
        "description": "serves",
        "tags": ["server", "db"],
        "tools": ["claim_task"],
        "validate_prompt": None,
        "review_checklist": None,
        "language": None,
    }
    assert (qa["language"], "tags" in qa, "systemPrompt" in qa) == ("en", False, False)


@requires("teams.no_session")
def test_nobody_is_listed_without_a_session(crew: Team, workspace: Workspace) -> None:
    """list_agents without a session_id is an empty list, whatever files there are."""
    (workspace.folder / "session-agents-r.yml").write_text(TEAM, "utf-8")
    crew.agent("lead").start_session(session_id="r")

    assert yes(crew.agent("lead").list_agents()) == {"agents": []}


@requires("list_agents.missing", "teams.missing", "teams.no_pool", "envelope.refusal")
def test_a_missing_file_is_named(crew: Team, tmp_path: Path) -> None:
    """A session without a file is refused by that file's name, no pool by the words No agent pool configured."""
    answer = no(crew.agent("lead").list_agents(session_id="r"))
    assert "session-agents-r.yml" in answer
    assert str(tmp_path) not in answer
    assert no(crew.agent("lead").list_pool_agents()) == "No agent pool configured"


@requires("teams.malformed", "envelope.refusal")
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("agents:\n  fe: [\n", "line 3"),
        ("agents:\n  fe: {name: F, emoji: x, tools: 7, systemPrompt: p}\n", "'fe': tools"),
        ("agents:\n  fe: {name: F, emoji: x, tools: []}\n", "'fe': systemPrompt"),
        ("agents:\n  fe: {name: F, emoji: x, tools: [], systemPrompt: '{{no}}'}\n", "'fe'"),
        ("agents:\n  fe: {extends: nobody}\n", "'fe': extends"),
    ],
)
def test_a_malformed_file_is_explained(
    crew: Team, workspace: Workspace, tmp_path: Path, content: str, said: str
) -> None:
    """An error in a file names the file and the line, or the agent and the field, and no path."""
    (workspace.folder / "session-agents-r.yml").write_text(content, "utf-8")
    (workspace.folder / "agents.pool.yml").write_text(content, "utf-8")

    team = no(crew.agent("lead").list_agents(session_id="r"))
    pool = no(crew.agent("lead").list_pool_agents())

    assert team.startswith("session-agents-r.yml: ") or "agents.pool.yml: " in team
    assert pool.startswith("agents.pool.yml: ")
    assert said in team
    assert said in pool
    assert str(tmp_path) not in team + pool


@requires("teams.project", "teams.no_folder", "teams.no_pool")
def test_the_folder_is_that_of_one_project(crew: Team, workspace: Workspace) -> None:
    """Another project of the same hub sees nothing of the folder: no team file, and no agent pool."""
    (workspace.folder / "session-agents-r.yml").write_text(TEAM, "utf-8")
    (workspace.folder / "agents.pool.yml").write_text(POOL, "utf-8")

    with Team.fresh(crew.hub) as other:
        answer = no(other.agent("lead").list_agents(session_id="r"))
        assert answer.startswith("session-agents-r.yml")
        assert "no relay folder" in answer
        assert no(other.agent("lead").list_pool_agents()) == "No agent pool configured"
