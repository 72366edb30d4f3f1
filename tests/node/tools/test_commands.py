import asyncio
import os
import select
import signal
import socket
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hubbub.model.fleet.calls import Principal, ToolResult
from hubbub.node.commands import job_folder, resource_limits
from hubbub.node.commands.pipe_reader import MOST, RECENT
from hubbub.node.tools import commands
from hubbub.node.tools.tool_context import ToolContext
from tests.cli.processes import ends
from tests.node.file_calls import refusal
from tests.node.running_commands import (
    WALLS,
    Marked,
    ask,
    begin,
    behind,
    eventually,
    marked,
    perform,
    printed,
    row,
    run,
)
from tests.node.tool_contexts import place

EVE = Principal(project="shop", name="eve")
PERSON = Principal(project="shop", name="ann", is_person=True)
STRANGER = Principal(project="other", name="ada", is_person=True)


@pytest.fixture
def bare(tmp_path: Path) -> ToolContext:
    """A machine without a wall, which is the fastest."""
    return behind(place(tmp_path), "none")


@pytest.fixture(params=WALLS)
def here(request: pytest.FixtureRequest, tmp_path: Path) -> ToolContext:
    """A machine with a wall: with bubblewrap every day, with each in `make check`."""
    return behind(place(tmp_path), request.param)


# ---- what comes of it --------------------------------------------------------------------------------------------


def test_a_command_answers_with_its_streams_and_its_exit_code(here: ToolContext) -> None:
    """Both streams are told apart, and a command that fails is no error of the call."""
    assert run(here, "echo out; echo err >&2; exit 3") == {
        "stdout": "out\n",
        "stderr": "err\n",
        "exit_code": 3,
    }


def test_a_command_that_a_signal_ends_has_the_exit_code_of_shells(here: ToolContext) -> None:
    """It is 128 and the number of the signal."""
    assert run(here, "kill -KILL $$")["exit_code"] == 128 + 9


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("printf '%s|' 'a  b' \"c'd\" $'e\\tf'", "a  b|c'd|e\tf|"),
        ("echo one\necho two # three\n", "one\ntwo\n"),
        ("cat <<'end'\n$HOME `id`\nend", "$HOME `id`\n"),
        ("echo '代码 é'", "代码 é\n"),
        ("echo $0 $-", "/bin/bash hBc\n"),
    ],
)
def test_bash_gets_the_very_words_that_were_checked(bare: ToolContext, command: str, expected: str) -> None:
    """Nothing is added, taken away or quoted anew, and no start-up file is read."""
    assert printed(bare, command) == expected


def test_standard_input_is_closed(here: ToolContext) -> None:
    """A program that reads from it finds its end at once."""
    assert printed(here, "cat; read || echo none") == "none\n"


def test_much_output_is_cut_in_the_middle(here: ToolContext) -> None:
    """A mebibyte of each stream is kept, half of it from the beginning and half from the end."""
    value = run(here, "echo first; head -c 5242880 /dev/zero | tr '\\0' x; echo last; echo short >&2")

    assert value["stdout"].startswith("first\nxxx")
    assert value["stdout"].endswith("xxxlast\n")
    assert "bytes were cut here" in value["stdout"]
    assert MOST < len(value["stdout"]) < MOST + 100
    assert value["stderr"] == "short\n"


def test_output_that_is_no_text_is_replaced(here: ToolContext) -> None:
    """Bytes that are not UTF-8 show as the sign for that."""
    assert printed(here, r"printf 'a\xff\xfeb'") == "a\ufffd\ufffdb"


def test_a_command_runs_in_the_machines_folder_or_in_one_beneath(here: ToolContext, work: Path) -> None:
    """Without `cwd` it is where relative paths begin; a relative `cwd` begins there as well."""
    (work / "deep" / "er").mkdir(parents=True)

    assert printed(here, "pwd") == f"{work}\n"
    assert printed(here, "pwd", cwd="deep/er") == f"{work}/deep/er\n"
    assert printed(here, "pwd", cwd=str(work / "deep")) == f"{work}/deep\n"


