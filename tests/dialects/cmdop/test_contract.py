"""cmdop's tools as their reference lists them, and how a call is refused."""

from dataclasses import replace
from typing import Any

from hubbub.dialects.cmdop import DIALECT
from hubbub.dialects.cmdop.vocabulary import STATUS
from hubbub.model.lifecycle import Status
from hubbub.model.people.rights import Role
from tests.dialects.cmdop.callers import Board, refusal
from tests.dialects.cmdop.requirements import requires
from tests.dialects.every_row import every_row

# As in the reference: `?` marks what may be left out, `[]` an array.
INPUTS = {
    "execute_command": "command cwd? timeout_ms?:integer background?:boolean",
    "shell_tasks": "",
    "shell_kill": "task_id signal?",
    "write_file": "path content",
    "open_file": "path",
    "download_file": "url dest",
    "read_file": "path start?:integer end?:integer",
    "grep": "pattern path glob?",
    "glob": "pattern cwd?",
    "list_dir": "path",
    "read_logs": "since_minutes?:integer level? match?",
    "connect": "operation hostname? command? timeout_ms?:integer expires_in?:integer key? workspace?",
    "ssh_session": "operation hostname? session_id? command?",
    "ask_agent": "hostname prompt timeout_ms?:integer",
    "ask_agent_stream": "hostname prompt timeout_ms?:integer",
    "ask_agents": "hostnames:array prompt per_host_timeout_ms?:integer total_timeout_ms?:integer",
    "issue_list": "status? assignee?",
    "issue_get": "id",
    "issue_create": "title body? assignee?",
    "issue_update": "id body? status? assignee?",
    "issue_close": "id reason?",
    "todo_write": "items:array",
    "skill_list": "",
    "skill_run": "name prompt",
    "delegate_task": "prompt tools?:array",
    "task_status": "task_id",
    "permissions_helper": "operation tool? args?:object rule? effect? reason?",
}
# In the reference in so many words.
EXECUTE = {
    "command": {"type": "string"},
    "cwd": {"type": "string"},
    "timeout_ms": {"type": "integer", "minimum": 1, "maximum": 600_000},
}
ASK_AGENTS = {
    "hostnames": {"type": "array", "items": {"type": "string"}},
    "prompt": {"type": "string"},
    "per_host_timeout_ms": {"type": "integer", "minimum": 1000, "maximum": 300_000},
    "total_timeout_ms": {"type": "integer", "minimum": 1000, "maximum": 600_000},
}


def _inputs(schema: Any) -> str:
    """A schema in the short form above."""
    required = schema.get("required", [])
    return " ".join(
        name + ("" if name in required else "?") + ("" if it["type"] == "string" else f":{it['type']}")
        for name, it in schema["properties"].items()
    )


@requires("all.tools", "all.required")
def test_there_are_the_documented_tools(anywhere: Board) -> None:
    """The tools are those of the reference, with its inputs; each says what it does."""
    told = anywhere.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).json()["result"]["tools"]

    assert {tool["name"]: _inputs(tool["inputSchema"]) for tool in told} == INPUTS
    assert all(tool["description"] for tool in told)


@requires("all.limits")
def test_limits_stand_in_the_schema_as_documented(anywhere: Board) -> None:
    """The two schemas that the reference writes out are ours; a value out of its limits is invalid, never bent."""
    execute = DIALECT.tools["execute_command"].schema["properties"]
    assert isinstance(execute, dict)
    assert {name: execute[name] for name in EXECUTE} == EXECUTE
    assert DIALECT.tools["ask_agents"].schema["properties"] == ASK_AGENTS

    ada = anywhere.agent("ada")
    for timeout_ms in (0, 600_001, -1, 1.5, "1000"):
        assert refusal(ada.wrong("execute_command", command="true", timeout_ms=timeout_ms)) == "invalid"
    asked: dict[str, Any] = {"hostnames": ["a"], "prompt": "p"}
    assert refusal(ada.wrong("ask_agents", **asked, total_timeout_ms=999)) == "invalid"
    assert refusal(ada.wrong("ask_agents", **asked, per_host_timeout_ms=300_001)) == "invalid"


