"""The rows of long lists, each of which is made once for all the answers in which it stands."""

from collections.abc import Mapping

from hubbub.dialects.reply_cache import BESIDE, RowCache


class Maker:
    """Makes rows, and knows how often it had to."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def __call__(self, missing: list[str]) -> Mapping[str, Mapping[str, object]]:
        self.made += missing
        return {each: {"text": each} for each in missing}

    def read(self, kept: RowCache, *things: str, of: str = "list") -> list[str]:
        """Return the texts of a list, of which the rows are cached."""
        return [row["text"] for row in kept.rows(of, things, self).value]


def test_a_row_is_made_once() -> None:
    """A list is told in the order in which it is asked for, and only what was not in it before is made."""
    kept, maker = RowCache(), Maker()

    assert maker.read(kept, "a", "b") == ["a", "b"]
    assert maker.read(kept, "c", "b", "a") == ["c", "b", "a"]
    assert maker.read(kept) == []
    assert maker.made == ["a", "b", "c"]


def test_lists_are_kept_apart() -> None:
    """The same thing may be another row in another list."""
    kept, maker = RowCache(), Maker()
    maker.read(kept, "a", of="one")
    assert maker.read(kept, "a", of="other") == ["a"]
    assert maker.made == ["a", "a"]


def test_the_lists_that_were_asked_for_last_are_kept() -> None:
    """The list that nobody has asked for the longest is forgotten when there is no room for another."""
    kept, maker = RowCache(most=3 * (BESIDE + 100)), Maker()
    for of in ("one", "two", "one", "three", "four", "one", "two"):
        maker.read(kept, "a", of=of)

    assert len(kept) == 3
    assert len(maker.made) == 5  # of "two" for a second time


def test_what_a_list_shows_no_more_is_forgotten_when_room_is_short() -> None:
    """A list that changes again and again takes no more room than there is; one too large for that is not kept."""
    kept, maker = RowCache(most=4 * (BESIDE + 100)), Maker()
    for number in range(20):
        assert maker.read(kept, "a", f"b{number}") == ["a", f"b{number}"]
        assert len(kept) <= 4
    assert maker.made.count("a") == 1

    many = [str(number) for number in range(9)]
    assert maker.read(kept, *many, of="large") == many
    assert len(kept) == 0
