"""Replies that are given again as they are, for as long as nothing has changed of what they tell."""

import threading
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from hubbub.model.orders import Outcome
from hubbub.store.tx import Operation, Tx

Versions = Mapping[Any, Hashable]  # what a reply tells of, and what each of that is at

MOST = 16  # replies of one tool, each to other arguments or of other projects
FRESH = 10_000  # milliseconds after which a reply is made anew: for changes by older programs, which tell no version


class KeptReply(dict[str, object]):
    """A reply that may be given again, and what was made of it."""

    outcome: Outcome | None = None


class Kept:
    """The latest replies of one tool, all of which stand for what is committed: a version is one state of the store."""

    def __init__(self, versions: Callable[..., Versions | None]) -> None:
        """`versions` is given what the tool is; None: it tells of so much that it is not kept."""
        self._versions = versions
        self._replies: dict[Hashable, tuple[Hashable, int, KeptReply]] = {}
        self._turn = threading.Lock()

    def reply(
        self, tx: Tx, arguments: Mapping[str, Any], make: Operation[Mapping[str, object]]
    ) -> Mapping[str, object]:
        """The reply to the arguments: the one that is kept, if it is what `make` would return in this transaction."""
        versions = self._versions(tx, **arguments)
        if versions is None:
            return make(tx)
        asked, state = (*arguments.items(), *versions), (*versions.values(),)
        known, made_at, reply = self._replies.get(asked, (None, 0, None))
        if reply is None or known != state or not 0 <= tx.now - made_at < FRESH:
            reply = KeptReply(make(tx))
            self._keep(asked, state, tx.now, reply)
        return reply

    def _keep(self, asked: Hashable, state: Hashable, now: int, reply: KeptReply) -> None:
        with self._turn:
            self._replies.pop(asked, None)
            self._replies[asked] = state, now, reply
            if len(self._replies) > MOST:
                del self._replies[next(iter(self._replies))]

    def __len__(self) -> int:
        return len(self._replies)
