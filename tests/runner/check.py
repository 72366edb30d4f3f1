"""`make check`: all steps, even if one fails, and in the end how long each took.

The last step is the longest, and for much of its time waits for others, so it runs beside those before it. What each
says stands together: what the last has said meanwhile follows when the others have ended, and the rest as it comes.
"""

import subprocess
import sys
import time
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Thread


@dataclass
class Step:
    """A target of the Makefile on its way; what it says is kept until it is told."""

    name: str
    seconds: float = 0.0
    code: int | None = None
    _said: SimpleQueue[bytes] = field(default_factory=SimpleQueue)

    def __post_init__(self) -> None:
        Thread(target=self._run).start()

    def _run(self) -> None:
        began = time.monotonic()
        command = ["make", "--no-print-directory", self.name]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0
        ) as process:
            assert process.stdout is not None
            while said := process.stdout.read(1 << 16):
                self._said.put(said)
        self.seconds, self.code = time.monotonic() - began, process.returncode
        self._said.put(b"")

    def tell(self) -> None:
        """Print its output, past and future, until it has ended."""
        while said := self._said.get():
            sys.stdout.buffer.write(said)
            sys.stdout.buffer.flush()

    def __str__(self) -> str:
        return f"{self.name:16} {self.seconds:7.1f} s  {'FAILED' if self.code else 'passed'}"


def main(names: list[str]) -> int:
    """Run these targets of the Makefile, the last beside the others; return how many failed."""
    last = Step(names[-1])
    steps = []
    for name in names[:-1]:
        steps.append(Step(name))
        steps[-1].tell()
    last.tell()
    steps.append(last)
    print("", *steps, sep="\n")
    return sum(step.code != 0 for step in steps)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
