"""Reading YAML that nobody has checked."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from hubbub.workspace.strict_yaml import Value, read
from hubbub.workspace.team_errors import TeamError

Read = Callable[[str | bytes], Value]


@pytest.fixture
def of(tmp_path: Path) -> Read:
    """Return the values read from a file with that content."""

    def content(text: str | bytes) -> Value:
        path = tmp_path / "team.yml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read(path)

    return content


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# nothing yet\n", None),
        ("a: b", {"a": "b"}),
        ("a:\n  - 'true'\n  - \"1\"\n  - !!str 1\n", {"a": ["true", "1", "1"]}),
        ("a: [true, False, ~, null, ]", {"a": [True, False, None, None]}),
        ("a: |\n  one\n  two\n", {"a": "one\ntwo\n"}),
        ("1: a\ntrue: b\n", {"1": "a", "true": "b"}),
        ("emoji: 🐝\n", {"emoji": "🐝"}),
        ("\ufeffa: b", {"a": "b"}),
        ("%YAML 1.2\n---\na: b\n...\n", {"a": "b"}),
        ("a: &x [1st]\nb: *x\n", {"a": ["1st"], "b": ["1st"]}),
        ("a: &x {b: c}\nd: [*x, *x]", {"a": {"b": "c"}, "d": [{"b": "c"}, {"b": "c"}]}),
    ],
)
def test_plain_values_are_read(of: Read, text: str, value: Value) -> None:
    """Text, true and false, null, lists and maps come as they are; keys are text; an alias is what it stands for."""
    assert of(text) == value


@pytest.mark.parametrize("text", ["no", "Yes", "on", "2026-11-21", "12:30", "<<", "1.2.3", "0x", "1_000"])
def test_text_stays_text(of: Read, text: str) -> None:
    """Words that only old YAML reads otherwise are text, as editors see them."""
    assert of(f"a: {text}") == {"a": text}


@pytest.mark.parametrize("text", ["1", "-1", "1.5", "+.5e3", "0o17", "0xFF", ".inf", ".NaN", "9" * 5000])
def test_a_number_is_no_text(of: Read, text: str) -> None:
    """Numbers of every kind and length are told from text."""
    value = of(f"a: {text}")

    assert isinstance(value, dict)
    assert isinstance(value["a"], float)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "a: b\nc: [d\n",
            "line 3: while parsing a flow sequence, expected ',' or ']', but got '<stream end>'",
        ),
        ("a: b\n\tc: d\n", "line 2: while scanning for the next token, found character '\\t'"),
        ("a: b: c\n", "line 1: mapping values are not allowed here"),
        ("a: b\nc: d\na: e\n", "line 3: 'a' is there twice"),
        ("a: {b: c, b: d}\n", "line 1: 'b' is there twice"),
        ("a: b\n---\nc: d\n", "line 2: a second document; one is enough"),
        ("a: b\n? [c]\n: d\n", "line 2: a key has to be text"),
        ("a: b\nc: *x\n", "line 2: *x stands for nothing that ends before it"),
        ("a: &x [*x]\n", "line 1: *x stands for nothing that ends before it"),
        ("a: b\nc: \a\n", "line 2: a character that is not allowed"),
        ('a: b\nc: "\\ud800"\n', "line 2: an escape that is no character"),
        ('a: b\nc: "\\0"\n', "line 2: an escape that is no character"),
        ('a: b\nc: "\\U00110000"\n', "line 2: an escape that is no character"),
        ('a: b\nc: "\\UFFFFFFFF"\n', "line 2: an escape that is no character"),
        ("a: b\nc: !!python/object/apply:os.getcwd []\n", "line 2: the tag 'tag:yaml.org,2002:python/"),
        ("a: !!binary aGk=\n", "line 1: the tag 'tag:yaml.org,2002:binary' is not allowed"),
        ("a: !!set {b}\n", "line 1: the tag 'tag:yaml.org,2002:set' is not allowed"),
        (b"a: b\nc: \xff\n", "line 2: not UTF-8 text"),
        ("a: b\n".encode("utf-16"), "line 1: not UTF-8 text"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(of: Read, text: str | bytes, problem: str) -> None:
    """Whatever cannot be read is refused in one line that names the file, the line and the mistake."""
    with pytest.raises(TeamError, match=rf"^team\.yml: {re.escape(problem)}[^\n]*$"):
        of(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("#" + "x" * 1024 * 1024, "is larger than 1024 KiB"),
        ("[" * 1_000_000, "nested more than 16 deep"),
        ("- " * 500_000, "nested more than 16 deep"),
        ("- a\n" * 20_000, "more than 20,000 values"),
        (
            "a0: &a0 [b, b]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 30)),
            "values",
        ),
        ("a: &a [" + "b," * 2_000 + "]\nc: [" + "*a," * 10 + "]\n", "more than 20,000 values"),
    ],
    ids=["size", "brackets", "dashes", "values", "doubled aliases", "repeated aliases"],
)
def test_no_file_is_too_much(of: Read, text: str, problem: str) -> None:
    """A file that is too large, too deep or too full is refused, and an alias counts for all it stands for."""
    with pytest.raises(TeamError, match=problem):
        of(text)


def test_what_a_link_leads_to_is_read(tmp_path: Path) -> None:
    """A team file may be a link to a file elsewhere."""
    (tmp_path / "real.yml").write_text("a: b")
    (tmp_path / "team.yml").symlink_to("real.yml")

    assert read(tmp_path / "team.yml") == {"a": "b"}


def test_only_a_file_is_opened(tmp_path: Path) -> None:
    """A folder or a pipe by that name is refused, rather than waited for."""
    (tmp_path / "folder.yml").mkdir()
    os.mkfifo(tmp_path / "pipe.yml")

    for name in ("folder.yml", "pipe.yml"):
        with pytest.raises(TeamError, match=f"^{name}: is not a file$"):
            read(tmp_path / name)


def test_why_a_file_cannot_be_read_is_told_without_its_path(tmp_path: Path) -> None:
    """The reason of the system is passed on, the place on the machine is not."""
    (tmp_path / "team").write_text("no folder")

    with pytest.raises(TeamError, match=r"^team\.yml: cannot be read: Not a directory$"):
        read(tmp_path / "team" / "team.yml")


def test_no_file_is_the_callers_business(tmp_path: Path) -> None:
    """A file that is not there is told apart from one that cannot be used."""
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "team.yml")
