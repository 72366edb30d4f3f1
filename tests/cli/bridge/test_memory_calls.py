"""Memory and summaries as files on the agent's machine, beside a real `hubbub mcp relay`."""

import signal

import pytest

from tests.cli.relay_team import Team, edit, until


def test_what_is_written_is_in_files(team: Team) -> None:
    """When a write is answered, the relay folder says it too: the project's memory, an agent's, a run's summary."""
    agent = team.agent("fe")
    assert agent.does("write_memory", key="stack", content="python") == {"success": True}
    agent.does("append_memory", content="learned")
    assert agent.ask("tools/call", {"name": "write_memory", "arguments": {"key": "k", "content": "ours"}})
    agent.does("save_session_summary", session_id="r1", summary="all went well")
    own = (team.relay_folder / "memory" / "agents" / "fe.md").read_text()
    assert own == agent.does("read_memory")["content"]
    assert own.startswith("## stack\n\npython\n")
    assert own.endswith("learned\n")
    assert (team.relay_folder / "memory" / "project.md").read_text() == "## k\n\nours\n"
    assert (team.relay_folder / "sessions" / "r1" / "summary.md").read_text() == "all went well"


def test_nothing_is_created_for_nothing(team: Team) -> None:
    """No relay folder is created while there is nothing to remember."""
    assert team.agent("fe").does("read_memory") == {"success": True, "content": None}
    assert list(team.root.iterdir()) == []


def test_what_is_edited_is_read(team: Team) -> None:
    """A manual edit of a file is found by the next read, and in the hub."""
    agent = team.agent("fe")
    agent.does("write_memory", key="stack", content="python")
    file = team.relay_folder / "memory" / "agents" / "fe.md"
    edit(file, file.read_text().replace("python", "rust"))
    assert agent.does("read_memory") == {"success": True, "content": "## stack\n\nrust\n"}
    assert team.over_http("fe", "read_memory")["content"] == "## stack\n\nrust\n"
    summary = team.relay_folder / "sessions" / "by-hand" / "summary.md"
    edit(summary, "it was good")
    assert agent.does("list_sessions")["sessions"] == ["by-hand"]
    assert agent.does("get_session_summary", session_id="by-hand")["summary"] == "it was good"


def test_edits_are_noticed_without_a_call(team: Team) -> None:
    """A manual edit of a file reaches the hub though no agent asks for it."""
    team.agent("fe")
    file = team.relay_folder / "memory" / "project.md"
    edit(file, "## stack\n\nrust\n")
    team.hub.until("memory.updated")
    assert team.over_http("fe", "read_memory", agent_id=None)["content"] == "## stack\n\nrust\n"


@pytest.mark.system
def test_news_are_noticed_without_a_call(own_team: Team) -> None:
    """A change by others reaches the file though no agent here asks for it, also after the hub was away."""
    own_team.agent("fe")
    file = own_team.relay_folder / "memory" / "agents" / "be.md"
    for content in ("python", "rust"):
        own_team.over_http("be", "write_memory", key="stack", content=content)
        until(file, f"## stack\n\n{content}\n".__eq__)
        own_team.hub.stop(signal.SIGKILL)
        own_team.hub.start()


def test_conflicts_are_said(team: Team) -> None:
    """When hub and file have changed the same section both are kept, and one reply says so."""
    first = team.agent("fe")
    first.does("write_memory", key="stack", content="python")
    first.close()
    file = team.relay_folder / "memory" / "agents" / "fe.md"
    edit(file, "## stack\n\nrust\n")
    team.over_http("fe", "write_memory", key="stack", content="go")
    second = team.agent("fe")
    reply = second.does("read_memory")
    assert reply["content"].startswith("## stack\n\ngo\n")
    assert "rust" in reply["content"]
    assert reply["conflict"].startswith("memory/agents/fe.md: section 'stack' was changed in the hub too")
    assert file.read_text() == reply["content"]
    assert second.does("read_memory") == {"success": True, "content": reply["content"]}


def test_file_that_cannot_be_read(team: Team) -> None:
    """A file that cannot be read is left alone, and the reply, which is then the hub's, says what is wrong with it."""
    agent = team.agent("fe")
    agent.does("write_memory", key="stack", content="python")
    file = team.relay_folder / "memory" / "agents" / "fe.md"
    file.write_bytes(b"\xff\xfe")
    reply = agent.does("read_memory")
    assert reply["content"] == "## stack\n\npython\n"
    assert reply["conflict"] == "memory/agents/fe.md: it is not UTF-8 text"
    assert file.read_bytes() == b"\xff\xfe"


@pytest.mark.system
def test_read_while_the_hub_is_away(own_team: Team) -> None:
    """A read that has to wait for the hub finds what was written into the file meanwhile."""
    agent = own_team.agent("fe")
    agent.does("write_memory", key="stack", content="python")
    own_team.hub.stop(signal.SIGKILL)
    edit(own_team.relay_folder / "memory" / "agents" / "fe.md", "## stack\n\nrust\n")
    waiting = agent.soon("read_memory")
    own_team.hub.start()
    assert agent.reply(waiting)["content"] == "## stack\n\nrust\n"


def test_many_at_once(team: Team) -> None:
    """Twenty sections written at once over two servers are all there, in the hub and in the file."""
    agents = [team.agent("fe"), team.agent("fe")]
    asked = [
        (agent, agent.soon("write_memory", key=f"{place} {number}", content="c"))
        for number in range(10)
        for place, agent in enumerate(agents)
    ]
    assert all(agent.reply(number) == {"success": True} for agent, number in asked)
    text = agents[0].does("read_memory")["content"]
    keys = {f"## {place} {number}" for number in range(10) for place in range(2)}
    assert {line for line in text.splitlines() if line.startswith("## ")} == keys
    assert (team.relay_folder / "memory" / "agents" / "fe.md").read_text() == text


def test_names_that_lead_elsewhere(team: Team) -> None:
    """A call that the hub refuses touches no file, whatever it names."""
    agent = team.agent("fe")
    for name in ("../../escaped", "a/b", "", "."):
        asked = {"name": "write_memory", "arguments": {"agent_id": name, "key": "k", "content": "c"}}
        assert agent.ask("tools/call", asked)["result"]["structuredContent"]["success"] is False
        assert agent.ask("tools/call", {**asked, "name": "read_memory"})["result"]["structuredContent"][
            "success"
        ] is (False)
    assert list(team.root.iterdir()) == []
