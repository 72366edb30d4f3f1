"""Reuse of parts of replies, as long as nothing in them has changed.

Whole replies are kept by the versions of their content; of long lists each row is kept, by its source.
"""

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

from hubbub.model.fleet.calls import ToolResult, as_json
from hubbub.model.json_chunks import EncodedRow, EncodedRows, complete
from hubbub.store.tx import Operation, Tx

Thing = TypeVar("Thing", bound=Hashable)
Row = Mapping[str, object]

Versions = Mapping[Any, Hashable]  # parts of a reply, each with its version

MOST = 16  # replies of one tool, each to other arguments or of other projects
FRESH = 10_000  # milliseconds after which a reply is made anew: for changes by older programs, which set no version
MOST_BYTES = 12_000_000  # of the rows of one tool
BESIDE = 500  # bytes that each row takes beside its own


class CachedReply(dict[str, object]):
    """A reply that may be given again, and its encoded form."""

    outcome: ToolResult | None = None


class ReplyCache:
    """The latest replies of one tool, each valid for committed data: a version is one state of the store."""

    def __init__(self, versions: Callable[..., Versions | None]) -> None:
        """`versions` takes the tool's arguments; it returns None for a reply that is too long to be kept."""
        self._versions = versions
        self._replies: dict[Hashable, tuple[Hashable, int, CachedReply]] = {}
        self._turn = threading.Lock()

    def reply(
        self, tx: Tx, arguments: Mapping[str, Any], make: Operation[Mapping[str, object]]
    ) -> Mapping[str, object]:
        """Return the kept reply to the arguments if it equals what `make` would return now, else make it."""
        versions = self._versions(tx, **arguments)
        if versions is None:
            return make(tx)
        asked, state = (*arguments.items(), *versions), (*versions.values(),)
        known, made_at, reply = self._replies.get(asked, (None, 0, None))
        if reply is None or known != state or not 0 <= tx.now - made_at < FRESH:
            reply = CachedReply(complete(make(tx)))
            self._keep(asked, state, tx.now, reply)
        return reply

    def _keep(self, asked: Hashable, state: Hashable, now: int, reply: CachedReply) -> None:
        with self._turn:
            self._replies.pop(asked, None)
            self._replies[asked] = state, now, reply
            if len(self._replies) > MOST:
                del self._replies[next(iter(self._replies))]

    def __len__(self) -> int:
        return len(self._replies)


class RowCache:
    """The rows of the latest lists, each under its source: a changed source makes a new row."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._lists: dict[Hashable, tuple[dict[Any, EncodedRow], int]] = {}  # with the size of each
        self._turn = threading.Lock()

    def rows(
        self, of: Hashable, things: Sequence[Thing], make: Callable[[list[Thing]], Mapping[Thing, Row]]
    ) -> EncodedRows:
        """Return the rows of the `things` in the list `of`; `make` returns those that are missing, or more."""
        known, size = self._lists.get(of, ({}, 0))
        missing = [each for each in things if each not in known]
        if missing:
            made = {thing: EncodedRow.of(as_json(row)) for thing, row in make(missing).items()}
            known, size = {**known, **made}, size + _size(made)
            if size > self._most:  # full of things that changed since
                known = {each: known[each] for each in things}
                size = _size(known)
        self._keep(of, known, size)
        return EncodedRows(map(known.__getitem__, things))

    def _keep(self, of: Hashable, known: dict[Any, EncodedRow], size: int) -> None:
        """Keep a list as the last used one, and drop those unused for longest."""
        with self._turn:
            self._lists.pop(of, None)
            self._lists[of] = known, size
            total = sum(size for _known, size in self._lists.values())
            while total > self._most:
                oldest = next(iter(self._lists))
                total -= self._lists.pop(oldest)[1]

    def __len__(self) -> int:
        return sum(len(known) for known, _size in self._lists.values())


def _size(rows: Mapping[Any, EncodedRow]) -> int:
    return sum([row.size + BESIDE for row in rows.values()])
