"""`hubbub work`: any program as an agent, through a real hub, with real signals."""

import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.processes import RunningHub, ends


def pid_in(fifo: Path) -> int:
    """The number that a command writes into the pipe once it runs; blocks until then."""
    return int(fifo.read_text())


def fifo(tmp_path: Path, name: str = "began") -> Path:
    os.mkfifo(tmp_path / name)
    return tmp_path / name


def result_of(hub: RunningHub, number: int) -> Any:
    hub.until("task.completed", lambda each: each["detail"]["number"] == number)
    return hub.task(number)


def test_replies_with_what_the_command_printed(hub: RunningHub) -> None:
    """The command gets the task's text on standard input, and what it prints is the reply to the sender."""
    hub.work("upper", "tr a-z A-Z").says("ready")
    hub.send("upper", "make me big")
    task = result_of(hub, 1)
    assert (task["status"], task["result"], task["assignee"]) == ("completed", "MAKE ME BIG", "upper")
    assert hub.client().get("/tasks/1")["messages"][0]["body"] == "MAKE ME BIG"


def test_several_agents_in_one_process(hub: RunningHub) -> None:
    """Each NAME=COMMAND is an agent with its own command; they work side by side, and one signal lets all leave."""
    worker = hub.work_as("upper=tr a-z A-Z", "counter=wc -w")
    worker.says("ready")
    worker.says("ready")
    hub.send("upper", "make me big")
    hub.send("counter", "one two three")
    assert (result_of(hub, 1)["result"], result_of(hub, 2)["result"]) == ("MAKE ME BIG", "3")
    worker.signal(signal.SIGTERM)
    assert worker.ended() == 0
    assert not any(each["live"] for each in hub.client().get("/agents")["agents"])


def test_of_several_agents_one_that_is_taken_ends_all(hub: RunningHub) -> None:
    """If a worker may not be one of its agents, it is none of them, and says which and why."""
    first = hub.work("upper", "tr a-z A-Z")
    first.says("ready")
    second = hub.work_as("counter=wc -w", "upper=cat")
    assert second.ended() == 1
    assert "Error: upper already runs as process" in second.said[-1]
    live = {each["name"] for each in hub.client().get("/agents")["agents"] if each["live"]}
    assert live == {"upper"}


def test_a_program_stands_after_the_name(hub: RunningHub) -> None:
    """The words of one agent's command may stand after its name and `--`; without `--` an option says so."""
    worker = hub.work_as("counter", "--", "wc", "-w")
    worker.says("ready")
    hub.send("counter", "one two three")
    assert result_of(hub, 1)["result"] == "3"
    worker.signal(signal.SIGTERM)
    assert worker.ended() == 0
    refused = hub.run("work", "counter", "wc", "-w")
    assert (refused.returncode, refused.stderr) == (
        2,
        "Error: No such option '-w'. Put a program with options after --: hubbub work NAME -- PROGRAM …\n",
    )


def test_each_agent_needs_one_command(hub: RunningHub) -> None:
    """An agent without a command, or with two, is refused with what to write."""
    refused = {
        ("upper",): "upper needs a command: hubbub work upper --run COMMAND, or upper=COMMAND",
        ("upper=",): "upper needs a command: hubbub work upper --run COMMAND, or upper=COMMAND",
        ("upper", "a=cat"): "upper needs a command: hubbub work upper --run COMMAND, or upper=COMMAND",
        ("a=cat", "a=wc"): "a has two commands; an agent has one",
        ("a", "b", "--run", "cat"): "--run is for one NAME; for several agents write NAME=COMMAND for each",
    }
    told = {words: hub.run("work", *words) for words in refused}
    assert {words: done.stderr.splitlines()[-1] for words, done in told.items()} == {
        words: f"Error: {why}" for words, why in refused.items()
    }
    assert {done.returncode for done in told.values()} == {2}


