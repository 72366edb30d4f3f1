"""The hook's process: whatever is wrong, the client hears nothing and goes on."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hubbub.clients.hook import edits, hook_state, http_request, main
from hubbub.clients.hook.adapters import claude_code
from hubbub.clients.hook.hub_target import Target
from hubbub.clients.install.hook_command import hook_command, program
from tests.clients.hook.hook_workbench import Json, Workbench, bare_environment, patient, run
from tests.support.waiting import patience

EDIT: Json = {
    "session_id": "run-1",
    "cwd": "/",
    "tool_name": "Edit",
    "tool_input": {"file_path": "a.txt"},
}
STANDARD = "hubbub.clients.hook"
BEFORE = ["claude-code", "PreToolUse"]


def about(shop: Path, **more: object) -> bytes:
    return json.dumps({**EDIT, "cwd": str(shop), **more}).encode()


@pytest.fixture
def silent_hub() -> Iterator[str]:
    """A server that takes calls and never answers them."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize(
    "told",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"\xff\xfe\x00",
        b"{" * 100_000,
        b'{"session_id": 1, "cwd": [], "tool_name": {}, "tool_input": null}',
        b'{"session_id": "\\ud800", "cwd": "\\u0000", "tool_name": "Edit", "tool_input": {"file_path": "\\u0000"}}',
        json.dumps({**EDIT, "tool_input": {"content": "x" * 10_000_000}}).encode(),
        b"x" * 20_000_000,
    ],
    ids=[
        "nothing",
        "null",
        "a list",
        "an object",
        "no text",
        "too deep",
        "other types",
        "no characters",
        "long",
        "too long",
    ],
)
def test_nonsense_is_answered_with_nothing(bench: Workbench, told: bytes) -> None:
    """Whatever a client tells, one that is not understood goes on as if there were no hook."""
    assert run(BEFORE, told, bench.environment("ada")).is_silent


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1",
        "ftp://example.org",
        "http://",
        "http://127.0.0.1:x",
        "http://[::1",
        "http://a b/",
        "nothing",
    ],
)
def test_without_a_hub_nothing_is_said(bench: Workbench, shop: Path, url: str) -> None:
    """Where no hub is to be reached, or its address is none, edits go on in silence."""
    environment = {**bench.environment("ada"), "HUBBUB_URL": url}

    assert run(BEFORE, about(shop), environment).is_silent


def test_a_hub_that_does_not_answer_is_not_waited_for(bench: Workbench, shop: Path, silent_hub: str) -> None:
    """A hub that takes the call and says nothing is given up; the edit goes on in silence."""
    environment = {**bench.environment("ada"), "HUBBUB_URL": silent_hub}

    assert run(BEFORE, about(shop), environment, by=program()).is_silent


@pytest.mark.parametrize(
    ("name", "told", "seconds"),
    [
        ("PreToolUse", EDIT, 0.3),
        ("PostToolUse", EDIT, 0.3),
        ("PostToolUse", {**EDIT, "tool_name": "Bash", "tool_input": {"command": "git commit"}}, 3.0),
        ("SessionStart", {**EDIT, "source": "compact"}, 1.0),
        ("Stop", EDIT, 1.0),
    ],
)
def test_a_hook_has_the_documented_time(name: str, told: Json, seconds: float) -> None:
    """A tool waits 300 ms for a hook, 3 s after what may be a commit; a beginning or an end waits for one second."""
    happened = claude_code.read(name, told)

    assert happened is not None
    assert main._patience(happened) == seconds


