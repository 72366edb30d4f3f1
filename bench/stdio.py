"""Cost of a call for an agent that starts its own MCP server: through `hubbub mcp`, with one call in flight.

The hub and the bridge are processes of their own, spoken to in bare JSON-RPC lines. A tool that does not exist is the
no-op: it goes the whole way and reads nothing. Rounds take turns and the medians count. Run it on Linux, since only
there is the CPU time of other processes precise enough, with `python -m bench.stdio`.
"""

import itertools
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

from bench.serving import Served, memory, served
from hubbub.model.programs.launching import program

ROUNDS = 5
CALLS = 400  # in a round, of each case
FEW_CALLS = 40  # of those that carry much
STARTS = 7
TEXT = "Count the words of every chapter\n" + "and say which is the longest. " * 10
REVISION = "2025-11-25"
MANY_TASKS = 900
AIM_DURABLE, AIM_READS = 0.5, 900  # of the rate of the no-op; calls a second


class Bridge:
    """A client of a running `hubbub mcp`."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._ids = itertools.count(1)
        self.process = process

    def send(self, message: Mapping[str, object]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        """The result of a request, once it is there. Raises `RuntimeError` when there is none."""
        assert self.process.stdout is not None
        number = next(self._ids)
        self.send({"id": number, "method": method, "params": params})
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        if answer.get("id") != number or "result" not in answer:
            raise RuntimeError(f"no answer to {method}: {answer}")
        result: dict[str, Any] = answer["result"]
        return result

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Return the answer of a tool. Raises `RuntimeError` if it failed."""
        content: dict[str, Any] = self.ask("tools/call", _call(tool, arguments))["structuredContent"]
        if not (content.get("ok") or content.get("success")):
            raise RuntimeError(f"{tool}: {content}")
        return content

    def greet(self) -> None:
        """Begin as a client does."""
        about = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": about})
        self.send({"method": "notifications/initialized"})


