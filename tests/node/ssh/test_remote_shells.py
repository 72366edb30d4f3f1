"""`ssh_session` on a real server: the results of its operations, and the owners of shells."""

import asyncio
import logging
import os
from dataclasses import replace
from datetime import timedelta

import pytest

from hubbub.model.fleet.calls import Principal
from hubbub.node.ssh import connect, remote_shells
from hubbub.node.ssh.remote_shells import RemoteShells
from hubbub.node.ssh.terminal_buffer import MOST
from tests.node.ssh.conftest import Desk
from tests.node.ssh.ssh_server import Server, served
from tests.node.tool_contexts import SOMEBODY
from tests.support.waiting import patience

pytestmark = pytest.mark.anyio

EVE = replace(SOMEBODY, name="eve")
OTHERS = (EVE, replace(SOMEBODY, project="other"), replace(SOMEBODY, token_id="another"))


async def test_a_shell_stays_from_one_call_to_the_next(desk: Desk, server: Server) -> None:
    """Earlier input holds for later input, and `read` gives the output since it was last called."""
    opened = await desk.ask("open", hostname=server.hostname)
    assert opened["hostname"] == server.hostname
    shell = str(opened["session_id"])

    await desk.printed(shell, "cd / && marked=42", "$ ")
    seen = await desk.printed(shell, "echo $PWD-$marked", "/-42\r\n")
    assert seen.count("/-42") == 1
    assert await desk.ask("close", session_id=shell) == {"closed": True}
    assert await desk.ask("list") == []


async def test_there_is_a_terminal(desk: Desk, server: Server) -> None:
    """It is an xterm of 80 columns and 24 lines."""
    shell = await desk.open(server.hostname)

    assert "24 80 xterm\r\n" in await desk.printed(shell, "echo $(stty size) $TERM", "xterm\r\n")


