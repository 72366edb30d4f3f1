"""`hubbub mcp relay`: Relay over standard input and output, through real processes."""

import asyncio
import json
import os
import signal
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from hubbub.client import running_hub
from tests.cli.processes import RunningHub, plain_environment, run_python
from tests.cli.relay_team import CALM, RUN, Agent, Json, Team, pool
from tests.cli.stdio_peers import LEGACY, MODERN

TOOLS = {
    "get_server_info", "start_session", "send_message", "get_messages", "create_task", "update_task", "claim_task",
    "get_all_tasks", "post_artifact", "get_artifact", "request_review", "submit_review", "read_memory", "write_memory",
    "append_memory", "save_session_summary", "list_sessions", "get_session_summary", "save_orchestrator_state",
    "get_orchestrator_state", "list_agents", "list_pool_agents", "broadcast_thinking",
}  # fmt: skip


class Walk:
    """A client that calls each tool as an agent would; what it called is kept."""

    def __init__(self, client: Client) -> None:
        self.client, self.called = client, set[str]()

    async def __call__(self, tool: str, **arguments: object) -> Json:
        self.called.add(tool)
        result = await self.client.call_tool(tool, {"agent_id": "lead", **arguments})
        content: Any = result.structured_content
        assert (content["success"], bool(result.is_error)) == (True, False), content
        return {name: value for name, value in content.items() if name != "success"}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool(team: Team, mode: Any) -> None:
    """The official client lists the 23 tools and calls each of them, in both revisions, over stdio."""
    team.pool(lead={"tags": ["t"]}, fe={})
    (team.relay_folder / "session-agents-next.yml").write_text(pool(fe={"description": "builds"}))
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "hubbub", "mcp", "relay"],
        cwd=team.root,
        env=plain_environment(team.hub.data, HUBBUB_PROJECT=team.hub.project, RELAY_SESSION_ID=RUN),
    )

    async def walk() -> set[str]:
        async with Client(stdio_client(server), mode=mode) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
            do = Walk(client)
            assert (await do("get_server_info"))["sessionId"] == RUN
            assert await do("start_session", session_id="next") == {"session_id": "next"}
            assert (await do("get_server_info"))["sessionId"] == "next"
            sent = await do("send_message", to="fe", content="你好", thread_id="t")
            (message,) = (await do("get_messages", agent_id="fe"))["messages"]
            assert (message["id"], message["content"]) == (sent["message_id"], "你好")
            task_id = (await do("create_task", title="t", priority="high"))["task_id"]
            assert await do("claim_task", agent_id="fe", task_id=task_id) == {"claimed": True}
            assert await do("update_task", agent_id="fe", task_id=task_id, status="done") == {}
            (row,) = (await do("get_all_tasks"))["tasks"]
            assert (row["status"], row["assignee"]) == ("done", "fe")
            artifact = await do("post_artifact", name="spec", type="design", content="c", task_id=task_id)
            found = (await do("get_artifact", name="spec"))["artifact"]
            assert (found["id"], found["content"]) == (artifact["artifact_id"], "c")
            asked = await do("request_review", artifact_id=found["id"], reviewer="be")
            review = {"review_id": asked["review_id"], "status": "approved"}
            assert (await do("submit_review", agent_id="be", **review))["review"]["status"] == "approved"
            await do("write_memory", key="stack", content="python")
            await do("append_memory", content="learned")
            memory = (await do("read_memory"))["content"]
            assert "## stack\n\npython" in memory
            assert memory.rstrip().endswith("learned")
            await do("save_session_summary", session_id="next", summary="all went well")
            assert (await do("list_sessions"))["sessions"] == ["next"]
            assert (await do("get_session_summary", session_id="next"))["summary"] == "all went well"
            await do("save_orchestrator_state", state="{}")
            assert (await do("get_orchestrator_state"))["state"] == "{}"
            (fe,) = (await do("list_agents", session_id="next"))["agents"]
            assert (fe["id"], fe["systemPrompt"]) == ("fe", "You are here.")
            agents = (await do("list_pool_agents"))["agents"]
            assert [(each["id"], each.get("tags")) for each in agents] == [("lead", ["t"]), ("fe", None)]
            await do("broadcast_thinking", content="hm")
            return do.called

    assert asyncio.run(walk()) == TOOLS


# ---- runs -----------------------------------------------------------------------------------------------------------


def run_of(agent: Agent) -> str:
    return str(agent.does("get_server_info")["sessionId"])


def test_who_has_no_team_waits_for_no_yaml() -> None:
    """The reader of team files is loaded with the first of them, and not before the first answer."""
    done = run_python(
        "import sys, hubbub.cli.clients.mcp, hubbub.bridge.companions.relay_companion as relay\n"
        "print(callable(relay.companion), 'yaml' in sys.modules)"
    )
    assert (done.stdout, done.stderr) == ("True False\n", "")


