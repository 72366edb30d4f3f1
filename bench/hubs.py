"""Sends over many projects with one, two and three hubs over one PostgreSQL: their growth, and its limit.

Each client keeps one connection and its transport session, and sends one task after the other in a project of its own;
clients are spread over the hubs. Reported are sends a second, and the CPU of one send at the hubs, at PostgreSQL and at
the clients: where they use all cores, those are the limit. Rounds take turns and the medians count.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

import psycopg
from psycopg.conninfo import conninfo_to_dict

from bench.http import TEXTS
from bench.postgres import database, server
from bench.serving import Line, Served, running

ROUNDS = 3
HUBS = 3
CLIENTS = 24  # each with a project of its own; as many at each hub
SENDS = 40  # of each
TICKS = os.sysconf("SC_CLK_TCK")
REACHED = 1.5  # of the sends of one hub, by three: an aim only where there are cores for them


@dataclass(frozen=True)
class Round:
    """Sends a second by so many hubs, and the seconds of CPU that each part has used in how many seconds."""

    rate: float
    seconds: float
    hubs: float
    postgres: float
    clients: float


@contextmanager
def hubs(database_url: str) -> Iterator[list[Served]]:
    """The hubs, all with the token of the owner that the first has made."""
    parts = conninfo_to_dict(database_url)
    url = f"postgresql:///{parts.pop('dbname')}?{urlencode(parts)}"
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        found: list[Served] = []
        for number in range(HUBS):
            data = folder / str(number)
            if found:
                data.mkdir(mode=0o700)
                (data / "owner-token").write_text(found[0].secret)
            command = [sys.executable, "-m", "bench.serving", str(data)]
            hub = stack.enter_context(running(command, data, HUBBUB_DATABASE=url))
            found.append(replace(hub, secret=found[0].secret if found else hub.secret))
        yield found


async def clients(found: Sequence[Served]) -> list[str]:
    """The tokens of the clients, each of the worker of a project of its own."""
    owner, secrets = await Line.to(found[0]), []
    for number in range(CLIENTS):
        slug = f"project-{number}"
        await owner.ask("POST", "/api/v1/projects", {"slug": slug})
        made = await owner.ask("POST", f"/api/v1/tokens?project={slug}", {"agent": "worker"})
        secrets.append(str(made["secret"]))
    return secrets


async def one_round(found: Sequence[Served], secrets: Sequence[str], of_postgres: int) -> Round:
    """All sends, by these hubs."""
    lines = [
        await Line.to(replace(found[place % len(found)], secret=secret))
        for place, secret in enumerate(secrets)
    ]
    for line in lines:
        await line.join("commhub")

    async def send(line: Line, times: int) -> None:
        for _ in range(times):
            await line.call("commhub", "send_task", alias="worker", task=next(TEXTS))

    await asyncio.gather(*(send(line, 3) for line in lines))  # so that what is kept warm is
    pids = [hub.pid for hub in found]
    begun, own = time.perf_counter(), time.process_time()
    before = sum(map(used, pids)), used_by_server(of_postgres)
    await asyncio.gather(*(send(line, SENDS) for line in lines))
    seconds = time.perf_counter() - begun
    after = sum(map(used, pids)), used_by_server(of_postgres)
    for line in lines:
        line.close()
    return Round(
        rate=len(lines) * SENDS / seconds,
        seconds=seconds,
        hubs=after[0] - before[0],
        postgres=after[1] - before[1],
        clients=time.process_time() - own,
    )


def used(pid: int) -> float:
    """The seconds of CPU that a process has used, and its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS


def used_by_server(postmaster: int) -> float:
    """The seconds of CPU that PostgreSQL has used, with all its processes."""
    ids = [postmaster]
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[1]) == postmaster:
                ids.append(int(stat.parent.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return sum(map(used, ids))


def postmaster_of(url: str) -> int:
    """Return the pid of the server's first process, which has to be on this machine."""
    with psycopg.connect(url) as db:
        pid = db.info.backend_pid
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


async def rounds(database_url: str) -> dict[int, list[Round]]:
    """All measurements, by the number of hubs."""
    found: dict[int, list[Round]] = {number: [] for number in range(1, HUBS + 1)}
    postmaster = postmaster_of(database_url)
    with hubs(database_url) as running_hubs:
        secrets = await clients(running_hubs)
        for _ in range(ROUNDS):
            for number, timings in found.items():
                timings.append(await one_round(running_hubs[:number], secrets, postmaster))
    return found


def show(found: dict[int, list[Round]]) -> None:
    sends, cores = CLIENTS * SENDS, os.cpu_count() or 1
    columns = f"{'hubs':<6}{'sends/s':>9}{'to one':>8}{'µs hubs':>9}{'µs PG':>8}{'µs clients':>12}{'cores used':>12}"
    print(f"{columns} of {cores}")
    first = median(each.rate for each in found[1])
    for number, timings in found.items():
        rate = median(each.rate for each in timings)
        hub, server_side, client = (
            median(parts) / sends * 1e6
            for parts in zip(*((each.hubs, each.postgres, each.clients) for each in timings), strict=True)
        )
        busy = median((each.hubs + each.postgres + each.clients) / each.seconds for each in timings)
        costs = f"{hub:>9.0f}{server_side:>8.0f}{client:>12.0f}{busy:>12.2f}"
        print(f"{number:<6}{rate:>9,.0f}{rate / first:>8.2f}{costs}")
    grown = median(each.rate for each in found[HUBS]) / first
    print(f"{HUBS} hubs ÷ 1: {grown:.2f} (aim: at least {REACHED} on {2 * HUBS} cores; here are {cores})")


def main() -> None:
    with server(sys.argv[1] if len(sys.argv) > 1 else None) as url, database(url) as made:
        show(asyncio.run(rounds(made)))


if __name__ == "__main__":
    main()
