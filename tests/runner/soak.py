"""`make soak`: a test, or all of them, many times in an order of chance, with more workers than processors.

One test is repeated within one run; the whole suite is run anew each time. A process beside them keeps a processor
busy, as on the machines where races show.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

WORKERS = 4
BUSY = (sys.executable, "-c", "while True: pass")
PYTEST = (sys.executable, "-m", "pytest", "-q", "--workers", str(WORKERS), "--shuffle", "any")


@contextmanager
def busy() -> Iterator[None]:
    """Have one processor wanted by somebody else."""
    with subprocess.Popen(BUSY) as process:
        try:
            yield
        finally:
            process.kill()


def main(times: int, tests: list[str]) -> int:
    """Return how many of the runs failed."""
    runs = [["--times", str(times), *tests]] if tests else [[]] * times
    failed = 0
    with busy():
        for number, arguments in enumerate(runs, 1):
            print(f"run {number} of {len(runs)}", flush=True)
            failed += subprocess.call([*PYTEST, *arguments]) != 0
    print(f"{failed} of {len(runs)} runs failed")
    return failed


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