def test_an_edit_that_went_on_unclaimed_is_counted(
    shop: Path, tmp_path: Path, silent_hub: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the hub takes too long to claim a file, that is counted for `hubbub doctor`; where there is none, not."""
    monkeypatch.setenv("HUBBUB_DATA", str(tmp_path / "data"))
    told = claude_code.read("PreToolUse", json.loads(about(shop)))
    assert told is not None

    def ask(url: str, seconds: float) -> None:
        target = Target(url=url, token="t", project="p", agent="ada")
        edits.before(target, told, until=time.monotonic() + seconds)

    with pytest.raises(ConnectionRefusedError):
        ask("http://127.0.0.1:1", 20)
    assert hook_state.unclaimed() is None
    with pytest.raises(http_request.TimedOut):
        ask(silent_hub, -1)
    with pytest.raises(TimeoutError):
        ask(silent_hub, 1)
    counted = hook_state.unclaimed()
    assert counted is not None
    assert counted[0] == 2
    os.utime(Path(tmp_path, "data", "hooks", hook_state.UNCLAIMED), (0, 0))
    hook_state.tidy()
    assert hook_state.unclaimed() is None


@pytest.mark.parametrize("command", ["ls", "git status"])
def test_after_a_shell_a_hub_is_not_waited_for_either(
    bench: Workbench, shop: Path, silent_hub: str, command: str
) -> None:
    """However long git may take after a shell, a hub that does not answer has the time that it has after any tool."""
    ada = bench.editor("ada", shop)
    ada.before_edit(shop / "a.txt")  # which is clean, and so to be released
    told = about(shop, session_id="ada-run-1", tool_name="Bash", tool_input={"command": command})

    answer = run(
        ["claude-code", "PostToolUse"],
        told,
        {**ada.environment, "HUBBUB_URL": silent_hub},
        by=patient(hub=0.3, git=1_000_000),
    )

    assert answer.is_silent


def test_a_client_that_says_nothing_is_not_waited_for(bench: Workbench) -> None:
    """A hook that is told nothing, over a pipe that stays open, ends by itself."""
    with subprocess.Popen(
        [*program(), *BEFORE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=bench.environment("ada")
    ) as process:
        assert process.wait(timeout=patience(30)) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b""


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\n\r\n[1]",
        b'HTTP/1.1 200 OK\r\n\r\n{"decision": "explode", "sentence": 1}',
        b'HTTP/1.1 500 Oh\r\n\r\n{"decision": "deny", "sentence": "no"}',
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 2_000_000,
    ],
)
def test_what_is_no_answer_of_a_hub_is_none(bench: Workbench, shop: Path, answer: bytes) -> None:
    """An answer that no hub gives denies nothing."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with closing(connection):
                connection.recv(65536)
                try:
                    connection.sendall(answer)
                except OSError:
                    return

        thread = threading.Thread(target=serve)
        thread.start()
        environment = {
            **bench.environment("ada"),
            "HUBBUB_URL": f"http://127.0.0.1:{server.getsockname()[1]}",
        }
        assert run(BEFORE, about(shop), environment).is_silent
        thread.join()


def test_a_revoked_token_is_passed_over(bench: Workbench, shop: Path) -> None:
    """When the hub does not know the token any more, edits go on in silence: `hubbub doctor` is who tells."""
    environment = bench.environment("ada")
    bench.hub.revoke(environment["HUBBUB_TOKEN"])

    assert run(BEFORE, about(shop), environment).is_silent


def test_where_nothing_is_installed_nothing_is_said(bench: Workbench, shop: Path, tmp_path: Path) -> None:
    """Without an install, and with a record that is none, the hook is silent."""
    environment = bare_environment(tmp_path)
    assert run(BEFORE, about(shop), environment).is_silent

    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "clients.json").write_text('{"installs": [{"client": 7}]}')
    assert run(BEFORE, about(shop), environment).is_silent


def test_where_nothing_can_be_written_claims_work(bench: Workbench, shop: Path, tmp_path: Path) -> None:
    """A home that cannot be written to costs the memory of what was read, not the claim."""
    (tmp_path / "file").write_text("")
    environment = {**bench.environment("ada"), "HUBBUB_DATA": str(tmp_path / "file" / "data")}

    assert run(BEFORE, about(shop), environment).is_silent
    assert bench.held("ada") == ["a.txt"]


@pytest.mark.parametrize("arguments", [[], ["claude-code"]])
def test_what_is_not_said_is_read(bench: Workbench, shop: Path, arguments: list[str]) -> None:
    """Called without an event it takes that of standard input; without a client it takes that for Claude Code's."""
    assert run(arguments, about(shop, hook_event_name="PreToolUse"), bench.environment("ada")).is_silent
    assert bench.held("ada") == ["a.txt"]


@pytest.mark.parametrize("arguments", [["netscape", "PreToolUse"], ["--help"]])
def test_a_wrong_call_says_how_it_is_called(tmp_path: Path, arguments: list[str]) -> None:
    """A person who calls the program by hand is told how; a client sees code 0, which denies nothing."""
    answer = run(arguments, b"", bare_environment(tmp_path))

    assert (answer.code, answer.stdout) == (0, "")
    assert answer.stderr.startswith("usage: hubbub-hook [CLIENT [EVENT]]")


def test_a_hook_that_is_none_of_ours_is_passed_over(bench: Workbench, shop: Path) -> None:
    """A hook of a name that the client's module does not know is silent."""
    assert run(["claude-code", "PreCompact"], about(shop), bench.environment("ada")).is_silent


def test_the_command_for_clients_is_absolute() -> None:
    """A client is given the interpreter and the program by their full paths, and nothing that is looked up."""
    interpreter, *_, file = program()

    assert Path(interpreter).is_absolute()
    assert Path(file).is_absolute()
    assert hook_command("claude-code", "PreToolUse").endswith("__main__.py claude-code PreToolUse")


def test_a_hook_loads_nothing_but_the_standard_library(bench: Workbench, shop: Path) -> None:
    """A hook loads only its own folder of this package, and no slow part of the library."""
    code = (
        "import sys, os; sys.argv = ['hubbub-hook', 'claude-code', 'PreToolUse']\n"
        "os._exit = lambda code: None\n"
        "from hubbub.clients.hook import main\n"
        "main.main()\n"
        "sys.stderr.write(' '.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=about(shop),
        capture_output=True,
        env={**os.environ, **bench.environment("ada")},
        check=True,
    )
    loaded = set(done.stderr.decode().split())

    ours = {each for each in loaded if each.startswith("hubbub.") and not each.startswith(STANDARD)}
    assert ours == {"hubbub.clients"}
    assert not loaded & {
        "asyncio",
        "dataclasses",
        "http.client",
        "pathlib",
        "subprocess",
        "typing",
        "urllib.request",
    }
