"""`hubbub prove`: checks whether the hub keeps its promises on this machine, whichever process dies."""

import json
import secrets
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import click

from hubbub import __version__, settings
from hubbub.prove.histories import AGENTS
from hubbub.prove.promises import CHECKS, PROMISES, Outcome, Plan, judged
from hubbub.terminal import display
from hubbub.terminal.command import command, data_option

SEEDS = 10**6
SHOWN = 5  # findings of a check


@command(
    "prove",
    short_help="Crash hubs of its own, to test that nothing is lost.",
    example="hubbub prove\nhubbub prove --hours 8 --only histories",
)
@click.option("--minutes", type=click.FloatRange(min=0.1), default=5.0, help="Time in all.")
@click.option("--hours", type=click.FloatRange(min=0.01), help="The same, for a real look.")
@click.option("--seed", type=click.IntRange(0, SEEDS), help="Random seed. [default: a new one]")
@click.option(
    "--only", type=click.Choice([*CHECKS]), multiple=True, help="Only this check; as often as you like."
)
@click.option(
    "--agents",
    type=click.IntRange(2, 500),
    default=AGENTS,
    help="Agents in a history; 200 for a real look.",
)
@click.option(
    "--pause",
    type=click.FloatRange(0.01, 60),
    help="Seconds between two faults of a history, on average; 1 or 2 by default.",
)
@click.option("--kills", type=click.IntRange(min=1), help="A history ends after so many, if there is time.")
@click.option(
    "--keep", type=click.Path(file_okay=False, path_type=Path), help="Folder for histories and verdict."
)
@data_option
def prove(
    *,
    minutes: float,
    hours: float | None,
    seed: int | None,
    only: tuple[str, ...],
    agents: int,
    pause: float | None,
    kills: int | None,
    keep: Path | None,
    data: str | None,
    as_json: bool,
) -> None:
    """Let everything die under hubs of its own, and check what they said. Exit code 1 when a promise is broken.

    No running hub is touched.
    """
    folder = keep or settings.read(data=data).data / "prove"
    seconds = hours * 3600 if hours is not None else minutes * 60
    chosen = seed if seed is not None else secrets.randbelow(SEEDS)
    plan = Plan(seconds, chosen, folder, only, agents, pause, kills)
    if not as_json:
        display.show(f"seed {plan.seed}; findings are kept in {folder}")
    outcomes = []
    with ended_by_signal():
        for each in plan.outcomes():
            outcomes.append(each)
            if not as_json:
                _show(each)
    verdicts = judged(outcomes)
    told = {
        "version": __version__,
        "seed": plan.seed,
        "checks": [asdict(each) for each in outcomes],
        "promises": verdicts,
    }
    (folder / "verdict.json").write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if as_json:
        display.show_json(told)
    else:
        display.show("")
        rows = [(verdict, promise, ", ".join(PROMISES[promise])) for promise, verdict in verdicts.items()]
        display.show_table(("verdict", "promise", "checked by"), rows)
    if "broken" in verdicts.values():
        raise click.exceptions.Exit(1)


def _show(outcome: Outcome) -> None:
    display.show(f"{outcome.verdict:<14}{outcome.check:<24}{outcome.seconds:5.0f} s  {outcome.evidence}")
    for finding in outcome.findings[:SHOWN]:
        display.show(f"    {finding}")


@contextmanager
def ended_by_signal() -> Iterator[None]:
    """Have SIGTERM end the run as an interrupt does: with all that it has started."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
