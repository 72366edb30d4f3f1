"""Durations and moments on the command line, such as `30d` and `yesterday`."""

import re
from datetime import datetime, timedelta
from typing import Any

import click

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
DAYS = {"today": 0, "yesterday": 1}  # before today
RANGE = (0, 999_999 * UNITS["w"])


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
        if not self.least <= seconds <= self.most:
            self.fail(f"{value!r} is not between {self.least} and {self.most} seconds", param, ctx)
        return seconds


class Moment(click.ParamType[int]):
    """A moment in Unix milliseconds: a time, a date, `today`, `yesterday`, or a duration before now."""

    name = "moment"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return int(self._parsed(str(value).strip()).timestamp() * 1000)
        except (ValueError, OverflowError, OSError):
            self.fail(
                f"{value!r} is no time; write one such as 2026-04-12T10:00:00Z, a date, today or yesterday, "
                "or how long ago, such as 2h or 3d",
                param,
                ctx,
            )

    def _parsed(self, text: str) -> datetime:
        """Return the moment; in the zone of this machine if it names none. Raises `ValueError`."""
        now = datetime.now().astimezone()
        if text.lower() in DAYS:
            day = now.date() - timedelta(days=DAYS[text.lower()])
            return datetime(day.year, day.month, day.day).astimezone()  # local midnight
        if ago := re.fullmatch(r"([0-9]{1,6})([smhdw])", text):
            return now - timedelta(seconds=int(ago[1]) * UNITS[ago[2]])
        return datetime.fromisoformat(text).astimezone()
