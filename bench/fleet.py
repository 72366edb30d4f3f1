"""Cost of a call done by another machine, cost of idle machines, and the number of machines asked at once.

The hub and the machines are processes of their own, joined as people join them. Beside each call for a machine
elsewhere stands the same one for the hub's own machine: the difference is the way there and back. Rounds take turns and
the medians count. Run it on Linux, since only there is the CPU time of other processes precise enough, with
`python -m bench.fleet`.
"""

import asyncio
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

from bench import machines
from bench.machines import Machine
from bench.serving import Line, Served, memory, served
from bench.stdio import cpu

ROUNDS = 5
CALLS = {1: 100, 8: 200, 32: 320}  # in a round, by number of callers
AIM_P50, AIM_P99 = 12, 60  # milliseconds of a command, for one caller
IDLE, WATCHED = 200, 60.0  # machines that do nothing, and for how many seconds
AIM_MEMORY, AIM_IDLE = 150, 2.0  # megabytes of the hub in all, and percent of a core
LIGHT, REAL = 50, 5  # machines whose agents are asked at once
QUICKEST, SLOWEST = 0.5, 2.0  # seconds that an agent takes for its answer
AIM_ASKED = 1.2  # times the slowest
FILE, TEXT = "notes.txt", "A line of a small file.\n" * 20
AGENT = "runtime = {{ kind = 'command', command = ['/bin/sh', '-c', 'sleep {}; echo hi'] }}"


@dataclass(frozen=True, slots=True)
class Case:
    """A call that is made again and again, over lines with these headers."""

    name: str
    tool: str
    arguments: Mapping[str, object]
    machine: Machine | None = None  # that does it; the hub's own without one
    headers: Mapping[str, str] = field(default_factory=dict)

    def pids(self, hub: Served) -> list[int]:
        """Return the processes whose CPU counts: the hub's, and the machine's."""
        return [hub.pid, *([self.machine.pid] if self.machine is not None else [])]


@dataclass(frozen=True, slots=True)
class Timing:
    """One round of one case: calls a second, seconds that each took, and seconds of CPU for each, by process."""

    rate: float
    latencies: Sequence[float]
    cpu: Sequence[float]

    @property
    def percentiles(self) -> tuple[float, float]:
        cuts = quantiles(self.latencies, n=100)
        return cuts[49], cuts[98]


# ---- calls ---------------------------------------------------------------------------------------------------------


def commands(walls: Sequence[Machine]) -> list[Case]:
    """A command for the hub's own machine, and for each of these."""

    def run(name: str, host: str, machine: Machine | None = None) -> Case:
        words = {"operation": "exec", "hostname": host, "command": "true"}
        return Case(f"`true`, {name}", "connect", words, machine)

    return [run("the hub's own machine", "localhost"), *(run(each.name, each.name, each) for each in walls)]


def reads(own: Path, machine: Machine) -> list[Case]:
    """A file of the hub's own machine, and one of another."""
    for work in (own, machine.work):
        (work / FILE).write_text(TEXT)
    there = {"X-Hubbub-Node": machine.name}
    return [
        Case("read_file, the hub's own machine", "read_file", {"path": str(own / FILE)}),
        Case(f"read_file, {machine.name}", "read_file", {"path": str(machine.work / FILE)}, machine, there),
    ]


