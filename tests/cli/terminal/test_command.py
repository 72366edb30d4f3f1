"""The common parts of all commands: choice of hub and identity, exit codes, help, JSON."""

import json
import os
import pty
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from hubbub.cli import ENTRIES, SECTIONS, hubbub
from hubbub.daemons import membership
from hubbub.daemons.membership import Membership
from hubbub.serve.documents.library import Library
from hubbub.terminal.command import EXPLAINED
from tests.cli import in_process, processes
from tests.cli.processes import RunningHub, plain_environment
from tests.cli.screens import at_terminal

WHOLE = click.Context(hubbub, **hubbub.context_settings)  # what a command first sees of it, it keeps
COLOUR = re.compile(r"\x1b\[[0-9]+m")  # as the words for how something stands have it, and titles


def leaves(command: click.Command | None, *words: str) -> Iterator[tuple[str, click.Command]]:
    """Yield the words of each command below this one that is no group, and the command."""
    assert command is not None
    if not isinstance(command, click.Group):
        yield " ".join(words), command
        return
    for name, each in command.commands.items():
        yield from leaves(each, *words, name)


LEAVES = dict(each for name in ENTRIES for each in leaves(hubbub.get_command(WHOLE, name), name))


def test_a_refusal_leads_to_its_page(hub: RunningHub) -> None:
    """At a terminal a refusal names the hub's own page that explains it, which is there."""
    documents = Library.own().documents
    for page in EXPLAINED.values():
        name, _, anchor = page.partition("#")
        assert {anchor} - {""} <= {each.anchor for each in documents[f"/docs/{name}"].sections}
    hub.run("task", "add", "Mend https://example.com/org/app/issues/7")
    shown = at_terminal(hub, "task", "add", "Mend https://example.com/org/app/issues/7")
    assert shown.splitlines()[-1] == f"Read more: {hub.url}/docs/duplicates"


@pytest.mark.parametrize("words", LEAVES)
def test_help_has_an_example(words: str) -> None:
    """Every command takes --json, and its help shows an example that begins with the command itself."""
    command = LEAVES[words]
    text = command.get_help(click.Context(command, WHOLE, info_name=f"hubbub {words}"))
    assert "--json" in text
    assert f"hubbub {words}" in text.partition("Example:")[2]


LISTS = [
    *(
        "tasks",
        "agents",
        "inbox",
        "approve",
        "login",
        "user list",
        "user invitations",
        "token list",
        "project list",
        "node list",
    ),
    *("node keys", "webhook list", "webhook deliveries", "lease list", "lease capacity", "lease rule"),
    *(
        "budget list",
        "account list",
        "breaker list",
        "project coordinator",
        "project member list",
        "task list",
    ),
]


def test_every_list_has_names() -> None:
    """Every command that lists things takes --quiet, for their names only; no other command does."""
    assert {words for words, each in LEAVES.items() if "--quiet" in _options(each)} == {*LISTS, "serve"}


def _options(command: click.Command) -> set[str]:
    return {option for each in command.params for option in each.opts}


def test_names_only(hub: RunningHub) -> None:
    """--quiet prints of a list what other commands take, one a line, and nothing of an empty list."""
    assert hub.run("tasks", "-q").stdout == ""
    numbers = [hub.json("task", "add", text)["number"] for text in ("Mend the parser", "Paint the fence")]
    assert hub.run("tasks", "--quiet").stdout.splitlines() == [f"T-{each}" for each in reversed(numbers)]
    assert hub.run("task", "show", *hub.run("tasks", "-q", "--limit", "1").stdout.split()).returncode == 0
    tokens = hub.run("token", "list", "-q").stdout.split()
    assert tokens == [each["id"] for each in hub.json("token", "list")]
    assert hub.project in hub.run("project", "list", "-q").stdout.splitlines()


