"""Prices: by model and day, the owner's before the client's word, that before the usual ones."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from hubbub.model.cost.prices import COLUMNS, EPOCH, Prices, plain, read
from hubbub.model.cost.spending import Measure
from hubbub.model.errors import Invalid

USED = dict.fromkeys(Measure, 0) | {Measure.INPUT: 1_000, Measure.CACHE_READ: 1_000}
HEAD = ",".join(COLUMNS)


def day(text: str) -> int:
    return date.fromisoformat(text).toordinal() - EPOCH


def table(folder: Path, *lines: str) -> Prices:
    file = folder / "prices.csv"
    file.write_text("\n".join([HEAD, *lines]) + "\n")
    return read(file)


@pytest.mark.parametrize(
    "named",
    [
        "claude-opus-4-5",
        "claude-opus-4-5-20251101",
        "anthropic/claude-opus-4.5",
        "us.anthropic.claude-opus-4-5-20251101-v1:0",
        "claude-opus-4-5@20251101",
        "Claude-Opus-4-5[1m]",
        "claude-opus-4-5-latest",
    ],
)
def test_a_model_has_one_price_by_all_its_names(named: str) -> None:
    """A model has one price under all names that sellers and clients give it."""
    assert plain(named) == "claude-opus-4-5"
    assert read(None).cost(named, day("2026-01-01"), USED) == Decimal("5500")


def test_a_price_is_that_of_the_day(tmp_path: Path) -> None:
    """The newest price of a model on the day counts; before the first one there is none."""
    prices = table(tmp_path, "m,2026-03-01,2,1,,", "m,2026-02-01,4,1,1,")
    assert prices.cost("m", day("2026-01-31"), USED) is None
    assert prices.cost("m", day("2026-02-28"), USED) == 5_000
    assert prices.cost("m", day("2026-03-01"), USED) == 4_000  # a cache without a price is input


def test_the_owners_price_goes_first(tmp_path: Path) -> None:
    """The owner's price goes before what the client says, and that before the usual price."""
    prices = table(tmp_path, "gpt-5,,1,1,1,1")
    today = day("2026-11-01")
    assert prices.cost("gpt-5", today, USED, told=7) == 2_000
    assert prices.cost("o3", today, USED, told=7) == 7
    assert prices.cost("o3", today, USED) == 2_500
    assert prices.cost("who-knows", today, USED) is None


@pytest.mark.parametrize("line", ["m,,x,1,1,1", "m,yesterday,1,1,1,1", "m,,-1,1,1,1", "m,,NaN,1,1,1", "m"])
def test_a_wrong_line_is_named(tmp_path: Path, line: str) -> None:
    """A wrong line of the price table is refused by its number, in one sentence, when the hub starts."""
    with pytest.raises(Invalid, match=r"^line 2 of .*prices\.csv must be names, a day"):
        table(tmp_path, line)


def test_a_table_has_its_columns(tmp_path: Path) -> None:
    """A file that is no such table is refused, and so is none."""
    (tmp_path / "prices.csv").write_text("model;price\n")
    with pytest.raises(Invalid, match=f"must be {HEAD}"):
        read(tmp_path / "prices.csv")
    with pytest.raises(Invalid, match="cannot be read"):
        read(tmp_path / "no.csv")
