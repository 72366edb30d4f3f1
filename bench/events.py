"""Delay of an event after a send, cost of a waiting stream, and time of a hub's start.

A reader follows the inbox that the sends go to, while a thousand others follow inboxes where nothing happens; then a
thousand follow the whole project, and every one of them is told. Run with `python -m bench.events`.
"""

import asyncio
import tempfile
import time
import urllib.request
from pathlib import Path
from statistics import median, quantiles

from bench.serving import Line, Served, running, served
from hubbub.model.programs.launching import program

READERS = 1_000
SENDS = 300
BROADCASTS = 30
STARTS = 5
TEXT = "Count the words of every chapter"


async def one_reader(hub: Served, line: Line) -> list[float]:
    """Seconds from the start of each send to its frame at the one who follows the inbox."""
    reading = await Line.to(hub)
    frames = await reading.stream("/events/worker")
    latencies = []
    for _ in range(SENDS):
        begun = time.perf_counter()
        sent = asyncio.create_task(line.call("commhub", "send_task", alias="worker", task=TEXT))
        await frames.readuntil(b"\n\n")
        latencies.append(time.perf_counter() - begun)
        await sent
    reading.close()
    return latencies


async def every_reader(hub: Served, line: Line) -> tuple[list[float], list[float]]:
    """Seconds from the start of each send to its frame, at each of all who follow everything; and at the last."""
    readings = [await Line.to(hub) for _ in range(READERS)]
    streams = [await reading.stream("/events") for reading in readings]

    async def hear(frames: asyncio.StreamReader) -> float:
        await frames.readuntil(b'"kind":"task.sent"')
        return time.perf_counter()

    each: list[float] = []
    last: list[float] = []
    for _ in range(BROADCASTS):
        hearing = [asyncio.create_task(hear(frames)) for frames in streams]
        await asyncio.sleep(0)
        begun = time.perf_counter()
        await line.call("commhub", "send_task", alias="worker", task=TEXT)
        heard = [at - begun for at in await asyncio.gather(*hearing)]
        each += heard
        last.append(max(heard))
    for reading in readings:
        reading.close()
    return each, last


async def idle(hub: Served) -> list[Line]:
    """A thousand readers of inboxes where nothing happens."""
    readings = [await Line.to(hub) for _ in range(READERS)]
    for number, reading in enumerate(readings):
        await reading.stream(f"/events/idle-{number}")
    return readings


async def follow(hub: Served) -> None:
    line = await Line.to(hub)
    for name in ("worker", *(f"idle-{number}" for number in range(READERS))):
        await line.ask("POST", "/api/v1/tokens", {"agent": name})  # so that the project knows it
    for _ in range(50):
        await line.call("commhub", "send_task", alias="worker", task=TEXT)  # to warm up
    alone = await one_reader(hub, line)
    before = hub.memory()
    readings = await idle(hub)
    cost = (hub.memory() - before) / READERS
    among = await one_reader(hub, line)
    for reading in readings:
        reading.close()
    each, last = await every_reader(hub, line)
    print("| from the start of a send to the frame | p50 ms | p99 ms |\n|---|---|---|")
    show("one reader", alone)
    show(f"one reader, {READERS:,} idle ones beside it", among)
    show(f"each of {READERS:,} readers of everything", each)
    show(f"the last of {READERS:,} readers of everything", last)
    print(
        f"\nAn idle stream takes {cost / 1e3:.1f} kB (aim: under 20). Aim for p99 among idle ones: under 50 ms.\n"
    )


def show(what: str, latencies: list[float]) -> None:
    cuts = quantiles(latencies, n=100)
    print(f"| {what} | {cuts[49] * 1e3:.2f} | {cuts[98] * 1e3:.2f} |")


def start() -> tuple[float, int]:
    """Seconds from starting `hubbub serve` on new data to `/ready`, and the bytes of memory it then holds."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "hub"
        begun = time.perf_counter()
        command = [*program(), "serve", "--port", "0", "--data", str(data)]
        with running(command, data) as hub:
            urllib.request.urlopen(f"{hub.url}/ready", timeout=10).close()
            return time.perf_counter() - begun, hub.memory()


def main() -> None:
    with served() as hub:
        asyncio.run(follow(hub))
    seconds, memory = zip(*(start() for _ in range(STARTS)), strict=True)
    print(f"`hubbub serve` is ready after {median(seconds):.2f} s (aim: under 1.5),")
    print(f"and holds {median(memory) / 1e6:.0f} MB when idle (aim: under 100).")


if __name__ == "__main__":
    main()
