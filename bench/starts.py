"""What starts cost: of a hub, and of `hubbub mcp` until its first answer, in CPU, time and memory.

A hub's memory is told when it is ready, and again after first calls of each kind, which load what the start left out.
Run with `python -m bench.starts`, or with the `src` folders of several versions, which take turns.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from statistics import median

from bench.serving import Line, Served, memory, running
from bench.stdio import Bridge

ROUNDS = 5
OWN = str(Path(__file__).parents[1] / "src")
DIALECTS = ("hub", "commhub", "relay", "golemxv")
BRIDGES = ("hub", "relay", "cmdop")
READS = "me projects agents tasks messages needs snapshot activity status nodes cost leases".split()  # noqa: SIM905
AIMS = {"the hub is ready: s": 0.94, "its memory: MB": 100, "hubbub mcp hub: s": 0.3}

Costs = dict[str, list[float]]


def started(source: str, costs: Costs) -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "hub"
        begun = time.perf_counter()
        command = [sys.executable, "-m", "hubbub", "serve", "--port", "0", "--data", str(data)]
        with running(command, data, PYTHONPATH=source) as hub:
            costs["the hub is ready: s"].append(time.perf_counter() - begun)
            costs["its CPU: s"].append(hub.used())
            costs["its memory: MB"].append(hub.memory() / 1e6)
            asyncio.run(first_calls(hub))
            costs["its memory after first calls: MB"].append(hub.memory() / 1e6)
            for dialect in BRIDGES:
                answered(source, hub, dialect, costs)


async def first_calls(hub: Served) -> None:
    plain = await Line.to(hub)
    for path in READS:
        await plain.ask("GET", f"/api/v1/{path}")
    made = await plain.ask("POST", "/api/v1/tokens", {"agent": "worker"})
    for dialect in DIALECTS:
        line = await Line.to(replace(hub, secret=str(made["secret"])))
        await line.join(dialect)
        await line.ask("POST", f"/mcp/{dialect}", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        line.close()
    plain.close()


def answered(source: str, hub: Served, dialect: str, costs: Costs) -> None:
    """Note what `hubbub mcp` takes until its first answer."""
    begun = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "hubbub", "mcp", dialect, "--data", str(hub.data)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": source},
    ) as process:
        Bridge(process).greet()
        costs[f"hubbub mcp {dialect}: s"].append(time.perf_counter() - begun)
        costs[f"  its CPU ({dialect}): s"].append(Served("", process.pid, hub.data, "").used())
        costs[f"  its memory ({dialect}): MB"].append(memory(process.pid) / 1e6)
        assert process.stdin is not None
        process.stdin.close()


def main() -> None:
    sources = sys.argv[1:] or [OWN]
    costs: dict[str, Costs] = {source: defaultdict(list) for source in sources}
    for _ in range(ROUNDS):
        for source in sources:
            started(source, costs[source])
    for what in costs[sources[0]]:
        found = "".join(
            f"{median(each[what]):>10.2f} (least {min(each[what]):.2f})" for each in costs.values()
        )
        aim = f"   aim: {AIMS[what]}" if what in AIMS else ""
        print(f"{what:<36}{found}{aim}")


if __name__ == "__main__":
    main()
