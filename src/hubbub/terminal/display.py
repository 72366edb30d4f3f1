"""Writing to a terminal: tables that line up in any script, without others' control sequences."""

import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any

import click

from hubbub.model.errors import Invalid
from hubbub.model.timestamps import duration_text, parse_timestamp

Columns = Mapping[
    str, str | Callable[[Any], object]
]  # by title: a member of each thing, or what is made of it

Name = str | Callable[[Any], str]  # of a thing: a member of it, or what is made of it
NAMES = "hubbub.names"  # in the context of a command: what names each thing, if only names are wanted

GAP = "  "
LEAST_WIDTH = 8  # of a column that has to give way
ELLIPSIS = "…"
UTC_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC")

# Cc control, Cf format (bidirectional overrides, zero-width), Cs half of a surrogate pair, Zl and Zp line breaks.
HOSTILE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
RECENT = timedelta(days=7)  # for so long people think of a moment by its age

# Colours of states, by word: those of the dashboard, if a terminal has them.
COLOURS = {
    **dict.fromkeys(("working", "running", "online"), "blue"),
    **dict.fromkeys(("blocked", "waiting", "pending", "paused", "high"), "yellow"),
    **dict.fromkeys(("failed", "error", "stale", "dead", "critical", "dangerous", "BAD"), "red"),
    **dict.fromkeys(("completed", "approved", "held", "ok"), "green"),
    "in_review": "magenta",
}
FAINT = frozenset({"offline", "cancelled", "expired", "withdrawn", "low"})
STANDING = frozenset({"status", "priority", "outcome"})  # the columns whose words have colours
JOINER = "\u200d"  # holds emoji and some scripts together, and moves nothing


def clean(text: str, *, lines: bool = False) -> str:
    """Return `text` with all that could steer a terminal escaped as in JSON; `lines` keeps line ends and tabs."""
    kept = JOINER + "\n\t" if lines else JOINER
    return "".join(each if each in kept or not _is_hostile(each) else json.dumps(each)[1:-1] for each in text)


def _is_hostile(character: str) -> bool:
    return unicodedata.category(character) in HOSTILE


def width(text: str) -> int:
    """Return the number of terminal columns of `text`: wide East Asian characters take two, combining marks none."""
    return sum(_columns(each) for each in text)


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def fit(text: str, columns: int) -> str:
    """Return `text` cut to at most that many columns, with an ellipsis if something is missing."""
    if width(text) <= columns:
        return text
    return _beginning(text, columns - 1) + ELLIPSIS


def fit_screen(text: str, indent: int = 0) -> str:
    """Return `text` cut to a line of the terminal with an indent; whole if the output is not a terminal."""
    return fit(text, shutil.get_terminal_size().columns - indent) if sys.stdout.isatty() else text


def _beginning(text: str, columns: int) -> str:
    """Return the longest beginning of `text` that fits into that many columns."""
    taken, used = [], 0
    for each in text:
        if used + _columns(each) > columns:
            break
        taken.append(each)
        used += _columns(each)
    return "".join(taken)


def wrapped(text: str, columns: int) -> list[str]:
    """Return `text` as lines of at most that many columns, broken at blanks if possible."""
    lines, line = [], ""
    for word in re.split(r"(?<= )(?! )", text):
        if line and width(line + word.rstrip()) > columns:
            lines.append(line.rstrip())
            line = ""
        line += word
        while width(line.rstrip()) > columns:
            part = _beginning(line, columns)
            lines.append(part)
            line = line[len(part) :]
    return [*lines, line.rstrip()]


def show_below(text: str) -> None:
    """Print the whole of a text, indented, with lines that fit the terminal."""
    room = max(20, shutil.get_terminal_size().columns - len(GAP))
    for line in clean(text, lines=True).split("\n"):
        for part in wrapped(line, room):
            print(f"{GAP}{part}".rstrip(), flush=True)


def show(text: str, *, lines: bool = True) -> None:
    """Print others' text, made harmless."""
    print(clean(text, lines=lines), flush=True)


def show_json(value: object) -> None:
    """Print JSON on one line, with everything that could steer a terminal escaped as in JSON; or names, if wanted."""
    context = click.get_current_context(silent=True)
    if context is not None and NAMES in context.meta:
        _show_names(value, context.meta[NAMES])
        return
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    click.echo(clean(text))  # in one write: a worker of several agents prints from several threads


def _show_names(value: Any, name: Name) -> None:
    """Print the names of things, or of one, a line each."""
    for each in value if isinstance(value, list) else [value]:
        show(str(each[name] if isinstance(name, str) else name(each)), lines=False)


def show_result(value: object, sentence: str, *, as_json: bool, lines: bool = True) -> None:
    """Print a command's result: `value` as JSON if that was asked for, else `sentence`."""
    if as_json:
        show_json(value)
    else:
        show(sentence, lines=lines)


def show_list(
    found: Sequence[Mapping[str, Any]], columns: Columns, *, as_json: bool, empty: str = "Nothing."
) -> None:
    """Print things: as JSON if that was asked for, else as a table."""
    if as_json:
        show_json(found)
        return
    cells = [itemgetter(each) if isinstance(each, str) else each for each in columns.values()]
    show_table(tuple(columns), ([cell(each) for cell in cells] for each in found), empty=empty)