@requires("all.refusal")
def test_what_is_missing_is_named(anywhere: Board) -> None:
    """A call without what a tool needs is refused by one sentence that names it, whatever the machine is like."""
    ada = anywhere.agent("ada")

    with every_row() as row:
        for tool, inputs in INPUTS.items():
            required = [name.split(":")[0] for name in inputs.split() if "?" not in name]
            for name in required:
                with row(tool, name):
                    refused = ada.wrong(tool, **{other: "x" for other in required if other != name})
                    assert refusal(refused) == "invalid"
                    assert f"{name} is missing" in str(refused["error"])


@requires("all.unknown")
def test_an_unknown_tool_is_invalid(anywhere: Board) -> None:
    """A request for an unknown tool is refused in the same envelope."""
    refused = anywhere.agent("ada").wrong("format_disk")

    assert refusal(refused) == "invalid"
    assert refused["error"] == "there is no tool 'format_disk'; tools/list names them"


def _call(tool: str) -> dict[str, Any]:
    """A call of the tool with nothing but what it needs."""
    required = [name for name in INPUTS[tool].split() if "?" not in name]
    given: dict[str, Any] = {name: "x" for name in required if ":" not in name}
    given |= {name.split(":")[0]: ["x"] for name in required if ":array" in name}
    operations = {"ssh_session": "list", "permissions_helper": "show_policy"}
    return given | ({"operation": operations[tool]} if tool in operations else {})


@requires("machine.none")
def test_without_a_machine_its_tools_are_offline(anywhere: Board) -> None:
    """A hub without a machine says so for whatever a machine would have to do; its own tools work."""
    ada = anywhere.agent("ada")

    with every_row() as row:
        for tool in sorted(DIALECT.of_machine - {"ask_agents"}):
            with row(tool):
                assert refusal(ada.wrong(tool, **_call(tool))) == "offline"
    assert ada.issue_list() == {"result": []}


@requires("machine.none")
def test_machines_that_are_not_there_are_offline_each(anywhere: Board) -> None:
    """Where several machines are asked, each that is not there has an entry that says so."""
    away = {"error": "the machine 'x' is not connected", "code": "offline"}

    answer = anywhere.agent("ada").ask_agents(hostnames=["x"], prompt="p")

    assert answer == {"by_host": {"x": away}, "timed_out": []}


@requires("machine.none")
def test_a_machine_without_a_name_is_none(anywhere: Board) -> None:
    """An empty name is no word for the hub's own machine, and a list of none is refused in plain words."""
    ada = anywhere.agent("ada")

    assert ada.wrong("ask_agent", hostname="", prompt="p") == {
        "error": "the machine '' is not connected", "code": "offline",
    }  # fmt: skip
    assert ada.wrong("ask_agents", hostnames=[], prompt="p") == {
        "error": "hostnames: list should have at least 1 item", "code": "invalid",
    }  # fmt: skip


@requires("machine.header")
def test_a_machine_that_is_not_connected_is_offline(anywhere: Board) -> None:
    """A call for another machine is never done on this one."""
    ada = anywhere.with_headers(anywhere.agent("ada"), x_hubbub_node="prod-7")

    refused = ada.wrong("execute_command", command="true")

    assert refusal(refused) == "offline"
    assert "'prod-7'" in str(refused["error"])


