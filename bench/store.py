"""Cost of a durable send in the store, with one caller, eight and sixty-four, and its bounds.

Beside the store stand two bounds: the bare statements of a send, in one long transaction that is committed once, which
is the most that SQLite can do here; and the same sends, each committed by itself, as in a hub that does not gather
them. Rounds take turns and the medians count, since machines are not quiet.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from uuid import UUID

import apsw

from bench.texts import different
from hubbub.core.agents import agents
from hubbub.core.people import projects
from hubbub.core.work import tasks
from hubbub.model.ids import new_id
from hubbub.model.people.rights import SYSTEM
from hubbub.store import status_counters
from hubbub.store.engine.postgres import Postgres
from hubbub.store.engine.sqlite import DATABASE, SQLite
from hubbub.store.engine.sqlite_connection import SQLiteConnection
from hubbub.store.people import runs
from hubbub.store.tx import Connection, Row, Store, Tx, unix_ms

Statements = Sequence[tuple[str, Mapping[str, object]]]

ROUNDS = 5
CALLS = {1: 1_000, 8: 4_000, 64: 12_000}  # by number of callers
BARE = 12_000
ONE_BY_ONE = 1_500
TEXTS = different(1)
AIMS = (
    ("64 callers", "bare statements", 0.25),
    ("64 callers", "a commit each", 4.0),
    ("1 caller", "a commit each", 0.5),
)


@dataclass(frozen=True)
class Timing:
    """One round: how many calls, in how many seconds, of CPU too, and how long each took."""

    calls: int
    seconds: float
    cpu: float
    latencies: Sequence[float]


class Overhearing:
    """A connection that records its queries."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self.transaction_number, self.settled = db.transaction_number, db.settled
        self.is_shared = db.is_shared
        self.for_update, self.skip_locked = db.for_update, db.skip_locked
        self.for_delete, self.for_reference = db.for_delete, db.for_reference
        self.hub_has_ended, self.placed = db.hub_has_ended, db.placed
        self.heard: list[tuple[str, Mapping[str, object]]] = []

    def query(self, sql: str, values: Mapping[str, object]) -> Sequence[Row]:
        self.heard.append((sql, values))
        return self._db.query(sql, values)

    def tuples(self, sql: str, values: Mapping[str, object]) -> Sequence[tuple[Any, ...]]:
        self.heard.append((sql, values))
        return self._db.tuples(sql, values)

    def each(self, sql: str, values: Mapping[str, object]) -> Iterator[Row]:
        self.heard.append((sql, values))
        return self._db.each(sql, values)

    def tell(self, sql: str, values: Mapping[str, object]) -> None:
        self.query(sql, values)


def prepare(tx: Tx) -> UUID:
    """A project in which an agent waits for tasks."""
    project = projects.create(tx, f"bench-{new_id().hex[-8:]}")
    agents.meet(tx, project.id, "worker")
    return project.id


def send(project_id: UUID) -> Callable[[Tx], object]:
    text = next(TEXTS)
    return lambda tx: tasks.send(tx, project_id, sender="hub", to="worker", text=text)