def test_environment_names_the_run(team: Team) -> None:
    """RELAY_SESSION_ID names the run, whatever others have started; without it, it is the project's current one."""
    lead = team.agent("lead", run="")
    lead.does("start_session", session_id="current")
    assert run_of(team.agent("fe", run="named")) == "named"
    assert run_of(team.agent("be", run="")) == "current"


def test_start_session_moves_its_own_connection(team: Team) -> None:
    """start_session moves its own connection, whatever RELAY_SESSION_ID said, and no other that named its own."""
    mover, named = team.agent("lead", run="mine"), team.agent("fe", run="theirs")
    own = named.task("in theirs")
    assert mover.does("start_session", session_id="next") == {"success": True, "session_id": "next"}
    assert (run_of(mover), run_of(named)) == ("next", "theirs")
    assert mover.does("get_all_tasks")["tasks"] == []
    assert [each["id"] for each in named.does("get_all_tasks")["tasks"]] == [own]


def test_two_servers_of_one_run(team: Team) -> None:
    """Two stdio servers of one run see each other's tasks, messages and artifacts."""
    lead, agent = team.agent("lead"), team.agent("fe", LEGACY)
    task_id = lead.task(assignee="fe")
    assert agent.does("claim_task", task_id=task_id)["claimed"] is True
    assert lead.row(task_id)["status"] == "in_progress"
    agent.does("send_message", to="lead", content="half way")
    (message,) = lead.does("get_messages")["messages"]
    assert (message["from_agent"], message["content"]) == ("fe", "half way")
    agent.does("post_artifact", name="pr", type="pr", content="diff")
    assert lead.does("get_artifact", name="pr")["artifact"]["created_by"] == "fe"


@pytest.mark.parametrize("run", ["two words", "a/b", "ü", "r" * 129, "../up"])
def test_bad_name_of_a_run(hub: RunningHub, run: str) -> None:
    """A RELAY_SESSION_ID that can name no run is refused at the start, with what is allowed, and exit code 2."""
    done = hub.run("mcp", "relay", RELAY_SESSION_ID=run)
    assert (done.returncode, done.stdout) == (2, "")
    assert "RELAY_SESSION_ID must be 1 to 128 letters from A to Z, digits, '-' or '_', not " in done.stderr


def test_longest_name_of_a_run(team: Team) -> None:
    """A run may have a name of 128 letters, digits, `-` and `_`."""
    run = "Aa-_0123" * 16
    assert run_of(team.agent("fe", run=run)) == run


# ---- team files -----------------------------------------------------------------------------------------------------


def test_team_files_of_the_machine(team: Team, tmp_path: Path) -> None:
    """Team files are read where the server runs: in RELAY_DIR, else in RELAY_PROJECT_ROOT, else where it began."""
    for number, place in enumerate([tmp_path / "named", tmp_path / "root" / ".relay", team.relay_folder]):
        place.mkdir(parents=True, exist_ok=True)
        (place / "agents.pool.yml").write_text(pool(**{f"a{number}": {}}))
    named, root = {"RELAY_DIR": str(tmp_path / "named")}, {"RELAY_PROJECT_ROOT": str(tmp_path / "root")}
    for found, environment in {"a0": {**named, **root}, "a1": root, "a2": {}}.items():
        listed = team.agent("lead", **environment).does("list_pool_agents")
        assert [each["id"] for each in listed["agents"]] == [found]


def test_missing_team_files(team: Team) -> None:
    """Without a session_id there are no agents; a team file that is missing is named; so is that there is no pool."""
    agent = team.agent("lead")
    assert agent.does("list_agents") == {"success": True, "agents": []}
    assert agent.does("list_agents", session_id="r1") == {
        "success": False,
        "error": "session-agents-r1.yml is not in the relay folder",
    }
    assert agent.does("list_pool_agents") == {"success": False, "error": "No agent pool configured"}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("agents:\n  fe: [\n", "session-agents-r1.yml: line 3: "),
        ("agents:\n  fe:\n    tools: all\n", "session-agents-r1.yml: agent 'fe': tools: "),
    ],
)
def test_malformed_team_file(team: Team, text: str, error: str) -> None:
    """An error in a team file names the file and the line, or the file, the agent and the field."""
    (team.relay_folder / "session-agents-r1.yml").write_text(text)
    agent = team.agent("lead")
    answer = agent.ask(
        "tools/call", {"name": "list_agents", "arguments": {"agent_id": "lead", "session_id": "r1"}}
    )["result"]
    assert answer["structuredContent"]["success"] is False
    assert answer["structuredContent"]["error"].startswith(error)
    assert answer.get("isError") in (None, False)