def test_a_folder_is_the_one_that_the_gate_has_looked_at(here: ToolContext, work: Path) -> None:
    """`~` is the home, as in the paths of files, also if a folder has that name."""
    (work / "~").mkdir()

    assert printed(here, "pwd", cwd="~") == f"{here.world.home}\n"


@pytest.mark.parametrize(
    ("cwd", "code", "why"),
    [
        ("nowhere", "not_found", "is not there"),
        ("../work/nowhere", "not_found", "is not there"),
        ("file", "invalid", "is not a folder, or is beneath a path that is not a folder"),
    ],
)
def test_a_folder_that_is_none_is_not_worked_in(
    bare: ToolContext, work: Path, cwd: str, code: str, why: str
) -> None:
    """The refusal says why, and nothing is run."""
    (work / "file").touch()

    outcome = ask(bare, "execute_command", command=f"touch {work}/ran", cwd=cwd)

    assert refusal(outcome) == (code, f"the folder '{cwd}' {why}")
    assert not (work / "ran").exists()


def test_a_folder_that_has_become_a_link_to_keys_is_refused(
    bare: ToolContext, work: Path, tmp_path: Path
) -> None:
    """The opened file is looked at again: the gate may have seen something else there."""
    keys = tmp_path / "home" / ".ssh"
    keys.mkdir()
    (work / "deep").symlink_to(keys)

    assert refusal(ask(bare, "execute_command", command="ls", cwd="deep"))[0] == "denied"


@pytest.mark.parametrize("argument", ["command", "cwd"])
@pytest.mark.parametrize(
    ("text", "why"),
    [("a\0b", "must not have a NUL character"), ("a\ud800", "must not have half a character")],
)
def test_what_no_program_can_be_given_is_invalid(
    bare: ToolContext, argument: str, text: str, why: str
) -> None:
    """A NUL character or half of a character is refused with the name of the argument."""
    given: dict[str, Any] = {"command": "true", argument: text}

    outcome = ask(bare, "execute_command", **given)

    assert refusal(outcome) == ("invalid", f"{argument}: {why}")


