"""`python -m tests.shellgate.shell.fuzzer`: many programs, in a sandbox where there is one, on all cores.

The programs that the reader has no doubt about run in real bash, where nothing can be found. A call that it missed is
a failure; the program is made as small as it can be and told.
"""

import argparse
import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.shellgate.shell.fuzzer.fuzzing import Findings, Fuzzer

_OURS = (str(Path(__file__).parents[4]), sys.prefix)  # may be in /tmp, which is another one in the sandbox
_SANDBOX = [
    *("bwrap", "--unshare-all", "--die-with-parent", "--new-session"),
    *("--ro-bind", "/", "/", "--tmpfs", "/tmp", "--dev", "/dev", "--proc", "/proc"),
    *(word for folder in _OURS for word in ("--ro-bind", folder, folder)),
]


def _work(seed: int, programs: int) -> int:
    """Run as one of several: tell the findings as JSON."""
    gc.freeze()
    gc.set_threshold(100_000)  # what a reading leaves is almost never in a circle
    with tempfile.TemporaryDirectory() as folder:
        findings = Fuzzer(Path(folder).resolve()).run(seed, programs)
    sys.stdout.write(json.dumps(findings.told()))
    return 0


def _workers(seed: int, programs: int) -> Findings:
    """Return the findings of several, each on a core of its own."""
    count = os.cpu_count() or 1
    command = [
        sys.executable,
        "-m",
        "tests.shellgate.shell.fuzzer",
        f"--programs={programs // count}",
        "--seed",
    ]
    sandbox = _SANDBOX if shutil.which("bwrap") else []
    started = [
        subprocess.Popen([*sandbox, *command, str(seed * 1000 + number), "--worker"], stdout=subprocess.PIPE)
        for number in range(count)
    ]
    total = Findings()
    for process in started:
        total.add(Findings(**json.loads(process.communicate()[0])))
    return total


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzzer")
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worker", action="store_true", help="be one of several")
    asked = parser.parse_args()
    if asked.worker:
        return _work(asked.seed, asked.programs)
    found = _workers(asked.seed, asked.programs)
    clear = found.programs - found.doubted
    summary = (
        f"{found.programs} programs, {clear} of them without a doubt, with {found.calls} calls;"
        f" {len(found.misses)} missed"
    )
    sys.stdout.write("\n".join([*found.misses, summary]) + "\n")
    return 1 if found.misses else 0


if __name__ == "__main__":
    sys.exit(main())
