"""All promises, and the checks of them: a verdict for each check and for each promise.

An installed hubbub has the checks that need nothing else: histories and hostile calls. In a checkout there are the
simulator, the power cuts, the fuzzer of shell programs and the rest, which are programs and tests of the repository.
"""

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import hubbub
from hubbub.prove.histories import AGENTS, Database, Shape, play
from hubbub.prove.hostile_calls import attack
from hubbub.prove.postgres import Cluster, NoPostgres

Verdict = Literal["held", "broken", "not looked at"]

HISTORIES, SERVERS, HOSTILE = "histories", "histories on PostgreSQL", "hostile calls"
SIMULATOR, POWER, SHELL, LINKS, PAGES = "simulator", "power cuts", "shell programs", "swapped links", "pages"

# As in docs/reliability.md: each promise, and the checks that would see it broken.
PROMISES: Mapping[str, Sequence[str]] = {
    "An answered call is stored, once": (HISTORIES, SERVERS, SIMULATOR),
    "An answered call survives a power cut (SQLite)": (POWER,),
    "An answered call survives the loss of its database server (PostgreSQL, with a synchronous standby)": (
        SERVERS,
    ),
    "Migration, backup and restore are complete, or have not begun": (POWER,),
    "A machine runs no order twice, and its decisions are in its audit log": (HISTORIES, SERVERS, POWER),
    "Results of workers, mirrored memories and all files of the installer are complete, old or new": (POWER,),
    "A full or failing disk gives one sentence, and nothing is half done": (POWER,),
    "A refused call leaves nothing": (HISTORIES, SERVERS, SIMULATOR),
    "A task has one holder, and the epoch tells earlier ones": (HISTORIES, SERVERS, SIMULATOR),
    "A task's history is a path of the lifecycle": (SIMULATOR,),
    "Nobody keeps a claim after leaving": (SIMULATOR,),
    "Nobody holds more of a thing than there is, and a fence tells the current holder": (
        HISTORIES,
        SERVERS,
        SIMULATOR,
    ),
    "An order runs at most once, and nobody is told otherwise": (HISTORIES, SERVERS, SIMULATOR),
    "A file has one holder, if the project blocks conflicts": (SIMULATOR,),
    "A message waits until it is acknowledged": (HISTORIES, SERVERS, SIMULATOR),
    "Counters equal what they count": (SIMULATOR,),
    "The log tells everything, in order": (SIMULATOR,),
    "Nothing crosses projects": (SIMULATOR, HOSTILE),
    "A revoked token is dead": (SIMULATOR, HOSTILE),
    "Nobody waits without a reason": (SIMULATOR,),
    "A call that nobody should make is refused, or does what it says": (HOSTILE,),
    "The gate sees each command that a shell would run": (SHELL,),
    "A name that changes under the file tools leads nowhere else": (LINKS,),
    "Agents' texts stay text on every page": (PAGES,),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one check."""

    check: str
    verdict: Verdict
    seed: int
    evidence: str
    seconds: float = 0.0
    findings: Sequence[str] = ()


@dataclass
class Plan:
    """A plan of the checks to run, their time in all, the seed, the folder for the evidence, and how histories go."""

    seconds: float
    seed: int
    keep: Path
    only: Sequence[str] = ()
    agents: int = AGENTS
    pause: float | None = None  # between two faults of a history; None: as its size has it
    kills: int | None = None  # with which a history ends
    _scratch: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="hubbub-prove-")))

    def outcomes(self) -> Iterator[Outcome]:
        """Run one check after the other; each has its share of the time."""
        chosen = {name: each for name, each in CHECKS.items() if not self.only or name in self.only}
        shares = sum(share for share, _ in chosen.values())
        self.keep.mkdir(parents=True, exist_ok=True)
        sound = True
        for name, (share, check) in chosen.items():
            began = time.monotonic()
            try:
                verdict, evidence, findings = check(self, self.seconds * share / shares)
            except NoPostgres as missing:
                verdict, evidence, findings = "not looked at", str(missing), ()
            except (OSError, subprocess.SubprocessError) as error:  # a hub that does not start again, for one
                verdict, evidence, findings = "broken", f"did not come to its end: {error}", ()
            if verdict == "broken":
                sound, evidence = False, f"{evidence}; all of it is in {self._scratch}"
            yield Outcome(name, verdict, self.seed, evidence, time.monotonic() - began, findings)
        if sound:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def history(self, name: str, seconds: float, hubs: int, database: Database | None = None) -> "Found":
        """Play one run, and keep its history."""
        folder, usual = self._scratch / name, Shape.of(self.agents, hubs)
        shape = replace(usual, calm=usual.calm if self.pause is None else self.pause, kills=self.kills)
        run = play(folder, shape, self.seed, seconds, database)
        shutil.copy(folder / "history.jsonl.gz", self.keep / f"history-{name}.jsonl.gz")
        shutil.copy(folder / "verdict.json", self.keep / f"history-{name}.verdict.json")
        return _found(str(run), run.findings)

    def hostility(self, seconds: float) -> "Found":
        found = attack(self._scratch / "hostile", self.seed, seconds)
        return _found(str(found), found.findings)


Found = tuple[Verdict, str, Sequence[str]]


def _found(evidence: str, findings: Sequence[str]) -> Found:
    return ("broken" if findings else "held"), evidence, findings


def judged(outcomes: Sequence[Outcome]) -> Mapping[str, Verdict]:
    """Return the verdict of each promise: broken if one check says so, held if all completed checks do."""
    by_check = {each.check: each.verdict for each in outcomes}

    def verdict(checks: Sequence[str]) -> Verdict:
        found = {by_check.get(check, "not looked at") for check in checks}
        return "broken" if "broken" in found else "held" if "held" in found else "not looked at"

    return {promise: verdict(checks) for promise, checks in PROMISES.items()}


# ---- the checks ------------------------------------------------------------------------------------------------------


def _sqlite(plan: Plan, seconds: float) -> Found:
    return plan.history("sqlite", seconds, hubs=1)


def _postgres(plan: Plan, seconds: float) -> Found:
    with closing(Cluster()) as cluster:
        return plan.history("postgres", seconds, hubs=3, database=cluster)


def checkout() -> Path | None:
    """Return the folder of the repository, if hubbub runs from one."""
    folder = Path(hubbub.__file__).parents[2]
    return folder if (folder / "simulate").is_dir() and (folder / "tests").is_dir() else None


def _program(*words: str, tells: str, **environment: str) -> Found:
    """Run a program of the repository; its exit status is the verdict, and the last matching line the evidence."""
    folder = checkout()
    if folder is None:
        return "not looked at", "is run from a checkout of hubbub, by: make prove", ()
    python = folder / ".venv" / "bin" / "python"
    done = subprocess.run(
        [python, *words],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    lines = done.stdout.strip().splitlines() or [""]
    evidence = next((line for line in reversed(lines) if re.search(tells, line)), lines[-1])
    return _found(evidence, lines[-40:] if done.returncode else ())


def _simulator(plan: Plan, seconds: float) -> Found:
    return _program(
        *("-m", "simulate.run", "--first", str(plan.seed * 1000), "--seconds", str(seconds), "--quick"),
        tells=r"^(\d.* seeds,|seed )",
    )


def _power(plan: Plan, seconds: float) -> Found:
    rounds = int(seconds)  # of each of some thirty stories, which play about that many a second
    if rounds < LEAST_ROUNDS:
        return _program("-m", "pytest", "-q", "tests/faults", "-m", "not system", tells="passed|failed")
    return _program(
        "-m", "pytest", "-q", "tests/faults", tells="passed|failed", ROUNDS=str(rounds + plan.seed % 97)
    )


def _shell(plan: Plan, seconds: float) -> Found:
    programs = max(300, int(seconds * PROGRAMS_A_SECOND))
    words = ("-m", "tests.shellgate.shell.fuzzer", "--programs", str(programs), "--seed", str(plan.seed))
    return _program(*words, tells=" programs, ")


def _links(_plan: Plan, seconds: float) -> Found:
    many = max(1, int(seconds / 20))
    words = ("-m", "pytest", "-q", "tests/node/tools/test_path_races.py")
    found = _program(*words, tells="passed|failed", SWAPS=str(many))
    return _counted(f"{many * SWAPS:,} swaps", found)


def _pages(plan: Plan, seconds: float) -> Found:
    words, texts = ("-m", "pytest", "-q", "tests/dashboard/test_hostile.py"), int(seconds)
    found = _program(*words, tells="passed|failed|skipped", TEXTS=str(texts), SEED=str(plan.seed))
    return _counted(f"{texts:,} texts of chance beside those that somebody wrote", found)


def _counted(count: str, found: Found) -> Found:
    verdict, evidence, findings = found
    return verdict, evidence if verdict == "not looked at" else f"{count}: {evidence}", findings


LEAST_ROUNDS = 100  # below it the power cuts of every day are made
PROGRAMS_A_SECOND = 150
SWAPS = 460_000  # of the tests of swapped links, each time
CHECKS: Mapping[str, tuple[int, Callable[[Plan, float], Found]]] = {
    HISTORIES: (5, _sqlite),
    SERVERS: (5, _postgres),
    HOSTILE: (3, Plan.hostility),
    SIMULATOR: (3, _simulator),
    POWER: (2, _power),
    SHELL: (1, _shell),
    LINKS: (1, _links),
    PAGES: (1, _pages),
}
