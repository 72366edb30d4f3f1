"""A client on one machine, by `hubbub mcp cmdop`, and three others: every tool, where it was asked for."""

import json

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from hubbub.dialects import discover
from tests.cli.processes import PROGRAM
from tests.node.fleet.process_fleet import Fleet, Json

pytestmark = pytest.mark.system

FAR = ("web1", "web2", "db1")


class Site:
    """Machines that are linked, a client on one more that is none of them, and its agent."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet, self.token = fleet, fleet.agent("ada")
        self.home = fleet.machine("home")
        self.far = {name: fleet.machine(name) for name in FAR}
        for name, machine in self.far.items():
            command = f'["/bin/sh", "-c", "echo {name} heard: $(cat)"]'
            machine.policy(f'mode = "bypass"\n[runtime]\nkind = "command"\ncommand = {command}\n')
            machine.join()
        self.client = fleet.client(self.home, self.token)

    def there(self, node: str, tool: str, **arguments: object) -> Json:
        """Return a machine's answer to a call that names it in the header."""
        result = self.fleet.hub.post(tool, arguments, token=self.token, node=node)
        answer: Json = result["structuredContent"]
        return answer


@pytest.fixture(scope="module")
def site(shared_fleet: Fleet) -> Site:
    return Site(shared_fleet)


def test_the_client_sees_all_machines(site: Site) -> None:
    """One entry in a client's configuration reaches every machine."""
    listed = site.client.call("connect", operation="list")["result"]

    assert {each["name"]: each["online"] for each in listed} == dict.fromkeys(FAR, True)


@pytest.mark.parametrize("name", FAR)
def test_exec_runs_on_the_machine_that_is_named(site: Site, name: str) -> None:
    """`connect exec` runs in the far machine's folder, past its own gate, and brings back what it wrote."""
    done = site.client.call("connect", operation="exec", hostname=name, command="pwd; echo err >&2; exit 3")

    assert done == {"stdout": f"{site.far[name].work}\n", "stderr": "err\n", "exit_code": 3}
    audit = (site.far[name].data / "audit.jsonl").read_text()
    assert '"tool":"connect"' in audit
    assert '"who":"default/ada"' in audit


# Each tool, what it is given, and something that its answer says; in the order in which they are called.
CALLS: list[tuple[str, Json, str]] = [
    ("write_file", {"path": "a/b.txt", "content": "x\nneedle\n"}, '"bytes_written": 9'),
    ("read_file", {"path": "a/b.txt", "start": 2}, '"content": "needle\\n"'),
    ("list_dir", {"path": "a"}, '"name": "b.txt"'),
    ("grep", {"pattern": "needle", "path": "."}, '"line": 2'),
    ("glob", {"pattern": "**/*.txt"}, '"a/b.txt"'),
    ("open_file", {"path": "a/b.txt"}, '"opened": false'),
    ("download_file", {"url": "http://127.0.0.1/x", "dest": "x"}, '"code": "denied"'),
    ("execute_command", {"command": "pwd"}, "/web1-"),
    ("shell_tasks", {}, '"result": []'),
    ("shell_kill", {"task_id": "0" * 16}, '"code": "not_found"'),
    ("read_logs", {"match": "linked"}, "this machine is linked"),
    ("connect", {"operation": "whoami"}, '"hostname": "web1"'),
    ("ssh_session", {"operation": "list"}, '"result": []'),
    ("ask_agent", {"hostname": "web1", "prompt": "a"}, "web1 heard: a"),
    ("ask_agent_stream", {"hostname": "localhost", "prompt": "b"}, "web1 heard: b"),
    ("ask_agents", {"hostnames": ["web1", "web2"], "prompt": "c"}, "web2 heard: c"),
    ("issue_create", {"title": "t"}, '"url": '),
    ("issue_list", {}, '"title": "t"'),
    ("issue_get", {"id": "NEWEST"}, '"title": "t"'),
    ("issue_update", {"id": "NEWEST", "status": "in_progress"}, '"ok": true'),
    ("issue_close", {"id": "NEWEST"}, '"ok": true'),
    ("todo_write", {"items": [{"text": "a", "done": True}]}, "- [x] a"),
    ("skill_list", {}, '"name": "code-review"'),
    ("skill_run", {"name": "code-review", "prompt": "d"}, "web1 heard: "),
    ("delegate_task", {"prompt": "e"}, "web1 heard: e"),
    ("task_status", {"task_id": "999999"}, '"code": "not_found"'),
    ("permissions_helper", {"operation": "show_policy"}, '"mode": "bypass"'),
]


