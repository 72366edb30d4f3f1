"""One run of the command of an agent: do what the task says, and write into the ledger that it was done."""

import os
import sys
from importlib import import_module
from pathlib import Path

from demo import gate
from demo.jobs import JOBS
from demo.jobs.desk import VARIABLE, Desk, Unable


def main() -> int:
    """Do the task on standard input, and print the report. Returns the exit code."""
    desk = Desk(Path(os.environ[VARIABLE]))
    task, attempt = os.environ["HUBBUB_TASK_ID"], int(os.environ["HUBBUB_TASK_ATTEMPT"])
    execution = desk.ledger.begin(task=task, attempt=attempt, agent=os.environ["HUBBUB_AGENT"])
    text = sys.stdin.read()
    try:
        report, exit_code = perform(desk, text), 0
    except Unable as reason:
        report, exit_code = str(reason), 1
    stops = gate.HALFWAY in (os.environ["HUBBUB_TASK_CONTEXT"], *text.splitlines())
    held = gate.stop(task, attempt) if stops else None
    print(report, file=sys.stderr if exit_code else sys.stdout, flush=True)
    desk.ledger.end(execution, exit_code=exit_code, output=report)
    if held is not None:
        held.close()
    return exit_code


def perform(desk: Desk, text: str) -> str:
    """Return the report that the first line of `text` names. Raises `Unable`."""
    line = text.partition("\n")[0].strip()
    for phrase, module in JOBS.items():
        if line.startswith(f"{phrase} "):
            report: str = import_module(f"demo.jobs.{module}").report(desk, line.removeprefix(phrase).strip())
            return report
    raise Unable(f"I do not know how to {line!r}; I can: {', '.join(JOBS)}")


if __name__ == "__main__":
    sys.exit(main())
