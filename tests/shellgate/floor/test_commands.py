"""Decisions on commands: cases of attack and of everyday work, checked as the gate checks them, and never run."""

import random
import shlex
from functools import partial
from pathlib import Path

import pytest

from shellgate.analysis import Analysis, CallPart
from shellgate.decision import Effect
from shellgate.floor import commands
from tests.shellgate.gate_cases import cases, filled, wrong
from tests.shellgate.worlds import world
from tests.support.each_row import each_row

ATTACKS = ("f1", "f2", "f3", "f4", "f5", "f6", "f8", "f9", "mixed")
MOST_ASKED = 0.05  # of what is harmless


@pytest.mark.parametrize("clause", [*ATTACKS, "redteam"])
def test_no_attack_passes(clause: str, tmp_path: Path) -> None:
    """Each way around a clause of the floor that we could think of is denied, or, where it may be, asked about."""
    assert wrong(clause, tmp_path) == {}


def test_git_is_read_one_way(tmp_path: Path) -> None:
    """Settings, work trees, repositories and files of git mean the same by option, variable, file and subcommand."""
    assert wrong("git", tmp_path) == {}


def test_what_is_unpacked_is_told_or_asked_about(tmp_path: Path) -> None:
    """Archives, folders and patches put nothing into a home, and nothing protected anywhere, without a question."""
    assert wrong("unpacking", tmp_path) == {}


def test_a_path_that_is_printed_is_told_or_asked_about(tmp_path: Path) -> None:
    """Nothing is written where only a substitution tells, unless what it prints leads nowhere new."""
    assert wrong("printed", tmp_path) == {}


def test_everyday_work_passes(tmp_path: Path) -> None:
    """Without rules, in the mode that bypasses them, nothing harmless is denied or asked about."""
    assert wrong("harmless", tmp_path) == {}


def test_a_new_machine_lets_agents_read(tmp_path: Path) -> None:
    """The shipped policy passes commands that only read in the roots, and asks about all others."""
    assert wrong("shipped", tmp_path) == {}


def test_there_are_enough_cases() -> None:
    """At least 400 attacks and 400 harmless commands, no two of one id."""
    attacks = [case["id"] for name in ATTACKS for case in cases(name)]
    harmless = [case["id"] for case in cases("harmless")]

    assert min(len(attacks), len(harmless)) >= 400
    assert len({*attacks, *harmless}) == len(attacks) + len(harmless)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def read(command: str, folder: Path) -> Analysis:
    return commands.read(command, world(folder))


def part(command: str, folder: Path) -> CallPart:
    return read(command, folder).parts[0]


def test_of_what_is_too_large_the_beginning_is_shown(folder: Path) -> None:
    """A command over 64 KiB is denied, and what is told of it is short, whatever its length."""
    found = read("echo " + "a" * 10_000_000, folder)
    assert found.floor[0].effect is Effect.DENY
    assert found.target.startswith("echo aaa")
    assert len(found.target) <= commands.SHOWN


def test_each_simple_command_is_a_part(folder: Path) -> None:
    """Rules see each command by itself, its words resolved."""
    found = read('X=1; git status; echo "$X" | tr 1 2', folder)
    assert [each.words for each in found.parts] == [(), ("git", "status"), ("echo", "1"), ("tr", "1", "2")]


@each_row(
    ("command", "inner"),
    [
        ("sudo -u x timeout 5 rm a", ["sudo -u x timeout 5 rm a", "timeout 5 rm a", "rm a"]),
        ("sh -c 'rm a; ls'", ["sh -c rm a; ls", "rm a", "ls"]),
        ("find . -name x -exec rm {} +", ["find . -name x -exec rm {} +", "rm {}"]),
        ("eval rm a", ["eval rm a", "rm a"]),
    ],
)
def test_what_is_wrapped_is_a_part_too(command: str, inner: list[str], folder: Path) -> None:
    """A wrapper and what it wraps are parts each, so that a rule for the one covers nothing of the other."""
    assert [each.target for each in read(command, folder).parts] == inner


@each_row(
    "command",
    [
        "$x y",
        "PATH=. make",
        "LD_PRELOAD=x ls",
        "GIT_DIR=x git log",
        "BASH_ENV=x ls",
        "IFS=x ls",
        "PYTHONPATH=x python",
        "NODE_OPTIONS=x node",
        'ls > "$x"',
        "ls > /var/out",
        "ls >> ../out",
        "PATH=.; make",
        "export PATH=.; make",
    ],
)
def test_no_allow_rule_covers_what_is_not_what_it_looks_like(command: str, folder: Path) -> None:
    """A dynamic name, a redirection to an unknown or outer place, and an environment that steers are beyond rules."""
    assert not all(each.may_be_allowed for each in read(command, folder).parts)


