"""Cost of running a command over that of a bare subprocess, behind each kind of wall.

Beside `execute_command` stands the same bash, started by asyncio with nothing around it. Rounds take turns, and the
medians count. CPU is that of the machine's own process, which all other work there waits for. Run with
`python -m bench.commands`.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from subprocess import DEVNULL, PIPE
from typing import cast

from hubbub.model.fleet.calls import NodeCall, Principal, ToolResult
from hubbub.node.policy.node_policy import Policy
from hubbub.node.requests.hub_client import HubClient
from hubbub.node.sandbox import Sandbox, choose
from hubbub.node.sandbox.landlock import Landlock
from hubbub.node.sandbox.no_sandbox import NoSandbox
from hubbub.node.system.kernel import landlock_abi
from hubbub.node.tools.commands import execute_command
from hubbub.node.tools.tool_context import ToolContext
from shellgate.filesystem import Disk
from shellgate.shell import bash
from shellgate.world import World

ROUNDS = 7
CALLS = 40
BARE = "bare subprocess"
ORDER = NodeCall(
    who=Principal(project="bench", name="bench"), tool="execute_command", arguments={"command": "echo hello"}
)
AIMS = {"none": 5, "bwrap": 20}  # milliseconds over the bare subprocess

Call = Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class Timing:
    """One round: seconds each call took, and seconds of CPU of this process for each."""

    latencies: Sequence[float]
    cpu: float

    @property
    def percentiles(self) -> tuple[float, float]:
        cuts = quantiles(self.latencies, n=100)
        return cuts[49], cuts[98]


async def measure(call: Call) -> Timing:
    latencies: list[float] = []
    before = time.process_time()
    for _ in range(CALLS):
        begun = time.perf_counter()
        await call()
        latencies.append(time.perf_counter() - begun)
    return Timing(latencies, (time.process_time() - before) / CALLS)


async def bare() -> bytes:
    words = [*bash.argv(str(ORDER.arguments["command"]))]
    process = await asyncio.create_subprocess_exec(*words, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
    printed, _ = await process.communicate()
    return printed


def place(folder: Path, sandbox: Sandbox) -> ToolContext:
    """Make a machine with that sandbox; it needs no hub."""
    home, work, data = (folder / name for name in ("home", "work", "data"))
    for each in (home / ".ssh", work / ".git", data):
        each.mkdir(parents=True, exist_ok=True)
    world = World(
        home=str(home),
        cwd=str(work),
        roots=(str(work),),
        own=(str(data),),
        variables=dict(os.environ),
        files=Disk(),
    )

    async def nothing(_order: NodeCall) -> ToolResult:
        raise NotImplementedError

    return ToolContext(
        node="bench",
        data=data,
        log=data / "log",
        world=world,
        policy=Policy(roots=(work,)),
        sandbox=sandbox,
        hub=cast("HubClient", None),
        redact=str,
        perform=nothing,
    )


async def compare(folder: Path) -> None:
    walls: list[Sandbox] = [NoSandbox(), choose()]
    if abi := landlock_abi():
        walls.insert(1, Landlock(abi, network=True))
    calls: dict[str, Call] = {BARE: bare} | {
        wall.name: partial(execute_command, place(folder, wall), ORDER) for wall in walls
    }
    rounds: dict[str, list[Timing]] = {name: [] for name in calls}
    for call in calls.values():
        await call()  # to warm up
    for _ in range(ROUNDS):
        for name, call in calls.items():
            rounds[name].append(await measure(call))
    print("| wall | calls/s | p50 ms | p99 ms | CPU ms/call | times a bare one |\n|---|---|---|---|---|---|")
    p50s: dict[str, float] = {}
    for name, timings in rounds.items():
        p50s[name], p99 = (median(timing.percentiles[cut] for timing in timings) * 1e3 for cut in (0, 1))
        cpu = median(timing.cpu for timing in timings) * 1e3
        ratio = p50s[name] / p50s[BARE]
        print(
            f"| {name} | {1e3 / p50s[name]:,.0f} | {p50s[name]:.2f} | {p99:.2f} | {cpu:.2f} | {ratio:.1f} |"
        )
    print()
    for name, aim in AIMS.items():
        if name in p50s:
            over = p50s[name] - p50s[BARE]
            print(f"{name}: {over:.1f} ms over a bare subprocess (aim: under {aim} ms)")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(compare(Path(folder)))


if __name__ == "__main__":
    main()
