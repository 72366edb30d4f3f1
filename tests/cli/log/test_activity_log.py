"""`hubbub log`: what happened, and what happens."""

import json
import signal
import subprocess

from tests.cli.processes import PROGRAM, RunningHub, plain_environment
from tests.cli.screens import at_terminal


def test_log(hub: RunningHub) -> None:
    """The log shows what happened, oldest first, as much of it as is asked for."""
    hub.until("node.joined")
    hub.meet("ada")
    hub.send("ada", "first thing")
    kinds = [json.loads(line)["kind"] for line in hub.run("log", "--json").stdout.splitlines()]
    assert kinds == ["project.created", "node.joined", "agent.met", "token.created", "task.sent"]
    assert hub.run("log", "--limit", "1").stdout.endswith("task.sent T-1 by owner for ada first thing\n")


def test_the_log_at_a_terminal(hub: RunningHub) -> None:
    """A terminal shows what people ask for, and every step with --all; a program gets every step."""
    hub.meet("ada")
    hub.send("ada", "first thing")
    brief, whole = at_terminal(hub, "log"), at_terminal(hub, "log", "--all")
    assert ("task.sent" in brief, "agent.met" in brief, "agent.met" in whole) == (True, False, True)
    assert "every step: hubbub log --all" in brief
    assert at_terminal(hub, "log", "--kind", "task.failed") == "Nothing matches.\n"
    assert hub.run("log", "--kind", "task.failed").stderr == ""
    assert "agent.met" in hub.run("log").stdout


def test_the_log_is_narrowed(hub: RunningHub) -> None:
    """`--kind` takes kinds and groups, `--since` and `--until` moments; it refuses an unknown kind or agent."""
    hub.meet("ada")
    hub.send("ada", "first thing")

    def kinds(*options: str) -> list[str]:
        done = hub.run("log", "--json", *options)
        assert done.returncode == 0, done.stderr
        return [json.loads(line)["kind"] for line in done.stdout.splitlines()]

    assert kinds("--kind", "task.*", "--kind", "agent.met") == ["agent.met", "task.sent"]
    assert kinds("--kind", "task", "--since", "2h") == ["task.sent"]
    assert kinds("--until", "yesterday") == kinds("--since", "2999-01-01T00:00:00Z") == []
    assert (kinds("--agent", "ada")[-1], kinds("--agent", "ada", "--until", "3d")) == ("task.sent", [])
    for options, code, words in (
        (["--kind", "task.complete"], 2, "did you mean task.completed?"),
        (["--since", "soon"], 2, "'soon' is no time; write one such as"),
        (["--agent", "adda"], 1, "did you mean ada?"),
        (["--follow", "--until", "1h"], 2, "give one of them"),
    ):
        done = hub.run("log", *options)
        assert (done.returncode, words in done.stderr) == (code, True), done.stderr


def test_log_follows(hub: RunningHub) -> None:
    """With --follow it goes on with what happens, without a gap between past and present."""
    hub.until("node.joined")
    hub.meet("ada")
    process = subprocess.Popen(
        [*PROGRAM, "log", "--follow", "--limit", "1", "--json"],
        env=plain_environment(hub.data, HUBBUB_PROJECT=hub.project),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["kind"] == "token.created"
    hub.send("ada", "news")
    assert json.loads(process.stdout.readline())["kind"] == "task.sent"
    process.terminate()
    process.communicate()


def test_interrupt_ends_following(hub: RunningHub) -> None:
    """An interrupt is how following ends: exit code 0, and not a word."""
    process = subprocess.Popen(
        [*PROGRAM, "log", "--follow"],
        env=plain_environment(hub.data, HUBBUB_PROJECT=hub.project),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    hub.meet("ada")
    process.stdout.readline()  # of what came while it followed
    process.send_signal(signal.SIGINT)
    _out, error = process.communicate()
    assert (process.returncode, error) == (0, "")


def test_the_log_of_one_task_or_agent(hub: RunningHub) -> None:
    """With --task or --agent the log shows only what concerns that one, be it past or to come."""
    hub.meet("ada", "bob")
    hub.send("ada", "one")
    hub.send("bob", "two")
    of_task = [
        json.loads(line)["detail"]["number"]
        for line in hub.run("log", "--task", "2", "--json").stdout.splitlines()
    ]
    assert of_task == [2]
    of_agent = [
        json.loads(line)["agent"] for line in hub.run("log", "--agent", "bob", "--json").stdout.splitlines()
    ]
    assert set(of_agent) == {"bob"}
    process = subprocess.Popen(
        [*PROGRAM, "log", "--follow", "--task", "2", "--limit", "1", "--json"],
        env=plain_environment(hub.data, HUBBUB_PROJECT=hub.project),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["kind"] == "task.sent"
    for number in (1, 2):
        hub.client().step(str(number), "cancel")
    told = json.loads(process.stdout.readline())
    assert (told["kind"], told["detail"]["number"]) == ("task.cancelled", 2)
    process.terminate()
    process.communicate()
