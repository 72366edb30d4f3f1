"""Output on a terminal: tables that line up in any script, and nothing that could command it."""

import json
import time

import pytest

from hubbub.terminal import display


@pytest.mark.parametrize(
    ("text", "columns"),
    [("plain", 5), ("代码1号", 7), ("café", 4), ("cafe\u0301", 4), ("👩‍💻", 4), ("", 0)],
)
def test_width(text: str, columns: int) -> None:
    """Wide characters take two columns, combining marks none."""
    assert display.width(text) == columns


def test_fit_counts_columns() -> None:
    """A cell is cut where its columns end, and says that something is missing."""
    assert display.fit("指挥室指挥室", 5) == "指挥…"
    assert display.fit("short", 5) == "short"


@pytest.mark.parametrize(
    "hostile",
    ["\x1b[2J", "\x1b]0;title\x07", "\x9b31m", "\r", "\x08", "\u202e", "\u2028", "\ud800", "\U000e0041"],
)
def test_clean_disarms(hostile: str) -> None:
    """Control characters, their eight-bit kin, overrides of direction and hidden ones are shown as escapes."""
    shown = display.clean(f"a{hostile}b", lines=True)
    assert shown.isprintable()
    assert json.loads(f'"{shown}"') == f"a{hostile}b"


def test_clean_keeps_text() -> None:
    """Text of any script stays as it is; lines stay lines only where lines are wanted."""
    assert display.clean("héllo 你好 👩‍💻\n\tx", lines=True) == "héllo 你好 👩‍💻\n\tx"
    assert display.clean("one\ntwo") == "one\\ntwo"


def test_json_stays_json(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON on a terminal holds no raw control characters, and still says the same."""
    value = {"name": "\x9b2J\u202e\U000e0041 你好"}
    display.show_json(value)
    printed = capsys.readouterr().out
    assert printed.strip().isprintable()
    assert json.loads(printed) == value


def test_table_for_people(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal columns line up, and the widest gives way when there is no room."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("NO_COLOR", "1")
    display.show_table(("name", "doing"), [("指挥室", "x" * 40), ("ada", None)])
    head, wide, narrow = capsys.readouterr().out.splitlines()
    assert head == "NAME    DOING"
    assert narrow == "ada"
    assert display.width(wide) == 30
    assert wide.startswith("指挥室  xxx")


def test_an_id_is_whole(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal that is too narrow an id is not cut, since it is what people type next; other columns are."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("NO_COLOR", "1")
    display.show_table(("id", "for", "made by"), [("0199a7c4-5b1e-7000", "coder-number-one", "x" * 20)])
    _head, row = capsys.readouterr().out.splitlines()
    assert row.split() == ["0199a7c4-5b1e-7000", "coder-n…", "xxxxxxx…"]


def test_columns_without_anything_are_left_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal a column in which nothing is is not shown, and an empty list is a sentence; programs get both."""
    display.show_table(("name", "machine", "doing"), [("ada", None, "tests")])
    display.show_table(("name",), [], empty="Nobody.")
    assert capsys.readouterr().out == "ada\t\ttests\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    display.show_table(("name", "machine", "doing"), [("ada", None, "tests")])
    display.show_table(("name",), [], empty="Nobody.")
    assert capsys.readouterr().out == "NAME  DOING\nada   tests\nNobody.\n"


def test_colours_tell_how_something_stands(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where people look, words for how something stands have colours and columns still line up; NO_COLOR has none."""
    rows = [("failed", "failed"), ("working, running", "x")]
    display.show_table(("status", "title"), rows)
    assert "\x1b" not in capsys.readouterr().out + display.coloured("failed")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert display.coloured("failed") == "\x1b[31mfailed\x1b[0m"
    display.show_table(("status", "title"), rows)
    _head, failed, working = capsys.readouterr().out.splitlines()
    assert failed == "\x1b[31mfailed\x1b[0m            failed"
    assert working == "\x1b[34mworking, running\x1b[0m  x"
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as without:
            without.setenv(name, value)
            assert display.coloured("failed") == "failed"


def test_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    """A moment is a date and a time, on a terminal with the zone; in a table there so long ago, or the date alone."""
    now, long_ago = time.time_ns() // 1_000_000, 1_000_000_000_000
    assert display.moment(None) == display.brief(None) == ""
    assert display.brief(long_ago) == display.moment(long_ago)
    assert len(display.moment(long_ago)) == len("2001-09-09 01:46:40")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert display.moment(long_ago)[20:]
    assert display.brief(long_ago) == display.moment(long_ago)[:10] == "2001-09-09"
    assert display.brief(now - 7_300_000) == "2 h ago"
    assert display.brief(now + 3 * 86_400_000 + 60_000) == "in 3 d"


def test_sentences_of_the_hub_are_told_in_the_own_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the moments in a sentence are local, but for what only looks like one; programs get UTC."""
    told = "It ended 2026-11-28 02:00:47 UTC, and says '2026-99-99 00:00:00 UTC'."
    assert display.in_own_zone(told) == told
    with monkeypatch.context() as west:
        west.setattr("sys.stdout.isatty", lambda: True)
        west.setenv("TZ", "EST5")
        time.tzset()
        here = display.in_own_zone(told)
    time.tzset()
    assert here == "It ended 2026-11-27 21:00:47 EST, and says '2026-99-99 00:00:00 UTC'."


def test_an_age_is_short_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """An age is told in one unit; where no person reads it, the moment itself is."""
    now = 10_000_000_000
    assert display.age(now, now + 5_000) == display.moment(now)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    spans = (-3, 59, 60, 7_199, 86_400 * 3)
    assert [display.age(now - each * 1_000, now) for each in spans] == ["0 s", "59 s", "1 min", "1 h", "3 d"]
    assert display.age(None, now) == ""


def test_table_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    """Where it is no terminal, cells are whole, apart by tabs, one row a line."""
    display.show_table(("name", "doing"), [("指挥室", "x" * 400), ("a\tb", "one\ntwo")])
    assert capsys.readouterr().out == f"指挥室\t{'x' * 400}\na\\tb\tone\n"