def _call(tool: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
    return {"name": tool, "arguments": arguments}


Params = Sequence[Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Case:
    """A request that is sent again and again; `supply` makes ready the params of so many, beforehand."""

    name: str
    method: str
    supply: Callable[[Bridge, int], Params]
    calls: int = CALLS


def tool(label: str, name: str, **arguments: object) -> Case:
    """The same call of a tool each time."""
    return Case(label, "tools/call", lambda _bridge, calls: [_call(name, arguments)] * calls)


PING = Case("ping", "ping", lambda _bridge, calls: [{}] * calls)
NO_OP = tool("no-op", "no_such_tool", alias="worker", message=TEXT)
DURABLE = (
    tool("send_message", "send_message", alias="worker", message=TEXT),
    tool("report_status", "report_status", resume_id="1", alias="bench", status="working"),
)
READS = (
    tool("get_inbox", "get_inbox", alias="reader", limit=10),  # a write, as it notes what was seen
    tool("get_all_status", "get_all_status"),
)


def in_run(run: str, label: str, name: str, *, calls: int = CALLS, **arguments: object) -> Case:
    """The same call of a tool of Relay each time, in the run of that name."""

    def supply(bridge: Bridge, number: int) -> Params:
        bridge.call("start_session", agent_id="bench", session_id=run)
        return [_call(name, {"agent_id": "bench", **arguments})] * number

    return Case(label, "tools/call", supply, calls)


def claims(bridge: Bridge, number: int) -> Params:
    """A claim of another task each time."""
    bridge.call("start_session", agent_id="bench", session_id="small")
    task = {"agent_id": "bench", "title": "Count", "priority": "low"}
    made = [bridge.call("create_task", **task)["task_id"] for _ in range(number)]
    return [_call("claim_task", {"agent_id": "bench", "task_id": task_id}) for task_id in made]


RELAY_NO_OP = in_run("small", "no-op", "no_such_tool", content=TEXT)
RELAY_DURABLE = (
    in_run("small", "create_task", "create_task", title="Count the words", priority="high", description=TEXT),
    Case("claim_task", "tools/call", claims),
    in_run("small", "send_message", "send_message", to="worker", content=TEXT),
)


def reads(last: Mapping[int, int]) -> Iterator[Case]:
    """Return cases of reading in runs with so many messages; `last` gives the `seq` of the last one."""
    for held, seq in last.items():
        few, run = FEW_CALLS if held else CALLS, f"messages-{held}"
        yield in_run(run, f"get_messages, {held:,} stored", "get_messages", calls=few)
        if held:
            label = f"get_messages, {held:,} stored, after the last"
            yield in_run(run, label, "get_messages", after_seq=seq)
    yield in_run("tasks", f"get_all_tasks, {MANY_TASKS}", "get_all_tasks", calls=FEW_CALLS)


def fill(bridge: Bridge) -> dict[int, int]:
    """Make runs with many messages for one reader and one with many tasks; by number of messages the last `seq`."""
    last = {}
    for held in (0, 100, 1_000):
        bridge.call("start_session", agent_id="writer", session_id=f"messages-{held}")
        for _ in range(held):
            sent = bridge.call("send_message", agent_id="writer", to="bench", content=TEXT)
            last[held] = sent["message"]["seq"]
        last.setdefault(held, 0)
    bridge.call("start_session", agent_id="writer", session_id="tasks")
    for _ in range(MANY_TASKS):
        bridge.call("create_task", agent_id="writer", title="Count the words", priority="low")
    return last


@dataclass(frozen=True, slots=True)
class Timing:
    """One round of one case: seconds that each call took, and seconds of CPU for each, of the bridge and of the hub."""

    latencies: list[float]
    bridge: float
    hub: float

    @property
    def rate(self) -> float:
        return len(self.latencies) / sum(self.latencies)


def cpu(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    return time.clock_gettime((~pid << 3) | 2)  # its clock, as clock_getcpuclockid(3) names it


@contextmanager
def bridged(hub: Served, dialect: str) -> Iterator[Bridge]:
    """A bridge to the hub, greeted, in a folder with nothing in it."""
    command = [*program(), "mcp", dialect, "--data", str(hub.data)]
    pipe = subprocess.PIPE
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=folder) as process,
    ):
        bridge = Bridge(process)
        bridge.greet()
        yield bridge


def measure(bridge: Bridge, hub: Served, case: Case) -> Timing:
    latencies = []
    supplied = case.supply(bridge, case.calls)
    before = cpu(bridge.process.pid), cpu(hub.pid)
    for params in supplied:
        begun = time.perf_counter()
        bridge.ask(case.method, params)
        latencies.append(time.perf_counter() - begun)
    after = cpu(bridge.process.pid), cpu(hub.pid)
    return Timing(latencies, (after[0] - before[0]) / case.calls, (after[1] - before[1]) / case.calls)


def compare(bridge: Bridge, hub: Served, cases: Sequence[Case]) -> dict[str, float]:
    """Measure, and print the table; by name the calls a second."""
    rounds: dict[str, list[Timing]] = {case.name: [] for case in cases}
    for case in cases:
        measure(bridge, hub, case)  # to warm up
    for _ in range(ROUNDS):
        for case in cases:
            rounds[case.name].append(measure(bridge, hub, case))
    print(
        "\n| call | calls/s | p50 ms | p99 ms | CPU µs of the bridge | of the hub |\n|---|---|---|---|---|---|"
    )
    for name, timings in rounds.items():
        show(name, timings)
    print()
    return {name: median(timing.rate for timing in timings) for name, timings in rounds.items()}


def show(name: str, timings: list[Timing]) -> None:
    cuts = [quantiles(timing.latencies, n=100) for timing in timings]
    p50, p99 = (median(each[at] for each in cuts) * 1e3 for at in (49, 98))
    bridge, hub = (median(getattr(timing, side) for timing in timings) * 1e6 for side in ("bridge", "hub"))
    rate = median(timing.rate for timing in timings)
    print(f"| {name} | {rate:,.0f} | {p50:.2f} | {p99:.2f} | {bridge:,.0f} | {hub:,.0f} |")


def judge(rates: Mapping[str, float], durable: Sequence[Case], quick: Sequence[str]) -> None:
    """Print how far the aims are reached: of calls that are kept, beside the no-op, and of reads."""
    for case in durable:
        ratio = rates[case.name] / rates["no-op"]
        print(f"{case.name} ÷ no-op: {ratio:.2f} (aim: at least {AIM_DURABLE})")
    for name in quick:
        print(f"{name}: {rates[name]:,.0f} calls/s (aim: at least {AIM_READS})")


def commhub(hub: Served) -> None:
    with bridged(hub, "commhub") as bridge:
        for name in ("worker", "reader", "bench"):  # so that the project knows them
            bridge.call("report_status", resume_id="1", alias=name, status="idle")
        rates = compare(bridge, hub, (PING, NO_OP, *DURABLE, *READS))
        judge(rates, DURABLE, [case.name for case in READS])
        print(f"The bridge holds {memory(bridge.process.pid) / 1e6:.0f} MB.")


def relay(hub: Served) -> None:
    with bridged(hub, "relay") as bridge:
        reading = list(reads(fill(bridge)))
        rates = compare(bridge, hub, (PING, RELAY_NO_OP, *RELAY_DURABLE, *reading))
        judge(rates, RELAY_DURABLE, [name for name in rates if name.endswith("after the last")])


def start(hub: Served) -> float:
    """Seconds from starting the bridge to its first answer."""
    begun = time.perf_counter()
    with bridged(hub, "commhub"):
        return time.perf_counter() - begun


def main() -> None:
    with served() as hub:
        print("CommHub:")
        commhub(hub)
        taken = median(start(hub) for _ in range(STARTS))
        print(f"It answers {taken:.2f} s after its start (aim: under 0.4).")
        print("\nRelay:")
        relay(hub)


if __name__ == "__main__":
    main()
