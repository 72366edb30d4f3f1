"""Commands in a shell's text that need a lease, as far as words tell."""

import pytest

from hubbub.model.errors import Invalid
from hubbub.model.work.lease_rules import advice, needing, rule
from tests.support.each_row import each_row

UP = rule("docker compose up", ["port:5432"])
MAKE = rule("make test", ["gpu:1", "db"])

MET = (
    ("docker compose up", ()),
    ("docker compose up -d db", ()),
    ("/usr/bin/docker compose up", ()),
    ("docker compose -f a.yml up", ()),
    ("docker --log-level error compose --file=a.yml up", ()),
    ("cd app && docker compose up -d; echo ok", ()),
    ("make build || docker compose up | tee log", ()),
    ("PORT=5432 docker compose up", ()),
    ("sudo -u me docker compose up", ()),
    ("env A=b timeout 60 docker compose up", ()),
    ("sh -c 'docker compose up'", ()),
    ('bash -lc "cd x; docker compose up"', ()),
    ("(docker compose up)", ()),
    ("echo a\ndocker compose up", ()),
    ("docker \\\n compose up", ()),
    ("if true; then docker compose up; fi", ()),
    ("hubbub with port:5432 -- docker compose up", ("port:5432",)),
    ("hubbub with --wait 5 port:5432 db --no-wait -- sh -c 'docker compose up'", ("port:5432", "db")),
    ("hubbub with a -- hubbub with b -- docker compose up", ("a", "b")),
    ("echo 'it is not closed; docker compose up", None),
)
UNMET = (
    "",
    "docker compose down",
    "docker compose",
    "echo docker compose up",
    "git commit -m 'docker compose up'",
    "docker-compose up",
    "make test2",
    "hubbub with port:5432 -- true",
)


@each_row(["text", "under"], MET)
def test_a_command_is_known_by_its_words(text: str, under: tuple[str, ...] | None) -> None:
    """A command is known by its first words, behind others, in shells, with options between; and what it is under."""
    found = list(needing(text, [MAKE, UP]))
    if under is None:
        assert found == []
    else:
        assert [(each.rule, each.under) for each in found] == [(UP, under)]


@each_row("text", UNMET)
def test_other_commands_are_let_alone(text: str) -> None:
    """Another command, or one that only mentions it, needs nothing."""
    assert list(needing(text, [MAKE, UP])) == []


@each_row(
    ["text", "said"],
    (
        ("docker  compose up", "hubbub with db gpu:2 -- docker compose up"),
        ("cd a && make", "hubbub with db gpu:2 -- sh -c 'cd a && make'"),
        ("A=b make", "hubbub with db gpu:2 -- sh -c 'A=b make'"),
        ("make " + "x" * 500, "hubbub with db gpu:2 -- sh -c '…'"),
    ),
)
def test_how_to_run_it(text: str, said: str) -> None:
    """The advice is the same command under the lease; several commands get a shell of their own."""
    assert advice(text, ["db", "gpu:2"]) == said


@pytest.mark.parametrize("command", ["", "  ", "a && b", "a 'b'", "a $B", "x" * 201])
def test_what_can_be_no_rule(command: str) -> None:
    """A rule is made of plain words."""
    with pytest.raises(Invalid, match="first words"):
        rule(command, ["db"])
