"""What a call of a tool costs through HTTP: a real send, and a no-op of the same server, by 1, 8 and 32 clients.

The difference is what the hub does; what is the same is what HTTP and MCP cost. Rounds take turns and the medians
count. Run with `python -m bench.http`.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from bench.serving import Line, Served, served

ROUNDS = 3
CALLS = {1: 400, 8: 1_600, 32: 3_200}  # by number of clients
TEXT = "Count the words of every chapter\n" + "and say which is the longest. " * 10
TOOLS = {"no-op": ("bench", "no_op"), "send_task": ("commhub", "send_task")}
AIM = 1.5  # times the CPU of the no-op


@dataclass(frozen=True)
class Timing:
    """One round: calls a second, seconds each call took, and seconds of the hub's CPU for each."""

    rate: float
    latencies: Sequence[float]
    cpu: float

    @property
    def percentiles(self) -> tuple[float, float]:
        cuts = quantiles(self.latencies, n=100)
        return cuts[49], cuts[98]


async def measure(hub: Served, tool: tuple[str, str], clients: int) -> Timing:
    lines = [await Line.to(hub) for _ in range(clients)]
    latencies: list[float] = []

    async def client(line: Line) -> None:
        for _ in range(CALLS[clients] // clients):
            begun = time.perf_counter()
            await line.call(*tool, alias="worker", task=TEXT)
            latencies.append(time.perf_counter() - begun)

    async def used() -> float:
        return float(str((await lines[0].call("bench", "usage"))["cpu"]))

    before, begun = await used(), time.perf_counter()
    await asyncio.gather(*map(client, lines))
    seconds, cpu = time.perf_counter() - begun, await used() - before
    for line in lines:
        line.close()
    return Timing(len(latencies) / seconds, latencies, cpu / len(latencies))


async def compare(hub: Served) -> None:
    line = await Line.to(hub)
    await line.ask("POST", "/api/v1/tokens", {"agent": "worker"})  # so that the project knows it
    line.close()
    for tool in TOOLS.values():
        await measure(hub, tool, 1)  # to warm up
    print("| clients | tool | calls/s | p50 ms | p99 ms | CPU µs/call |\n|---|---|---|---|---|---|")
    ratios: dict[int, float] = {}
    for clients in CALLS:
        rounds: dict[str, list[Timing]] = {name: [] for name in TOOLS}
        for _ in range(ROUNDS):
            for name, tool in TOOLS.items():
                rounds[name].append(await measure(hub, tool, clients))
        for name, timings in rounds.items():
            rate = median(timing.rate for timing in timings)
            p50, p99 = (median(timing.percentiles[cut] for timing in timings) * 1e3 for cut in (0, 1))
            cpu = median(timing.cpu for timing in timings) * 1e6
            print(f"| {clients} | {name} | {rate:,.0f} | {p50:.2f} | {p99:.2f} | {cpu:,.0f} |")
        cpus = [median(timing.cpu for timing in rounds[name]) for name in TOOLS]
        ratios[clients] = cpus[1] / cpus[0]
    said = ", ".join(f"{ratio:.2f} at {clients}" for clients, ratio in ratios.items())
    print(f"\nA send costs {said} clients times the CPU of the no-op (aim: at most {AIM}).")


def main() -> None:
    with served() as hub:
        asyncio.run(compare(hub))


if __name__ == "__main__":
    main()
