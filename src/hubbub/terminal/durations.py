"""Durations and moments on the command line, such as `30d` and `yesterday`."""

import math
import re
from datetime import datetime, timedelta
from typing import Any

import click

from hubbub.model.timestamps import duration_text

YEAR = 366 * 86_400  # seconds
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
DAYS = {"today": 0, "yesterday": 1}  # before today
RANGE = (0, 999_999 * UNITS["w"])


class Seconds(click.ParamType[float]):
    """A number of seconds, up to a year; where `above_zero`, not 0."""

    name = "seconds"

    def __init__(self, *, above_zero: bool = False) -> None:
        self.above_zero = above_zero

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if math.isnan(seconds):
            self.fail(f"{value!r} is not a number of seconds", param, ctx)
        if not 0 <= seconds <= YEAR or (self.above_zero and seconds == 0):
            least = "above 0 and up to" if self.above_zero else "from 0 to"
            self.fail(f"{value!r} is not {least} {YEAR} (366 days)", param, ctx)
        return seconds


class Duration(click.ParamType[int]):
    """A duration in seconds, written such as `30d`; where `bare`, a number alone is seconds."""

    name = "duration"

    def __init__(self, example: str, *, bare: bool = False, between: tuple[int, int] = RANGE) -> None:
        self.example = example
        self.bare = bare
        self.least, self.most = between

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        written = re.fullmatch(r"([0-9]{1,6})([smhdw]?)", str(value))
        if written is None or not (written[2] or self.bare):
            self.fail(
                f"{value!r} is not a duration; write a number and s, m, h, d or w, such as {self.example}",
                param,
                ctx,
            )
        seconds = int(written[1]) * UNITS[written[2] or "s"]
        if seconds < self.least:
            self.fail(f"{value!r} is too short; {duration_text(self.least * 1000)} at least", param, ctx)
        if seconds > self.most:
            self.fail(f"{value!r} is too long; {duration_text(self.most * 1000)} at most", param, ctx)
        return seconds


class Moment(click.ParamType[int]):
    """A moment in Unix milliseconds: a time, a date, `today`, `yesterday`, or a duration before now; or `ahead`."""

    name = "moment"

    def __init__(self, *, ahead: bool = False) -> None:
        self.sign, self.way = (1, "in how long") if ahead else (-1, "how long ago")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return int(self._parsed(str(value).strip()).timestamp() * 1000)
        except (ValueError, OverflowError, OSError):
            self.fail(
                f"{value!r} is no time; write one such as 2026-04-12T10:00:00Z, a date, today or yesterday, "
                f"or {self.way}, such as 2h or 3d",
                param,
                ctx,
            )

    def _parsed(self, text: str) -> datetime:
        """Return the moment; in the zone of this machine if it names none. Raises `ValueError`."""
        now = datetime.now().astimezone()
        if text.lower() in DAYS:
            day = now.date() - timedelta(days=DAYS[text.lower()])
            return datetime(day.year, day.month, day.day).astimezone()  # local midnight
        if away := re.fullmatch(r"([0-9]{1,6})([smhdw])", text):
            return now + self.sign * timedelta(seconds=int(away[1]) * UNITS[away[2]])
        return datetime.fromisoformat(text).astimezone()