def test_tells_the_command_about_its_task(hub: RunningHub) -> None:
    """The command's environment says which task it is, from whom, how urgent, which attempt, and how to use the hub."""
    hub.work("reader", "env | sort").says("ready")
    sent = hub.send("reader", "first line\nsecond", priority="high", context="as ever")
    printed = dict(line.split("=", 1) for line in result_of(hub, 1)["result"].splitlines() if "=" in line)
    assert {name: printed[name] for name in printed if name.startswith("HUBBUB_TASK_")} == {
        "HUBBUB_TASK_ID": sent["id"],
        "HUBBUB_TASK_NUMBER": "1",
        "HUBBUB_TASK_TITLE": "first line",
        "HUBBUB_TASK_SENDER": "owner",
        "HUBBUB_TASK_PRIORITY": "high",
        "HUBBUB_TASK_CONTEXT": "as ever",
        "HUBBUB_TASK_ATTEMPT": "1",
    }
    assert (printed["HUBBUB_AGENT"], printed["HUBBUB_PROJECT"]) == ("reader", hub.project)
    assert printed["HUBBUB_URL"] == hub.url


def test_command_may_use_the_hub_as_the_agent(hub: RunningHub) -> None:
    """The token that the command finds in its environment is that of its agent, so that it may send mail itself."""
    hub.meet("friend")
    hub.work("writer", '"$PYTHON" -m hubbub send friend "from inside"', PYTHON=sys.executable).says("ready")
    hub.send("writer", "write")
    result_of(hub, 1)
    assert [(each["sender"], each["text"]) for each in hub.client().inbox("friend")] == [
        ("writer", "from inside")
    ]


def test_a_program_gets_the_reply_to_its_question(hub: RunningHub, tmp_path: Path) -> None:
    """While a program runs, the worker leaves it the replies to what it sent: `hubbub wait` in it prints them."""
    hub.meet("ada")
    go = fifo(tmp_path)
    asks = (
        f'"$PYTHON" -m hubbub send ada "which colour?" && cat {go} && "$PYTHON" -m hubbub wait --timeout 60'
    )
    worker = hub.work("asker", asks, "--concurrency", "2", PYTHON=sys.executable)
    worker.says("ready")
    hub.send("asker", "paint it")
    question = hub.until("message.sent")["message_id"]
    hub.client().post("/messages", {"text": "blue", "sender": "ada", "in_reply_to": question})
    hub.client().post("/messages", {"text": "by the way", "to": "asker"})
    worker.says("by the way")  # which came after the reply, and is shown
    go.write_text("")
    printed = json.loads(result_of(hub, 1)["result"].partition("\n")[2].partition("\n")[2])
    assert [(each["kind"], each["text"]) for each in printed] == [("reply", "blue")]
    worker.says("reply from ada: blue")  # once the program has ended
    hub.until("message.acked", times=2)
    assert hub.client().inbox("asker") == []


def test_a_program_asks_and_goes_on_with_the_answer(hub: RunningHub) -> None:
    """`hubbub send --wait` in a program prints the answer, and acknowledges it."""
    hub.meet("ada")
    asks = '"$PYTHON" -m hubbub send ada "which colour?" --wait --timeout 60'
    worker = hub.work("asker", asks, "--concurrency", "2", PYTHON=sys.executable)
    worker.says("ready")
    hub.send("asker", "paint it")
    question = hub.until("message.sent")["message_id"]
    hub.client().post("/messages", {"text": "blue", "sender": "ada", "in_reply_to": question})
    assert result_of(hub, 1)["result"] == "blue"
    assert hub.client().inbox("asker") == []


def test_fails_with_code_and_complaint(hub: RunningHub) -> None:
    """A command that ends with another code than 0 has failed; the code and the end of its complaints are the reply."""
    hub.work("grumbler", "echo working; echo 'no such thing' >&2; exit 3").says("ready")
    hub.send("grumbler", "try")
    hub.until("task.failed")
    assert hub.task(1)["result"] == "exit code 3\nno such thing"


def test_stops_what_takes_too_long(hub: RunningHub) -> None:
    """A command that takes longer than --timeout is stopped, and its task has failed."""
    hub.work("sleeper", "sleep 600", "--timeout", "0.2").says("ready")
    hub.send("sleeper", "sleep")
    hub.until("task.failed")
    assert "took too long" in hub.task(1)["result"]


def test_takes_the_most_urgent_first(hub: RunningHub) -> None:
    """The most urgent task in the inbox is done first, then the oldest."""
    hub.meet("sorter")
    for text, priority in (("c", "low"), ("a", "critical"), ("d", "low"), ("b", "high")):
        hub.send("sorter", text, priority=priority)
    hub.work("sorter", "cat")
    hub.until("task.completed", times=4)
    log = hub.client().get("/activity", after=0)["activity"]
    begun = [each["task_id"] for each in log if each["kind"] == "task.started"]
    assert [hub.client().task(task_id)["title"] for task_id in begun] == ["a", "b", "c", "d"]


