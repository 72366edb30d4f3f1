"""Completion of agents' names in a shell."""

import os
import shutil
import subprocess
from pathlib import Path

import httpx2
import pytest

from tests.cli.processes import PROGRAM, RunningHub, hubbub, plain_environment
from tests.support.tools import needed

# What each shell does when Tab is pressed, without a line to edit: `press` gets the line.
PRESSED = {
    "bash": """\
        eval "$(hubbub completion bash)"
        compopt() { :; }
        press() {
            COMP_WORDS=($1) COMPREPLY=()
            COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
            _hubbub_completion hubbub
            printf '%s\\n' "${COMPREPLY[@]}"
        }
    """,
    "zsh": """\
        compdef() { :; }
        compadd() { print -rl -- ${(P)@[-1]}; }
        _describe() { print -rl -- ${${(P)3}%%:*}; }
        eval "$(hubbub completion zsh)"
        press() {
            words=(${=1}) CURRENT=$#words
            _hubbub_completion
        }
    """,
    "fish": """\
        hubbub completion fish | source
        function press
            complete -C $argv[1] | cut -f 1
        end
    """,
}


def _offered(hub: RunningHub, *words: str) -> list[str]:
    """Return the completions that the command line of the hub offers for the last of the words."""
    line = {"COMP_WORDS": " ".join(("hubbub", *words)), "COMP_CWORD": str(len(words))}
    done = hub.run(_HUBBUB_COMPLETE="bash_complete", **line)
    assert (done.returncode, done.stderr) == (0, "")
    return [each.partition(",")[2] for each in done.stdout.splitlines()]


@pytest.mark.parametrize(
    "words",
    [
        ("send", "co"),
        ("inbox", "co"),
        ("wait", "co"),
        ("work", "co"),
        ("why", "co"),
        ("tasks", "--assignee", "co"),
        ("task", "add", "--to", "co"),
        ("task", "reassign", "1", "co"),
        ("token", "create", "--agent", "co"),
    ],
    ids=" ".join,
)
def test_names_of_agents_are_offered(hub: RunningHub, words: tuple[str, ...]) -> None:
    """Wherever a command takes an agent, the names that the project knows are offered, as far as they fit."""
    hub.meet("coder-1", "coder-2", "reviewer")

    assert _offered(hub, *words) == ["coder-1", "coder-2"]


def _call(hub: RunningHub, path: str, token: str, tool: str, **arguments: object) -> None:
    """Call a tool over HTTP; it must succeed."""
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    answer = httpx2.post(hub.url + path, json=body, headers={"Authorization": f"Bearer {token}"})
    assert not answer.json()["result"]["isError"], answer.text


def test_a_name_that_means_something_to_a_shell_is_not_offered(hub: RunningHub) -> None:
    """Names that bash would run, expand or take for an option on the line are not offered."""
    token = hub.client().post("/tokens", {"role": "member"})["secret"]
    for name in ("$(reboot)", "`reboot`", "a;reboot", "*", "--ack", "代码1号"):
        report = {"resume_id": name, "alias": name, "status": "idle"}
        _call(hub, "/mcp/commhub", token, "report_status", **report)

    assert _offered(hub, "send", "") == ["代码1号"]


def test_a_hub_that_is_away_completes_nothing(tmp_path: Path) -> None:
    """Without a hub the shell is offered no name, and the line that is being typed is left alone."""
    line = {"_HUBBUB_COMPLETE": "bash_complete", "COMP_WORDS": "hubbub send c", "COMP_CWORD": "2"}
    done = hubbub(data=tmp_path, environment=line)

    assert (done.stdout.split(), done.stderr) == ([], "")


OFFERED = {
    "hubbub install-": "install-service",
    "hubbub install cursor --sc": "--scope",
    "hubbub install cu": "cursor",
    "hubbub send cod": "coder-1",
}


@pytest.mark.system
@pytest.mark.parametrize("shell", PRESSED)
def test_shells_complete(hub: RunningHub, tmp_path: Path, shell: str) -> None:
    """With the script for it, each shell completes commands, options, clients and names of agents."""
    path_of_shell = needed(shutil.which(shell), shell)
    hub.meet("coder-1")
    program = tmp_path / "hubbub"
    program.write_text(f'#!/bin/sh\nexec {PROGRAM[0]} -m hubbub "$@"\n')
    program.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    environment = plain_environment(hub.data, HUBBUB_PROJECT=hub.project, PATH=path, HOME=str(tmp_path))
    done = subprocess.run(
        [path_of_shell, "-c", "\n".join([PRESSED[shell], *(f"press '{line}'" for line in OFFERED)])],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout.split(), done.stderr) == ([*OFFERED.values()], "")