@requires("machine.project")
def test_a_person_names_the_project(anywhere: Board) -> None:
    """A member of several projects names the project of a call; a project that is not theirs is not there."""
    with Board.fresh(anywhere.hub) as other:
        person = other.person((anywhere.project, Role.MEMBER), (other.project, Role.MEMBER))
        refused = person.wrong("issue_create", title="t")
        assert refusal(refused) == "invalid"
        assert str(refused["error"]).endswith(f"{other.project.slug}, by the header X-Hubbub-Project")
        here = other.with_headers(person, x_hubbub_project=other.project.slug)
        assert here.issue_create(title="t")["id"] == "1"
        assert anywhere.agent("ada").issue_list() == {"result": []}
        nowhere = other.with_headers(person, x_hubbub_project="nowhere")
        assert refusal(nowhere.wrong("issue_list")) == "not_found"


@requires("connect.chosen")
def test_a_person_chooses_among_their_workspaces(anywhere: Board) -> None:
    """They are listed before one is chosen; the choice holds for the connection, whatever its requests name."""
    with Board.fresh(anywhere.hub) as other:
        person = replace(
            other.person((anywhere.project, Role.MEMBER), (other.project, Role.MEMBER)), mode="legacy"
        )
        named = other.with_headers(person, x_hubbub_project=anywhere.project.slug)
        assert refusal(person.wrong("connect", operation="workspace_use", workspace="nowhere")) == "not_found"

        for client in (person, named):
            assert len(client.connect(operation="workspace_list")["result"]) == 2
            client.connect(operation="workspace_use", workspace=other.project.slug)

            rows = client.connect(operation="workspace_list")["result"]
            assert [row["workspace"] for row in rows if row["in_use"]] == [other.project.slug]
            client.issue_create(title="t")
        assert len(other.agent("ada").issue_list()["result"]) == 2


@requires("connect.chosen")
def test_a_choice_without_a_connection_is_the_tokens(anywhere: Board) -> None:
    """A client whose requests stand alone keeps its choice by its token, until a request names another."""
    with Board.fresh(anywhere.hub) as other:
        person = other.person((anywhere.project, Role.MEMBER), (other.project, Role.MEMBER))
        person.connect(operation="workspace_use", workspace=other.project.slug)
        person.issue_create(title="t")
        other.with_headers(person, x_hubbub_project=anywhere.project.slug).issue_create(title="u")

        assert [row["title"] for row in other.agent("ada").issue_list()["result"]] == ["t"]
        assert [row["title"] for row in anywhere.agent("ada").issue_list()["result"]] == ["u"]


@requires("ask_agent.some")
def test_a_list_of_machines_names_some(anywhere: Board) -> None:
    """To ask nobody is a mistake, and not for the gate to deny."""
    assert refusal(anywhere.agent("ada").wrong("ask_agents", hostnames=[], prompt="p")) == "invalid"


@requires("machine.agent")
def test_a_token_of_nobody_names_its_agent(anywhere: Board) -> None:
    """A token that is bound to no agent acts as the one that the request names; one that is bound, as no other."""
    bob = anywhere.with_headers(anywhere.program(), x_hubbub_agent="bob")
    bob.issue_create(title="t")
    assert anywhere.task("1").sender == "bob"
    anywhere.program().issue_create(title="t")
    assert anywhere.task("2").sender == "hub"

    eve = anywhere.with_headers(anywhere.agent("eve"), x_hubbub_agent="bob")
    assert refusal(eve.wrong("issue_create", title="t")) == "denied"
    assert refusal(eve.wrong("issue_list")) == "denied"


def test_who_only_looks_on_changes_nothing(anywhere: Board) -> None:
    """A viewer sees the board, and neither changes it nor uses a machine."""
    viewer = anywhere.program(Role.VIEWER)

    with anywhere.unchanged():
        assert viewer.issue_list() == {"result": []}
        for tool, given in (
            ("issue_create", {"title": "t"}),
            ("read_file", {"path": "a"}),
            ("execute_command", {"command": "true"}),
        ):
            assert refusal(viewer.wrong(tool, **given)) == "denied"


def test_every_status_has_a_word() -> None:
    """Whatever other dialects do with a task, cmdop can say how it is."""
    assert set(STATUS) == set(Status)
