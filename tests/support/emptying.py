"""A database that tests share, emptied after each of them: only of what was written, as most tests write little."""

from collections.abc import Callable, Iterable
from typing import Any


class Emptier:
    """Makes a database as it was when it was migrated; foreign keys must not be checked where it executes."""

    def __init__(
        self, execute: Callable[[str], Iterable[Any]], tables: Iterable[str], sequences: Iterable[str] = ()
    ) -> None:
        self.execute = execute
        self._looks = [f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM {name})" for name in tables]
        self._looks += [f"SELECT '{name}' FROM {name} WHERE is_called" for name in sequences]
        self._resets = {name: f"SELECT setval('{name}', 1, false)" for name in sequences}

    def empty(self) -> None:
        """Take out all rows, and let all counters begin anew."""
        written = [name for (name,) in self.execute(" UNION ALL ".join(self._looks))]
        if written:
            resets = (self._resets.get(name, f"DELETE FROM {name}") for name in written)
            self.execute(f"BEGIN; {'; '.join(resets)}; COMMIT")
