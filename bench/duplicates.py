"""Cost of the look for duplicates: sends in a project with ever more open tasks, with the look and without.

The texts differ, as those of real senders do: sentences of words that are drawn as in a language, some often and most
seldom. Another row has the same text in each send, as a loop gone wrong would. Batches with the look and without take
turns, and the medians count. Run with `python -m bench.duplicates`, or with the address of a PostgreSQL database.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch
from uuid import UUID

from bench.hubs import postmaster_of, used_by_server
from bench.store import prepare
from bench.texts import Texts, different, same
from hubbub.core.work import duplicates, tasks
from hubbub.model.people.rights import SYSTEM
from hubbub.model.work.duplicates import Job, OnDuplicate
from hubbub.store.engine.postgres import Postgres
from hubbub.store.engine.sqlite import SQLite
from hubbub.store.tx import Store, Tx

SIZES = (1_000, 20_000, 100_000)
BATCH, BATCHES = 50, 20  # sends in a transaction, and transactions of each kind
NOTHING = duplicates.Saying(Job(frozenset(), None, frozenset(), (), frozenset(), frozenset()), ())


@contextmanager
def no_look() -> Iterator[None]:
    """Send as if nothing was known of duplicates."""
    nothing: dict[str, Any] = {
        "read": lambda *_: NOTHING,
        "find": lambda *_: None,
        "remember": lambda *_: None,
    }
    with patch.multiple(duplicates, **nothing):
        yield


def send(tx: Tx, project_id: UUID, texts: Texts) -> None:
    for _ in range(BATCH):
        text = next(texts)
        tasks.send(tx, project_id, sender="worker", to="worker", text=text, on_duplicate=OnDuplicate.TELL)


def measure(store: Store, project_id: UUID, texts: Texts, behind: Callable[[], float]) -> tuple[float, float]:
    """Return the processor's µs for a send with the look, and without."""

    def batch() -> float:
        begun = time.process_time() + behind()
        store.write_now(SYSTEM, partial(send, project_id=project_id, texts=texts))
        return (time.process_time() + behind() - begun) / BATCH * 1e6

    looked, plain = [], []
    for _ in range(BATCHES):
        looked.append(batch())
        with no_look():
            plain.append(batch())
    return median(looked), median(plain)


def grow(store: Store, behind: Callable[[], float]) -> None:
    project_id, texts, there = store.write_now(SYSTEM, prepare), different(1), 0
    print(f"{'open tasks':<28}{'with, µs':>10}{'without':>10}{'more':>8}{'ratio':>8}")
    for size in SIZES:
        while there < size:
            store.write_now(SYSTEM, partial(send, project_id=project_id, texts=texts))
            there += BATCH
        show(f"{size:,}", *measure(store, project_id, texts, behind))
    show("the same text each time", *measure(store, store.write_now(SYSTEM, prepare), same(), behind))


def show(name: str, looked: float, plain: float) -> None:
    print(
        f"{name:<28}{looked:>10,.0f}{plain:>10,.0f}{looked - plain:>8,.0f}{looked / plain:>8.2f}", flush=True
    )


def main() -> None:
    if len(sys.argv) > 1:
        postmaster = postmaster_of(sys.argv[1])
        with closing(Postgres.open(sys.argv[1])) as server:
            grow(server, lambda: used_by_server(postmaster))
        return
    with (
        tempfile.TemporaryDirectory(prefix="hubbub-bench-") as name,
        closing(SQLite.open(Path(name))) as store,
    ):
        grow(store, lambda: 0.0)


if __name__ == "__main__":
    main()
