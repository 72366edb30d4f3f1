"""Writing to a terminal: tables that line up in any script, and no text of others that could command it."""

import json
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

GAP = "  "
LEAST_WIDTH = 8  # of a column that has to give way
ELLIPSIS = "…"

# Cc control, Cf format (bidirectional overrides, zero-width), Cs half of a surrogate pair, Zl and Zp line breaks.
HOSTILE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
JOINER = "\u200d"  # holds emoji and some scripts together, and moves nothing


def clean(text: str, *, lines: bool = False) -> str:
    """`text` with all that could steer a terminal escaped as JSON does it; `lines` keeps line ends and tabs."""
    kept = JOINER + "\n\t" if lines else JOINER
    return "".join(each if each in kept or not _is_hostile(each) else json.dumps(each)[1:-1] for each in text)


def _is_hostile(character: str) -> bool:
    return unicodedata.category(character) in HOSTILE


def width(text: str) -> int:
    """How many columns a terminal gives to `text`: wide East Asian characters take two, combining marks none."""
    return sum(_columns(each) for each in text)


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def fit(text: str, columns: int) -> str:
    """`text` cut to at most so many columns, with an ellipsis where something is missing."""
    if width(text) <= columns:
        return text
    return _beginning(text, columns - 1) + ELLIPSIS


def fit_screen(text: str, indent: int = 0) -> str:
    """`text` cut to what a line of the terminal holds beside an indent; whole where it is none."""
    return fit(text, shutil.get_terminal_size().columns - indent) if sys.stdout.isatty() else text


def _beginning(text: str, columns: int) -> str:
    """As much of `text` as so many columns hold."""
    taken, used = [], 0
    for each in text:
        if used + _columns(each) > columns:
            break
        taken.append(each)
        used += _columns(each)
    return "".join(taken)


def wrapped(text: str, columns: int) -> list[str]:
    """`text` as lines of at most so many columns, broken at blanks where there are any; nothing else is left out."""
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


def show(text: str, *, lines: bool = True) -> None:
    """Print text of others, made harmless."""
    print(clean(text, lines=lines), flush=True)


def show_json(value: object) -> None:
    """Print JSON, one line; what could steer a terminal is escaped as JSON does it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    print(clean(text), flush=True)


def show_table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows for people: aligned and cut to the terminal's width; tab-separated and whole where it is none."""
    cells = [[_cell(value) for value in row] for row in rows]
    if not sys.stdout.isatty():
        for row in cells:
            print("\t".join(row))
        return
    widths = _fitting([titles, *cells], shutil.get_terminal_size().columns)
    for row in [[title.upper() for title in titles], *cells]:
        padded = (_pad(fit(cell, room), room) for cell, room in zip(row, widths, strict=True))
        print(GAP.join(padded).rstrip())


def show_rest(shown: int, total: int, more: str) -> None:
    """Tell people, on standard error, that a list ended before everything was shown, and how to see `more`."""
    if shown < total:
        print(f"{shown} of {total}; {more}", file=sys.stderr, flush=True)


def _cell(value: object) -> str:
    return "" if value is None else clean(str(value).partition("\n")[0])


def _pad(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))


def _fitting(rows: Sequence[Sequence[str]], columns: int) -> list[int]:
    """The widths of the columns; while the whole is too wide, the widest gives way."""
    widths = [max(width(row[index]) for row in rows) for index in range(len(rows[0]))]
    excess = sum(widths) + len(GAP) * (len(widths) - 1) - columns
    while excess > 0 and max(widths) > LEAST_WIDTH:
        widest = widths.index(max(widths))
        widths[widest] -= 1
        excess -= 1
    return widths


def moment(at: int | None) -> str:
    """A time in Unix milliseconds as local date and time; empty for None."""
    if at is None:
        return ""
    return datetime.fromtimestamp(at / 1000, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def brief(at: int | None) -> str:
    """A moment in as few columns as say it, on a terminal: the time if it was today, else the date."""
    text = moment(at)
    day, _, time = text.partition(" ")
    if not sys.stdout.isatty():
        return text
    return time if day == datetime.now(UTC).astimezone().strftime("%Y-%m-%d") else day


def age(at: int | None, now: int) -> str:
    """How long ago a moment was, on a terminal: `12 s`, `3 min`, `5 h`, `2 d`; the moment itself where it is none."""
    if at is None or not sys.stdout.isatty():
        return moment(at)
    seconds = max(0, now - at) // 1000
    for unit, sign in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{seconds // unit} {sign}"
    return f"{seconds} s"