def show_table(
    titles: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str = "Nothing."
) -> list[int]:
    """Print rows for people: aligned, cut to the terminal's width, without empty columns; without rows, print `empty`.

    If the output is not a terminal they are tab-separated and whole. Return the indexes of the rows that were cut.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    if not sys.stdout.isatty():
        for row in cells:
            print("\t".join(row))
        return []
    if not cells:
        print(empty)
        return []
    told = [index for index in range(len(titles)) if any(row[index] for row in cells)]
    titles, cells = [titles[index] for index in told], [[row[index] for index in told] for row in cells]
    widths = _fitting(titles, cells, shutil.get_terminal_size().columns)
    _show_row([title.upper() for title in titles], widths, [{"bold": True}] * len(titles))
    for row in cells:
        styles = [_style(cell) if title in STANDING else {} for title, cell in zip(titles, row, strict=True)]
        _show_row(row, widths, styles)
    return [
        index
        for index, row in enumerate(cells)
        if any(width(cell) > room for cell, room in zip(row, widths, strict=True))
    ]


def _show_row(cells: Sequence[str], widths: Sequence[int], styles: Sequence[dict[str, Any]]) -> None:
    """Print a row, each cell in its style, aligned by visible width."""
    fitted = [fit(cell, room) for cell, room in zip(cells, widths, strict=True)]
    gaps = [" " * (room - width(cell)) + GAP for cell, room in zip(fitted, widths, strict=True)]
    line, blanks = "", ""
    for cell, style, gap in zip(fitted, styles, gaps, strict=True):
        if cell:
            line += blanks + _styled(cell, style)
            blanks = ""
        blanks += gap
    print(line)


def coloured(word: str) -> str:
    """Return a word for a state, in its colour if it goes to a terminal."""
    return _styled(word, _style(word))


def _style(words: str) -> dict[str, Any]:
    first = words.partition(",")[0]
    return {"dim": True} if first in FAINT else {"fg": COLOURS[first]} if first in COLOURS else {}


def _styled(text: str, style: dict[str, Any]) -> str:
    """Return `text` in a style, if it goes to a terminal with styles, and nobody has disabled them."""
    is_plain = not style or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if is_plain or not sys.stdout.isatty() else click.style(text, **style)


def advise(text: str) -> None:
    """Print advice for a person at a terminal on standard error; nothing if the output goes to a program."""
    if sys.stdout.isatty() and sys.stderr.isatty():
        print(clean(text, lines=True), file=sys.stderr, flush=True)


def show_rest(shown: int, total: int, more: str) -> None:
    """Tell people, on standard error, that a list ended before everything was shown, and how to see `more`."""
    if shown < total:
        print(f"{shown} of {total}; {more}", file=sys.stderr, flush=True)


def _cell(value: object) -> str:
    return "" if value is None else clean(str(value).partition("\n")[0])


def _fitting(titles: Sequence[str], rows: Sequence[Sequence[str]], columns: int) -> list[int]:
    """Return the widths of the columns; in a narrow terminal the widest give way, but never ids, which are typed."""
    widths = [max(width(row[index]) for row in (titles, *rows)) for index in range(len(titles))]
    yielding = [index for index, title in enumerate(titles) if title != "id" and widths[index] > LEAST_WIDTH]
    excess = sum(widths) + len(GAP) * (len(widths) - 1) - columns
    while excess > 0 and yielding:
        widest = max(yielding, key=widths.__getitem__)
        widths[widest] -= 1
        excess -= 1
        if widths[widest] == LEAST_WIDTH:
            yielding.remove(widest)
    return widths


def moment(at: int | None) -> str:
    """Format a time in Unix milliseconds as local date and time, on a terminal with the zone; empty for None."""
    if at is None:
        return ""
    form = "%Y-%m-%d %H:%M:%S" + (" %Z" if sys.stdout.isatty() else "")
    return datetime.fromtimestamp(at / 1000, UTC).astimezone().strftime(form)


def brief(at: int | None) -> str:
    """Format a moment in few columns on a terminal: its distance from now if it is near, else the date."""
    if at is None or not sys.stdout.isatty():
        return moment(at)
    passed = datetime.now(UTC) - datetime.fromtimestamp(at / 1000, UTC)
    if abs(passed) > RECENT:
        return moment(at).partition(" ")[0]
    return f"{_span(passed)} ago" if passed >= timedelta() else f"in {_span(-passed)}"


def in_own_zone(text: str) -> str:
    """Return a sentence of the hub for people: on a terminal its moments, which are UTC, are in their own zone."""
    if not sys.stdout.isatty():
        return text
    return UTC_MOMENT.sub(_in_own_zone, text)


def _in_own_zone(found: re.Match[str]) -> str:
    try:
        return moment(parse_timestamp("", found[1]))
    except Invalid:  # somebody's words, and no moment
        return found[0]


def stamp(at: int) -> str:
    """Format a moment of a history: in full and with its distance on a terminal, elsewhere as RFC 3339."""
    if sys.stdout.isatty():
        return f"{moment(at)} ({brief(at)})" if brief(at).endswith("ago") else moment(at)
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def since(at: int) -> str:
    """Say how long ago a moment was, such as `4 seconds ago`."""
    return f"{duration_text(int(datetime.now(UTC).timestamp() * 1000) - at)} ago"


def age(at: int | None, now: int) -> str:
    """Return the age of a moment on a terminal: `12 s`, `3 min`, `5 h`, `2 d`; elsewhere the moment itself."""
    if at is None or not sys.stdout.isatty():
        return moment(at)
    return _span(timedelta(milliseconds=max(0, now - at)))


def _span(passed: timedelta) -> str:
    seconds = passed // timedelta(seconds=1)
    for unit, sign in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{seconds // unit} {sign}"
    return f"{seconds} s"
