"""Argument lists, read by the tables of programs."""

import pytest

from shellgate.floor.arguments.actions import Use
from shellgate.floor.arguments.shell_words import plain
from shellgate.floor.arguments.usage_tables import arguments, table
from shellgate.floor.programs import USAGES, name_of, usage_of
from tests.support.each_row import each_row

COPY = table("""
copy | r* w | t,target=w S,suffix=t i,in-place?=t | descends=r,recursive
""")["copy"]
WRAP = table("""
wrap | t x* | s,signal=t | harmless
""")["wrap"]


def test_options_are_found_in_each_spelling() -> None:
    """Short ones alone, in clusters and with their value attached; long ones whole, with `=`, and abbreviated."""
    for words in ("-rt x", "-r -tx", "-r --target x", "-r --target=x", "--rec --targ=x"):
        found = arguments(map(plain, words.split()), COPY)
        assert [word.value for word in found.of("t")] == ["x"], words
        assert found.has(COPY.descends), words


def test_an_optional_value_is_attached() -> None:
    """`-i.bak` has a value, `-i` has none: the word behind it is an operand."""
    attached, alone = (arguments(map(plain, words), COPY) for words in (["-i.bak", "f"], ["-i", "f"]))
    assert [word.value for word in attached.of("i")] == [".bak"]
    assert (alone.flags, [word.value for word in alone.operands]) == ({"i"}, ["f"])


def test_values_of_unknown_options_are_kept() -> None:
    """A word that nobody listed may still be a path."""
    found = arguments(map(plain, ["--new=/x", "-q/y"]), COPY)
    assert [word.value for word in found.strays] == ["/x", "/y"]


def test_nothing_behind_two_dashes_is_an_option() -> None:
    """`--` ends the options."""
    assert [word.value for word in arguments(map(plain, ["--", "-r"]), COPY).operands] == ["-r"]


def test_a_wrapped_command_keeps_its_options() -> None:
    """The options of a wrapper end where the command begins."""
    found = arguments(map(plain, ["-s", "KILL", "5", "rm", "-s", "x"]), WRAP)
    assert [word.value for word in found.operands] == ["5", "rm", "-s", "x"]


@pytest.mark.parametrize(
    ("count", "uses"),
    [(1, "w"), (2, "rw"), (4, "rrrw")],
)
def test_operands_have_their_uses(count: int, uses: str) -> None:
    """The last operand of a copy is written, those before it are read."""
    found = arguments([plain("x")] * count, COPY)
    assert "".join(use.value for use in COPY.uses(found)) == uses


def test_no_pattern_where_an_option_gives_it() -> None:
    """`grep -e PATTERN FILE`: then the first operand is a file like the others."""
    found = arguments(map(plain, ["-e", "x", "f"]), USAGES["grep"])
    assert USAGES["grep"].uses(found) == (Use.READ,)


@each_row(
    ("path", "name"),
    [
        ("/bin/rm", "rm"),
        ("RM", "rm"),
        ("python3.11", "python"),
        ("mkfs.ext4", "mkfs"),
        ("base64", "base64"),
        ("../x/bash", "bash"),
        ("node20", "node"),
    ],
)
def test_programs_go_by_one_name(path: str, name: str) -> None:
    """Folders, versions and capitals do not make another program."""
    assert name_of(path) == name


def test_subcommands_have_lines_of_their_own() -> None:
    """`uv run` has a usage of its own, apart from `uv`'s; a program in no table has none."""
    assert usage_of("uv", "run") is not usage_of("uv")
    assert usage_of("uv", "lock") is usage_of("uv")
    assert usage_of("frobnicate") is None
