"""`make mutants`: a check that the tests notice each deliberate mistake in the product.

Each mutant is put into a copy of the checkout, and the test that it names is run there; if that does not fail the tests
of its part are, first those of every day, then all. What no test notices has survived, and a test is missing.
Those that name the simulator are noticed by a promise that breaks, in one of the first 10,000 seeds.
"""

import argparse
import re
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum, auto
from pathlib import Path

from mutants.checkout import Copy, copied
from mutants.mutant import ROOT, DoesNotApply, Mutant, all_mutants, is_there

DAILY, ALL, SIMULATE = "make test", "make check", "make simulate"
SEEDS = 10_000  # of the simulator, in which a promise has to break
LEAST_DAILY = 60  # of the whole list: what protects every day
MARKS = {DAILY: "not system", ALL: "system"}
QUIET = ("-q", "-x", "--no-header", "--tb=line", "-rfE", "-p", "no:cacheprovider")
SIDE_BY_SIDE = ("--workers", "auto")
PASSED, FAILED, NOTHING_THERE = 0, 1, 5  # how pytest ends
SECONDS = 900  # for a test; a folder has four times as long
BROKEN_PROMISE = re.compile(r"^seed \d+, after (\d+) seeds: (.*)", re.MULTILINE)
FAILED_TEST = re.compile(r"^FAILED (\S+?)(?:\[| - |$)", re.MULTILINE)
CAUGHT, SURVIVED, BROKEN = "caught", "SURVIVED", "BROKEN"


class Reach(IntEnum):
    """The tests run for a mutant: the one that it names, also those of its part, or in the end all of them."""

    TEST = auto()
    PART = auto()
    ALL = auto()


@dataclass(frozen=True)
class Verdict:
    """The result for a mutant: caught `by` a test that the command `tier` runs, or `why` it can't be told."""

    mutant: Mutant
    word: str
    seconds: float
    by: str = ""
    tier: str = ""
    why: str = ""

    def __str__(self) -> str:
        name = f"{self.mutant.layer}/{self.mutant.name}"
        told = f"by {self.by} ({self.tier})" if self.by else ""
        return (
            f"{self.word:8} {name:52} {self.seconds:6.1f} s  {told or self.mutant.breaks} {self.why}".rstrip()
        )


class Trial:
    """One mutant after the other in one copy."""

    def __init__(self, copy: Copy, reach: Reach) -> None:
        self._copy, self._reach = copy, reach

    def without(self, mutants: Sequence[Mutant]) -> str:
        """Run the tests named by the mutants without them; return the output if they do not all pass."""
        named = sorted(
            {each.test for each in mutants if not each.is_simulated and is_there(each.test, self._copy.root)}
        )
        code, printed = self._pytest(*named) if named else (PASSED, "")
        return "" if code == PASSED else printed

    def judge(self, mutant: Mutant) -> Verdict:
        began = time.monotonic()
        try:
            with self._copy.with_mutant(mutant):
                word, by, tier, why = self._judged(mutant)
        except DoesNotApply as error:
            word, by, tier, why = BROKEN, "", "", f"does not apply: {error}"
        if not mutant.is_simulated and not is_there(mutant.test, self._copy.root):
            why = f"its test is gone: {mutant.test} {why}"
        return Verdict(mutant, word, time.monotonic() - began, by, tier, why.strip())

    def _judged(self, mutant: Mutant) -> tuple[str, str, str, str]:
        if mutant.is_simulated:
            return self._simulated()
        for tests, tier in self._steps(mutant):
            code, printed = self._pytest(tests, "-m", MARKS[tier])
            if code == FAILED and (found := FAILED_TEST.search(printed)):
                return CAUGHT, found[1], tier, ""
            if code not in (PASSED, NOTHING_THERE):
                return BROKEN, "", tier, f"the run of {tests} broke:\n{printed[-2000:]}"
        return SURVIVED, "", "", ""

    def _simulated(self) -> tuple[str, str, str, str]:
        words = ("--first", "0", "--seeds", str(SEEDS), "--quick")
        code, printed = self._copy.run("-m", "simulate.run", *words, seconds=4 * SECONDS)
        if code == FAILED and (found := BROKEN_PROMISE.search(printed)):
            return CAUGHT, f"seed {int(found[1]):,}: {found[2].partition(':')[0]}", SIMULATE, ""
        if code != PASSED:
            return BROKEN, "", SIMULATE, f"the simulator broke:\n{printed[-2000:]}"
        return SURVIVED, "", "", ""

    def _steps(self, mutant: Mutant) -> Iterator[tuple[str, str]]:
        """Yield the tests to run for a mutant, each with the command by which people run it."""
        for tier in (DAILY, ALL):
            if is_there(mutant.test, self._copy.root):
                yield mutant.test, tier
            if self._reach > Reach.TEST:
                yield mutant.part, tier
        if self._reach is Reach.ALL:
            yield from (("tests", tier) for tier in (DAILY, ALL))

    def _pytest(self, *words: str) -> tuple[int, str]:
        is_one = "::" in words[0]
        more = () if is_one else SIDE_BY_SIDE
        seconds = SECONDS if is_one else 4 * SECONDS
        return self._copy.run("-m", "pytest", *QUIET, *more, *words, seconds=seconds)


def tell(verdicts: Sequence[Verdict]) -> None:
    """Print the table of layers."""
    layers: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        layers[verdict.mutant.layer].append(verdict)
    print(f"\n{'layer':12} {'mutants':>8} {'caught':>8} {DAILY:>12}")
    for layer, each in [*layers.items(), ("all", list(verdicts))]:
        caught = sum(verdict.word == CAUGHT for verdict in each)
        print(f"{layer:12} {len(each):8} {caught:8} {_daily(each):12}")


def _daily(verdicts: Sequence[Verdict]) -> int:
    return sum(verdict.tier == DAILY and verdict.word == CAUGHT for verdict in verdicts)


def chosen(names: Sequence[str]) -> list[Mutant]:
    """The mutants of these names or layers, or of parts of names; all if there are none."""
    return [
        each
        for each in all_mutants()
        if not names or any(name in f"{each.layer}/{each.name}" for name in names)
    ]


def _reach(word: str) -> Reach:
    return Reach[word.upper()]


def main(words: Sequence[str]) -> int:
    """Return 1 if a mutant survived or could not be judged, or too few are caught every day."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="only these, by a part of their names, or all of a layer")
    parser.add_argument(
        "--reach", type=_reach, default=Reach.PART, help="which tests may notice: test, part or all"
    )
    parser.add_argument("--checkout", type=Path, default=ROOT, help="whose source and tests are tried")
    given = parser.parse_args(words)
    mutants = chosen(given.names)
    with copied(given.checkout.resolve()) as copy:
        copy.see_that_it_runs_itself()
        trial = Trial(copy, given.reach)
        if told := trial.without(mutants):
            print(f"without any mutant, the tests that they name do not pass:\n{told}")
            return 1
        verdicts = []
        for mutant in mutants:
            verdicts.append(trial.judge(mutant))
            print(verdicts[-1], flush=True)
    tell(verdicts)
    too_few = not given.names and _daily(verdicts) < LEAST_DAILY
    return int(too_few or any(verdict.word != CAUGHT for verdict in verdicts))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no copy is left
    sys.exit(main(sys.argv[1:]))