def through_store(store: Store, project_id: UUID, callers: int) -> Timing:
    """`callers` that each send one task after the other, from one event loop."""
    latencies = []

    async def call() -> None:
        for _ in range(CALLS[callers] // callers):
            begun = time.perf_counter()
            await store.write(SYSTEM, send(project_id))
            latencies.append(time.perf_counter() - begun)

    async def call_all() -> None:
        await asyncio.gather(*(call() for _ in range(callers)))

    begun, cpu = time.perf_counter(), time.process_time()
    asyncio.run(call_all())
    return Timing(len(latencies), time.perf_counter() - begun, time.process_time() - cpu, latencies)


def statements_of_a_send(store: Store, project_id: UUID) -> Statements:
    def overhear(tx: Tx) -> Statements:
        overhearing = Overhearing(tx.db)
        tx.db = overhearing
        send(project_id)(tx)
        return overhearing.heard

    return store.write_now(SYSTEM, overhear)


def bare(db: apsw.Connection, sends: Sequence[Statements]) -> Timing:
    """The statements of the sends with nothing around them, in one transaction."""
    latencies = []
    begun, cpu = time.perf_counter(), time.process_time()
    db.execute("BEGIN IMMEDIATE")
    for statements in sends:
        started = time.perf_counter()
        for sql, values in statements:
            db.execute(sql, values).fetchall()
        latencies.append(time.perf_counter() - started)
    db.execute("COMMIT")
    return Timing(len(sends), time.perf_counter() - begun, time.process_time() - cpu, latencies)


def one_by_one(connection: SQLiteConnection, project_id: UUID) -> Timing:
    """Sends as the core makes them, each committed before the next begins."""
    latencies = []
    begun, cpu = time.perf_counter(), time.process_time()
    for _ in range(ONE_BY_ONE):
        started = time.perf_counter()
        connection.db.execute("BEGIN IMMEDIATE")
        tx = Tx(connection, SYSTEM, unix_ms())
        send(project_id)(tx)
        status_counters.flush(connection, tx.tally)
        connection.db.execute("COMMIT")
        latencies.append(time.perf_counter() - started)
    return Timing(ONE_BY_ONE, time.perf_counter() - begun, time.process_time() - cpu, latencies)


def another(
    statements: Statements, places: Mapping[UUID, UUID], number: int, *, as_bytes: bool = True
) -> Statements:
    """The statements of another send: its own ids and number, in a project and a run of its own.

    `as_bytes` is how SQLite has ids.
    """
    task_id = new_id()

    def value(name: str, old: object) -> object:
        if isinstance(old, UUID):
            kept = places.get(old, task_id)
            return kept.bytes if as_bytes else kept
        return number if name == "number" else old

    return [(sql, {name: value(name, old) for name, old in values.items()}) for sql, values in statements]


def places_of(tx: Tx, project_id: UUID) -> tuple[UUID, UUID]:
    """The project, and the run to which what is sent in it belongs."""
    return project_id, runs.id_of_current(tx, project_id)


def without_the_store(
    folder: Path, statements: Statements, old_places: tuple[UUID, UUID]
) -> dict[str, Timing]:
    """Measure a round of the bounds for the store, in a project where all numbers are free."""
    with closing(SQLite.open(folder)) as store:
        project_id = store.write_now(SYSTEM, prepare)
        other_id = store.write_now(SYSTEM, prepare)
        new_places = store.write_now(SYSTEM, partial(places_of, project_id=project_id))
    places = dict(zip(old_places, new_places, strict=True))
    sends = [another(statements, places, number) for number in range(1, BARE + 1)]
    connection = SQLiteConnection(folder / DATABASE, timedelta(seconds=5))
    with closing(connection.db) as db:
        db.pragma("synchronous", "FULL")
        db.pragma("foreign_keys", "ON")
        return {"bare statements": bare(db, sends), "a commit each": one_by_one(connection, other_id)}


def rounds(url: str | None) -> dict[str, list[Timing]]:
    """All measurements, by name, each as many times as there are rounds."""
    timings: dict[str, list[Timing]] = {}
    with tempfile.TemporaryDirectory(prefix="hubbub-bench-") as name:
        folder = Path(name)
        for _ in range(ROUNDS):
            with closing(SQLite.open(folder)) as store:
                project_id = store.write_now(SYSTEM, prepare)
                statements = statements_of_a_send(store, project_id)
                places = store.write_now(SYSTEM, partial(places_of, project_id=project_id))
                for callers in CALLS:
                    timings.setdefault(plural(callers), []).append(through_store(store, project_id, callers))
            for kind, timing in without_the_store(folder, statements, places).items():
                timings.setdefault(kind, []).append(timing)
    if url:
        with closing(Postgres.open(url)) as server:
            project_id = server.write_now(SYSTEM, prepare)
            for callers in CALLS:
                timings[f"PostgreSQL, {plural(callers)}"] = [through_store(server, project_id, callers)]
    return timings


def plural(callers: int) -> str:
    return f"{callers} caller{'s' if callers > 1 else ''}"


def rate(timings: Sequence[Timing]) -> float:
    return median(timing.calls / timing.seconds for timing in timings)


def show(timings: Mapping[str, Sequence[Timing]]) -> None:
    print(f"{'durable sends':<28}{'calls/s':>9}{'p50 ms':>9}{'p99 ms':>9}{'CPU µs/call':>13}")
    for name, each in timings.items():
        slowest = [sorted(timing.latencies) for timing in each]
        p50, p99 = (
            median(sorted_[int(len(sorted_) * part)] for sorted_ in slowest) * 1000 for part in (0.5, 0.99)
        )
        cpu = median(timing.cpu / timing.calls for timing in each) * 1e6
        print(f"{name:<28}{rate(each):>9,.0f}{p50:>9.2f}{p99:>9.2f}{cpu:>13.0f}")
    for name, other, aim in AIMS:
        ratio = rate(timings[name]) / rate(timings[other])
        print(f"{name} ÷ {other}: {ratio:.2f} (aim: at least {aim})")


def main() -> None:
    sys.setswitchinterval(0.0005)  # as the hub does
    show(rounds(sys.argv[1] if len(sys.argv) > 1 else None))


if __name__ == "__main__":
    main()
