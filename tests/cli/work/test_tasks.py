"""`hubbub tasks` and `hubbub task`."""

import json
import re
import signal
import subprocess
from functools import partial

from hubbub.worker import instance
from tests.cli.processes import PROGRAM, RunningHub, plain_environment
from tests.cli.screens import at_terminal
from tests.support.waiting import until


def test_life_of_a_task(hub: RunningHub) -> None:
    """A task is added, reassigned, cancelled and retried by its number; each command says how it is now."""
    hub.meet("ada", "bob")
    added = hub.json(
        "task", "add", "Read\nall of it", "--to", "ada", "--priority", "high", "--title", "Reading"
    )
    assert (added["number"], added["status"], added["priority"], added["title"]) == (
        1,
        "delivered",
        "high",
        "Reading",
    )
    done = hub.run("task", "reassign", "1", "bob", "--reason", "knows the text")
    assert done.stdout == "T-1 delivered, with bob: Reading\n"
    assert "knows the text" in [each["text"] for each in hub.json("inbox", "bob")]
    assert (
        hub.run("task", "cancel", "1", "--reason", "no time").stdout == "T-1 cancelled, with bob: Reading\n"
    )
    assert hub.json("task", "show", "1")["task"]["result"] == "no time"
    again = hub.run("task", "cancel", "1")
    assert again.returncode == 1
    assert again.stderr.startswith("Error: T-1 was already cancelled by owner ")
    assert hub.run("task", "retry", "1").stdout == "T-1 delivered, with bob: Reading\n"
    shown = hub.run("task", "show", added["id"]).stdout
    assert "Read\nall of it" in shown
    assert shown.count("task.") == 4


def test_a_task_is_named_by_the_beginning_of_its_id(hub: RunningHub) -> None:
    """The beginning of a task's id names it, if only one begins so; with several, more of it is asked for."""
    first, second, _third = (hub.json("task", "add", name)["id"] for name in ("first", "second", "third"))
    shown = hub.run("task", "show", second[:-2].upper()).stdout
    assert shown.startswith("T-2 queued, free to claim: second\n")
    assert hub.json("why", second[:-2])["name"] == "2"
    assert hub.json("proof", first[:-2])["findings"] == []
    assert hub.run("task", "cancel", first[:-2]).stdout == "T-1 cancelled: first\n"
    part = hub.json("task", "add", "part", "--parent", first[:-2], "--depends-on", second[:-2])
    assert (part["parent_id"], part["depends_on"]) == (first, [second])
    assert "depends on T-2\n" in hub.run("task", "show", "4").stdout
    assert hub.run("log", "--task", second[:-2]).stdout == hub.run("log", "--task", "2").stdout != ""
    minute = second[:8]  # which it has in common with the one before, the one after, or both
    assert f" ids begin with {minute!r}; give more of the id\n" in hub.run("task", "show", minute).stderr


