"""The scripts of `sed`."""

from shellgate.floor.arguments.actions import FloorVerdict, RunShell, TouchPath, Use
from shellgate.floor.readers.sed_scripts import commands
from tests.support.each_row import each_row


@each_row(
    "script",
    [
        "s/w/r/g",
        "1,5d",
        "/etc/p",
        r"s/\//e/",
        "s,/etc/,/w x/,g",
        "y/we/ew/",
        "$!N;P;D",
        "/a/,/b/{s/x/y/;d}",
        "a\\\nhello w x",
        r"\|w x|d",
        "0~3d",
        "# w x",
    ],
)
def test_editing_does_nothing_else(script: str) -> None:
    """Letters in patterns, replacements, addresses, texts and comments are no commands."""
    assert list(commands(script)) == []


@each_row("script", ["w x", "1w x", "/a/w x", "s/a/b/w x", "s/a/b/gw x", "$!{w x\n}", "/a/!w x", "p;w x"])
def test_finds_what_is_written(script: str) -> None:
    """`w` as a command and as a flag, behind any address."""
    assert [(each.word.value, each.use) for each in commands(script) if isinstance(each, TouchPath)] == [
        ("x", Use.WRITE)
    ]


def test_finds_what_is_run() -> None:
    """`e` with a command is that command; without one, and as a flag, only running tells."""
    assert [type(each) for each in commands("1e ls\ns/a/b/e\ne")] == [RunShell, FloorVerdict, FloorVerdict]
