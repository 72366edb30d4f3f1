"""Speed of a hub as it fills: calls over HTTP, memory, and delays of its loop.

Each hub is a process of its own on SQLite, filled through its store, or with copies of what has ended; they take turns,
and beside each call's CPU stands its ratio to that of the first. Run with `python -m bench.filled`, or with the sizes
that are wanted, each as open tasks, ended ones with two messages each, and agents: `python -m bench.filled 1000/0/0
100000/1000000/10000`. Ten million ended tasks take 25 GB of disk and, on two busy cores, an hour.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple
from uuid import UUID

from bench.copies import Model, multiply
from bench.filling import LONG
from bench.serving import Line, Served, running
from bench.texts import different
from hubbub.store.engine.sqlite import DATABASE

SIZES = ("1000/0/0", "100000/0/0", "100000/1000000/0", "100000/0/10000")
TIMES = 200  # of each call
TEXTS = different(2)
LARGE_TIMES = 3  # of each that tells of all
TURNS = 4  # of the hubs, for each call
CHUNK, MODEL = 2_000, 1_000  # tasks that a call fills in; and ended ones of which the others are copies
AIMS = {"hot": 1.2, "stored": 1.5, "pause": 25, "memory": 250}


class Size(NamedTuple):
    """The size of a filled hub."""

    open: int
    ended: int
    agents: int

    def __str__(self) -> str:
        return f"{self.open:,} open, {self.ended:,} ended, {self.agents:,} agents"


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of one call, in median milliseconds: on the clock (`took`) and of the hub's processor (`worked`).

    `average` is the mean processor time, and also counts the hub's work beside the calls.
    """

    took: float
    worked: float
    average: float
    pause: float


Step = Callable[["Lines"], Awaitable[object]]


@dataclass
class Lines:
    """A connection that no session belongs to, one of CommHub's and one of Relay's, and what calls go on from."""

    hub: Served
    plain: Line = field(init=False)
    commhub: Line = field(init=False)
    relay: Line = field(init=False)
    letters: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    claimed: list[str] = field(default_factory=list)
    last: int = 0

    async def renew(self) -> None:
        """Connect anew, since a hub closes connections that are silent for long."""
        self.plain, self.commhub, self.relay = [await Line.to(self.hub) for _ in range(3)]
        await self.commhub.join("commhub")
        await self.relay.join("relay")


async def report(at: Lines) -> None:
    await at.commhub.call("commhub", "report_status", resume_id="1", alias=LONG, status="working")


async def look_at_one(at: Lines) -> None:
    await at.commhub.call("commhub", "get_session_status", alias=LONG)


async def send_long(at: Lines) -> None:
    await at.commhub.call("commhub", "send_task", alias=LONG, task=next(TEXTS))


async def send_short(at: Lines) -> None:
    sent = await at.commhub.call("commhub", "send_task", alias="visitor", task=next(TEXTS))
    at.letters.append(str(sent["message_id"]))


async def read_inbox(at: Lines) -> None:
    await at.commhub.call("commhub", "get_inbox", alias=LONG)


async def ack(at: Lines) -> None:
    at.read.append(at.letters.pop())
    await at.commhub.call("commhub", "ack_inbox", alias="visitor", message_id=at.read[-1])


async def reply(at: Lines) -> None:
    about = {"in_reply_to": at.read.pop(), "from_session": "visitor"}
    await at.commhub.call("commhub", "send_reply", alias="hub", text="Done.", **about)


async def look_around(at: Lines) -> None:
    await at.commhub.call("commhub", "get_all_status")


async def create(at: Lines) -> None:
    made = await at.relay.call("relay", "create_task", agent_id="bench", title="Count", priority="high")
    at.tasks.append(str(made["task_id"]))


async def claim(at: Lines) -> None:
    at.claimed.append(at.tasks.pop())
    await at.relay.call("relay", "claim_task", agent_id="bench", task_id=at.claimed[-1])


async def complete(at: Lines) -> None:
    done = {"task_id": at.claimed.pop(), "status": "done"}
    await at.relay.call("relay", "update_task", agent_id="bench", **done)


async def read_on(at: Lines) -> None:
    await at.relay.call("relay", "get_messages", agent_id="bench", after_seq=at.last)


def asking(path: str) -> Step:
    return lambda at: at.plain.ask("GET", f"/api/v1{path}")


HOT: Mapping[str, Step] = {
    "report_status, long inbox": report,
    "get_session_status, long inbox": look_at_one,
    "get_inbox, long": read_inbox,
    "send_task, to the long inbox": send_long,
    "send_task, to another": send_short,
    "ack_inbox": ack,
    "send_reply": reply,
    "create_task of Relay": create,
    "claim_task of Relay": claim,
    "update_task of Relay, done": complete,
    "get_messages of Relay, after the last": read_on,
    "GET /tasks, a page": asking("/tasks?limit=50"),
    "GET /messages, a page": asking("/messages?limit=50"),
    "GET /activity, a page": asking("/activity?limit=50"),
    "GET /status": asking("/status"),
}
LARGE: Mapping[str, Step] = {
    "get_all_status": look_around,
    "GET /agents": asking("/agents"),
    "GET /scopes": asking("/scopes"),
    "GET /why, of an agent": asking(f"/why/{LONG}"),
    "GET /needs": asking("/needs"),
    "GET /replay": asking("/replay"),
    "GET /snapshot": asking("/snapshot"),
}