def test_a_history_is_in_order(hub: RunningHub) -> None:
    """`task show` tells messages and steps of a task in the order of time: in full with ages, or as RFC 3339."""
    hub.meet("ada")
    hub.run("task", "add", "Read", "--to", "ada")
    hub.run("task", "comment", "1", "mind the tests")
    hub.run("task", "cancel", "1")
    lines = hub.run("task", "show", "1").stdout.splitlines()
    told = [line for line in lines if re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ", line)]
    assert told == sorted(told, key=lambda line: line.split()[0])
    assert [line.partition(" ")[2] for line in told if "mind" in line or "task." in line] == [
        "task.sent by owner",
        "owner to ada: mind the tests",
        "task.cancelled by owner",
    ]
    assert re.search(
        r":\d\d [A-Z]\w+ \(\d+ s ago\) task.sent by owner\n", at_terminal(hub, "task", "show", "1")
    )


def test_a_list_is_narrowed(hub: RunningHub) -> None:
    """`tasks` takes several statuses, a priority, an area, a sender and words, and says so of an unknown agent."""
    hub.meet("ada", "bob")
    hub.run("task", "add", "Read the parser", "--to", "ada", "--priority", "high", "--area", "docs")
    hub.run("task", "add", "Write the lexer")
    hub.run("task", "cancel", "2")
    hub.run("task", "add", "Sweep", "--priority", "low")

    def listed(*options: str) -> list[int]:
        return [each["number"] for each in hub.json("tasks", *options)]

    assert listed("--status", "queued, cancelled") == listed("--status", "queued", "--status", "cancelled")
    assert listed("--status", "queued,cancelled") == [3, 2]
    assert listed("--priority", "high") == listed("--area", "docs") == listed("--search", "PARSER") == [1]
    assert (listed("--sender", "owner"), listed("--sender", "ada")) == ([3, 2, 1], [])
    assert listed("--assignee", "bob") == []
    wrong = hub.run("tasks", "--assignee", "adda")
    assert (wrong.returncode, "did you mean ada?" in wrong.stderr) == (1, True)
    assert "'completed'?" in hub.run("tasks", "--status", "queued,done").stderr


def test_an_agent_works_by_commands_alone(hub: RunningHub) -> None:
    """With an agent's token, a task is claimed, started, reported on, blocked, submitted and failed by commands."""
    token = hub.secret("token", "create", "--agent", "shelly")
    hub.run("task", "add", "Paint it")
    hub.run("task", "add", "Sell it")

    def does(verb: str, *words: str) -> str:
        done = hub.run("task", verb, *words, HUBBUB_TOKEN=token)
        return done.stdout or done.stderr

    assert does("complete", "1", "done") == "Error: the task is free; claim it first\n"
    assert does("claim", "1") == "T-1 accepted, with shelly: Paint it\n"
    assert does("start", "1") == "T-1 working, with shelly: Paint it\n"
    assert does("progress", "1", "one wall", "--percent", "25") == "T-1 working, with shelly: Paint it\n"
    told = hub.json("task", "show", "1")["activity"]
    assert [each["detail"]["progress"] for each in told if each["kind"] == "task.progress"] == [25]
    assert [each["detail"]["reason"] for each in told if each["kind"] == "task.noted"] == ["one wall"]
    assert "say how far it is, in words or with --percent" in does("progress", "1")
    assert does("block", "1", "no paint") == "T-1 blocked, with shelly: Paint it\n"
    assert does("start", "1") == "T-1 working, with shelly: Paint it\n"
    assert does("submit", "1", "-") == "T-1 in_review, with shelly: Paint it\n"
    assert does("start", "2") == "T-2 working, with shelly: Sell it\n"
    assert does("fail", "2", "nobody buys") == "T-2 failed, with shelly: Sell it\n"
    assert hub.task(2)["result"] == "nobody buys"
    assert does("fail", "2", "again").startswith("Error: T-2 was already failed by shelly ")


def test_a_person_acts_as_an_agent(hub: RunningHub) -> None:
    """A person names the agent with --as; without it, a free task has no one who could hold it."""
    hub.meet("shelly")
    hub.run("task", "add", "Paint it")
    alone = hub.run("task", "claim", "1")
    assert (alone.returncode, alone.stderr) == (
        1,
        "Error: the task cannot be claimed: it is free; say who claims it: --as AGENT\n",
    )
    assert hub.run("task", "claim", "1", "--as", "shelly").stdout == "T-1 accepted, with shelly: Paint it\n"
    assert hub.run("task", "start", "1", "--as", "shelly").stdout == "T-1 working, with shelly: Paint it\n"


def test_open_queue_and_parts(hub: RunningHub) -> None:
    """Without --to a task is free to claim; with a --parent, unless empty, a part of it; `-` reads standard input."""
    whole = hub.run("task", "add", "-", given="the whole\n")
    assert whole.stdout == "T-1 queued, free to claim: the whole\n"
    part = hub.json("task", "add", "a part", "--parent", "1", "--context", "see there")
    assert part["parent_id"] == hub.client().task("1")["id"]
    assert hub.json("task", "add", "of a broadcast", "--parent=")["parent_id"] is None
    assert part["context"] == "see there"


def test_a_task_can_wait_for_others(hub: RunningHub) -> None:
    """With --depends-on, which may be repeated, a task waits for others, named by number or id, and shows them."""
    hub.meet("ada")
    _first, second = (hub.json("task", "add", name)["id"] for name in ("first", "second"))
    held = hub.run("task", "add", "third", "--to", "ada", "--depends-on", "1", "--depends-on", second)
    assert held.stdout == "T-3 queued, with ada, waits for others: third\n"
    assert (
        hub.run("task", "add", "fourth", "--depends-on", "3").stdout
        == "T-4 queued, waits for others: fourth\n"
    )
    assert "depends on T-1, T-2\n" in hub.run("task", "show", "3").stdout
    for each in ("1", "2"):
        hub.client().step(each, "start", by="ada")
        hub.client().step(each, "complete", by="ada")
    assert hub.run("task", "show", "3").stdout.startswith("T-3 delivered, with ada: third\n")


def test_a_task_cannot_wait_for_what_is_not_there(hub: RunningHub) -> None:
    """Depending on an unknown task is refused, and adds none."""
    refused = hub.run("task", "add", "x", "--depends-on", "9")
    assert (refused.returncode, refused.stderr) == (1, "Error: task '9' not found\n")
    assert hub.json("tasks") == []


def test_a_task_in_an_area(hub: RunningHub) -> None:
    """With --area a task is in an area, which the project must have if it has any; `show` tells it."""
    assert hub.json("task", "add", "early", "--area", "anything")["area"] == "anything"
    hub.run("project", "area", hub.project, "backend", "--name", "Backend", "--pattern", "app/")
    hub.run("task", "add", "now", "--area", "backend")
    assert "in the area backend\n" in hub.run("task", "show", "2").stdout
    refused = hub.run("task", "add", "late", "--area", "anything")
    assert (refused.returncode, refused.stderr) == (
        2,
        "Error: the project has no area 'anything'; it has backend\n",
    )
    assert len(hub.json("tasks")) == 2


def test_list_by_status_and_assignee(hub: RunningHub) -> None:
    """The list holds those in any of the statuses asked for, of the agent asked for, newest first."""
    hub.meet("ada", "bob")
    for name in ("ada", "bob", "ada", "ada"):
        hub.send(name, f"for {name}")
    hub.client().step("3", "cancel")
    listed = hub.json(
        "tasks", "--assignee", "ada", "--status", "delivered", "--status", "cancelled", "--limit", "2"
    )
    assert [(each["number"], each["status"]) for each in listed] == [(4, "delivered"), (3, "cancelled")]
    assert hub.run("tasks", "--assignee", "bob").stdout.split("\t")[:5] == [
        "T-2",
        "delivered",
        "medium",
        "owner",
        "bob",
    ]


def test_ended_task_is_not_free(hub: RunningHub) -> None:
    """A cancelled task that nobody had is not shown as free to claim."""
    hub.run("task", "add", "never mind")
    assert hub.run("task", "cancel", "1").stdout == "T-1 cancelled: never mind\n"
    assert "free to claim" not in hub.run("task", "show", "1").stdout


def test_a_list_says_that_there_is_more(hub: RunningHub) -> None:
    """Where a list ends before everything is shown, it says so beside it, and how to see the rest."""
    hub.meet("ada")
    for number in range(3):
        hub.send("ada", f"task {number}")
    cut = hub.run("tasks", "--limit", "2")
    assert (len(cut.stdout.splitlines()), cut.stderr) == (2, "2 of 3; all of them with --all\n")
    one = hub.run("tasks", "--limit", "1", "--assignee", "ada", "--status", "delivered")
    assert one.stderr == "1 of 3; all of them with --all\n"
    whole = hub.run("tasks", "--limit", "2", "--all")
    assert (len(whole.stdout.splitlines()), whole.stderr) == (3, "")
    assert hub.run("inbox", "ada", "--limit", "2").stderr == "2 of 3; more with --limit\n"
    assert hub.run("inbox", "ada").stderr == ""
    assert hub.run("log", "--limit", "2").stderr == "the last 2; more with --limit\n"
    assert hub.run("log").stderr == ""


def test_what_people_do_with_a_task(hub: RunningHub) -> None:
    """People comment on a task, answer who is blocked, so that the task goes on, and say that it is done."""
    hub.meet("ada")
    hub.send("ada", "Mend the gate")
    client = hub.client()
    client.post("/tasks/1/start", {"by": "ada"})
    client.post("/tasks/1/block", {"by": "ada", "reason": "which wood?"})
    assert hub.run("task", "comment", "1", "mind the dog").stdout == "sent to ada\n"
    assert hub.run("task", "answer", "1", "oak").stdout == "T-1 working, with ada: Mend the gate\n"
    assert [each["text"] for each in hub.json("inbox", "ada") if each["kind"] != "task"][:2] == [
        "mind the dog",
        "oak",
    ]
    assert (
        hub.run("task", "complete", "1", "done by hand").stdout == "T-1 completed, with ada: Mend the gate\n"
    )
    assert hub.json("task", "show", "1")["task"]["result"] == "done by hand"


def test_a_task_that_waits_for_nobody_has_no_answer(hub: RunningHub) -> None:
    """Answering a task that waits for no answer is refused, with the command for a remark, and nobody hears of it."""
    hub.meet("ada")
    hub.send("ada", "Mend the gate")
    answered = hub.run("task", "answer", "1", "yes")
    assert (answered.returncode, answered.stderr) == (
        1,
        "Error: T-1 waits for no answer; to add a remark: hubbub task comment 1 TEXT\n",
    )
    assert hub.json("task", "show", "1")["messages"] == []


def test_a_person_has_the_same_name_everywhere_in_a_task(hub: RunningHub) -> None:
    """Who sent a task, who wrote about it and who is in its log: a person is named as they sign in."""
    hub.meet("ada")
    hub.send("ada", "Mend the gate")
    hub.run("task", "comment", "1", "mind the dog")
    told = hub.run("task", "show", "1").stdout
    assert "\nfrom owner, medium, " in told
    assert " owner to ada: mind the dog\n" in told
    assert " task.sent by owner\n" in told
    assert hub.json("task", "show", "1")["messages"][0]["author"] == "owner"
    hub.client().step("1", "complete", by="ada", result="the dog is minded")
    assert " ada to owner: the dog is minded\n" in hub.run("task", "show", "1").stdout
    assert " message.sent by ada for owner\n" in hub.run("log").stdout


def test_ones_own_tasks(hub: RunningHub) -> None:
    """With --mine people see what they gave, and an agent what it has; `task list` is `tasks`."""
    hub.meet("ada", "bob")
    secret = hub.secret("token", "create", "--agent", "ada")
    hub.send("ada", "from people")
    hub.send("bob", "from ada", sender="ada")
    assert [each["title"] for each in hub.json("tasks", "--mine")] == ["from people"]
    assert [each["title"] for each in hub.json("task", "list", "--mine", "--token", secret)] == [
        "from people"
    ]
    assert hub.json("task", "list") == hub.json("tasks")
    other = hub.secret("user", "create", "eve", "--role", "member", "--project", hub.project)
    assert hub.json("tasks", "--mine", "--token", other) == []


def test_a_task_that_there_is_already(hub: RunningHub) -> None:
    """A task that is the same job as an open one is refused by REST, and so by the command, unless --anyway is said."""
    hub.run("task", "add", "Solve octo/parser#7")
    refused = hub.run("task", "add", "Fix octo/parser#7")
    assert "T-1 'Solve octo/parser#7' (queued) is about octo/parser#7 too" in refused.stderr
    assert refused.stderr.endswith("; to make another: hubbub task add TEXT --anyway\n")
    assert refused.returncode == 1
    assert hub.run("task", "add", "Fix octo/parser#7", "--anyway").stdout.startswith("T-2 queued")


def test_the_result_of_a_task_is_waited_for(hub: RunningHub) -> None:
    """With --wait its result is printed, also if its agent comes only now; the reply then counts as read."""
    asking = start(hub, "one two three", "--to", "counter")
    hub.work("counter", "wc -w")
    result, waits = asking.communicate()
    assert (asking.returncode, result) == (0, "3\n")
    assert waits == "" or waits.startswith("waiting for counter")  # told where nobody of that name is there
    assert hub.client().inbox("hub") == []


def test_a_worker_that_is_just_starting_is_waited_for(hub: RunningHub) -> None:
    """A task or a message may be sent right after its worker was started, which the hub does not know yet."""
    command = ["/usr/bin/env", *PROGRAM, "work", "sleeper=cat", "reader=cat"]  # with its own command line
    environment = plain_environment(hub.data, HUBBUB_PROJECT=hub.project)
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as worker:
        try:
            until(partial(instance.is_run_here, "sleeper"), "the worker has its command line")
            for words in (("task", "add", "nap", "--to", "sleeper"), ("send", "reader", "good morning")):
                sent = hub.run(*words)
                assert (sent.returncode, sent.stderr) == (0, "")
        finally:
            worker.kill()


def test_a_task_that_is_waited_for_may_fail(hub: RunningHub) -> None:
    """If it fails, that is the error; with --json the task is printed in any case."""
    hub.work("grumbler", "echo 'no such thing' >&2; exit 3").says("ready")
    failed = hub.run("task", "add", "try", "--to", "grumbler", "--wait")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr == "Error: T-1 failed: exit code 3\nno such thing\n"
    shown = hub.run("task", "add", "try again", "--to", "grumbler", "--wait", "--json")
    assert (shown.returncode, json.loads(shown.stdout)["status"]) == (1, "failed")


def test_a_wait_for_a_task_outlasts_the_hub(own_hub: RunningHub) -> None:
    """The result comes also if the hub was killed meanwhile; a question to the one who waits is told."""
    own_hub.meet("ada")
    asking = start(own_hub, "decide", "--to", "ada")
    own_hub.until("task.sent")
    own_hub.until_followed()
    for verb in ("accept", "start"):
        own_hub.client().step("1", verb, by="ada")
    own_hub.client().step("1", "block", by="ada", reason="red or blue?")
    assert asking.stderr is not None
    assert asking.stderr.readline().startswith("waiting for ada: ")
    assert (
        asking.stderr.readline() == "ada asks: hubbub task show 1; answer with: hubbub task answer 1 TEXT\n"
    )
    own_hub.stop(signal.SIGKILL)
    own_hub.start()
    own_hub.client().step("1", "unblock", by="ada")
    own_hub.client().step("1", "complete", by="ada", result="blue")
    assert asking.communicate()[0] == "blue\n"


def test_it_is_said_who_is_waited_for(hub: RunningHub) -> None:
    """Who waits for a task that nobody will see soon is told on standard error who that is, and why."""
    hub.meet("ada")
    for number, whom, options in ((1, "ada", ("--to", "ada")), (2, "any agent", ())):
        asking = start(hub, "decide", *options)
        assert asking.stderr is not None
        told = asking.stderr.readline()
        hub.client().step(str(number), "cancel")
        asking.communicate()
        assert told.startswith(f'waiting for {whom}: Task T-{number} "decide" ')


def start(hub: RunningHub, text: str, *options: str) -> subprocess.Popen[str]:
    """Begin `hubbub task add … --wait`."""
    return subprocess.Popen(
        [*PROGRAM, "task", "add", text, *options, "--wait"],
        env=plain_environment(hub.data, HUBBUB_PROJECT=hub.project),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