def test_shows_messages_and_acknowledges_them(hub: RunningHub) -> None:
    """Messages and replies are shown and acknowledged; the command is not run for them."""
    worker = hub.work("listener", "echo ran")
    worker.says("ready")
    hub.client().post("/messages", {"to": "listener", "text": "just so you know"})
    assert "just so you know" in worker.says("message from owner")
    hub.until("message.acked")
    assert hub.client().inbox("listener") == []


def test_the_sender_of_a_message_hears_that_it_is_only_shown(hub: RunningHub) -> None:
    """A message runs nothing: its sender is told so at once, and what has it done; the sender of a task is not."""
    hub.work("listener", "echo done").says("ready")
    piped = hub.run("send", "listener", "what are you doing?")
    note = "It is a worker: it shows messages and runs only tasks. To have this done, add --task."
    assert (piped.stdout, piped.stderr) == (f"sent M-1 to listener\n{note}\n", "")
    sent = hub.run("send", "listener", "--task", "do it")
    assert (sent.stdout, sent.stderr) == ("T-1 delivered, with listener: do it\n", "")


def test_a_message_to_everyone_runs_nothing(hub: RunningHub) -> None:
    """A person's message to everyone is only shown, as one to this worker is."""
    crowd = hub.work("crowd", "echo done")
    crowd.says("ready")
    assert hub.run("send", "everyone", "No deploys before noon").stdout == "sent M-1 to 1 agent: crowd\n"
    crowd.says("message from owner: No deploys before noon")
    hub.until("message.acked")
    hub.send("crowd", "work")
    result_of(hub, 1)
    assert [each["number"] for each in hub.client().get("/messages")["messages"]] == [2, 1]


def test_answers_a_broadcast(hub: RunningHub) -> None:
    """A broadcast is work too, but no task: the command runs for it, and what it prints is sent to whoever asked."""
    hub.meet("asker")
    hub.work("crowd", 'cat; echo "!$HUBBUB_TASK_ID"').says("ready")
    hub.client().post("/broadcasts", {"text": "anyone there?", "sender": "asker"})
    hub.until("message.acked")
    assert [(each["kind"], each["text"]) for each in hub.client().inbox("asker")] == [
        ("reply", "anyone there?!")
    ]
    assert hub.client().inbox("crowd") == []


def test_broadcast_is_run_once(hub: RunningHub, tmp_path: Path) -> None:
    """A broadcast is run once: while its result is on the way to the hub, the letter is not taken again."""
    ledger = tmp_path / "ledger"
    hub.meet("asker")
    hub.work("once", f"cat >>{ledger}; echo >>{ledger}").says("ready")
    for round_ in range(3):
        hub.client().post("/broadcasts", {"text": f"call {round_}", "sender": "asker"})
        hub.send("once", f"task {round_}")
        hub.until("task.completed", times=round_ + 1)
    hub.until("message.acked", times=3)
    hub.send("once", "the end")
    result_of(hub, 4)
    assert sorted(ledger.read_text().split("\n")) == sorted(
        ["", *(f"{kind} {round_}" for kind in ("call", "task") for round_ in range(3)), "the end"]
    )


@pytest.mark.system
def test_result_of_a_broadcast_outlives_hub_and_worker(own_hub: RunningHub, tmp_path: Path) -> None:
    """The result of a broadcast that the hub could not take is handed in by a later worker, without a second run."""
    began, ledger = fifo(tmp_path), tmp_path / "ledger"
    own_hub.meet("asker")
    worker = own_hub.work("keeper", f"echo $$ >{began}; cat {began}; echo once | tee -a {ledger}")
    worker.says("ready")
    own_hub.client().post("/broadcasts", {"text": "who keeps?", "sender": "asker"})
    pid_in(began)
    own_hub.stop(signal.SIGKILL)
    began.write_text("")
    worker.says("done")
    worker.kill()
    own_hub.start()
    worker.start()
    own_hub.until("message.acked")
    assert [each["text"] for each in own_hub.client().inbox("asker")] == ["once"]
    assert own_hub.client().inbox("keeper") == []
    assert ledger.read_text() == "once\n"


