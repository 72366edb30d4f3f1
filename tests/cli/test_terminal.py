"""What reaches a terminal: tables that line up in any script, and nothing that could command it."""

import json
import time

import pytest

from hubbub.cli import terminal


@pytest.mark.parametrize(
    ("text", "columns"),
    [("plain", 5), ("代码1号", 7), ("café", 4), ("cafe\u0301", 4), ("👩‍💻", 4), ("", 0)],
)
def test_width(text: str, columns: int) -> None:
    """Wide characters take two columns, combining marks none."""
    assert terminal.width(text) == columns


def test_fit_counts_columns() -> None:
    """A cell is cut where its columns end, and says that something is missing."""
    assert terminal.fit("指挥室指挥室", 5) == "指挥…"
    assert terminal.fit("short", 5) == "short"


@pytest.mark.parametrize(
    "hostile",
    ["\x1b[2J", "\x1b]0;title\x07", "\x9b31m", "\r", "\x08", "\u202e", "\u2028", "\ud800", "\U000e0041"],
)
def test_clean_disarms(hostile: str) -> None:
    """Control characters, their eight-bit kin, overrides of direction and hidden ones are shown as escapes."""
    shown = terminal.clean(f"a{hostile}b", lines=True)
    assert shown.isprintable()
    assert json.loads(f'"{shown}"') == f"a{hostile}b"


def test_clean_keeps_text() -> None:
    """Text of any script stays as it is; lines stay lines only where lines are wanted."""
    assert terminal.clean("héllo 你好 👩‍💻\n\tx", lines=True) == "héllo 你好 👩‍💻\n\tx"
    assert terminal.clean("one\ntwo") == "one\\ntwo"


def test_json_stays_json(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON on a terminal holds no raw control characters, and still says the same."""
    value = {"name": "\x9b2J\u202e\U000e0041 你好"}
    terminal.show_json(value)
    printed = capsys.readouterr().out
    assert printed.strip().isprintable()
    assert json.loads(printed) == value


def test_table_for_people(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal columns line up, and the widest gives way when there is no room."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    terminal.show_table(("name", "doing"), [("指挥室", "x" * 40), ("ada", None)])
    head, wide, narrow = capsys.readouterr().out.splitlines()
    assert head == "NAME    DOING"
    assert narrow == "ada"
    assert terminal.width(wide) == 30
    assert wide.startswith("指挥室  xxx")


def test_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    """A moment is a date and a time; in a table on a terminal the time alone if it was today, else the date alone."""
    today, long_ago = time.time_ns() // 1_000_000, 1_000_000_000_000
    assert terminal.moment(None) == terminal.brief(None) == ""
    assert terminal.brief(long_ago) == terminal.moment(long_ago)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert terminal.brief(long_ago) == terminal.moment(long_ago)[:10] == "2001-09-09"
    assert terminal.brief(today) == terminal.moment(today)[11:]


def test_an_age_is_short_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long ago something was is told in one unit; where no person reads it, the moment is."""
    now = 10_000_000_000
    assert terminal.age(now, now + 5_000) == terminal.moment(now)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    spans = (-3, 59, 60, 7_199, 86_400 * 3)
    assert [terminal.age(now - each * 1_000, now) for each in spans] == ["0 s", "59 s", "1 min", "1 h", "3 d"]
    assert terminal.age(None, now) == ""


def test_table_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    """Where it is no terminal, cells are whole, apart by tabs, one row a line."""
    terminal.show_table(("name", "doing"), [("指挥室", "x" * 400), ("a\tb", "one\ntwo")])
    assert capsys.readouterr().out == f"指挥室\t{'x' * 400}\na\\tb\tone\n"