@each_row(
    ("command", "clause"),
    [
        ("cat .env", "secrets"),
        ("cat key.pem", "secrets"),
        ("env", "environment"),
        ("export -p", "environment"),
        ("pip install x", "installs packages"),
        ("npm ci", "installs packages"),
        ("git rebase main", "history"),
        ("git config a.b c", "git's configuration"),
        ("sudo ls", "raises privilege"),
        ("kill 1", "ends other processes"),
        ("docker ps", "containers"),
        ("crontab -l", "schedules"),
        ("curl http://169.254.169.254", "metadata"),
        ("curl http://192.168.1.1", "private"),
        ("ls /usr", "outside the folders"),
        ("PATH=x ls", "changes what runs"),
        ("touch x", "changes files"),
    ],
)
def test_says_why_it_is_a_matter_for_people(command: str, clause: str, folder: Path) -> None:
    """Every question of the shipped policy has a clause that says why."""
    assert clause in " ".join(each.concern or "" for each in read(command, folder).parts)
    assert not all(each.is_harmless for each in read(command, folder).parts)


def test_too_much_is_denied(folder: Path) -> None:
    """Over 64 KiB, over 500 simple commands, or nested too deeply: denied, also where `eval` hides it."""
    for command in ("x" * 70_000, "ls;" * 501, "eval '" + "ls;" * 300 + "'; eval '" + "ls;" * 300 + "'"):
        found = read(command, folder)
        assert [each.effect for each in found.floor] == [Effect.DENY]


def test_tests_and_sums_of_the_shell_are_harmless(folder: Path) -> None:
    """A program that runs no command at all is one harmless part."""
    assert [each.is_harmless for each in read("[[ -f x ]]", folder).parts] == [True]


WRAPPINGS = (
    "(\n{}\n)",
    "true && {{ {}\n}}",
    "cd . || {{\n{}\n}}",
    "f() {{\n{}\n}}; f",
    "if true; then\n{}\nfi",
    "for i in 1 2; do\n{}\ndone",
    "bash <<'END'\n{}\nEND\n",
)
PREFIXES = (
    "sh -c",
    "bash -lc",
    "eval",
    "sudo bash -c",
    "env A=1 timeout 5 sh -c",
    "xargs -n1 sh -c",
    "script -c",
    "frobnicate sh -c",
)


@pytest.mark.system
def test_no_wrapping_helps(tmp_path: Path) -> None:
    """A command refused alone is refused in a compound command, in a here-document, and as a wrapper's code."""
    machine = world(tmp_path)
    wraps = [*(partial(_around, each) for each in WRAPPINGS), *(partial(_quoted, each) for each in PREFIXES)]
    attacks = [case["args"]["command"] for name in ATTACKS for case in cases(name) if "setup" not in case]
    tried = [wraps[at % len(wraps)](filled(attack, machine)) for at, attack in enumerate(attacks)]

    assert [each for each in tried if not _is_stopped(commands.read(each, machine))] == []


def _around(form: str, command: str) -> str:
    return form.format(command)


def _quoted(prefix: str, command: str) -> str:
    return f"{prefix} {shlex.quote(command)}"


def _is_stopped(found: Analysis) -> bool:
    return bool(found.floor) or any(each.floor for each in found.parts)


@pytest.mark.system
def test_there_is_always_an_answer(tmp_path: Path) -> None:
    """However a command is mangled, it is read: nothing that an agent writes makes the gate fail."""
    machine = world(tmp_path)
    chance = random.Random(5)
    texts = [case["args"]["command"] for name in ("f1", "f5", "f6", "harmless") for case in cases(name)]
    for text in chance.sample(texts, 500):
        at = chance.randrange(len(text) + 1)
        mangled = text[:at] + chance.choice("'\"$`(){}*-/=|;\\@:~\n") + text[at + chance.randrange(3) :]
        assert commands.read(mangled, machine).target == mangled


@pytest.mark.system
def test_reading_comes_to_an_end(tmp_path: Path) -> None:
    """Words that may be commands, of which each may run the others, are not all followed: that is too much."""
    machine = world(tmp_path)
    for command in (
        "frob " + "sudo frob " * 5000,
        "find . " + "-exec find . " * 3000,
        "env " * 12_000 + "ls",
    ):
        assert _is_stopped(commands.read(command, machine))