def test_a_broadcast_of_somebody_who_is_gone_is_run_once(hub: RunningHub, tmp_path: Path) -> None:
    """Where nobody is left to take the reply, the broadcast is acknowledged all the same, and not run again."""
    began, ledger = fifo(tmp_path), tmp_path / "ledger"
    hub.meet("asker")
    worker = hub.work("lonely", f"echo $$ >{began}; cat {began}; echo run >>{ledger}")
    worker.says("ready")
    hub.client().post("/broadcasts", {"text": "anyone?", "sender": "asker"})
    pid_in(began)
    hub.client().delete("/agents/asker")
    began.write_text("")
    worker.says("no longer wanted")
    hub.until("message.acked")
    assert hub.client().inbox("lonely") == []
    assert ledger.read_text() == "run\n"


def test_runs_so_many_at_a_time(hub: RunningHub, tmp_path: Path) -> None:
    """With --concurrency 2 two commands run side by side, and no third."""
    meeting = fifo(tmp_path)
    hub.work(
        "pair",
        f'[ "$HUBBUB_TASK_TITLE" = talk ] && echo hello >{meeting} || cat {meeting}',
        "--concurrency",
        "2",
    )
    hub.until("agent.checkin")
    for text in ("listen", "talk"):  # each waits for the other at the pipe
        hub.send("pair", text)
    hub.until("task.completed", times=2)
    assert {hub.task(number)["result"] for number in (1, 2)} == {"hello", "done"}


def test_any_bytes_will_do(hub: RunningHub) -> None:
    """Output that is no UTF-8, or holds NUL characters, is reported with those bytes replaced."""
    hub.work("noisy", r"printf 'caf\351 \000 \303\251'").says("ready")
    hub.send("noisy", "say")
    assert result_of(hub, 1)["result"] == "caf\ufffd \ufffd é"


def test_long_output_keeps_both_ends(hub: RunningHub) -> None:
    """A reply holds the beginning and the end of a megabyte of output, and says how much is missing."""
    hub.work("talker", "echo BEGIN; head -c 1048576 /dev/zero | tr '\\0' x; echo; echo END").says("ready")
    hub.send("talker", "talk")
    result_of(hub, 1)
    reply = hub.client().get("/tasks/1")["messages"][0]["body"]
    assert reply.startswith("BEGIN\nxxx")
    assert reply.endswith("xxx\nEND")
    assert "bytes were cut here" in reply
    assert len(reply) < 50_000


def test_tells_how_far_it_is(hub: RunningHub, tmp_path: Path) -> None:
    """While a command runs, the last lines it printed are reported as progress."""
    go = fifo(tmp_path)
    hub.work("builder", f"echo step one; cat {go}").says("ready")
    hub.send("builder", "build")
    hub.until("task.progress")
    assert hub.client().agent("builder")["output"] == "step one"  # type: ignore[typeddict-item]
    go.write_text("step two")
    assert result_of(hub, 1)["result"] == "step one\nstep two"


def test_cancelled_task_is_stopped(hub: RunningHub, tmp_path: Path) -> None:
    """When a task is cancelled its command is stopped, with all it started, and nothing is reported."""
    began = fifo(tmp_path)
    worker = hub.work("stopped", f"sh -c 'echo $$ >{began}; exec sleep 600'")
    worker.says("ready")
    hub.send("stopped", "long")
    child = pid_in(began)
    hub.client().step("1", "cancel", reason="changed my mind")
    worker.says("no longer ours")
    worker.says("stopped")
    assert ends(child)
    assert (hub.task(1)["status"], hub.task(1)["result"]) == ("cancelled", "changed my mind")


def test_reassigned_task_is_let_go(hub: RunningHub, tmp_path: Path) -> None:
    """When a task is given to another agent, the old one stops and the other's result is the task's."""
    began = fifo(tmp_path)
    first = hub.work("first", f"echo $$ >{began}; exec sleep 600")
    hub.work("second", "echo mine now").says("ready")
    first.says("ready")
    hub.send("first", "do it")
    child = pid_in(began)
    hub.client().step("1", "reassign", to="second")
    first.says("no longer ours")
    first.says("stopped")
    assert ends(child)
    task = result_of(hub, 1)
    assert (task["assignee"], task["result"]) == ("second", "mine now")