def test_another_spelling_of_json(hub: RunningHub) -> None:
    """`-o json` is `--json`, before or after other options; another form is refused with the one that there is."""
    hub.run("task", "add", "Mend the parser")
    for words in (("tasks", "-o", "json"), ("tasks", "-ojson", "--all")):
        assert json.loads(hub.run(*words).stdout)[0]["title"] == "Mend the parser"
    refused = hub.run("tasks", "-o", "yaml")
    assert (refused.returncode, "'json'" in refused.stderr) == (2, True)


def test_help_of_groups_has_examples() -> None:
    """The help of a group shows examples of its commands; `--project` is only shown where it means something."""
    for name in ("task", "project", "user", "token", "node", "gate", "agent"):
        group = hubbub.get_command(WHOLE, name)
        assert group is not None
        text = group.get_help(click.Context(group, WHOLE, info_name=f"hubbub {name}"))
        assert f"hubbub {name} " in text.partition("Examples:")[2]
    for words in ("project create", "user list"):
        assert (
            "--project"
            not in LEAVES[words].get_help(click.Context(LEAVES[words], WHOLE)).partition("Example")[0]
        )


def test_list_says_what_the_commands_say() -> None:
    """The list of commands, which is shown without loading them, says what each says of itself."""
    for name, entry in ENTRIES.items():
        command = hubbub.get_command(WHOLE, name)
        assert command is not None
        assert command.short_help == entry.about


def test_help_tells_what_to_do() -> None:
    """The help of every command and option is one sentence to begin with, and none begins with "what" or "whoever"."""
    told = [entry.about for entry in ENTRIES.values()]
    for leaf in LEAVES.values():
        told += [
            leaf.help or "",
            *(each.help or "" for each in leaf.params if isinstance(each, click.Option)),
        ]
    headless = re.compile(r"(What|Who|Whom|Whose|Whoever|Where|Which|How|Have)\b(?! (many|long))")
    assert [each for each in told if headless.match(each) or not each[:1].isupper()] == []


def test_help_loads_no_command() -> None:
    """`hubbub --help` loads neither the commands nor what they need."""
    code = (
        "import sys; sys.argv=['hubbub','--help']\nfrom hubbub.__main__ import main\ntry: main()\nfinally: "
    )
    dear = ("hubbub.cli.", "hubbub.terminal", "httpx2", "apsw", "fastapi")
    code += f"print([name for name in sys.modules if name.startswith({dear})])"
    done = processes.run_python(code)
    assert done.stdout.splitlines()[-1] == "[]"


