"""A table that a test goes over in one go: for rules that are cheap to ask, and need nothing made anew for each row."""

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import signature
from typing import Any

import pytest

Test = Callable[..., None]
WIDTH = 500  # that much of a row is shown


def each_row(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Test], Test]:
    """Parametrize like `pytest.mark.parametrize`, but as one test, which tells every row that is wrong."""
    keys = [names] if isinstance(names, str) else [*names]
    table = [dict(zip(keys, [row] if isinstance(names, str) else row, strict=True)) for row in rows]
    assert table

    def over(test: Test) -> Test:
        @wraps(test)
        def go(**fixtures: Any) -> None:
            wrong = [
                f"{row}"[:WIDTH] + f": {told}" for row in table if (told := _complaint(test, fixtures | row))
            ]
            if wrong:
                pytest.fail("\n\n".join(wrong), pytrace=False)

        own = signature(test)
        left = [each for name, each in own.parameters.items() if name not in keys]
        go.__signature__ = own.replace(parameters=left)  # type: ignore[attr-defined]  # what pytest is to fill in
        return go

    return over


def _complaint(test: Test, given: dict[str, Any]) -> str | None:
    try:
        test(**given)
    except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  # whatever is wrong with this row
        return f"{type(error).__name__}: {error}"
    return None
