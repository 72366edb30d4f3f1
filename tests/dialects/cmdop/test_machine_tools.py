"""A machine's tools, each through the hub, for real."""

from typing import Any

import pytest

from hubbub.core.fleet import nodes
from hubbub.core.people import projects
from hubbub.core.work import tasks
from hubbub.model.fleet.calls import NodeInfo
from tests.dialects.cmdop.callers import refusal
from tests.dialects.cmdop.requirements import requires
from tests.dialects.cmdop.workshop import Workshop
from tests.support.waiting import patience

BYPASS = 'mode = "bypass"'


@pytest.fixture
def free(machine: Workshop) -> Workshop:
    """A machine whose operator has nothing asked."""
    machine.policy(BYPASS)
    return machine


@requires(
    "read_file.reply",
    "read_file.lines",
    "list_dir.reply",
    "grep.reply",
    "glob.reply",
    "gate.read",
    "machine.own",
)
def test_looking_around(machine: Workshop) -> None:
    """In the roots an agent reads, lists and searches without anybody being asked."""
    machine.policy("")
    ada = machine.agent()
    (machine.root / "src").mkdir()
    (machine.root / "src" / "a.py").write_text("one\ntwo\nthree\n")

    assert ada.read_file(path="src/a.py") == {"content": "one\ntwo\nthree\n", "truncated": False}
    assert ada.read_file(path="src/a.py", start=2, end=2)["content"] == "two\n"
    assert ada.list_dir(path="src") == [{"name": "a.py", "type": "file", "size": 14}]
    assert ada.grep(pattern="^t", path="src") == [
        {"file": "src/a.py", "line": 2, "text": "two"},
        {"file": "src/a.py", "line": 3, "text": "three"},
    ]
    assert ada.glob(pattern="**/*.py") == {"matches": ["src/a.py"]}


@requires("execute_command.reply", "execute_command.cwd", "execute_command.timeout")
def test_running_a_command(free: Workshop) -> None:
    """A command runs in bash, in the root or where cwd says, and for no longer than it may."""
    ada = free.agent()
    (free.root / "sub").mkdir()

    done = ada.execute_command(command="pwd; echo no >&2; exit 3")
    assert done == {"stdout": f"{free.root}\n", "stderr": "no\n", "exit_code": 3}
    assert ada.execute_command(command="pwd", cwd="sub")["stdout"] == f"{free.root / 'sub'}\n"

    late = ada.wrong("execute_command", command="echo begun; sleep 600", timeout_ms=int(1000 * patience(0.5)))
    assert (late["code"], late["stdout"]) == ("timeout", "begun\n")


@requires("execute_command.background", "shell_tasks.reply", "shell_kill.reply")
def test_a_command_in_the_background(free: Workshop) -> None:
    """It goes on after the answer, is listed with what it printed, and can be ended; by its own agent alone."""
    ada = free.agent()

    begun = ada.execute_command(command="echo here; sleep 60", background=True)

    assert begun == {"task_id": begun["task_id"], "status": "running"}
    (row,) = [row for row in ada.shell_tasks() if row["id"] == begun["task_id"]]
    assert {"id", "command", "started_at", "status", "output_tail"} <= set(row)
    assert (row["command"], row["status"]) == ("echo here; sleep 60", "running")
    bob = free.agent("bob")
    assert bob.shell_tasks() == []
    assert refusal(bob.wrong("shell_kill", task_id=begun["task_id"])) == "not_found"
    assert ada.shell_kill(task_id=begun["task_id"], signal="KILL") == {"killed": True}