async def modelled(hub: Served) -> Model:
    """End some tasks, so that others can be copies of them."""
    owner = await Line.to(hub)
    of_all = await owner.ask("POST", "/api/v1/tokens", {})
    plain = await Line.to(replace(hub, secret=str(of_all["secret"])))
    told: dict[str, Any] = await plain.call("bench", "end", number=MODEL)
    return Model(UUID(told["project"]), told["begun"], told["last"], told["counted"])


async def filled(hub: Served, size: Size) -> Lines:
    """The lines to a hub that is as full as that; what has ended is there already."""
    owner = await Line.to(hub)
    of_all = await owner.ask("POST", "/api/v1/tokens", {})
    anybody = replace(hub, secret=str(of_all["secret"]))
    plain = await Line.to(anybody)
    for tool, number in (("fill", size.open), ("gather", size.agents)):
        for first in range(0, number, CHUNK):
            await plain.call("bench", tool, first=first, number=min(CHUNK, number - first))
    at = Lines(anybody)
    await at.renew()
    await at.commhub.call("commhub", "report_status", resume_id="2", alias="visitor", status="idle")
    await at.relay.call("relay", "start_session", agent_id="bench", session_id="bench")
    return at


async def measured(hubs: Sequence[Lines], step: Step, times: int) -> list[Cost]:
    """Return what a call costs at each hub; they take turns."""
    taken: list[list[float]] = [[] for _ in hubs]
    worked: list[list[float]] = [[] for _ in hubs]
    longest = [0.0 for _ in hubs]
    for at in hubs:
        await at.renew()
    for _ in range(TURNS):
        for place, at in enumerate(hubs):
            await paused(at)
            for _ in range(-(-times // TURNS)):
                begun, used = time.perf_counter(), at.hub.used()
                await step(at)
                taken[place].append(time.perf_counter() - begun)
                worked[place].append(at.hub.used() - used)
            longest[place] = max(longest[place], await paused(at))
    return [
        Cost(median(each) * 1e3, median(of_hub) * 1e3, fmean(of_hub) * 1e3, pause)
        for each, of_hub, pause in zip(taken, worked, longest, strict=True)
    ]


async def paused(at: Lines) -> float:
    """Return the longest pause of the hub's loop since this was asked last."""
    return float(str((await at.plain.call("bench", "pause"))["longest"]))


async def settled(at: Lines) -> None:
    """Wait until the hub has finished its own work after being filled: until it does next to nothing for a second."""
    worked = 1.0
    while worked > 0.1:  # seconds of a processor
        before = at.hub.worked()
        await asyncio.sleep(1)
        worked = at.hub.worked() - before


async def all_costs(hubs: Mapping[Size, Served]) -> dict[Size, dict[str, Cost]]:
    lines = []
    for size, hub in hubs.items():
        lines.append(await filled(hub, size))
        await asyncio.sleep(12)  # so that the first keyframe was due once
        await settled(lines[-1])
        print(f"{size}: {hub.memory() / 1e6:.0f} MB", file=sys.stderr, flush=True)
    costs: dict[Size, dict[str, Cost]] = {size: {} for size in hubs}
    for name, step in HOT.items():
        for size, cost in zip(hubs, await measured(lines, step, TIMES), strict=True):
            costs[size][name] = cost
            print(name, size, cost, file=sys.stderr, flush=True)
    note_memory(costs, hubs, "memory, MB")
    for name, step in LARGE.items():
        for at in lines:
            await at.renew()
            await step(at)
        for size, cost in zip(hubs, await measured(lines, step, LARGE_TIMES), strict=True):
            costs[size][name] = cost
    note_memory(costs, hubs, "memory after the large ones, MB")
    return costs


def note_memory(costs: Mapping[Size, dict[str, Cost]], hubs: Mapping[Size, Served], name: str) -> None:
    for size, hub in hubs.items():
        held = hub.memory() / 1e6
        costs[size][name] = Cost(held, held, held, 0)


def show(found: Mapping[Size, Mapping[str, Cost]]) -> None:
    smallest = next(iter(found.values()))
    print(f"| call | {' | '.join(map(str, found))} |\n|---|{'---|' * len(found)}")
    for name, first in smallest.items():
        cells = (
            f"{each[name].took:,.1f} ms, CPU {each[name].worked:,.2f} ({each[name].worked / first.worked:.1f}), "
            f"on average {each[name].average:,.2f}, pause {each[name].pause:.0f}"
            for each in found.values()
        )
        print(f"| {name} | {' | '.join(cells)} |")


@contextmanager
def started(size: Size) -> Iterator[Served]:
    """A hub in which as many tasks have ended."""
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=Path.cwd()) as folder:
        data = Path(folder) / "hub"
        command = [sys.executable, "-m", "bench.filling", str(data)]
        if size.ended:
            with running(command, data) as hub:
                model = asyncio.run(modelled(hub))
            multiply(data / DATABASE, model, size.ended // MODEL - 1)
        with running(command, data) as hub:
            yield hub


def main() -> None:
    sizes = [Size(*map(int, text.split("/"))) for text in sys.argv[1:] or SIZES]
    with ExitStack() as stack:
        hubs = {size: stack.enter_context(started(size)) for size in sizes}
        found = asyncio.run(all_costs(hubs))
    show(found)
    print(
        f"The aims: {AIMS['hot']} times the first with as many open, {AIMS['stored']} times with all that has ended,"
    )
    print(f"{AIMS['memory']} MB, and a pause of {AIMS['pause']} ms.")


if __name__ == "__main__":
    main()
