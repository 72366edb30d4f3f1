"""`make check`: each step by itself, all of them even if one fails, and in the end how long each took."""

import subprocess
import sys
import time


def main(steps: list[str]) -> int:
    """Run these targets of the Makefile; return how many failed."""
    outcomes = []
    for step in steps:
        began = time.monotonic()
        code = subprocess.call(["make", "--no-print-directory", step])
        outcomes.append((step, time.monotonic() - began, code))
    print()
    for step, seconds, code in outcomes:
        print(f"{step:16} {seconds:7.1f} s  {'FAILED' if code else 'passed'}")
    return sum(code != 0 for _step, _seconds, code in outcomes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
