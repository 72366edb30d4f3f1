"""Cost of one more of each thing, on either engine: a call, a task kept for a year, an open stream.

A task is sent, read, acknowledged and answered over HTTP by CommHub's tools, by clients that keep their connections.
Run with `python -m bench.units`; PostgreSQL is started with its data in the working folder, as by `bench.postgres`.
"""

import asyncio
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import psycopg
from psycopg.conninfo import conninfo_to_dict

from bench.http import round_trip, send
from bench.hubs import postmaster_of, used, used_by_server
from bench.postgres import database, server
from bench.serving import Line, Served, running

CLIENTS = 8
LIVES = 2_000  # tasks that are sent, read, acknowledged and answered
SENDS = 2_000
STREAMS = 500


@dataclass(frozen=True)
class Engine:
    """A hub on one engine, with functions that measure its use."""

    name: str
    hub: Served
    stored: Callable[[], int]  # bytes
    server_cpu: Callable[[], float]  # seconds


@contextmanager
def engines() -> Iterator[list[Engine]]:
    """A hub on each of them."""
    with (
        tempfile.TemporaryDirectory(dir=Path.cwd()) as folder,
        server(None) as url,
        database(url) as made,
    ):
        parts = conninfo_to_dict(made)
        spelled = f"postgresql:///{parts.pop('dbname')}?{urlencode(parts)}"
        one, two = Path(folder) / "sqlite", Path(folder) / "postgres"
        postmaster = postmaster_of(made)
        with hub_on(one) as inside, hub_on(two, HUBBUB_DATABASE=spelled) as outside:
            yield [
                Engine("SQLite", inside, lambda: sqlite_bytes(one), lambda: 0.0),
                Engine(
                    "PostgreSQL", outside, lambda: postgres_bytes(made), lambda: used_by_server(postmaster)
                ),
            ]


@contextmanager
def hub_on(data: Path, **variables: str) -> Iterator[Served]:
    command = [sys.executable, "-m", "bench.serving", str(data)]
    with running(command, data, HUBBUB_MCP_CONNECTIONS=str(2 * STREAMS), **variables) as hub:
        yield hub


def sqlite_bytes(data: Path) -> int:
    """Return the number of bytes in use in the database file."""
    (file,) = data.glob("*.db")
    db = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    (pages,), (free,) = (
        db.execute("PRAGMA page_count").fetchone(),
        db.execute("PRAGMA freelist_count").fetchone(),
    )
    (size,) = db.execute("PRAGMA page_size").fetchone()
    db.close()
    return int((pages - free) * size)


def postgres_bytes(url: str) -> int:
    """Return the size of the database in bytes, with its indexes and without dead rows."""
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("VACUUM FULL")
        row = db.execute("SELECT pg_database_size(current_database())").fetchone()
        assert row is not None
        return int(row[0])


async def many(engine: Engine, step: Callable[[Line, int], object], times: int) -> tuple[float, float]:
    """The seconds of CPU that so many steps take at the hub, and at the server behind it."""
    lines = [await Line.to(engine.hub) for _ in range(CLIENTS)]
    for line in lines:
        await line.join("commhub")

    async def work(line: Line, number: int) -> None:
        for _ in range(times // CLIENTS):
            await step(line, number)  # type: ignore[misc]

    before = used(engine.hub.pid), engine.server_cpu()
    await asyncio.gather(*(work(line, number) for number, line in enumerate(lines)))
    cpu = used(engine.hub.pid) - before[0], engine.server_cpu() - before[1]
    for line in lines:
        line.close()
    return cpu


async def read(line: Line, number: int) -> None:
    await line.call("commhub", "get_inbox", alias=f"worker-{number}")


async def follow(engine: Engine, path: str, *, in_session: bool) -> float:
    """Measure the bytes of the hub's memory for a stream without events."""
    lines = [await Line.to(engine.hub) for _ in range(STREAMS)]
    for line in lines if in_session else ():
        await line.join("commhub")
    before = engine.hub.memory()
    for line in lines:
        await line.open(path)
    taken = engine.hub.memory() - before
    for line in lines:
        line.close()
    return taken / STREAMS


async def measure(engine: Engine) -> None:
    owner = await Line.to(engine.hub)
    for number in range(CLIENTS):
        for name in (f"worker-{number}", f"boss-{number}", "worker"):
            await owner.ask("POST", "/api/v1/tokens", {"agent": name})  # so that the project knows it
    for name, step, times in (("a send", send, SENDS), ("a look into an inbox", read, SENDS)):
        told(engine, name, await many(engine, step, times), times)
    before = engine.stored()
    told(engine, "a task's life, four calls", await many(engine, round_trip, LIVES), LIVES)
    print(f"{'':<12}{'a task kept':<32}{(engine.stored() - before) / LIVES:>9,.0f} bytes")
    for path, in_session in (("/events/worker", False), ("/mcp/commhub", True)):
        taken = await follow(engine, path, in_session=in_session)
        print(f"{'':<12}{f'a stream of {path}':<32}{taken:>9,.0f} bytes")


def told(engine: Engine, what: str, cpu: tuple[float, float], times: int) -> None:
    hub, behind = (seconds / times * 1e6 for seconds in cpu)
    print(f"{engine.name:<12}{what:<32}{hub:>9,.0f} µs at the hub{behind:>9,.0f} µs behind it")


def main() -> None:
    with engines() as found:
        for engine in found:
            asyncio.run(measure(engine))


if __name__ == "__main__":
    main()