def test_no_hub_is_code_3(tmp_path: Path) -> None:
    """Where no hub runs, or none answers at the address, the exit code is 3 and one sentence says so."""
    done = processes.hubbub("agents", data=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert "no hub is running on the data folder" in done.stderr
    away = processes.hubbub("agents", "--url", "http://127.0.0.1:9", "--token", "utok_1", data=tmp_path)
    assert away.returncode == 3
    assert away.stderr.count("\n") == 1
    assert (done.stderr.endswith("; start one with: hubbub up\n"), "hubbub up" in away.stderr) == (
        True,
        False,
    )
    assert away.stderr.endswith("; check the address, and that the hub there runs\n")


def test_a_machine_that_joined_elsewhere_starts_no_hub(tmp_path: Path) -> None:
    """On a machine that has joined a hub elsewhere, a command without login names that hub, and does not start one."""
    joined = Membership(name="web1", project="default", url="https://hub.example.org", token="mkey_1")
    membership.write(tmp_path, joined)
    for words in (("agents",), ("with", "db", "--", "true")):
        done = processes.hubbub(*words, data=tmp_path)
        told = (
            "this machine has joined the hub at https://hub.example.org; use it with: hubbub login https://"
        )
        assert (done.returncode, told in done.stderr) == (3, True)


def test_refusal_is_code_1(hub: RunningHub) -> None:
    """A refusal of the hub is exit code 1 and its sentence on standard error."""
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
    """Wrong usage is exit code 2, and one sentence says what is allowed."""
    done = processes.hubbub(*arguments, data=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1


def test_a_value_that_the_hub_does_not_take_is_code_2(hub: RunningHub) -> None:
    """A bad value is wrong usage, exit code 2, also if it is the hub that refuses it."""
    for arguments in (
        ("project", "create", "Bad Slug"),
        ("token", "create", "--agent", "x y"),
        ("token", "create", "--expires", "0s"),
        ("task", "add", "x", "--github", "nowhere"),
        ("send", "everyone", ""),
        ("task", "add", " "),
        ("task", "add", "-"),
    ):
        done = hub.run(*arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert hub.run("task", "add", "").stderr == (
        "Error: the text is empty: write it in quotes, or give - for standard input\n"
    )


def test_an_unknown_thing_leads_to_its_list(hub: RunningHub) -> None:
    """At a terminal the refusal of something that does not exist names the command that lists what does."""
    for arguments, known in ((("task", "show", "99"), "tasks --all"), (("node", "remove", "x"), "node list")):
        assert at_terminal(hub, *arguments).endswith(f"List them: hubbub {known}\n")


def test_what_is_missing_is_told_with_the_usage(tmp_path: Path) -> None:
    """Where an argument is missing, or one too many, the sentence says how the command is used."""
    for arguments in (("send", "ada"), ("send", "ada", "hello", "there")):
        done = processes.hubbub(*arguments, data=tmp_path)
        assert done.stderr.endswith(" Usage: hubbub send [OPTIONS] TO TEXT\n")


def test_help_comes_in_groups(tmp_path: Path) -> None:
    """The list of commands is in groups, and what people use every day is in the first."""
    shown = processes.hubbub("--help", data=tmp_path).stdout
    places = [shown.index(f"\n{title}:\n") for title in SECTIONS]
    assert places == sorted(places)
    assert "\n  status " in shown[places[0] : places[1]]


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ("taks", "Did you mean 'tasks' or 'task'?"),
        ("tsks", "Did you mean 'tasks'"),
        ("stauts", "Did you mean 'status'"),
        ("signin", "Did you mean 'login'?"),
        ("add x", "Did you mean 'task add'?"),
        ("who", "Did you mean 'agents'?"),
        ("uninstall codex", "Did you mean 'install CLIENT --uninstall'?"),
        ("send ada hello there", "Put a text of several words in quotes. Usage: "),
        ("xyzzy", "No such command 'xyzzy'. See: hubbub --help"),
        ("token xyzzy", "No such command 'xyzzy'. Known: create, list, revoke."),
        ("tasks --status running", "Did you mean 'working'?"),
        ("task add x --priority urgent", "Did you mean 'critical'?"),
        (
            "completion bsh",
            "Invalid value for 'SHELL': 'bsh' is not one of 'bash', 'zsh', 'fish'. Did you mean 'bash'?",
        ),
        ("install claud", "Did you mean 'claude-code' or 'claude-desktop'?"),
        ("mcp nope", "Invalid value for 'DIALECT': 'nope' is not one of "),
        ("wait --timeout abc", "'abc' is not a number of seconds"),
        ("wait --timeout 1e300", "'1e300' is not from 0 to 31622400 (366 days)"),
        ("tasks --assgnee ada", "Did you mean '--assignee'?"),
        ("task ad", "Did you mean 'add'?"),
        ("help tasc", "Did you mean 'task'"),
        ("--url http://127.0.0.1:1 agents", "--url comes after the command: hubbub COMMAND --url …"),
        ("task --token x list", "--token comes after the command: hubbub task COMMAND --token …"),
    ],
)
def test_a_slip_is_told_what_was_meant(arguments: str, meant: str) -> None:
    """A word that is not known, and an option before its command, are refused with what was probably meant."""
    done = CliRunner().invoke(hubbub, arguments.split())
    assert done.exit_code == 2
    assert meant in done.stderr
    assert done.stderr.count("\n") == 1


def test_help_and_version_are_commands_too(tmp_path: Path) -> None:
    """`hubbub help COMMAND` is its help, and `hubbub version` the line of `--version`."""
    for words, same in (
        (("help", "task", "add"), ("task", "add", "--help")),
        (("help",), ("--help",)),
        (("version",), ("--version",)),
    ):
        said = processes.hubbub(*words, data=tmp_path)
        assert (said.returncode, said.stdout) == (0, processes.hubbub(*same, data=tmp_path).stdout)


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
    assert "--token or HUBBUB_TOKEN" in bad.stderr
    assert "Bearer" not in bad.stderr


def test_a_stranger_at_the_address(tmp_path: Path) -> None:
    """A server at the address that is no hub is told from one."""
    with processes.stranger() as url:
        done = processes.hubbub("agents", "--url", url, "--token", "utok_1", data=tmp_path)
    assert done.returncode == 3
    assert "is not a hub" in done.stderr


def test_terminal_gets_nothing_raw(hub: RunningHub) -> None:
    """Agents' texts never reach a terminal with control characters in them, whatever the command."""
    hostile = "\x1b[2J\u202eevil\x9b"
    hub.meet("ada")
    hub.client().put("/agents/ada/presence", {"instance": "1", "take": True, "doing": hostile})
    hub.send("ada", f"title {hostile}\nbody {hostile}")
    commands = (
        ("agents",),
        ("tasks",),
        ("task", "show", "1"),
        ("inbox", "ada"),
        ("log",),
        ("agents", "--json"),
    )
    for arguments in commands:
        shown = on_terminal(hub, *arguments)
        assert "evil" in shown
        assert not {"\x1b", "\u202e", "\x9b"} & set(COLOUR.sub("", shown)), arguments


def on_terminal(hub: RunningHub, *arguments: str) -> str:
    """Return everything that a command writes to the terminal it runs in."""
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


def test_a_process_says_the_same(hub: RunningHub) -> None:
    """A command run inside the test's process prints the same as a process of its own, with the same exit code."""
    missing = {"deny": ["nonsense"], "inbox": ["ada"], "task": ["show", "99"], "why": ["nobody"]}
    several = {word: ["list"] for word in ("project", "token", "user", "webhook")}
    environment = {"HUBBUB_PROJECT": hub.project}
    for word in sorted(in_process.TALK):
        words = (word, *{**missing, **several}.get(word, []))
        here = in_process.run(words, plain_environment(hub.data, **environment), "")
        there = processes.run_process(*words, data=hub.data, environment=environment)
        assert (here.returncode, here.stdout, here.stderr) == (there.returncode, there.stdout, there.stderr)


def test_text_is_utf8(hub: RunningHub) -> None:
    """Bytes that are not UTF-8 are wrong usage, be they an argument, an option or standard input."""
    halves = "\udcff"  # what Python makes of the byte FF
    for arguments in (("send", "hub", halves), ("inbox", halves), ("agents", "--project", halves)):
        done = hub.run(*arguments)
        assert (done.returncode, done.stderr.splitlines()[-1][-22:]) == (2, " it must be UTF-8 text")
    piped = subprocess.run(
        [*processes.PROGRAM, "send", "hub", "-"],
        env=plain_environment(hub.data),
        input=b"\xff",
        capture_output=True,
        check=False,
    )
    assert (piped.returncode, b"standard input must be UTF-8 text" in piped.stderr) == (2, True)


@pytest.mark.parametrize(
    "arguments", [("task", "show"), ("project", "show"), ("token", "revoke"), ("inbox",)]
)
def test_empty_ids(hub: RunningHub, arguments: tuple[str, ...]) -> None:
    """An empty id or name is wrong usage, and not a question about all there are."""
    done = hub.run(*arguments, "")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "Error: a name or an id is needed, not an empty text"


@pytest.mark.parametrize("ref", ["../agents", "..", ".", "a/b"])
@pytest.mark.parametrize(("noun", "verb"), [("task", "show"), ("task", "cancel"), ("token", "revoke")])
def test_ids_lead_nowhere_else(hub: RunningHub, noun: str, verb: str, ref: str) -> None:
    """An id is one part of an address, whatever is in it."""
    done = hub.run(noun, verb, ref)
    assert (done.returncode, done.stderr) == (1, f"Error: {noun} {ref!r} not found\n")


@pytest.mark.parametrize(
    "url", ["http://[::1", "notaurl", "ftp://x", "http://a b/", "http://127.0.0.1:99999", "http://"]
)
def test_malformed_address_is_wrong_usage(tmp_path: Path, url: str) -> None:
    """An invalid hub address gives exit code 2, and the sentence shows a valid one."""
    done = processes.hubbub("agents", "--url", url, "--token", "utok_1", data=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(
        "Error: the address of a hub is like http://127.0.0.1:8420"
    )


@pytest.mark.parametrize("token", ["töken", "utok_1\nX-More: 1", "utok 1"])
def test_token_that_cannot_be_sent(hub: RunningHub, token: str) -> None:
    """A token that is none is exit code 2, and is not shown."""
    done = hub.run("agents", "--token", token)
    assert (done.returncode, token in done.stderr) == (2, False)
    assert done.stderr.splitlines()[-1].startswith("Error: the token has characters that are not allowed")


@pytest.mark.parametrize("arguments", [("log",), ("tasks",), ("--help",), ("tasks", "--json")])
def test_output_that_cannot_be_written(hub: RunningHub, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """Output that cannot be written is one sentence and exit code 1."""
    hub.run("task", "add", "so that there is something to show")
    file = tmp_path / "file"
    file.touch()
    with file.open() as only_to_read:
        done = subprocess.run(
            [*processes.PROGRAM, *arguments],
            env=plain_environment(hub.data, HUBBUB_PROJECT=hub.project),
            stdout=only_to_read,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, "Error: the system refuses: Bad file descriptor\n")


def test_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    """A data folder that is a file is said in one sentence."""
    file = tmp_path / "file"
    file.touch()
    for arguments in (("mcp",), ("migrate",), ("serve", "--port", "0")):
        done = processes.hubbub(*arguments, data=file)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)


def test_output_that_nobody_reads(hub: RunningHub) -> None:
    """When who read the output is gone, a command ends without a word."""
    process = subprocess.Popen(
        [*processes.PROGRAM, "log"],
        env=plain_environment(hub.data, HUBBUB_PROJECT=hub.project),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    process.wait()


def test_project_of_a_person(hub: RunningHub) -> None:
    """A person of several projects who chooses none means `default`, if it is among theirs; else they must choose."""
    unsaid = {"HUBBUB_PROJECT": ""}
    title = f"for the default project {hub.project}"
    assert hub.run("task", "add", title, **unsaid).returncode == 0
    assert title in hub.run("tasks", **unsaid).stdout
    assert title not in hub.run("tasks").stdout
    name = f"person-of-{hub.project}"
    guest = hub.secret("user", "create", name)
    assert hub.run("task", "add", "in the only one", "--token", guest, **unsaid).returncode == 0
    assert "in the only one" in hub.run("tasks").stdout
    assert hub.run("project", "create", f"{hub.project}-2", "--token", guest).returncode == 0
    refused = hub.run("task", "add", "where?", "--token", guest, **unsaid)
    assert (refused.returncode, hub.project in refused.stderr) == (1, True)


def test_help_names_all_exit_codes(tmp_path: Path) -> None:
    """The list of commands says what each exit code means."""
    shown = " ".join(processes.hubbub("--help", data=tmp_path).stdout.split())
    assert "3 hub unreachable, 4 nothing came in time" in shown