def test_killed_worker_gets_its_task_again(hub: RunningHub, tmp_path: Path) -> None:
    """After `kill -9` the command dies too, the task comes back to the next worker of that name, as attempt 2."""
    began = fifo(tmp_path)
    worker = hub.work(
        "phoenix", f"echo $$ >{began}; [ $HUBBUB_TASK_ATTEMPT = 1 ] && sleep 600; echo second life"
    )
    worker.says("ready")
    hub.send("phoenix", "rise")
    first = pid_in(began)
    worker.kill()
    worker.start()
    assert "which is dead" in worker.says("taking over")
    second = pid_in(began)
    assert "attempt 2" in worker.says("T-1")
    task = result_of(hub, 1)
    assert (task["attempt"], task["result"]) == (2, "second life")
    assert first != second
    assert ends(first)


@pytest.mark.system
def test_result_that_the_disk_does_not_take_is_handed_in(own_hub: RunningHub) -> None:
    """A worker that cannot keep a result on disk says so, hands it in all the same, and takes the next task."""
    worker = own_hub.work("keeper", f'rm -rf "{own_hub.data}/work"; echo done')
    worker.says("ready")
    for number in (1, 2):
        own_hub.send("keeper", "clear up")
        worker.says("its result is not on disk, and lost if this worker dies")
        assert result_of(own_hub, number)["result"] == "done"


def test_result_outlives_hub_and_worker(own_hub: RunningHub, tmp_path: Path) -> None:
    """A result that the hub could not take is kept on disk: a later worker hands it in, without a second run."""
    began, ledger = fifo(tmp_path), tmp_path / "ledger"
    worker = own_hub.work("keeper", f"echo $$ >{began}; cat {began}; echo once | tee -a {ledger}")
    worker.says("ready")
    own_hub.send("keeper", "keep")
    pid_in(began)
    own_hub.stop(signal.SIGKILL)
    began.write_text("")
    worker.says("done")
    worker.kill()
    own_hub.start()
    worker.start()
    task = result_of(own_hub, 1)
    assert (task["attempt"], task["result"]) == (1, "once")
    assert ledger.read_text() == "once\n"


@pytest.mark.system
def test_works_on_while_the_hub_is_away(own_hub: RunningHub, tmp_path: Path) -> None:
    """A command goes on while the hub is away, and its result is delivered when the hub is back."""
    began, ledger = fifo(tmp_path), tmp_path / "ledger"
    worker = own_hub.work("steady", f"echo $$ >{began}; cat {began}; echo run >>{ledger}; echo still here")
    worker.says("ready")
    own_hub.send("steady", "carry on")
    pid_in(began)
    own_hub.stop(signal.SIGKILL)
    worker.says("trying again")
    own_hub.start()
    worker.says("connected to the hub again")
    began.write_text("")
    assert result_of(own_hub, 1)["result"] == "still here"
    own_hub.send("steady", "and again")
    pid_in(began)
    began.write_text("")
    assert result_of(own_hub, 2)["result"] == "still here"
    assert ledger.read_text() == "run\nrun\n"


@pytest.mark.system
def test_thought_gone_it_carries_on(own_hub: RunningHub, tmp_path: Path) -> None:
    """A worker that the hub had thought gone takes its task again and goes on: the command is not run a second time."""
    began, ledger = fifo(tmp_path), tmp_path / "ledger"
    own_hub.work("silent", f"echo $$ >{began}; cat {began}; echo run >>{ledger}; echo done with it").says(
        "ready"
    )
    own_hub.send("silent", "long")
    pid_in(began)
    agent = own_hub.client().agent("silent")
    own_hub.client().delete("/agents/silent/presence", instance=agent["instance"])
    own_hub.stop(signal.SIGKILL)
    own_hub.start()
    own_hub.until("task.started", lambda each: each["detail"]["attempt"] == 2)
    began.write_text("")
    task = result_of(own_hub, 1)
    assert (task["attempt"], task["result"]) == (2, "done with it")
    assert ledger.read_text() == "run\n"


def test_long_context_is_cut(hub: RunningHub) -> None:
    """A context that is longer than an environment variable may be is cut, and the command runs all the same."""
    hub.work("reader", 'printf %s "$HUBBUB_TASK_CONTEXT" | wc -m').says("ready")
    hub.send("reader", "read", context="文" * 40_000)
    assert result_of(hub, 1)["result"].strip() in (
        "30000",
        "90000",
    )  # characters, or bytes where the locale is C


