"""Fifty agents claim one task at the same moment, over HTTP: one wins, and nobody waits long.

Each has a connection of its own. Run with `python -m bench.race`.
"""

import asyncio
import time
from statistics import quantiles

from bench.serving import Line, Served, served

CLAIMERS = 50
TASKS = 40
AIM = 100  # milliseconds within which nearly everyone has an answer


async def race(claimers: list[Line]) -> list[float]:
    """Milliseconds that each waited for its answer. Raises `RuntimeError` unless exactly one has won."""
    made = await claimers[0].call("relay", "create_task", agent_id="bench", title="Count", priority="high")

    async def claim(number: int, line: Line) -> tuple[float, bool]:
        begun = time.perf_counter()
        answer = await line.call("relay", "claim_task", agent_id=f"claimer-{number}", task_id=made["task_id"])
        return (time.perf_counter() - begun) * 1e3, answer["claimed"] is True

    outcomes = await asyncio.gather(*(claim(number, line) for number, line in enumerate(claimers)))
    winners = sum(has_won for _waited, has_won in outcomes)
    if winners != 1:
        raise RuntimeError(f"{winners} agents have claimed one task")
    return [waited for waited, _has_won in outcomes]


async def compete(hub: Served) -> None:
    claimers = [await Line.to(hub) for _ in range(CLAIMERS)]
    await race(claimers)  # to warm up
    waits = [waited for _ in range(TASKS) for waited in await race(claimers)]
    for line in claimers:
        line.close()
    cuts = quantiles(waits, n=100)
    print(
        f"{CLAIMERS} agents claim a task at once, {TASKS} times: one winner each; "
        f"p50 {cuts[49]:.0f} ms, p99 {cuts[98]:.0f} ms (aim: p99 under {AIM} ms)"
    )


def main() -> None:
    with served() as hub:
        asyncio.run(compete(hub))


if __name__ == "__main__":
    main()
