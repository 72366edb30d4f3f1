"""`hubbub send`, `inbox` and `wait`."""

import json
import re
import signal
import subprocess

import pytest

from tests.cli.processes import PROGRAM, RunningHub, plain_environment
from tests.cli.screens import at_terminal


def waiting(hub: RunningHub, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*PROGRAM, "wait", *arguments],
        env=plain_environment(hub.data, HUBBUB_PROJECT=hub.project),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_send_and_read(hub: RunningHub) -> None:
    """A message, or with --task a task, lies in the inbox of its receiver, the more urgent first."""
    hub.meet("ada")
    assert hub.run("send", "ada", "-", given="good morning").stdout == (
        "sent M-1 to ada\nIt is offline: it sees this when it starts.\n"
    )
    sent = hub.json("send", "ada", "do it", "--task")
    assert (sent["assignee"], sent["delivery"]["wake"]) == ("ada", "none")
    assert sent["delivery"]["likely_seen"] is False
    letters = hub.json("inbox", "ada")
    assert [(each["kind"], each["text"]) for each in letters] == [
        ("message", "good morning"),
        ("task", "do it"),
    ]
    assert [line.split("\t")[:2] for line in hub.run("inbox", "ada").stdout.splitlines()] == [
        ["M-1", "message"],
        ["T-1", "task"],
    ]
    assert [each["ref"] for each in letters] == ["M-1", "T-1"]


def test_wait_for_what_is_there(hub: RunningHub) -> None:
    """Mail that is there already is printed at once, as JSON, with exit code 0."""
    hub.meet("ada")
    hub.send("ada", "early")
    assert [each["text"] for each in hub.json("wait", "ada")] == ["early"]


def test_wait_for_what_comes(hub: RunningHub) -> None:
    """It wakes when something comes."""
    hub.meet("ada")
    process = waiting(hub, "ada")
    hub.send("ada", "late")  # before or after it asks, it hears of it
    out, _ = process.communicate()
    assert (process.returncode, [each["text"] for each in json.loads(out)]) == (0, ["late"])


def test_wait_gives_up(hub: RunningHub) -> None:
    """When nothing comes in time the exit code is 4, and nothing is printed; a terminal says so."""
    hub.meet("ada")
    done = hub.run("wait", "ada", "--timeout", "0.1")
    assert (done.returncode, done.stdout, done.stderr) == (4, "", "")
    assert at_terminal(hub, "wait", "ada", "--timeout", "0.1") == "Nothing came in 0.1 s.\n"


def test_wait_is_given_up(own_hub: RunningHub) -> None:
    """Ctrl-C ends it without a word, with the exit code for nothing that came."""
    own_hub.meet("ada")
    process = waiting(own_hub, "ada")
    own_hub.until_followed()
    process.send_signal(signal.SIGINT)
    out, error = process.communicate()
    assert (process.returncode, out, error) == (4, "", "")


def test_a_message_the_wrong_way_round(hub: RunningHub) -> None:
    """Where the text is an agent's name and the receiver is nobody's, the sender is asked whether they are swapped."""
    hub.meet("counter")
    done = hub.run("send", "hi there", "counter")
    assert (done.returncode, done.stderr) == (
        1,
        "Error: no agent is called 'hi there'; is it the other way round? hubbub send counter 'hi there'\n",
    )


def test_a_task_is_sent_with_a_priority(hub: RunningHub) -> None:
    """`--priority` goes with `--task`; a message has none, which is said with the right line."""
    hub.meet("ada")
    assert hub.json("send", "ada", "now", "--task", "--priority", "high")["priority"] == "high"
    done = hub.run("send", "ada", "now", "--priority", "high")
    assert (done.returncode, "a message has no priority; send a task: " in done.stderr) == (2, True)


