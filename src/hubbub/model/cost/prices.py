"""Prices of models: a table by date, in US dollars for a million tokens.

The table in the package holds the makers' published prices. An owner's table of the same form takes precedence:
`models,since,input,output,cache_read,cache_written`. One line may name a model in several ways; an empty `since`
means always, an empty cache price means the price of input.
"""

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cache
from importlib.resources import files
from pathlib import Path

from hubbub.model.cost.spending import MICRO, Measure
from hubbub.model.errors import Invalid

COLUMNS = ("models", "since", "input", "output", "cache_read", "cache_written")
PRICED = (Measure.INPUT, Measure.OUTPUT, Measure.CACHE_READ, Measure.CACHE_WRITTEN)
EPOCH = date(1970, 1, 1).toordinal()
MOST = 1024 * 1024  # bytes of a table

# What makers and resellers add to a model's name: the seller, the length of its context, its date.
_BEFORE = re.compile(r"^.*/|^(?:[a-z]{2,6}\.)?(?:anthropic|openai|google)\.")
_BEHIND = re.compile(r"\[\w+\]$|-v\d+:\d+$|[-@]\d{8}$|-\d{4}-\d{2}-\d{2}$|-latest$")


@dataclass(frozen=True, slots=True)
class Price:
    """A price: its first day (counted from 1970), and millionths of a dollar per token of each measure."""

    since: int
    rates: Mapping[Measure, Decimal]


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by model, newest first: the hub owner's, and those in the package."""

    own: Mapping[str, tuple[Price, ...]]
    usual: Mapping[str, tuple[Price, ...]]

    def cost(
        self, model: str, day: int, used: Mapping[Measure, int], told: int | None = None
    ) -> Decimal | None:
        """Price the tokens, in millionths of a dollar; None if nobody knows a price.

        The owner's price comes first, then the cost that the client reported, then the usual price.
        """
        name = plain(model)
        if (own := _at(self.own, name, day)) is not None:
            return _worth(own, used)
        if told is not None:
            return Decimal(told)
        usual = _at(self.usual, name, day)
        return _worth(usual, used) if usual is not None else None


def plain(model: str) -> str:
    """Reduce a model's name: `us.anthropic.claude-opus-4.5-20251101-v1:0` becomes `claude-opus-4-5`."""
    name, before = _BEFORE.sub("", model.strip().lower()), ""
    while name != before:
        name, before = _BEHIND.sub("", name), name
    return re.sub(r"(?<=\d)\.(?=\d)", "-", name)


def read(path: Path | None) -> Prices:
    """Read the usual prices, after those of the owner's file. Raises `Invalid`, which names the wrong line."""
    if path is None:
        return Prices({}, usual())
    try:
        if path.stat().st_size > MOST:
            raise Invalid(f"the prices in {path} are larger than {MOST // 1024} KiB")
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise Invalid(f"the prices in {path} cannot be read") from None
    return Prices(_parsed(text.splitlines(), str(path)), usual())


@cache
def usual() -> Mapping[str, tuple[Price, ...]]:
    """Read the prices in the package."""
    return _parsed(files(__package__).joinpath("prices.csv").read_text("utf-8").splitlines(), "prices.csv")


def _parsed(lines: Iterable[str], source: str) -> Mapping[str, tuple[Price, ...]]:
    found: dict[str, list[Price]] = {}
    table = csv.DictReader(lines)
    if tuple(table.fieldnames or ()) != COLUMNS:
        raise Invalid(f"the first line of {source} must be {','.join(COLUMNS)}")
    for row in table:
        try:
            price = _price(row)
        except (ValueError, InvalidOperation, TypeError):
            raise Invalid(
                f"line {table.line_num} of {source} must be names, a day such as 2026-03-13 or nothing, and prices"
            ) from None
        for name in (row["models"] or "").split():
            found.setdefault(plain(name), []).append(price)
    return {name: tuple(sorted(each, key=lambda price: -price.since)) for name, each in found.items()}


def _price(row: Mapping[str, str]) -> Price:
    since = date.fromisoformat(row["since"]).toordinal() - EPOCH if row["since"] else 0
    rates = {each: Decimal(row[each] or row[Measure.INPUT]) for each in PRICED}
    if not all(rate.is_finite() and rate >= 0 for rate in rates.values()):
        raise ValueError("a price")
    return Price(since, rates)


def _at(table: Mapping[str, tuple[Price, ...]], name: str, day: int) -> Price | None:
    return next((price for price in table.get(name, ()) if price.since <= day), None)


def _worth(price: Price, used: Mapping[Measure, int]) -> Decimal:
    """Price the tokens. Dollars for a million tokens equal millionths of a dollar for one."""
    return sum((price.rates[each] * used[each] for each in PRICED), Decimal(0))


def dollars(cost: Decimal) -> float:
    """Convert millionths of a dollar to dollars."""
    return float(round(cost / MICRO, 6))
