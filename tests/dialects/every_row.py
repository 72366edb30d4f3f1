"""One test over a whole table: every row is tried, and all that went wrong is told together in the end."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Row = Callable[..., AbstractContextManager[None]]


@contextmanager
def every_row() -> Iterator[Row]:
    """Assertions in `with row(…)` end that row only; the row's name stands before its error."""
    wrong: list[str] = []

    @contextmanager
    def row(*called: object) -> Iterator[None]:
        try:
            yield
        except AssertionError as error:
            wrong.append(f"{' '.join(map(str, called))}: {error}")

    yield row
    assert not wrong, "\n".join(wrong)