def test_a_message_is_answered_by_its_number(hub: RunningHub) -> None:
    """A terminal shows the number of a message, `--reply-to` takes it, and `status` counts the replies that wait."""
    hub.meet("ada")
    hub.client().post("/messages", {"to": "hub", "text": "may I?", "sender": "ada"})
    for command in ("inbox", "wait"):
        shown = at_terminal(hub, command)
        assert re.search(r"^M-1 +message .* ada .* may I\?$", shown, re.MULTILINE)
        assert shown.endswith(
            "To answer: hubbub send ada TEXT --reply-to M-1\nTo clear it: hubbub inbox --ack\n"
        )
    assert hub.run("send", "ada", "yes", "--reply-to", "M-1").stdout.startswith("sent M-2 to ada\n")
    (letter,) = hub.client().inbox("ada")
    assert letter["in_reply_to"] == hub.client().inbox("hub")[0]["id"]
    missing = hub.run("send", "ada", "yes", "--reply-to", "M-9")
    assert (missing.returncode, missing.stderr) == (1, "Error: message 'M-9' not found\n")
    assert hub.run("send", "ada", "yes", "--reply-to", "M-1", "--task").returncode == 2

    assert hub.json("status")["replies"] == 0
    asked = {"to": "hub", "text": "and?", "sender": "ada", "in_reply_to": letter["id"]}
    hub.client().post("/messages", asked)
    assert "inbox      1 reply: hubbub inbox\n" in hub.run("status").stdout


def test_a_long_text_is_shown_whole(hub: RunningHub) -> None:
    """A text that does not fit into its row, or has several lines, is shown whole below the table at a terminal."""
    hub.meet("ada")
    long = "please " + "look at the parser again " * 6 + "now"
    for text in ("short", long, "first line\n\n  second line"):
        hub.client().post("/messages", {"to": "hub", "text": text, "sender": "ada"})
    for command in ("inbox", "wait"):
        table, *below = at_terminal(hub, command).split("\nM-2 from ada:\n")
        assert ("short" in table, len(below)) == (True, 1)
        whole, third = below[0].split("\nM-3 from ada:\n")
        assert " ".join(whole.split()) == long
        assert third.startswith("  first line\n\n    second line\nTo answer: ")