@requires("write_file.reply", "open_file.reply")
def test_writing_and_opening(free: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is written with the folders above it; without a desktop none is opened."""
    for variable in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(variable, raising=False)
    ada = free.agent()

    assert ada.write_file(path="new/b.txt", content="é") == {"bytes_written": 2}
    assert (free.root / "new" / "b.txt").read_text() == "é"
    assert ada.open_file(path="new/b.txt") == {"opened": False}


@requires("download_file.loopback")
def test_nothing_is_downloaded_from_this_machine(free: Workshop) -> None:
    """Not even in bypass, and whatever the address is called."""
    ada = free.agent()

    for url in (f"{free.hub.url}/health", "http://localhost:1/a", "http://[::1]/a", "http://2130706433/a"):
        denied = ada.wrong("download_file", url=url, dest="a")
        assert (denied["code"], denied["rule_id"]) == ("denied", "F7")


@requires("read_logs.reply", "skills.skill_list")
def test_what_only_tells(machine: Workshop) -> None:
    """The daemon's log and the skills are told without asking."""
    ada = machine.agent()

    assert set(ada.read_logs(since_minutes=5, level="error", match="x")) == {"lines"}
    assert all(set(row) == {"name", "origin", "description"} for row in ada.skill_list())


@requires("connect.list", "connect.whoami", "connect.exec", "connect.exec_elsewhere", "connect.unknown")
def test_machines_by_name(free: Workshop) -> None:
    """This machine is listed and runs what is asked of it by its name; of others it is said that they are not there."""
    ada = free.agent()

    me = ada.connect(operation="whoami")
    assert set(me) == {"hostname", "machine_id"}
    (row,) = ada.connect(operation="list")
    assert (row["name"], row["online"], row["labels"]) == (me["hostname"], True, [])
    assert {"last_seen", "platform"} <= set(row)
    ran = ada.connect(operation="exec", hostname=me["hostname"], command="echo here")
    assert ran == {"stdout": "here\n", "stderr": "", "exit_code": 0}

    free.policy("")
    for hostname in ("prod-7", "PROD-8"):
        away = ada.wrong("connect", operation="exec", hostname=hostname, command="touch a")
        assert refusal(away) == "offline"
    wrong = ada.wrong("connect", operation="reboot")
    assert refusal(wrong) == "invalid"
    assert all(f"'{name}'" in wrong["error"] for name in ("list", "exec", "whoami", "workspace_sync"))


@requires("connect.share", "connect.key", "connect.workspaces")
def test_links_keys_and_workspaces(free: Workshop) -> None:
    """A link to look at a machine, the project's key, shown masked, and the projects that a token may enter."""
    admin = free.admin()
    admin.connect(operation="key_clear")

    link = admin.connect(operation="share", expires_in=3600)
    assert set(link) == {"url", "expires_at", "hostname"}
    assert link["url"].startswith("https://hub.example.org/share/")

    assert admin.connect(operation="key_show") == {"key": None}
    assert admin.connect(operation="key_set", key="sk-0123456789abcdefghij") == {"key": "sk-…ghij"}
    assert admin.connect(operation="key_show") == {"key": "sk-…ghij"}
    assert admin.connect(operation="key_clear") == {"cleared": True}
    assert free.agent().connect(operation="key_set", key="sk-0123456789") == {"key": "sk-…"}

    (row,) = admin.connect(operation="workspace_list")
    assert (row["workspace"], row["in_use"]) == (free.hub.project.slug, True)
    assert admin.connect(operation="workspace_use", workspace=row["workspace"]) == {
        "workspace": row["workspace"]
    }
    assert refusal(admin.wrong("connect", operation="workspace_use", workspace="elsewhere")) == "not_found"
    assert admin.connect(operation="workspace_sync")["synced"] is True


@requires("connect.key_secret")
def test_the_key_of_a_project_is_in_no_output(free: Workshop) -> None:
    """From when it is set, also where it looks like any word."""
    free.admin().connect(operation="key_set", key="correct-horse")

    assert free.agent().execute_command(command="echo correct-horse")["stdout"] == "[redacted]\n"


@requires("ssh_session.operations")
def test_shells_elsewhere(machine: Workshop) -> None:
    """A host that there is not is offline; about what nothing can come of nobody is asked, about a host somebody is."""
    machine.policy('approval_timeout = "50ms"')
    ada = machine.agent()

    assert ada.ssh_session(operation="list") == []
    assert refusal(ada.wrong("ssh_session", operation="open")) == "invalid"
    assert refusal(ada.wrong("ssh_session", operation="open", hostname="-x")) == "invalid"
    assert refusal(ada.wrong("ssh_session", operation="open", hostname="prod.invalid")) == "offline"
    asked = ada.wrong("ssh_session", operation="open", hostname="127.0.0.1:1")
    assert (asked["code"], asked["target"]) == ("needs_approval", "open:127.0.0.1:1")
    for operation in ("send", "read", "close"):
        given: dict[str, Any] = {"operation": operation, "session_id": "1", "command": "ls"}
        assert refusal(ada.wrong("ssh_session", **given)) == "not_found"
    machine.policy(BYPASS)
    assert refusal(ada.wrong("ssh_session", operation="open", hostname="127.0.0.1:1")) == "offline"


@requires("ask_agent.none")
def test_a_machine_without_an_agent_says_so(free: Workshop) -> None:
    """Nobody answers for an agent that there is not."""
    hostname = free.agent().connect(operation="whoami")["hostname"]

    refused = free.agent().wrong("ask_agent", hostname=hostname, prompt="hello")

    assert refusal(refused) == "failed"
    assert "runtime" in refused["error"]


@requires("ask_agent.reply", "ask_agent.agents", "delegate_task.reply", "delegate_task.board")
def test_a_machine_with_an_agent(machine: Workshop) -> None:
    """A program of the operator's choice answers, alone, for several, and for a task of the board."""
    machine.policy(BYPASS, '[runtime]\nkind = "command"\ncommand = ["sed", "s/^/so: /"]')
    ada = machine.agent()
    hostname = ada.connect(operation="whoami")["hostname"]

    assert ada.ask_agent(hostname=hostname, prompt="hello") == {"text": "so: hello", "tool_calls": []}
    several = ada.ask_agents(hostnames=[hostname, "prod-7"], prompt="hello")
    assert several["by_host"][hostname]["text"] == "so: hello"
    assert several["by_host"]["prod-7"]["code"] == "offline"
    assert several["timed_out"] == []

    done = ada.delegate_task(prompt="mend it")
    assert (done["text"], done["status"]) == ("so: mend it", "done")
    assert ada.task_status(task_id=done["task_id"])["status"] == "done"
    task = machine.hub.do(lambda tx: tasks.find(tx, [machine.hub.project.id], done["task_id"]))
    assert (task.sender, task.assignee, task.result) == ("ada", f"node:{hostname}", "so: mend it")


def test_the_machine_is_there_while_the_hub_runs(machine: Workshop) -> None:
    """The hub's own machine is among its project's machines, and serves agents of every project of its owner."""
    (known,) = machine.hub.do(lambda tx: nodes.listed(tx, machine.hub.project))
    assert known.sandbox in ("bwrap", "landlock", "none")

    other = machine.hub.other_project()
    ann = machine.agent("ann", other)
    assert [row["name"] for row in ann.connect(operation="list")] == [known.name]
    assert machine.audit()[-1]["who"] == "elsewhere/ann"


def test_another_machine_may_have_had_the_name_before(machine: Workshop) -> None:
    """Where another machine is called as the hub's own, that one is listed."""
    hostname = machine.agent().connect(operation="whoami")["hostname"]
    other = machine.hub.do(lambda tx: projects.create(tx, "third"), machine.hub.owner)
    about = NodeInfo(name=hostname, machine_id="m-2", platform="Linux", version="1", sandbox="none")
    machine.hub.do(lambda tx: nodes.report(tx, other, about))
    (row,) = machine.agent("ann", other).connect(operation="list")
    assert (row["name"], row["platform"]) == (hostname, "Linux")