async def measure(hub: Served, case: Case, callers: int) -> Timing:
    lines = [await Line.to(hub, case.headers) for _ in range(callers)]
    latencies: list[float] = []

    async def call(line: Line) -> None:
        for _ in range(CALLS[callers] // callers):
            begun = time.perf_counter()
            await line.order("cmdop", case.tool, **case.arguments)
            latencies.append(time.perf_counter() - begun)

    before, begun = [cpu(pid) for pid in case.pids(hub)], time.perf_counter()
    await asyncio.gather(*map(call, lines))
    seconds = time.perf_counter() - begun
    used = [cpu(pid) - was for pid, was in zip(case.pids(hub), before, strict=True)]
    for line in lines:
        line.close()
    return Timing(len(latencies) / seconds, latencies, [each / len(latencies) for each in used])


async def compare(hub: Served, cases: Sequence[Case]) -> None:
    for case in cases:
        await measure(hub, case, 1)  # to warm up
    print("\n| callers | call | calls/s | p50 ms | p99 ms | CPU ms of the hub | of the machine |")
    print("|---|---|---|---|---|---|---|")
    for callers in CALLS:
        rounds: dict[str, list[Timing]] = {case.name: [] for case in cases}
        for _ in range(ROUNDS):
            for case in cases:
                rounds[case.name].append(await measure(hub, case, callers))
        for name, timings in rounds.items():
            show(callers, name, timings)


def show(callers: int, name: str, timings: Sequence[Timing]) -> None:
    rate = median(timing.rate for timing in timings)
    p50, p99 = (median(timing.percentiles[cut] for timing in timings) * 1e3 for cut in (0, 1))
    used = [f"{median(each) * 1e3:.2f}" for each in zip(*(timing.cpu for timing in timings), strict=True)]
    own = used[1] if len(used) > 1 else ""
    print(f"| {callers} | {name} | {rate:,.0f} | {p50:.2f} | {p99:.2f} | {used[0]} | {own} |")


# ---- machines that do nothing, and agents that are asked -----------------------------------------------------------


async def idle(hub: Served) -> None:
    before = hub.memory()
    async with machines.light(hub, {f"idle-{number}": 0.0 for number in range(IDLE)}):
        used = cpu(hub.pid)
        await asyncio.sleep(WATCHED)
        share = (cpu(hub.pid) - used) / WATCHED * 100
        held = hub.memory()
    each = (held - before) / IDLE
    print(
        f"\n{IDLE} machines that do nothing: the hub holds {held / 1e6:.0f} MB (aim: under {AIM_MEMORY}), "
        f"{each / 1e3:.0f} kB for each machine; it takes {share:.2f} % of a core (aim: under {AIM_IDLE:g})."
    )


async def asked(hub: Served, hosts: Mapping[str, float], what: str) -> None:
    """Ask the agents of all these machines; each takes so many seconds to answer."""
    line = await Line.to(hub)
    taken = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        said = await line.order("cmdop", "ask_agents", hostnames=list(hosts), prompt="hi")
        taken.append(time.perf_counter() - begun)
        by_host = said["by_host"]
        assert isinstance(by_host, dict)
        if [host for host, entry in by_host.items() if str(entry.get("text")).strip() != "hi"]:
            raise RuntimeError(f"not all have answered: {by_host}")
    line.close()
    times = median(taken) / max(hosts.values())
    print(
        f"ask_agents of {len(hosts)} {what}: {median(taken):.2f} s, {times:.2f} times the slowest "
        f"(aim: at most {AIM_ASKED})."
    )


def spread(names: Sequence[str]) -> dict[str, float]:
    """Return the answer time of each agent: from the quickest to the slowest, in even steps."""
    step = (SLOWEST - QUICKEST) / (len(names) - 1)
    return {name: QUICKEST + step * number for number, name in enumerate(names)}


# ---- all of it -----------------------------------------------------------------------------------------------------


@contextmanager
def hub_with_machine(folder: Path) -> Iterator[tuple[Served, Path]]:
    """A hub with a machine of its own that allows everything, and the folder that agents work in there."""
    config, work = machines.configured(folder)
    with served(HUBBUB_CONFIG=str(config)) as hub:
        yield hub, work


async def calls(folder: Path) -> None:
    with ExitStack() as stack:
        hub, work = stack.enter_context(hub_with_machine(folder / "hub"))
        codes = await machines.invited(hub, 2)
        plain = stack.enter_context(machines.machine(hub, codes[0], folder / "bwrap"))
        without = machines.path_without("bwrap", folder / "programs")
        other = stack.enter_context(machines.machine(hub, codes[1], folder / "landlock", path=without))
        await compare(hub, commands([plain, other]))
        await compare(hub, reads(work, plain))
        print(
            f"\nA machine's process holds {memory(plain.pid) / 1e6:.0f} MB, the hub {hub.memory() / 1e6:.0f} MB."
        )
        print(f"The aim for one caller of `true`: p50 under {AIM_P50} ms, p99 under {AIM_P99} ms.")


async def agents(folder: Path) -> None:
    seconds = spread([f"agent-{number}" for number in range(REAL)])
    with ExitStack() as stack:
        hub, _ = stack.enter_context(hub_with_machine(folder / "asking"))
        for (name, each), code in zip(seconds.items(), await machines.invited(hub, REAL), strict=True):
            stack.enter_context(machines.machine(hub, code, folder / name, policy=AGENT.format(each)))
        await asked(hub, seconds, "machines, each a process")
        scripted = spread([f"light-{number}" for number in range(LIGHT)])
        async with machines.light(hub, scripted):
            await asked(hub, scripted, "light machines")


async def nothing(folder: Path) -> None:
    with hub_with_machine(folder / "idle") as (hub, _):
        await idle(hub)


def main() -> None:
    for part in (calls, nothing, agents):
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(part(Path(folder)))


if __name__ == "__main__":
    main()