def test_signal_lets_it_finish(hub: RunningHub, tmp_path: Path) -> None:
    """At a first SIGTERM the worker takes nothing new, lets what runs end, reports it, and leaves with code 0."""
    began = fifo(tmp_path)
    worker = hub.work("polite", f"echo $$ >{began}; cat {began}; echo finished")
    worker.says("ready")
    for _ in range(2):
        hub.send("polite", "work")
    pid_in(began)
    worker.signal(signal.SIGTERM)
    worker.says("waiting for 1 running")
    began.write_text("")
    assert worker.ended() == 0
    assert (hub.task(1)["status"], hub.task(2)["status"]) == ("completed", "delivered")
    assert not hub.client().agent("polite")["live"]


def test_second_signal_stops_it(hub: RunningHub, tmp_path: Path) -> None:
    """A second signal stops what runs; the task is not failed, but done again by the next worker of that name."""
    began = fifo(tmp_path)
    worker = hub.work("hasty", f"echo $$ >{began}; [ $HUBBUB_TASK_ATTEMPT = 2 ] || sleep 600")
    worker.says("ready")
    hub.send("hasty", "work")
    child = pid_in(began)
    worker.signal(signal.SIGINT)
    worker.says("a second signal stops them")
    worker.signal(signal.SIGINT)
    assert worker.ended() == 0
    assert ends(child)
    worker.start()
    pid_in(began)
    assert result_of(hub, 1)["attempt"] == 2


def test_one_worker_a_name(hub: RunningHub) -> None:
    """A second worker of a name that is live on this machine is refused with one sentence and code 1."""
    hub.work("unique", "cat").says("ready")
    second = hub.work("unique", "cat")
    assert second.ended() == 1
    assert re.fullmatch(r"Error: unique already runs as process \d+ on \S+\n", second.said[-1])


def test_revoked_token_ends_it(hub: RunningHub) -> None:
    """A worker whose token is revoked says so and ends with code 1."""
    made = hub.client().post("/tokens", {"agent": "shortlived"})
    worker = hub.work("shortlived", "cat", HUBBUB_TOKEN=made["secret"], HUBBUB_URL=hub.url)
    worker.says("ready")
    hub.client().delete(f"/tokens/{made['token']['id']}")
    assert worker.ended() == 1
    assert "a valid token is needed" in worker.said[-1]


def test_no_hub_is_code_3(tmp_path: Path) -> None:
    """Without a hub a worker does not start, and ends with code 3."""
    lonely = RunningHub(tmp_path / "data").work(
        "lonely", "cat", HUBBUB_URL="http://127.0.0.1:9", HUBBUB_TOKEN="ntok_1"
    )
    assert lonely.ended() == 3
    assert "cannot be reached" in lonely.said[-1]


def test_nothing_to_run(hub: RunningHub) -> None:
    """Without a command to run there is no work: wrong usage."""
    for command in ("", "  "):
        assert hub.run("work", "ada", "--run", command).returncode == 2
    assert hub.run("work", "ada", "--run", "cat", "--timeout", "nan").returncode == 2


def test_tells_what_the_command_used(hub: RunningHub, tmp_path: Path) -> None:
    """Tokens that a task's program prints are charged to the task; a program that exports them names the task, too."""
    models = {"claude-sonnet-5": {"inputTokens": 70, "outputTokens": 7, "costUSD": 0.5}}
    result = {"type": "result", "session_id": "s-1", "usage": {}, "modelUsage": models, "result": "done"}
    printed = tmp_path / "printed.jsonl"
    printed.write_text(json.dumps(result) + "\n")
    command = f'cat "{printed}"; echo "$OTEL_RESOURCE_ATTRIBUTES"'
    hub.work("spender", command, OTEL_RESOURCE_ATTRIBUTES="team=red").says("ready")
    sent = hub.send("spender", "spend")

    assert f"team=red,hubbub.task={sent['id']}" in result_of(hub, 1)["result"]
    (line,) = hub.json("cost", "--by", "task")["lines"]
    assert (line["name"], line["tokens"], line["usd"]) == (sent["id"], 77, 0.5)
