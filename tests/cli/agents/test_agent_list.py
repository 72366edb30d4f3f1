"""`hubbub agents`: who is here."""

from pathlib import Path

from hubbub.clients import install_record
from tests.cli.processes import RunningHub
from tests.cli.screens import on_screen


def test_agents(hub: RunningHub) -> None:
    """The list says who is there, what they do and what waits for them."""
    hub.meet("代码1号")
    hub.send("代码1号", "你好")
    (agent,) = hub.json("agents")
    assert (agent["name"], agent["condition"], agent["unread"]) == ("代码1号", "offline", 1)
    assert hub.run("agents").stdout.split("\t")[:4] == ["代码1号", "offline", "", "1"]


def test_agents_are_shown_with_what_they_were_seen_to_do(hub: RunningHub) -> None:
    """Apart from the heartbeat it is told what an agent put out last, and when; nothing of it commands a terminal."""
    client = hub.client()
    report = {"instance": "x", "take": True, "hostname": "laptop", "runtime": "claude"}
    client.put("/agents/bob/presence", report)
    task = hub.send("bob", "count the lines")
    client.post(f"/tasks/{task['id']}/start", {"by": "bob"})
    client.post(f"/tasks/{task['id']}/progress", {"by": "bob", "output": "one\n\x1b[2Jtwo"})

    (agent,) = hub.json("agents")
    row = hub.run("agents").stdout.removesuffix("\n").split("\t")
    assert (agent["last_output"], agent["last_tool"], agent["machine"]) == ("\\u001b[2Jtwo", None, "laptop")
    assert agent["last_output_at"] >= agent["seen_at"]
    assert row[:4] == ["bob", "idle", f"T-{task['number']} count the lines", ""]
    assert row[5:10] == ["claude", "laptop", "", "", "\\u001b[2Jtwo"]


def test_an_agent_is_removed(hub: RunningHub) -> None:
    """A typing error is taken back: the name is known no more, and what it was sent is dead mail."""
    hub.meet("coder", "codre")
    hub.client().post("/messages", {"to": "codre", "text": "hello"})
    removed = hub.run("agent", "remove", "codre")
    assert (removed.stdout, removed.stderr) == ("removed codre\n", "")
    assert [each["name"] for each in hub.json("agents")] == ["coder"]
    assert [each["recipient"] for each in hub.json("inbox", "hub", "--dead")] == ["codre"]
    again = hub.run("agent", "remove", "codre")
    assert (again.returncode, "did you mean coder" in again.stderr) == (1, True)


def test_an_agent_that_is_online_is_not_removed_by_mistake(hub: RunningHub) -> None:
    """A program removes an agent that is online only with --yes, and a person at a terminal is asked first."""
    worker = hub.work("coder", "cat")
    hub.until("agent.checkin")
    refused = hub.run("agent", "remove", "coder")
    assert (refused.returncode, refused.stderr) == (
        1,
        "Error: coder is online; stop it first, or remove it with --yes\n",
    )
    with on_screen(hub, "agent", "remove", "coder") as screen:
        screen.until("coder is online. Remove it? [y/N]: ")
        screen.type("n\n")
        assert "coder is online; stop it first" in screen.rest()
    assert [each["name"] for each in hub.json("agents")] == ["coder"]

    assert hub.run("agent", "remove", "coder", "--yes").stdout == "removed coder\n"
    assert worker.says("Error") == "Error: coder was removed from the project\n"
    assert worker.ended() == 1


def test_an_agent_is_renamed(hub: RunningHub) -> None:
    """A typing error is mended: the agent keeps its mail, and the command says where its program needs the new name."""
    hub.meet("coder", "codre2")
    hub.client().post("/messages", {"to": "codre2", "text": "hello"})
    renamed = hub.run("agent", "rename", "codre2", "coder2")
    assert renamed.stdout == "renamed codre2 to coder2\n"
    assert (
        renamed.stderr == "next, on each machine that has installed it: hubbub install CLIENT --as coder2\n"
    )
    assert [each["text"] for each in hub.json("inbox", "coder2")] == ["hello"]
    for names, code, sentence in (
        (("codre2", "coder3"), 1, "'codre2' is called 'coder2' now"),
        (("coder2", "coder"), 1, "'coder' already"),
        (("coder2", "x y"), 2, "an agent's name has letters"),
    ):
        refused = hub.run("agent", "rename", *names)
        assert (refused.returncode, sentence in refused.stderr) == (code, True), refused.stderr
    for command in (("agent", "remove"), ("agent", "logs"), ("why",), ("inbox",), ("wait",)):
        refused = hub.run(*command, "codre2")
        assert refused.stderr == "Error: 'codre2' is called 'coder2' now\n", command


def test_an_agent_is_described(hub: RunningHub) -> None:
    """A description is set and cleared, and stands in the list; an area waits until the agent is there."""
    hub.meet("coder")
    changed = hub.run("agent", "change", "coder", "--description", "Reviews the parser")
    assert changed.stdout == "changed coder\ndescription: Reviews the parser\n"
    assert "Reviews the parser" in hub.run("agents").stdout
    assert (
        hub.run("agent", "change", "coder", "--description", "").stdout
        == "changed coder\ndescription: none\n"
    )
    refused = hub.run("agent", "change", "coder", "--area", "api")
    assert (refused.returncode, "'coder' is not here" in refused.stderr) == (1, True)
    nothing = hub.run("agent", "change", "coder")
    assert nothing.returncode == 2
    assert nothing.stderr == "Error: say what to change: --description, --area or both\n"


def test_a_person_makes_no_agent_with_a_strange_name(hub: RunningHub, tmp_path: Path) -> None:
    """Whatever a person makes an agent by, its name is one that every shell and address takes."""
    commands = (
        ("token", "create", "--agent", "x y"),
        ("work", "x y", "--run", "cat"),
        ("install", "vscode", "--as", "x y"),
    )
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "HUBBUB_CONFIG": str(tmp_path)}
    for command in commands:
        done = hub.run(*command, **home)
        assert done.returncode in (1, 2), command
        assert "an agent's name has letters" in done.stderr, command
    assert hub.json("agents") == []


def test_the_client_of_a_removed_agent_is_named(hub: RunningHub, tmp_path: Path) -> None:
    """Whoever removes an agent is told that its installed client is still there, and how it is taken out."""
    home = {"HOME": str(tmp_path), "HUBBUB_CONFIG": str(tmp_path / "config")}
    assert hub.run("install", "windsurf", "--as", "wind", **home).returncode == 0
    removed = hub.run("agent", "remove", "wind", "--yes", **home)
    assert removed.stdout == "removed wind\n"
    assert removed.stderr == (
        "its client has no valid token any more; take it out with: hubbub install windsurf --uninstall, "
        "or give it a new one without --uninstall\n"
    )


def test_an_uninstalled_agent_is_gone_at_once(hub: RunningHub, tmp_path: Path) -> None:
    """An uninstall ends the presence of the client's agent, of which nobody hears any more."""
    home = {"HOME": str(tmp_path), "HUBBUB_CONFIG": str(tmp_path / "config")}
    assert hub.run("install", "windsurf", "--as", "wind", **home).returncode == 0
    [token] = [each.token() for each in install_record.read(tmp_path / "config")]
    assert token is not None
    hub.client().acting_with(token).post(
        "/agents/wind/glance", {"instance": "i", "client": "windsurf", "moment": "start"}
    )
    assert [each["live"] for each in hub.json("agents")] == [True]
    assert hub.run("install", "windsurf", "--uninstall", **home).returncode == 0
    assert [each["live"] for each in hub.json("agents")] == [False]