def test_the_environment_is_what_is_on_the_list(here: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither what the machine's process has nor a variable that is not on the list reaches a command."""
    monkeypatch.setenv("HUBBUB_TOKEN", "secret")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    variables = {
        "PATH": os.environ["PATH"],
        "LC_ALL": "C",
        "GH_TOKEN": "secret",
        "BASH_ENV": "x",
        "HOME": "/x",
    }
    there = replace(here, world=replace(here.world, variables=variables))

    found = dict(line.split("=", 1) for line in printed(there, "env").splitlines())

    assert found.keys() <= {"PATH", "LC_ALL", "TERM", "HOME", "TMPDIR", "PWD", "SHLVL", "_", "OLDPWD"}
    assert (found["TERM"], found["HOME"], found["LC_ALL"]) == ("dumb", here.world.home, "C")


def test_a_command_has_no_descriptor_but_its_three(here: ToolContext, tmp_path: Path) -> None:
    """Not even one that the machine's process would pass on."""
    descriptor = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(descriptor, True)

    assert printed(
        here, "for each in {0..300}; do test -e /proc/$$/fd/$each && echo $each; done; true"
    ).split() == [
        "0",
        "1",
        "2",
    ]

    os.close(descriptor)


def test_a_command_has_limits(here: ToolContext) -> None:
    """They are of the size of files and of memory; and a program that crashes leaves no image of itself."""
    blocks = printed(here, "ulimit -c -f -d").splitlines()

    assert [int(line.split()[-1]) for line in blocks] == [
        0,
        resource_limits.FILE_SIZE // 1024,
        resource_limits.MEMORY // 1024,
    ]
    assert int(printed(here, "ulimit -u")) < 100_000


# ---- its end -----------------------------------------------------------------------------------------------------


def test_a_command_whose_time_is_over_is_killed_with_all_that_it_has_started(here: ToolContext) -> None:
    """It does not help to be deaf to TERM or to leave the group; the output so far is told."""
    with marked() as processes:
        outcome = ask(
            here,
            "execute_command",
            command=f"trap '' TERM; echo begun; echo bad >&2; setsid {processes.sleep} & {processes.sleep}; wait",
            timeout_ms=1500,
        )

        assert not processes.pids()
    assert outcome.is_error
    assert outcome.value == {
        "error": "the command did not end within 1.5 seconds and was killed",
        "code": "timeout",
        "stdout": "begun\n",
        "stderr": "bad\n",
        "exit_code": None,
    }


def test_a_command_that_is_ended_may_clean_up(here: ToolContext) -> None:
    """First it is asked to end, and what it prints then is still heard."""
    task_id = begin(here, "trap 'echo cleaned; exit 7' TERM; echo ready; sleep 1000 & wait")
    eventually(lambda: row(here, task_id)["output_tail"] == "ready\n")

    assert ask(here, "shell_kill", task_id=task_id).value == {"killed": True}

    found = row(here, task_id)
    assert (found["output_tail"], found["exit_code"]) == ("ready\ncleaned\n", 7)


def test_a_command_that_is_ended_before_it_begins_never_runs(here: ToolContext, work: Path) -> None:
    """If its time is over while its sandbox is being put up, nothing of it happens afterwards."""
    outcome = ask(here, "execute_command", command="sleep 1; touch late", timeout_ms=1)

    assert refusal(outcome)[0] == "timeout"
    assert not (work / "late").exists()


def test_many_processes_are_killed_as_one_is(here: ToolContext) -> None:
    """Two hundred that are each in a group of their own, and start others, all end with their command."""
    with marked() as processes:
        each = f"setsid bash -c 'trap \"\" TERM; {processes.sleep} & wait; {processes.sleep}' &"
        outcome = ask(
            here, "execute_command", command=f"for n in {{1..100}}; do {each} done; wait", timeout_ms=1500
        )

        assert not processes.pids()
    assert refusal(outcome)[0] == "timeout"


def test_what_a_command_leaves_running_ends_with_it(here: ToolContext) -> None:
    """A command is over when it says so, whoever holds its streams open."""
    with marked() as processes:
        assert printed(here, f"setsid {processes.sleep} & {processes.sleep} & echo done") == "done\n"

        assert not processes.pids()


def test_a_call_that_is_cancelled_ends_its_command(here: ToolContext) -> None:
    """So does a client that has gone."""

    async def cancelled(processes: Marked) -> None:
        call = asyncio.ensure_future(perform(here, "execute_command", command=f"{processes.sleep}; true"))
        await asyncio.to_thread(eventually, processes.pids)
        call.cancel()
        await asyncio.wait({call})

    with marked() as processes:
        asyncio.run(cancelled(processes))


def test_a_command_is_lost_with_its_keeper(here: ToolContext) -> None:
    """When the keeper is killed nothing that it kept goes on, and the call says so."""

    async def lost(processes: Marked) -> tuple[str, str]:
        command = f"trap '' TERM; setsid {processes.sleep} & {processes.sleep}; true"
        call = asyncio.ensure_future(perform(here, "execute_command", command=command))
        await asyncio.to_thread(eventually, lambda: len(processes.pids()) == 2)
        os.kill(processes.keeper(), 9)
        return refusal(await call)

    with marked() as processes:
        assert asyncio.run(lost(processes)) == (
            "failed",
            "the command was killed together with its starter",
        )


@pytest.mark.system
def test_after_its_forker_was_killed_the_next_command_gets_another(bare: ToolContext) -> None:
    """Nothing has to be started anew by hand."""
    with marked() as processes:
        begin(bare, f"{processes.sleep}; true")
        eventually(processes.pids)
        forker = processes.forker()

        os.kill(forker, 9)

        assert ends(forker)
    assert printed(bare, "echo again") == "again\n"


def test_a_keeper_that_is_killed_while_it_waits_takes_no_command_with_it(bare: ToolContext) -> None:
    """The order that it would have taken is the next one's, and the commands of others go on."""

    async def killed(processes: Marked) -> ToolResult:
        await asyncio.to_thread(eventually, lambda: processes.pids() and processes.waiting())
        waiting = processes.waiting()
        os.kill(waiting, signal.SIGSTOP)  # so that it takes no order
        call = asyncio.ensure_future(perform(bare, "execute_command", command="echo again"))
        os.kill(waiting, signal.SIGKILL)
        outcome = await call
        assert processes.pids()
        return outcome

    with marked() as processes:
        task_id = begin(bare, processes.sleep)
        assert asyncio.run(killed(processes)).value == {"stdout": "again\n", "stderr": "", "exit_code": 0}
        ask(bare, "shell_kill", task_id=task_id)


# ---- in the background -------------------------------------------------------------------------------------------


def test_a_command_in_the_background_shows_among_the_tasks(here: ToolContext) -> None:
    """Its row has its id, its words, when it was started, its status and the last of its output."""
    before = datetime.now(UTC)
    task_id = begin(here, "echo begun; sleep 1000")
    eventually(lambda: row(here, task_id)["output_tail"])

    found = row(here, task_id)

    started_at = datetime.fromisoformat(found.pop("started_at"))
    assert before - timedelta(seconds=1) < started_at < datetime.now(UTC)
    assert found == {
        "id": task_id,
        "command": "echo begun; sleep 1000",
        "status": "running",
        "output_tail": "begun\n",
    }
    assert ask(here, "shell_kill", task_id=task_id).value == {"killed": True}


def test_a_command_in_the_background_that_is_killed_is_gone(here: ToolContext) -> None:
    """When shell_kill answers nothing of it is left; a second time there is nothing to kill."""
    with marked() as processes:
        task_id = begin(here, f"setsid {processes.sleep} & {processes.sleep}; true")
        eventually(lambda: len(processes.pids()) == 2)

        assert ask(here, "shell_kill", task_id=task_id).value == {"killed": True}

        assert not processes.pids()
    found = row(here, task_id)
    assert (found["status"], found["exit_code"]) == ("killed", 128 + 15)
    assert ask(here, "shell_kill", task_id=task_id).value == {"killed": False}


def test_a_command_that_does_not_heed_a_signal_is_killed_all_the_same(here: ToolContext) -> None:
    """shell_kill ends a command: what is deaf to its signal is given a moment."""
    with marked() as processes:
        task_id = begin(here, f"trap '' TERM; {processes.sleep} & wait; {processes.sleep}")
        eventually(processes.pids)

        assert ask(here, "shell_kill", task_id=task_id).value == {"killed": True}

        assert not processes.pids()


def test_a_command_that_ends_by_itself_leaves_its_exit_code(here: ToolContext, work: Path) -> None:
    """Its row then says `exited`, with the last of what it printed."""
    task_id = begin(here, f"head -c {2 * RECENT} /dev/zero | tr '\\0' x; echo end; exit 4")
    eventually(lambda: row(here, task_id)["status"] != "running")

    found = row(here, task_id)

    assert (found["status"], found["exit_code"]) == ("exited", 4)
    assert found["output_tail"] == "x" * (RECENT - 4) + "end\n"
    assert ask(here, "shell_kill", task_id=task_id).value == {"killed": False}


def test_a_command_in_the_background_has_a_time_if_it_is_given_one(bare: ToolContext) -> None:
    """Then it ends as one in the foreground does, and its row says so."""
    with marked() as processes:
        task_id = begin(bare, f"{processes.sleep}; true", timeout_ms=100)
        eventually(lambda: row(bare, task_id)["status"] != "running")

        assert row(bare, task_id)["status"] == "timeout"


def test_a_command_that_takes_long_goes_on_in_the_background(here: ToolContext) -> None:
    """Where the policy says so, the call is answered and the command can be found."""
    policy = replace(here.policy, background_after=timedelta(milliseconds=200))
    there = replace(here, policy=policy)
    with marked() as processes:
        value = run(there, f"echo begun; {processes.sleep}; true")

        assert value == {"task_id": value["task_id"], "status": "running"}
        eventually(lambda: row(there, value["task_id"])["output_tail"] == "begun\n")
        assert ask(there, "shell_kill", task_id=value["task_id"]).value == {"killed": True}
    patient = replace(here, policy=replace(here.policy, background_after=timedelta(minutes=10)))
    assert run(patient, "echo quick")["stdout"] == "quick\n"


def test_a_command_that_ends_as_its_time_to_go_there_comes_is_answered(
    bare: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its result arrives, though the caller says in the same moment that it stops waiting."""
    run(bare, "true")  # there is a forker from now on: the last line made is that to the command's keeper
    lines, pair = list[tuple[socket.socket, socket.socket]](), socket.socketpair

    def made() -> tuple[socket.socket, socket.socket]:
        lines.append(pair())
        return lines[-1]

    monkeypatch.setattr(socket, "socketpair", made)
    pipe, in_time = bare.data / "pipe", timedelta(hours=1)
    os.mkfifo(pipe)
    patient = replace(bare, policy=replace(bare.policy, background_after=in_time))

    async def both() -> ToolResult:
        loop = asyncio.get_running_loop()
        waits = asyncio.ensure_future(
            perform(patient, "execute_command", command=f"read -r line <'{pipe}'; echo $line")
        )
        with await asyncio.to_thread(pipe.open, "w") as end:  # the command has begun
            end.write("here\n")
        select.select([lines[-1][0]], [], [], 30)  # its keeper has answered; the caller has not read it yet
        now = loop.time
        monkeypatch.setattr(loop, "time", lambda: now() + in_time.total_seconds())
        return await waits

    assert asyncio.run(both()).value == {"stdout": "here\n", "stderr": "", "exit_code": 0}


@pytest.mark.parametrize(
    ("name", "number"), [("INT", 2), ("SIGINT", 2), ("sigquit", 3), ("HUP", 1), ("KILL", 9), (None, 15)]
)
def test_a_signal_is_named_with_or_without_its_prefix(
    bare: ToolContext, name: str | None, number: int
) -> None:
    """Without a name it is TERM."""
    task_id = begin(bare, "sleep 1000")
    more: dict[str, Any] = {} if name is None else {"signal": name}

    assert ask(bare, "shell_kill", task_id=task_id, **more).value == {"killed": True}

    assert row(bare, task_id)["exit_code"] == 128 + number


def test_a_signal_that_ends_nothing_is_invalid(bare: ToolContext) -> None:
    """The refusal names those that there are, and the command goes on."""
    task_id = begin(bare, "sleep 1000")

    outcome = ask(bare, "shell_kill", task_id=task_id, signal="USR1")

    assert refusal(outcome) == ("invalid", "signal: must be one of TERM, INT, HUP, QUIT, KILL")
    assert row(bare, task_id)["status"] == "running"
    ask(bare, "shell_kill", task_id=task_id)


def test_nobody_sees_or_ends_anothers_commands(bare: ToolContext) -> None:
    """For another agent they are not there; for a person of the project all are; for another project none."""
    task_id = begin(bare, "sleep 1000")

    assert ask(bare, "shell_tasks", EVE).value == ask(bare, "shell_tasks", STRANGER).value == []
    for who in (EVE, STRANGER):
        refused = ask(bare, "shell_kill", who, task_id=task_id)
        assert refusal(refused) == ("not_found", f"there is no task '{task_id}' of yours")
    assert row(bare, task_id, PERSON)["status"] == "running"
    assert ask(bare, "shell_kill", PERSON, task_id=task_id).value == {"killed": True}


@pytest.mark.parametrize("task_id", ["", "1", "../../work", "0123456789abcdef", "0" * 17, "a\0b"])
def test_a_task_that_there_is_not_is_not_found(bare: ToolContext, task_id: str) -> None:
    """Whatever the id looks like."""
    assert refusal(ask(bare, "shell_kill", task_id=task_id))[0] == "not_found"


def test_tasks_are_in_the_order_in_which_they_were_started(bare: ToolContext) -> None:
    """The oldest comes first."""
    ids = [begin(bare, "sleep 1000") for _ in range(3)]

    rows: Any = ask(bare, "shell_tasks").value

    assert [each["id"] for each in rows] == ids
    job_folder.end_all(bare.data)
    assert {row(bare, each)["status"] for each in ids} == {"killed"}


def test_there_is_room_for_so_many_commands(bare: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more is refused with what can be done about it."""
    monkeypatch.setattr(commands, "MOST_IN_BACKGROUND", 1)
    task_id = begin(bare, "sleep 1000")

    outcome = ask(bare, "execute_command", command="sleep 1000", background=True)

    assert refusal(outcome)[0] == "failed"
    assert "shell_kill" in refusal(outcome)[1]
    ask(bare, "shell_kill", task_id=task_id)
    ask(bare, "shell_kill", task_id=begin(bare, "sleep 1000"))


@pytest.mark.system
def test_of_many_at_once_as_many_begin_as_there_is_room(
    bare: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands that begin in the same moment do not share the last room."""
    monkeypatch.setattr(commands, "MOST_IN_BACKGROUND", 2)

    async def at_once() -> list[ToolResult]:
        begun = [perform(bare, "execute_command", command="sleep 1000", background=True) for _ in range(8)]
        return await asyncio.gather(*begun)

    outcomes = asyncio.run(at_once())

    assert [each.is_error for each in outcomes].count(False) == 2
    assert {refusal(each)[0] for each in outcomes if each.is_error} == {"failed"}
    assert len(job_folder.every(bare.data)) == 2
    job_folder.end_all(bare.data)


def test_without_room_in_the_background_a_command_goes_on_as_before(
    bare: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that would go there since it takes long is waited for, as if the policy did not say so."""
    monkeypatch.setattr(commands, "MOST_IN_BACKGROUND", 1)
    task_id = begin(bare, "sleep 1000")
    impatient = replace(bare, policy=replace(bare.policy, background_after=timedelta(milliseconds=1)))
    pipe = bare.data / "pipe"
    os.mkfifo(pipe)

    async def both() -> ToolResult:
        waits = perform(impatient, "execute_command", command=f"read -r line <'{pipe}'; echo $line")
        outcome, _written = await asyncio.gather(waits, asyncio.to_thread(pipe.write_text, "here\n"))
        return outcome

    assert asyncio.run(both()).value == {"stdout": "here\n", "stderr": "", "exit_code": 0}
    assert [each.task_id for each, _record in job_folder.every(bare.data)] == [task_id]
    job_folder.end_all(bare.data)


def test_commands_that_ended_long_ago_are_forgotten(
    bare: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last commands are kept, as many as there is room for; running ones are not counted."""
    monkeypatch.setattr(job_folder, "KEPT", 1)
    running = begin(bare, "sleep 1000")
    ended = [begin(bare, "true") for _ in range(2)]
    eventually(lambda: {row(bare, each)["status"] for each in ended} == {"exited"})

    last = begin(bare, "sleep 1000")

    rows: Any = ask(bare, "shell_tasks").value
    assert [each["id"] for each in rows] == [running, ended[1], last]
    job_folder.end_all(bare.data)


def test_what_is_kept_is_for_the_machines_user_alone(bare: ToolContext) -> None:
    """Others cannot look into it."""
    begin(bare, "sleep 1000")

    kept = bare.data / job_folder.COMMANDS
    assert {path.stat().st_mode & 0o077 for path in (kept, *kept.iterdir())} == {0}
    job_folder.end_all(bare.data)
