"""Measure how long git takes to say whether two branches will conflict, as the merge radar asks it.

Pairs are replayed from this project's own history. Run with `python -m bench.merges`.
"""

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from hubbub.clients.hook import git_checkout, merge_radar
from tests.clients.hook.merge_pairs import replayed

PROJECT = Path(__file__).parents[1]
PAIRS = 50
GOAL = 200  # milliseconds of a pair, at the median


def main() -> None:
    """Print the median and the worst of the pairs."""
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder) / "pairs"
        pairs = replayed(PROJECT, at, PAIRS)
        checkout = git_checkout.checkout(f"{at.resolve()}/.")
        if checkout is None or not pairs:
            sys.exit("there is no history to replay")
        took = []
        for _base, one, other in pairs:
            began = time.perf_counter()
            merge_radar.conflicts(checkout, one, other, time.monotonic() + 60)
            took.append((time.perf_counter() - began) * 1000)
    print(
        f"{len(took)} pairs: {median(took):.0f} ms at the median (goal: {GOAL}), {max(took):.0f} at the most"
    )


if __name__ == "__main__":
    main()
