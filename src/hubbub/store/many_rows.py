"""Lists of rows in statements, of few lengths, so that each statement is prepared once."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

MOST = 64  # rows in one statement


def parts(rows: Sequence[Sequence[object]]) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the rows as lists of parameters, in order: the text of each list, and its values by name."""
    place = 0
    while place < len(rows):
        length = min(MOST, 1 << (len(rows) - place).bit_length() - 1)
        part = [value for row in rows[place : place + length] for value in row]
        yield _listed(length, len(rows[place])), {f"v{number}": value for number, value in enumerate(part)}
        place += length


@lru_cache
def _listed(length: int, width: int) -> str:
    """Return a list of rows of parameters."""
    rows = (range(first, first + width) for first in range(0, length * width, width))
    return ", ".join(f"({', '.join(f':v{number}' for number in row)})" for row in rows)