def test_every_tool_of_a_far_machine(site: Site) -> None:
    """With the machine's name in the header each tool is done there; what is not a machine's comes back to the hub."""
    assert {tool for tool, _arguments, _says in CALLS} == set(discover()["cmdop"].tools)

    newest = ""
    for tool, arguments, says in CALLS:
        given = {name: newest if value == "NEWEST" else value for name, value in arguments.items()}
        answer = site.there("web1", tool, **given)
        assert says in json.dumps(answer), tool
        newest = str(answer["id"]) if tool == "issue_create" else newest

    assert (site.far["web1"].work / "a" / "b.txt").read_text() == "x\nneedle\n"


def test_commands_in_the_background_of_a_far_machine(site: Site) -> None:
    """A command started there goes on there, shows there alone, and is ended there."""
    started = site.there("web2", "execute_command", command="cat", background=True)

    begun = site.there("web2", "execute_command", command="sleep 600", background=True)["task_id"]
    assert begun in [each["id"] for each in site.there("web2", "shell_tasks")["result"]]
    assert begun not in [each["id"] for each in site.there("web1", "shell_tasks")["result"]]
    assert site.there("web2", "shell_kill", task_id=begun) == {"killed": True}
    assert started["status"] == "running"


def test_the_board_is_the_hub_s_also_from_far_away(site: Site) -> None:
    """A call that is not the machine's to do comes back to the hub, and is done there as the original caller."""
    made = site.there("db1", "issue_create", title="from afar")

    assert site.client.call("issue_get", id=made["id"])["title"] == "from afar"
    assert site.fleet.hub.task(int(made["id"]))["sender"] == "ada"
    assert site.there("db1", "todo_write", items=[{"text": "a", "done": True}])["rendered"] == "- [x] a"


def test_agents_of_all_machines_are_asked_at_once(site: Site) -> None:
    """Each machine's own agent answers; a host that there is none of harms nobody."""
    answer = site.client.call("ask_agents", hostnames=[*FAR, "nowhere"], prompt="hello")

    by_host = answer["by_host"]
    assert {name: by_host[name]["text"].strip() for name in FAR} == {
        name: f"{name} heard: hello" for name in FAR
    }
    assert by_host["nowhere"]["code"] == "offline"
    assert site.client.call("ask_agent", hostname="web2", prompt="hi")["text"].strip() == "web2 heard: hi"


def test_a_machine_that_is_not_there(site: Site) -> None:
    """It is said at once, and nothing waits for it to come."""
    for answer in (
        site.there("nowhere", "execute_command", command="true"),
        site.client.call("connect", operation="exec", hostname="nowhere", command="true"),
    ):
        assert answer["code"] == "offline"


def test_its_gate_decides(site: Site) -> None:
    """The far machine's own floor holds, in bypass too, whatever the hub and the caller's machine say."""
    denied = site.client.call("connect", operation="exec", hostname="web1", command="cat /etc/shadow")

    assert (denied["code"], denied["source"], denied["rule_id"]) == ("denied", "floor", "F5")


def test_the_official_client_reaches_every_machine(site: Site) -> None:
    """The client of the MCP SDK starts the server as any user's does, and finds every tool and every machine."""
    home = site.home
    command, *arguments = home.place.command([*PROGRAM, "mcp", "cmdop"])
    more = {"HUBBUB_URL": home.url, "HUBBUB_TOKEN": site.token}
    server = StdioServerParameters(
        command=command, args=arguments, env=home.environment(**more), cwd=str(home.work)
    )

    async def talk() -> tuple[set[str], list[object]]:
        async with Client(stdio_client(server)) as client:
            tools = {each.name for each in (await client.list_tools()).tools}
            said = []
            for name in FAR:
                order = {"operation": "exec", "hostname": name, "command": "echo $((6 * 7))"}
                result = await client.call_tool("connect", order)
                said.append((result.structured_content or {}).get("stdout"))
            return tools, said

    tools, said = anyio.run(talk)

    assert tools == set(discover()["cmdop"].tools)
    assert said == ["42\n"] * 3
