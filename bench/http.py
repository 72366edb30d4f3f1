"""Cost of tool calls through HTTP, by clients that keep their connections and their transport sessions.

Beside the hub's rows stand the yardsticks, of the same run: a bare ASGI application with one commit a send
(`bench.bare`), and a loop that only commits. Rounds take turns and the medians count. Run with `python -m bench.http`.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median, quantiles

from bench.bare import bare, raw_rate
from bench.serving import Line, Served, served
from bench.texts import different

ROUNDS = 3
TEXT = "Count the words of every chapter\n" + "and say which is the longest. " * 10
TEXTS = different(1)
AGENTS = 120
COMMHUB = "CommHub itself answers 245 to 330 of such sends a second, and 264 to 350 of such get_all_status."
AIMS = {  # µs of the hub's CPU for one piece of work
    "no-op, 8 clients": 100,
    "send_task, 8 clients": 350,
    "send_task, 32 clients": 350,
    "get_all_status, 32 clients": 500,
    "initialize and tools/list": 5_000,
}

Step = Callable[[Line, int], Awaitable[object]]  # by the client of that number


@dataclass(frozen=True)
class Work:
    """Repeated work of clients: the step, the dialect, the number of clients and of repetitions."""

    name: str
    step: Step
    dialect: str | None  # whose transport session they keep; None: they have none
    clients: int
    times: int
    calls: int = 1  # that one step makes


@dataclass(frozen=True)
class Timing:
    """One round: calls a second, seconds that each step took, and seconds of the server's CPU for each."""

    rate: float
    latencies: Sequence[float]
    cpu: float

    @property
    def percentiles(self) -> tuple[float, float]:
        cuts = quantiles(self.latencies, n=100)
        return cuts[49], cuts[98]


async def no_op(line: Line, _number: int) -> None:
    await line.call("bench", "no_op", alias="worker", task=TEXT)


async def send(line: Line, _number: int) -> None:
    await line.call("commhub", "send_task", alias="worker", task=next(TEXTS))


async def round_trip(line: Line, number: int) -> None:
    name = f"worker-{number}"
    sent = await line.call(
        "commhub", "send_task", alias=name, task=next(TEXTS), from_session=f"boss-{number}"
    )
    await line.call("commhub", "get_inbox", alias=name)
    await line.call("commhub", "ack_inbox", alias=name, message_id=sent["message_id"])
    reply = {"in_reply_to": sent["message_id"], "status": "replied"}
    await line.call("commhub", "send_reply", alias=f"boss-{number}", text="Done.", from_session=name, **reply)


async def look_around(line: Line, _number: int) -> None:
    await line.call("commhub", "get_all_status")


async def arrive(line: Line, _number: int) -> None:
    """Act as a new client: open a session, ask for the tools, and leave."""
    own = line.again()
    await own.join("commhub")
    await own.ask("POST", "/mcp/commhub", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    await own.leave("commhub")


WORKS = (
    Work("no-op, 1 client", no_op, "bench", 1, 1_000),
    Work("no-op, 8 clients", no_op, "bench", 8, 4_000),
    Work("no-op without a session, 8 clients", no_op, None, 8, 4_000),
    Work("send_task, 1 client", send, "commhub", 1, 500),
    Work("send_task, 8 clients", send, "commhub", 8, 3_200),
    Work("send_task, 32 clients", send, "commhub", 32, 6_400),
    Work("send, inbox, ack, reply; 8 clients", round_trip, "commhub", 8, 800, calls=4),
    Work("get_all_status, 32 clients", look_around, "commhub", 32, 1_600),
    Work("initialize and tools/list", arrive, None, 4, 400),
)
BARE = (
    Work("bare ASGI: no-op, 8 clients", no_op, None, 8, 4_000),
    Work("bare ASGI: send_task, 8 clients", send, None, 8, 4_000),
    Work("bare ASGI: send_task, 32 clients", send, None, 32, 6_400),
)


async def measure(server: Served, work: Work) -> Timing:
    """One round of some work."""
    lines = [await Line.to(server) for _ in range(work.clients)]
    for line in lines:
        if work.dialect is not None:
            await line.join(work.dialect)
    latencies: list[float] = []

    async def client(line: Line, number: int) -> None:
        for _ in range(work.times // work.clients):
            begun = time.perf_counter()
            await work.step(line, number)
            latencies.append(time.perf_counter() - begun)

    async def used() -> float:
        watching = await Line.to(server)
        cpu = float(str((await watching.call("bench", "usage"))["cpu"]))
        watching.close()
        return cpu

    before, begun = await used(), time.perf_counter()
    await asyncio.gather(*(client(line, number) for number, line in enumerate(lines)))
    seconds, cpu = time.perf_counter() - begun, await used() - before
    for line in lines:
        line.close()
    return Timing(len(latencies) * work.calls / seconds, latencies, cpu / len(latencies))


async def prepare(hub: Served) -> None:
    """Make the agents known to the project, and let many of them report."""
    line = await Line.to(hub)
    for name in ("worker", *(f"{kind}-{number}" for kind in ("worker", "boss") for number in range(8))):
        await line.ask("POST", "/api/v1/tokens", {"agent": name})
    of_all = await line.ask("POST", "/api/v1/tokens", {})
    line.close()
    anybody = await Line.to(replace(hub, secret=str(of_all["secret"])))
    about = {"task": "Counts words", "server": "one", "hostname": "one.local", "model": "large"}
    for name in (f"agent-{number}" for number in range(AGENTS)):
        await anybody.call("commhub", "report_status", resume_id=name, alias=name, status="working", **about)
    anybody.close()


def show(rounds: Mapping[Work, Sequence[Timing]]) -> None:
    print("| work | calls/s | p50 ms | p99 ms | p99 / p50 | CPU µs | aim |\n|---|---|---|---|---|---|---|")
    for work, timings in rounds.items():
        rate, cpu = median(timing.rate for timing in timings), median(timing.cpu for timing in timings) * 1e6
        p50, p99 = (median(timing.percentiles[cut] for timing in timings) * 1e3 for cut in (0, 1))
        aim = f"{AIMS[work.name]:,}" if work.name in AIMS else ""
        row = f"| {work.name} | {rate:,.0f} | {p50:.2f} | {p99:.2f} | {p99 / p50:.1f} | {cpu:,.0f} | {aim} |"
        print(row, flush=True)


async def compare(hub: Served, yardstick: Served) -> None:
    await prepare(hub)
    rounds: dict[Work, list[Timing]] = {work: [] for work in (*WORKS, *BARE)}
    for each in range(ROUNDS + 1):  # the first to warm up
        for work, timings in rounds.items():
            timing = await measure(yardstick if work in BARE else hub, work)
            if each:
                timings.append(timing)
    show(rounds)
    shares = []
    for clients in (8, 32):
        ours, bares = (
            median(timing.rate for work in rounds if work.name == name for timing in rounds[work])
            for name in (f"send_task, {clients} clients", f"bare ASGI: send_task, {clients} clients")
        )
        shares.append(f"{ours / bares:.2f} at {clients} clients")
    print(f"\nSends reach {' and '.join(shares)} of the rate of the bare application (aim: 0.4).")
    print(f"A loop that only commits: {raw_rate(3_000, TEXT):,.0f} sends a second. {COMMHUB}")


def main() -> None:
    with served() as hub, bare() as yardstick:
        asyncio.run(compare(hub, yardstick))


if __name__ == "__main__":
    main()
