"""Histories: agents work through every door while processes die, and the answers they got are checked.

The hubs, the machine, the agents' programs and their bridges are real processes. A seed chooses the faults; their
timing is up to the machine, so a seed says what was tried, and the history says what happened.
"""

import gzip
import http.client
import json
import os
import random
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from hubbub import __version__
from hubbub.model.programs.launching import program
from hubbub.prove.check_history import findings, read
from hubbub.prove.clocks import MISSING, SKEW, TAKEN, Clock, library
from hubbub.prove.doors import KINDS, RESULT
from hubbub.prove.history import History
from hubbub.prove.links import Link, Links
from hubbub.prove.processes import LOOK, HubProgram, Program
from hubbub.prove.worker import MACHINE

Json = dict[str, Any]

AGENTS, PROGRAMS, PAUSE, CALM = 14, 3, 0.05, 2.0  # of a look
HASTE = 1.0  # seconds between two faults, where there are many agents
A_PROGRAM = 25  # agents that share a process where there are many
CALLS_A_SECOND = 100  # that many agents make together
AN_HOUR = 3600.0
DRAINED = 900.0  # seconds for the agents to hear the last answer, and to empty their inboxes
MARKS = "marks.txt"


class Database(Protocol):
    """A database server whose processes may die, too."""

    url: str

    def faults(self) -> Sequence[Callable[[], None]]:
        """Return its possible faults, each ending when it works again."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of a run, and its pace."""

    hubs: int = 1
    programs: int = PROGRAMS
    agents: int = AGENTS
    machine: bool = True
    pause: float = PAUSE  # seconds between two calls of an agent
    calm: float = CALM  # seconds between two faults
    kills: int | None = None  # the run ends with so many, if it has time for them

    @classmethod
    def of(cls, agents: int, hubs: int = 1) -> "Shape":
        """So many agents: where they are more, each calls less often; more of them or of hubs, and more goes wrong."""
        if agents <= A_PROGRAM:
            return cls(hubs=hubs, agents=agents, calm=CALM if hubs == 1 else HASTE)
        return cls(
            hubs, max(PROGRAMS, agents // A_PROGRAM), agents, pause=agents / CALLS_A_SECOND, calm=HASTE
        )


@dataclass
class Run:
    """The result of a run."""

    calls: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    agents: int = 0
    seconds: float = 0.0
    missing: str = ""

    @property
    def kills(self) -> int:
        return sum(count for name, count in self.faults.items() if _is_kill(name))

    def __str__(self) -> str:
        told = ", ".join(f"{count:,} {name}" for name, count in sorted(self.answers.items()))
        done = ", ".join(f"{count} × {name}" for name, count in sorted(self.faults.items()))
        return (
            f"{self.agents} agents, {self.calls:,} calls ({told}); {self.kills:,} kills of"
            f" {sum(self.faults.values()):,} faults ({done}){self.missing and f'; {self.missing}'}"
        )


class Scene:
    """All programs of one run in a folder of their own."""

    def __init__(self, folder: Path, shape: Shape, seed: int, database: Database | None = None) -> None:
        self.folder, self.shape, self.database = folder, shape, database
        self._chance = random.Random(seed)  # noqa: S311  # chooses what goes wrong
        (folder / "histories").mkdir(parents=True)
        self._history = History(folder / "histories" / "conductor.jsonl")
        self._links = Links()
        settings = {"HUBBUB_DATABASE": database.url} if database is not None else {}
        self._clocks: list[Clock] = []
        self._beside = ThreadPoolExecutor(1)  # a server takes long to come back; meanwhile others die
        self._repair: Future[None] | None = None
        self.hubs = [
            HubProgram(folder / f"hub{number}", folder / f"hub{number}.log", **settings, **self._clock())
            for number in range(shape.hubs)
        ]
        self.links: list[Link] = []
        self.workers: list[Program] = []
        self.machine: Program | None = None
        self._owner = ""
        self._kills = 0
        self._names = {number: [f"agent{each}" for each in range(number, shape.agents, shape.programs)]
                       for number in range(shape.programs)}  # fmt: skip

    # ---- setting up

    def _clock(self) -> Mapping[str, str]:
        """Return what has a program go by a clock of its own, which may be set, where that can be."""
        if (preloaded := library()) is None:
            return {}
        self._clocks.append(Clock(self.folder / f"clock{len(self._clocks)}", preloaded))
        return self._clocks[-1].environment

    def begin(self) -> None:
        for number, hub in enumerate(self.hubs):
            if number:  # all use the token of the owner, which the first one creates
                hub.data.mkdir(mode=0o700)
                (hub.data / "owner-token").write_text(self._owner)
            hub.start()
            hub.wait()
            self._owner = self._owner or (hub.data / "owner-token").read_text().strip()
        self.links = [self._links.open(hub.port) for hub in self.hubs]
        self.links.append(self._links.open(*(hub.port for hub in self.hubs)))
        if self.shape.machine:
            self._join_machine()
        self._plan()
        for number in range(self.shape.programs):
            self.workers.append(self._worker(number))
            self.workers[-1].start()
        self._wait_for_mail()

    def _wait_for_mail(self) -> None:
        """Wait until the first letter is sent. Raises `TimeoutError` if that takes too long."""
        until = time.monotonic() + DRAINED
        while not any(call["do"] == "send" and call["answer"] == "yes" for call in read(self.lines())[0]):
            if time.monotonic() > until:
                raise TimeoutError("no agent could send anything")
            time.sleep(LOOK)

    def _join_machine(self) -> None:
        config, work = self.folder / "machine" / "config", self.folder / "machine" / "work"
        for each in (config, work):
            each.mkdir(parents=True)
        (config / "node.toml").write_text(f'mode = "bypass"\n[files]\nroots = ["{work}"]\n')
        (config / "node.toml").chmod(0o600)
        environment = {"HUBBUB_DATA": str(self.folder / "machine" / "data"), "HUBBUB_CONFIG": str(config)}
        environment |= self._clock()
        words = [*program(), "node", "run", "--name", MACHINE, "--url", self._url(self.links[-1])]
        code = self.ask("POST", "nodes/invites", {})["code"]
        self.machine = Program([*words, "--join", code], environment, self.folder / "machine.log")
        self.machine.start()
        until = time.monotonic() + DRAINED
        while not any(node.get("online") for node in self.ask("GET", "nodes")["nodes"]):
            if time.monotonic() > until:
                raise TimeoutError("the machine is not linked")
            time.sleep(0.1)

    def _plan(self) -> None:
        agents = {}
        for number, names in self._names.items():
            for name in names:
                door = KINDS[int(name.removeprefix("agent")) % len(KINDS)]
                token = self.ask("POST", "tokens", {"agent": name})["secret"]
                agents[name] = {"program": number, "door": door, "token": token}
        (self.folder / "nowhere").mkdir()
        plan = {
            "urls": [self._url(each) for each in self.links],
            "agents": agents,
            "pause": self.shape.pause,
            "marks": str(self.folder / "machine" / "work" / MARKS) if self.shape.machine else None,
            "nowhere": str(self.folder / "nowhere"),
        }
        file = self.folder / "plan.json"
        file.touch(mode=0o600)
        file.write_text(json.dumps(plan))

    def _worker(self, number: int, *more: str) -> Program:
        words = [*program("hubbub.prove.worker"), str(self.folder / "plan.json"), str(number), *more]
        return Program(words, {}, self.folder / f"worker{number}.log")

    @staticmethod
    def _url(link: Link) -> str:
        return f"http://127.0.0.1:{link.port}"

    def ask(self, method: str, path: str, body: object = None) -> Json:
        """Ask a hub as its owner, not by a link that may be cut. Raises `OSError` if it does not answer."""
        headers = {"Authorization": f"Bearer {self._owner}", "Content-Type": "application/json"}
        with closing(http.client.HTTPConnection("127.0.0.1", self.hubs[0].port, timeout=60)) as line:
            line.request(method, f"/api/v1/{path}", json.dumps(body) if body is not None else None, headers)
            answer = line.getresponse()
            said: Json = json.loads(answer.read())
        if answer.status >= http.client.BAD_REQUEST:
            raise OSError(f"{method} {path}: {said}")
        return said

    # ---- faults

    def disturb(self, seconds: float) -> None:
        """Let one thing after the other go wrong, and in the end kill a hub."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and self._kills != self.shape.kills:
            time.sleep(min(left, self._chance.expovariate(1 / self.shape.calm)))
            faults = [*self._faults()]
            weights = [weight for weight, _, _ in faults]
            ((_, name, fault),) = self._chance.choices(faults, weights)
            self._do(name, fault)
        self._do("hub killed", self.hubs[0].again)

    def _do(self, name: str, fault: Callable[[], None]) -> None:
        self._history.note(fault=name)
        self._kills += _is_kill(name)
        fault()

    def _faults(self) -> Iterator[tuple[int, str, Callable[[], None]]]:
        hub, link = self._chance.choice(self.hubs), self._chance.choice(self.links)
        number = self._chance.randrange(len(self.workers))
        if hub.has_come() or self._chance.randrange(20) == 0:  # seldom one that is only starting
            yield 8, "hub killed", hub.again
            yield 3, "hub stopped and continued", lambda: self._stop(hub)
        yield 3, "worker killed", lambda: self._kill_worker(number)
        yield 1, "worker stopped and continued", lambda: self._stop(self.workers[number])
        yield 3, "link cut", link.cut
        yield 1, "link half closed", link.half_close
        yield 1, "link held up", lambda: self._for_a_moment(link.hold, link.go_on)
        yield 1, "link slowed", lambda: self._for_a_moment(link.slow_down, link.go_on)
        if self.machine is not None:
            yield 2, "machine killed", self.machine.again
            yield 1, "machine stopped and continued", lambda: self._stop(self.machine)
        if self._clocks:
            yield 2, "clock stepped", self._step_clock
            if len(self.hubs) == 1:
                yield 1, "clock set an hour on", self._set_hour
        if self.database is not None and self._is_repaired():
            for fault in self.database.faults():
                yield 1, fault.__name__.replace("_", " "), partial(self._break_database, fault)

    def _is_repaired(self) -> bool:
        """Tell whether the last fault of the database is over. Raises what went wrong with its repair."""
        if self._repair is None or not self._repair.done():
            return self._repair is None
        self._repair.result()
        return True

    def _break_database(self, fault: Callable[[], None]) -> None:
        self._repair = self._beside.submit(fault)

    def _step_clock(self) -> None:
        self._chance.choice(self._clocks).set(self._chance.uniform(-SKEW, SKEW))

    def _set_hour(self) -> None:
        """Set the hub's clock on, so that all holds end; hubs that share a database must agree on the hour."""
        everybody = [name for names in self._names.values() for name in names]
        since = time.monotonic()
        self._history.gone(everybody)
        self._clocks[0].set(AN_HOUR)
        time.sleep(TAKEN)
        self._history.gone(everybody, absent_since=since)

    def _kill_worker(self, number: int) -> None:
        self._history.gone(self._names[number])
        self.workers[number].again()

    def _stop(self, victim: Program | None) -> None:
        assert victim is not None
        self._for_a_moment(lambda: victim.send(signal.SIGSTOP), lambda: victim.send(signal.SIGCONT))

    def _for_a_moment(self, begin: Callable[[], None], end: Callable[[], None]) -> None:
        begin()
        time.sleep(self._chance.random())
        end()

    # ---- the end

    def finish(self) -> None:
        """Let every agent get its pending answer, empty all inboxes, and record the final state."""
        if self._repair is not None:
            self._repair.result()
        for hub in self.hubs:
            hub.wait()
        ends = [threading.Thread(target=each.end, args=(DRAINED,)) for each in self.workers]
        drains = [self._worker(number, "--drain") for number in self._names]
        _together(ends)
        for each in drains:
            each.start()
        for each in drains:
            assert each.process is not None
            if each.process.wait(DRAINED) != 0:
                self._history.note(broken=["an inbox could not be emptied"])
        self._history.note(kept=[*self._kept("messages", "body"), *self._kept("tasks", "text")])
        marks = self.folder / "machine" / "work" / MARKS
        if self.machine is not None:
            self.machine.end(DRAINED)
        self._history.note(marks=marks.read_text().split() if marks.exists() else [])

    def _kept(self, noun: str, text: str) -> Iterator[str]:
        before: int | None = None
        while page := self.ask("GET", f"{noun}?limit=500{f'&before={before}' if before else ''}")[noun]:
            yield from (each[text] for each in page if each[text] != RESULT)
            before = page[-1]["number"]

    def close(self) -> None:
        self._beside.shutdown()
        for each in (*self.workers, *([self.machine] if self.machine else []), *self.hubs):
            each.kill()
        self._links.close()
        self._history.close()

    def lines(self) -> Iterator[str]:
        """Return the whole history."""
        for file in sorted((self.folder / "histories").iterdir()):
            with file.open(encoding="utf-8") as lines:
                yield from lines


def _together(threads: Sequence[threading.Thread]) -> None:
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def play(folder: Path, shape: Shape, seed: int, seconds: float, database: Database | None = None) -> Run:
    """Play one run in that folder; its history stays there, compressed."""
    run = Run(agents=shape.agents)
    scene = Scene(folder, shape, seed, database)
    with ExitStack() as closing:
        closing.callback(scene.close)
        scene.begin()
        began = time.monotonic()
        scene.disturb(seconds)
        run.seconds = time.monotonic() - began
        scene.finish()
    run.missing = "" if library() is not None else MISSING
    run.faults = Counter(_fault(line) for line in scene.lines() if '"fault"' in line)
    calls, rest = read(scene.lines())
    run.calls, run.findings = len(calls), [*findings(calls, rest)]
    run.answers = Counter(f"{call['do']} {call['answer']}" for call in calls)
    with gzip.open(folder / "history.jsonl.gz", "wt", encoding="utf-8") as packed:
        packed.writelines(scene.lines())
    verdict = {
        "version": __version__, "ended": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC", "seed": seed, "hubs": shape.hubs,
        "agents": shape.agents, "seconds": round(run.seconds), "calls": run.calls, "answers": run.answers,
        "kills": run.kills, "faults": run.faults, "findings": run.findings,
    }  # fmt: skip
    (folder / "verdict.json").write_text(json.dumps(verdict, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return run


def _is_kill(fault: str) -> bool:
    return "killed" in fault


def _fault(line: str) -> str:
    return str(json.loads(line)["fault"])


def main() -> None:
    """Play one run by hand: FOLDER SEED SECONDS AGENTS."""
    folder, seed, seconds, agents = sys.argv[1:]
    shutil.rmtree(folder, ignore_errors=True)
    os.umask(0o077)
    run = play(Path(folder), Shape.of(int(agents)), int(seed), float(seconds))
    sys.stdout.write("\n".join([*run.findings[:20], str(run), f"{len(run.findings)} findings"]) + "\n")


if __name__ == "__main__":
    main()