def test_listing_needs_who_asks(team: Team) -> None:
    """A caller that may not speak as the agent is told no agents either."""
    team.pool(fe={})
    secret = team.hub.client().post("/tokens", {"agent": "be"})["secret"]
    agent = team.agent("lead", HUBBUB_URL=team.hub.url, HUBBUB_TOKEN=secret)
    assert agent.does("list_pool_agents") == {"success": False, "error": "permission denied"}


def test_prompts_stay_here(team: Team) -> None:
    """A team whose prompts are larger than any request to the hub may be is listed all the same."""
    team.pool(base={"systemPrompt": "好" * 300_000})
    team_file = {"agents": {f"a{number}": {"extends": "base"} for number in range(13)}}
    (team.relay_folder / "session-agents-r1.yml").write_text(json.dumps(team_file))
    listed = team.agent("lead").does("list_agents", session_id="r1")
    assert sum(len(each["systemPrompt"].encode()) for each in listed["agents"]) > 10 * 1024 * 1024


# ---- the process ----------------------------------------------------------------------------------------------------


@pytest.mark.system
@pytest.mark.parametrize("revision", [LEGACY, MODERN])
def test_nothing_is_lost(own_team: Team, revision: str) -> None:
    """Answers from before the hub was killed hold when it is back, and the client simply goes on."""
    agent = own_team.agent("lead", revision)
    task_id = agent.task("kept")
    agent.does("send_message", content="kept")
    agent.does("post_artifact", name="kept", type="report", content="kept")
    agent.does("write_memory", key="kept", content="kept")
    agent.does("save_orchestrator_state", state="kept")
    own_team.hub.stop(signal.SIGKILL)
    waiting = agent.soon("get_all_tasks")
    own_team.hub.start()
    assert [each["id"] for each in agent.reply(waiting)["tasks"]] == [task_id]
    assert agent.does("get_artifact", name="kept")["artifact"]["content"] == "kept"
    assert agent.does("read_memory")["content"] == "## kept\n\nkept\n"
    assert agent.does("get_orchestrator_state")["state"] == "kept"
    (message,) = own_team.agent("fe", revision).does("get_messages")["messages"]
    assert message["content"] == "kept"


def test_ends_with_its_input(team: Team) -> None:
    """When standard input ends, what was asked is still answered, and the process ends with code 0."""
    agent = team.agent("lead")
    number = agent.soon("get_all_tasks")
    rest, code = agent.close()
    assert code == 0
    assert [json.loads(line)["id"] for line in rest.splitlines()] == [number]


@pytest.mark.system
def test_starts_a_hub_of_no_folder(tmp_path: Path) -> None:
    """With no hub on the data folder one is started, which serves whoever comes: the client's folder is not its own."""
    with closing(RunningHub(tmp_path / "data")) as place, Team.at(place, tmp_path / "work") as team:
        team.pool(fe={})
        agent = team.agent("lead", RELAY_PROJECT_ROOT=str(team.root), RELAY_DIR=str(team.relay_folder))
        assert [each["id"] for each in agent.does("list_pool_agents")["agents"]] == ["fe"]
        url = running_hub(team.hub.data)
        assert url is not None
        team.hub.port = int(url.rpartition(":")[2])
        pid = json.loads((team.hub.data / "hub.json").read_text())["pid"]
        try:
            assert team.over_http("lead", "list_pool_agents") == {
                "success": False,
                "error": "No agent pool configured",
            }
        finally:
            os.kill(pid, signal.SIGTERM)


def test_what_a_plugin_configures(team: Team) -> None:
    """A client that is configured for Relay works when its command is changed, and nothing else."""
    configured = {
        "command": "npx",
        "args": ["-y", "relay-mcp-server"],
        "env": {"RELAY_PROJECT_ROOT": str(team.root), "RELAY_SESSION_ID": RUN},
    }
    changed: Any = {**configured, "command": sys.executable, "args": ["-m", "hubbub", "mcp", "relay"]}
    team.hooks(after_task="pwd > where")
    usual = plain_environment(team.hub.data, HUBBUB_PROJECT=team.hub.project)
    server = StdioServerParameters(
        command=changed["command"],
        args=changed["args"],
        env={**{name: value for name, value in usual.items() if name not in CALM}, **changed["env"]},
        cwd="/",
    )

    async def work() -> Json:
        async with Client(stdio_client(server)) as client:

            async def do(tool: str, **arguments: object) -> Any:
                return (await client.call_tool(tool, {"agent_id": "fe", **arguments})).structured_content

            task_id = (await do("create_task", title="t", priority="low"))["task_id"]
            assert (await do("claim_task", task_id=task_id))["claimed"] is True
            assert await do("update_task", task_id=task_id, status="done") == {"success": True}
            found: Json = await do("get_server_info")
            return found

    assert asyncio.run(work())["sessionId"] == RUN
    assert (team.root / "where").read_text().strip() == str(team.root.resolve())
