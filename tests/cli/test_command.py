"""What all commands have in common: which hub, as whom, exit codes, help, JSON."""

import os
import pty
from pathlib import Path

import click
import pytest

from hubbub.cli import ENTRIES, hubbub
from tests.cli import processes
from tests.cli.processes import RunningHub, plain_environment

LEAVES = [
    (name, sub)
    for name in ENTRIES
    for command in [hubbub.get_command(click.Context(hubbub), name)]
    for sub in (command.commands if isinstance(command, click.Group) else [""])
]


@pytest.mark.parametrize(("name", "sub"), LEAVES)
def test_help_has_an_example(name: str, sub: str) -> None:
    """Every command takes --json, and its help shows an example that begins with the command itself."""
    command = hubbub.get_command(click.Context(hubbub), name)
    if isinstance(command, click.Group):
        command = command.commands[sub]
    assert command is not None
    context = click.Context(command, info_name=f"hubbub {name} {sub}".strip())
    text = command.get_help(context)
    assert "--json" in text
    assert f"hubbub {name} {sub}".strip() in text.partition("Example:")[2]


def test_list_says_what_the_commands_say() -> None:
    """The list of commands, which is shown without loading them, says what each says of itself."""
    for name, entry in ENTRIES.items():
        command = hubbub.get_command(click.Context(hubbub), name)
        assert command is not None
        assert command.short_help == entry.about


def test_help_loads_no_command() -> None:
    """`hubbub --help` loads neither the commands nor what they need."""
    code = (
        "import sys; sys.argv=['hubbub','--help']\nfrom hubbub.__main__ import main\ntry: main()\nfinally: "
    )
    code += "print([name for name in sys.modules if name.startswith(('hubbub.cli.', 'httpx2', 'apsw', 'fastapi'))])"
    done = processes.run_python(code)
    assert done.stdout.splitlines()[-1] == "[]"


def test_no_hub_is_code_3(tmp_path: Path) -> None:
    """Where no hub runs, or none answers at the address, the exit code is 3 and one sentence says so."""
    done = processes.hubbub("agents", data=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert "no hub runs on the data folder" in done.stderr
    away = processes.hubbub("agents", "--url", "http://127.0.0.1:9", "--token", "utok_1", data=tmp_path)
    assert away.returncode == 3
    assert away.stderr.count("\n") == 1


def test_refusal_is_code_1(hub: RunningHub) -> None:
    """What the hub refuses is exit code 1 and its sentence on standard error."""
    done = hub.run("task", "show", "99")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "Error: task '99' not found\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("send", "ada"),
        ("token", "create", "--expires", "soon"),
        ("task", "add", "x", "--priority", "now"),
    ],
)
def test_wrong_usage_is_code_2(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """Wrong usage is exit code 2, says what is allowed, and shows no trace."""
    done = processes.hubbub(*arguments, data=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


def test_no_token_is_wrong_usage(hub: RunningHub, tmp_path: Path) -> None:
    """Without any token there is nothing to say who asks: exit code 2."""
    done = processes.hubbub("agents", "--url", hub.url, data=tmp_path)
    assert done.returncode == 2
    assert "no token" in done.stderr


def test_hub_and_token_of_the_environment(hub: RunningHub, tmp_path: Path) -> None:
    """HUBBUB_URL and HUBBUB_TOKEN name another hub than that of the data folder, and options go before them."""
    secret = hub.client().post("/tokens", {})["secret"]
    there = {"HUBBUB_URL": hub.url, "HUBBUB_TOKEN": secret}
    assert processes.hubbub("agents", data=tmp_path, environment=there).returncode == 0
    bad = processes.hubbub("agents", "--token", "ntok_bad", data=tmp_path, environment=there)
    assert (bad.returncode, "a valid token is needed" in bad.stderr) == (1, True)


def test_a_stranger_at_the_address(tmp_path: Path) -> None:
    """What answers at the address and is no hub is told from one."""
    with processes.stranger() as url:
        done = processes.hubbub("agents", "--url", url, "--token", "utok_1", data=tmp_path)
    assert done.returncode == 3
    assert "is not a hub" in done.stderr


def test_terminal_gets_nothing_raw(hub: RunningHub) -> None:
    """Names and texts of agents never reach a terminal with control characters in them, whatever the command."""
    hostile = "\x1b[2J\u202eevil\x9b"
    hub.meet(hostile)
    hub.send(hostile, f"title {hostile}\nbody {hostile}")
    commands = (
        ("agents",),
        ("tasks",),
        ("task", "show", "1"),
        ("inbox", hostile),
        ("log",),
        ("agents", "--json"),
    )
    for arguments in commands:
        shown = on_terminal(hub, *arguments)
        assert "evil" in shown
        assert not {"\x1b", "\u202e", "\x9b"} & set(shown), arguments


def on_terminal(hub: RunningHub, *arguments: str) -> str:
    """All that a command writes to the terminal it runs in."""
    ours, theirs = pty.openpty()
    process = processes.spawn(
        *arguments,
        environment=plain_environment(hub.data, HUBBUB_PROJECT=hub.project, COLUMNS="300"),
        out=theirs,
    )
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65_536):
            shown += chunk
    except OSError:  # Linux says so when the other side is closed
        pass
    process.wait()
    os.close(ours)
    return shown.decode()