def test_the_reply_to_a_message_is_waited_for(hub: RunningHub) -> None:
    """With --wait, `send` prints the reply and nothing else, once it comes, and acknowledges it; other mail stays."""
    hub.meet("ada", "bea")
    asking = subprocess.Popen(
        [*PROGRAM, "send", "ada", "which colour?", "--wait"],
        env=plain_environment(hub.data, HUBBUB_PROJECT=hub.project),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    asked = hub.until("message.sent")["message_id"]
    hub.client().post("/messages", {"text": "hello", "sender": "bea", "to": "hub"})
    hub.client().post("/messages", {"text": "blue", "sender": "ada", "in_reply_to": asked})
    out, error = asking.communicate()
    assert (asking.returncode, out) == (0, "blue\n")
    assert error == "waiting for ada: It is offline: it sees this when it starts.\n"
    assert [each["text"] for each in hub.json("inbox", "hub")] == ["hello"]


def test_no_reply_in_time(hub: RunningHub) -> None:
    """Without a reply in time the exit code is 4, and the message stays; what has no one reply is not waited for."""
    hub.meet("ada")
    done = hub.run("send", "ada", "which colour?", "--wait", "--timeout", "0.1")
    told = "waiting for ada: It is offline: it sees this when it starts.\n"
    assert (done.returncode, done.stdout, done.stderr) == (4, "", told)
    assert [each["text"] for each in hub.json("inbox", "ada")] == ["which colour?"]
    refused = {
        ("everyone", "who?", "--wait"): "--wait goes with a message to one agent or person",
        ("ada", "who?", "--timeout", "1"): "--timeout goes with --wait",
        (
            "ada",
            "who?",
            "--task",
            "--wait",
        ): "to wait for the result of a task: hubbub task add TEXT --to TO --wait",
    }
    answers = {words: hub.run("send", *words) for words in refused}
    assert {words: done.stderr.splitlines()[-1] for words, done in answers.items()} == {
        words: f"Error: {why}" for words, why in refused.items()
    }


def test_an_unknown_receiver(hub: RunningHub) -> None:
    """Who writes to an agent that nobody knows is told at a terminal how one comes to be."""
    assert hub.run("send", "bob", "hello").stderr.count("\n") == 1
    assert "Make a program an agent: hubbub work NAME --run COMMAND" in at_terminal(
        hub, "send", "bob", "hello"
    )


def test_wait_for_nobody(hub: RunningHub) -> None:
    """Waiting for an agent that the project does not know is refused at once."""
    done = hub.run("wait", "nobody")
    assert done.returncode == 1
    assert "no agent named 'nobody'" in done.stderr


@pytest.mark.system
def test_wait_survives_a_restart(own_hub: RunningHub) -> None:
    """A hub that restarts is waited for."""
    own_hub.meet("ada")
    process = waiting(own_hub, "ada")
    own_hub.until_followed()
    own_hub.stop(signal.SIGKILL)
    own_hub.start()
    own_hub.send("ada", "after all")
    out, error = process.communicate()
    assert (process.returncode, error) == (0, "")
    assert [each["text"] for each in json.loads(out)] == ["after all"]


def test_wait_for_the_hub(hub: RunningHub) -> None:
    """Mail of all people, whose receiver is the hub itself, is waited for by that name, and without any."""
    assert hub.run("send", "hub", "to whom it concerns").returncode == 0
    for named in (["hub"], []):
        assert [each["text"] for each in hub.json("wait", *named)] == ["to whom it concerns"]


@pytest.mark.parametrize("timeout", ["nan", "inf", "-1", "1e300"])
def test_wait_for_so_long(hub: RunningHub, timeout: str) -> None:
    """A timeout that is no number of seconds within a year is wrong usage."""
    assert hub.run("wait", "hub", "--timeout", timeout).returncode == 2


def test_acknowledge_what_was_shown(hub: RunningHub) -> None:
    """With --ack what was shown is acknowledged, and a task so accepted; without it everything stays."""
    hub.meet("ada")
    hub.send("ada", "do it")
    hub.run("send", "ada", "good morning")
    hub.run("inbox", "ada")
    assert {each["text"] for each in hub.json("inbox", "ada", "--ack")} == {"do it", "good morning"}
    assert hub.task(1)["status"] == "accepted"
    assert hub.client().agent("ada")["unread"] == 0


def test_what_nobody_came_to_read(hub: RunningHub) -> None:
    """`--dead` shows what became of nobody's mail to whoever sent it; it has nothing to acknowledge."""
    hub.meet("ghost")
    hub.client().post("/tasks", {"to": "ghost", "text": "now", "ttl_seconds": 1})
    hub.until("message.dead")

    (letter,) = hub.json("inbox", "hub", "--dead")
    assert (letter["recipient"], letter["expired"]) == ("ghost", True)
    assert "its time was over" in hub.run("inbox", "hub", "--dead").stdout
    assert hub.run("inbox", "ghost", "--dead").stdout == ""
    assert hub.run("inbox", "hub", "--dead", "--ack").returncode == 2


def test_everyone_is_written_to(hub: RunningHub) -> None:
    """A message to everyone lies in the inbox of each agent of the project, also of those who are not here now."""
    client = hub.client()
    assert hub.run("send", "everyone", "hello?").stdout == (
        "sent M-1 to nobody: the project has no other agent yet\n"
    )
    for name in ("ada", "bob"):
        client.put(f"/agents/{name}/presence", {"instance": "1", "take": True})
    client.delete("/agents/bob/presence", instance="1")
    hub.meet("cyd")
    assert hub.run("send", "everyone", "no deploys today").stdout == ("sent M-2 to 3 agents: ada, bob, cyd\n")
    for name in ("bob", "cyd"):
        assert [each["text"] for each in hub.json("inbox", name)] == ["no deploys today"]
    assert hub.run("send", "everyone", "do it", "--task").returncode == 2


def test_an_inbox_without_a_name_is_ones_own(hub: RunningHub) -> None:
    """Without a name a person reads what is to people or to them, the more urgent first; an agent what is to it."""
    hub.meet("ada", "owner")
    secret = hub.secret("token", "create", "--agent", "ada")
    for to in ("hub", "owner", "ada"):
        hub.client().post("/messages", {"to": to, "text": f"for {to}", "sender": "ada"})
    assert [each["text"] for each in hub.json("inbox", "--ack")] == ["for hub", "for owner"]
    assert hub.json("inbox") == []
    assert [each["text"] for each in hub.json("inbox", "--token", secret)] == ["for ada"]


def test_people_are_written_to_by_name(hub: RunningHub) -> None:
    """A person has one name, which one may send to, wait for and read the mail of; others see it beside `hub`."""
    hub.meet("ada")
    assert hub.run("send", "owner", "are you there?").stdout.startswith("sent M-1 to owner\n")
    asked = hub.client().post("/messages", {"to": "owner", "text": "may I?", "sender": "ada"})["message"]
    assert (asked["recipient"], asked["addressee"]) == ("hub", "owner")
    assert [each["text"] for each in hub.json("wait", "owner")] == ["are you there?", "may I?"]
    assert hub.json("inbox", "owner") == hub.json("inbox") == hub.json("inbox", "hub")
    told = [line.split("\t") for line in hub.run("inbox").stdout.splitlines()]
    assert [(each[3], each[-1]) for each in told] == [("owner", "are you there?"), ("ada", "may I?")]