async def test_nothing_of_our_environment_goes_along(
    desk: Desk, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No variable is sent, whatever the configuration says, and no agent is forwarded."""
    monkeypatch.setenv("LC_SECRET", "told")
    desk.user.configures("SendEnv *\nSetEnv LC_SECRET=told\nForwardAgent yes\n")
    with served(desk.user.home / "asks", more="AcceptEnv *\nAllowAgentForwarding yes") as asking:
        desk.user.is_let_in(asking, desk.user.key)
        desk.user.knows(asking)
        shell = await desk.open(asking.hostname)
        seen = await desk.printed(shell, "echo [$LC_SECRET$SSH_AUTH_SOCK]", "]\r\n")

        assert "[]\r\n" in seen


async def test_whom_one_goes_to_is_in_no_log(
    desk: Desk, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """Agents may read the log: the way, the user and the keys are not in it."""
    caplog.set_level(logging.DEBUG)
    await desk.open(server.hostname)

    assert [each.getMessage() for each in caplog.records if str(server.port) in each.getMessage()] == []


async def test_a_key_is_typed_without_enter(desk: Desk, server: Server) -> None:
    """A single control character is that key: Ctrl-C ends what runs."""
    shell = await desk.open(server.hostname)
    await desk.printed(shell, "echo begun; tail -f /dev/null", "begun\r\n")

    assert "^C" in await desk.printed(shell, "\x03", "^C")
    await desk.printed(shell, "echo on$((1))", "on1")


async def test_what_is_no_utf8_is_replaced(desk: Desk, server: Server) -> None:
    """A read never fails for what it reads, and characters come whole."""
    shell = await desk.open(server.hostname)

    assert "[\ufffd\ufffd]代" in await desk.printed(shell, r"printf '[\377\376]\344\273\243\n'", "]代")


async def test_the_oldest_output_goes_first(desk: Desk, server: Server) -> None:
    """The newest mebibyte of unread output is kept, and a mark says how much was cut."""
    shell = await desk.open(server.hostname)
    line = "x" * 63
    await desk.send(shell, f"yes {line} | head -n 40000; exit 7")
    running = desk.place.shells.find(SOMEBODY, shell)
    assert running is not None
    async with asyncio.timeout(patience()):
        await running.line.output.over.wait()

    found = await desk.ask("read", session_id=shell)
    assert found["output"].startswith("[… ")
    assert MOST <= len(found["output"]) < MOST + 100
    assert found["output"].endswith("exit\r\n") or line in found["output"][-200:]
    assert (found["status"], found["exit_code"]) == ("ended", 7)


async def test_a_shell_that_the_other_side_ends(desk: Desk, server: Server) -> None:
    """The rest of the output is read, then the end and its code; nothing can be sent, and close says so."""
    shell = await desk.open(server.hostname)
    await desk.send(shell, "echo last $((6*7)); exit 3")

    found = await desk.ended(shell)
    assert "last 42\r\n" in found["output"]
    assert found["exit_code"] == 3
    assert await desk.ended(shell) == {"output": "", "status": "ended", "exit_code": 3}
    assert (await desk.ask("list"))[0]["status"] == "ended"
    code, sentence = await desk.wrong("send", session_id=shell, command="ls")
    assert (code, sentence) == ("failed", f"the shell on {server.hostname} has ended")
    assert await desk.ask("close", session_id=shell) == {"closed": False}


async def test_a_server_that_is_killed_ends_its_shells(desk: Desk) -> None:
    """There is no exit code then, and it cannot be reached any more."""
    with served(desk.user.home / "mortal") as mortal:
        desk.user.is_let_in(mortal, desk.user.key)
        desk.user.knows(mortal)
        shell = await desk.open(mortal.hostname)
        mortal.kill()

        found = await desk.ended(shell)
        assert "exit_code" not in found
        code, sentence = await desk.wrong("open", hostname=mortal.hostname)
        assert (code, sentence) == ("offline", f"{mortal.hostname} cannot be reached")


async def test_shells_are_listed_with_what_is_known_of_them(desk: Desk, server: Server) -> None:
    """Each with its id, the host as it was named, when it was opened, since when it is idle, and its status."""
    shell = await desk.open(server.hostname)

    (row,) = await desk.ask("list")
    assert row.keys() == {"session_id", "hostname", "opened_at", "idle_seconds", "status"}
    assert (row["session_id"], row["hostname"], row["status"]) == (shell, server.hostname, "open")
    assert row["opened_at"].endswith("Z")
    assert isinstance(row["idle_seconds"], int)


@pytest.mark.parametrize("other", OTHERS)
async def test_a_shell_is_whose_it_is(desk: Desk, server: Server, other: Principal) -> None:
    """Another agent, another project and another token neither see it nor use it, and are told nothing of it."""
    shell = await desk.open(server.hostname)

    assert await desk.ask("list", other) == []
    for operation in ("send", "read", "close"):
        code, sentence = await desk.wrong(operation, other, session_id=shell, command="ls")
        assert code == "not_found"
        assert sentence == (await desk.wrong(operation, other, session_id=f"{shell}0", command="ls"))[
            1
        ].replace(f"{shell}0", shell)
    assert [each["session_id"] for each in await desk.ask("list")] == [shell]


async def test_a_shell_that_nobody_uses_is_closed(desk: Desk, server: Server) -> None:
    """After a while without anything sent or read it ends, on the other machine too, and is known no more."""
    quick = desk.with_shells(RemoteShells(idle=timedelta(milliseconds=50)))
    shell = await quick.open(server.hostname)
    running = quick.place.shells.find(SOMEBODY, shell)
    assert running is not None
    async with asyncio.timeout(patience()):
        await running.line.output.over.wait()

    assert await quick.ask("list") == []
    assert (await quick.wrong("read", session_id=shell))[0] == "not_found"


async def test_nobody_opens_too_many(desk: Desk, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a limit for each caller, also while shells are being opened, and those that have ended make room."""
    monkeypatch.setattr(remote_shells, "MOST_OF_ONE", 2)
    outcomes = await asyncio.gather(*(desk.call("open", hostname=server.hostname) for _ in range(3)))
    assert sorted(each.is_error for each in outcomes) == [False, False, True]
    assert (await desk.wrong("open", hostname=server.hostname))[0] == "failed"
    assert await desk.open(server.hostname, EVE)

    (first, _) = await desk.ask("list")
    await desk.send(first["session_id"], "exit")
    await desk.ended(first["session_id"])
    await desk.open(server.hostname)
    assert first not in await desk.ask("list")


async def test_a_machine_has_an_end_too(desk: Desk, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a limit for all callers together."""
    monkeypatch.setattr(remote_shells, "MOST", 2)
    await desk.open(server.hostname)
    await desk.open(server.hostname, EVE)

    code, sentence = await desk.wrong("open", hostname=server.hostname)
    assert code == "failed"
    assert "2 shells are open" in sentence


async def test_all_shells_end_with_the_machine(desk: Desk, server: Server) -> None:
    """Nothing of them is left on either side."""
    shell = await desk.open(server.hostname)
    pid = int((await desk.printed(shell, "echo pid:$$':'", ":\r\n")).rpartition("pid:")[2].partition(":")[0])
    handle = os.pidfd_open(pid)
    await desk.place.shells.close()

    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(handle, ended.set)
    async with asyncio.timeout(patience()):
        await ended.wait()
    asyncio.get_running_loop().remove_reader(handle)
    os.close(handle)
    assert await desk.ask("list") == []


async def test_a_call_that_is_taken_back_leaves_nothing_open(desk: Desk) -> None:
    """A caller that gives up while a host does not answer has no shell there."""
    with served(desk.user.home / "slow") as slow:
        desk.user.knows(slow)
        with slow.mute():
            opening = asyncio.ensure_future(desk.call("open", hostname=slow.hostname))
            done, _ = await asyncio.wait([opening], timeout=0.2)
            assert not done
            opening.cancel()
            with pytest.raises(asyncio.CancelledError):
                await opening
    assert await desk.ask("list") == []


async def test_a_host_that_does_not_answer_is_offline(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a time that is the same for all hosts on the way together."""
    monkeypatch.setattr(connect, "TIMEOUT", timedelta(milliseconds=200))
    with served(desk.user.home / "slow") as slow, slow.mute():
        code, sentence = await desk.wrong("open", hostname=slow.hostname)
    assert (code, sentence) == ("offline", f"{slow.hostname} did not answer within 0.2 seconds")


async def test_a_name_that_leads_nowhere_is_offline(desk: Desk) -> None:
    """A host that there is not is answered like one that is away."""
    assert (await desk.wrong("open", hostname="no-such-host.invalid"))[0] == "offline"


@pytest.mark.parametrize(
    ("operation", "missing"),
    [("open", "hostname"), ("send", "session_id"), ("read", "session_id"), ("close", "session_id")],
)
async def test_what_an_operation_needs(stranger: Desk, operation: str, missing: str) -> None:
    """An operation without an argument that it needs is refused, and the argument is named."""
    assert await stranger.wrong(operation) == ("invalid", f"{missing} is missing: {operation} needs it")


@pytest.mark.parametrize(
    "hostname", ["-oProxyCommand=id", "a b", "a@b@c", "host:0", "host:99999", "ssh://host", "a\n"]
)
async def test_what_is_no_host_is_refused(stranger: Desk, hostname: str) -> None:
    """The sentence says what one looks like."""
    code, sentence = await stranger.wrong("open", hostname=hostname)
    assert code == "invalid"
    assert sentence.startswith("hostname must be a host")


async def test_a_line_that_terminals_would_cut_is_not_sent(desk: Desk, server: Server) -> None:
    """Else something else would run than what the gate has read."""
    shell = await desk.open(server.hostname)
    assert (await desk.wrong("send", session_id=shell, command="echo " + "x" * 4000))[0] == "too_large"
    assert (await desk.wrong("send", session_id=shell, command="echo \ud800"))[0] == "invalid"
    assert await desk.wrong("send", session_id=shell) == ("invalid", "command is missing: send needs it")
    await desk.printed(shell, "\n".join(["echo " + "x" * 3990, "echo on$((1))"]), "on1")
