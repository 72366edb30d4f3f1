"""Durations on the command line, such as `30d`."""

import re
from typing import Any

import click

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
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
