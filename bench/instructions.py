"""Cost of tool calls in instructions, which other work on the machine changes less than time.

Valgrind counts the instructions of the hub's process, in all threads, without the system's; what the hub does when
nobody calls it is measured beside it and subtracted. Needs valgrind, and takes some minutes, as a hub is fifty times as
slow under it. On a busy machine runs of one version differ by up to 8 %.
Run with `python -m bench.instructions [WORK …]`.
"""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.http import WORKS, Work, prepare
from bench.serving import Line, Served, running

TIMES = 800  # repetitions of a piece of work
IDLE = 4.0  # seconds without any
COUNTED = (
    "no-op, 8 clients",
    "send_task, 1 client",
    "send_task, 8 clients",
    "send, inbox, ack, reply; 8 clients",
)
TOTALS = re.compile(r"^(?:summary|totals): (\d+)", re.MULTILINE)


class Counter:
    """Valgrind's counter of the instructions of a process."""

    def __init__(self, hub: Served, files: Path) -> None:
        self._hub, self._files = hub, files

    def __enter__(self) -> "Counter":
        self._control("--instr=on")
        self._control("--zero")
        return self

    def __exit__(self, *_failure: object) -> None:
        self._control("--instr=off")

    def taken(self) -> int:
        """Return the number of instructions since the last call, or since the counter was entered."""
        self._control("--dump=taken")
        newest = max(self._files.glob("counted.*"), key=lambda file: file.stat().st_mtime)
        found = TOTALS.search(newest.read_text(errors="replace"))
        return int(found[1]) if found else 0

    def _control(self, option: str) -> None:
        command = ["callgrind_control", option, str(self._hub.pid)]
        subprocess.run(command, check=True, capture_output=True)


async def repeat(work: Work, lines: Sequence[Line], times: int) -> None:
    async def client(line: Line, number: int) -> None:
        for _ in range(times // len(lines)):
            await work.step(line, number)

    await asyncio.gather(*(client(line, number) for number, line in enumerate(lines)))


async def measure(hub: Served, files: Path, work: Work) -> None:
    """Print a row for some work."""
    lines = [await Line.to(hub) for _ in range(work.clients)]
    for line in lines:
        if work.dialect is not None:
            await line.join(work.dialect)
    await repeat(work, lines, 40)  # to warm up
    with Counter(hub, files) as counter:
        begun = time.monotonic()
        await repeat(work, lines, work.times)
        seconds, worked = time.monotonic() - begun, counter.taken()
        await asyncio.sleep(IDLE)
        idle = counter.taken() / IDLE * seconds
    for line in lines:
        line.close()
    print(f"| {work.name} | {(worked - idle) / work.times:,.0f} |", flush=True)


async def compare(hub: Served, files: Path, wanted: Sequence[str]) -> None:
    await prepare(hub)
    print("| work | instructions |\n|---|---|")
    for work in WORKS:
        if work.name in (wanted or COUNTED):
            await measure(hub, files, replace(work, times=TIMES // work.calls))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        files, data = Path(folder), Path(folder) / "hub"
        valgrind = ["valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no"]
        counting = [*valgrind, f"--callgrind-out-file={files}/counted.%p"]
        os.environ["PYTHONHASHSEED"] = "0"  # the same order of sets in each run
        with running([*counting, sys.executable, "-m", "bench.serving", str(data)], data) as hub:
            asyncio.run(compare(hub, files, sys.argv[1:]))


if __name__ == "__main__":
    main()
