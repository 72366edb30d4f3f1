"""The report at the end of a test run: the time of each part, the slowest tests, and the parts left unproven.

A test says by `pytest.mark.requires` which documented sentences it proves. A sentence counts as proven only when such a
test has passed in this very run: a test that was skipped, deselected or failed proves nothing.
"""

import logging
import os
import re
import resource
import shlex
import sys
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path

import pytest

from hubbub.serve.monitoring import loop_watch
from hubbub.serve.monitoring.loop_watch import GOES_ON, HELD_UP

SLOWEST = 10
IN_CI = "CI" in os.environ
PROCESSOR = "processor_seconds"  # of one phase of a test
# Milliseconds from which on hubs in the tests' own process say what holds their event loop up: the longest pause that
# we allow. The watch takes a fiftieth of a processor for each of these hubs.
WATCH_LOOP = 25
HELD = "held_up"  # what held up a loop in one phase of a test
OURS = re.compile(r'/src/(hubbub/\S+)", line (\d+), in (\S+)')
ROOT = Path(__file__).resolve().parents[2]
PYTEST = Path(sys.executable).with_name("pytest")


def processor_seconds() -> float:
    """The processor time of this process and of the children that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def part_of(test: str) -> str:
    """The folder below `tests` to which a test belongs; that of the modules beside them is called `root`."""
    folders = Path(test.partition("::")[0]).parts[1:-1]
    return folders[0] if folders else "root"


def again(test: str) -> str:
    """The line that runs this one case again."""
    program = PYTEST.relative_to(ROOT) if PYTEST.is_relative_to(ROOT) else PYTEST
    return f"{program} {shlex.quote(test)}"


class Sentences:
    """The documented sentences that the collected tests are to prove, and those that they have proven."""

    def __init__(self) -> None:
        self.stated: dict[str, str] = {}  # sentence -> the test, or one of them
        self.proven: set[str] = set()
        self._by_test: dict[str, list[str]] = {}

    @pytest.hookimpl(tryfirst=True)  # before any test is deselected
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            self._by_test[item.nodeid] = [*_sentences(item)]
            for sentence in _sentences(item):
                self.stated.setdefault(sentence, item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.proven.update(self._by_test.get(report.nodeid, ()))

    @property
    def unproven(self) -> dict[str, str]:
        return {sentence: test for sentence, test in self.stated.items() if sentence not in self.proven}


def _sentences(item: pytest.Item) -> Iterator[str]:
    for mark in item.iter_markers("requires"):
        yield from mark.args


class Times:
    """The time of each test, on the clock and on the processors."""

    def __init__(self) -> None:
        self._before = processor_seconds()
        self._wall: defaultdict[str, float] = defaultdict(float)
        self._processor: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logstart(self) -> None:
        self._before = processor_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now = processor_seconds()
        report.user_properties.append((PROCESSOR, now - self._before))
        self._before = now
        if report.failed:
            report.sections.append(("to run it again", again(item.nodeid)))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._wall[report.nodeid] += report.duration
        used = dict(report.user_properties).get(PROCESSOR, 0.0)  # none from a worker that died
        assert isinstance(used, float)
        self._processor[report.nodeid] += used

    def tell(self, terminal: pytest.TerminalReporter) -> None:
        parts: dict[str, list[str]] = defaultdict(list)
        for test in self._wall:
            parts[part_of(test)].append(test)
        terminal.section("time")
        terminal.write_line(f"{'part':12} {'tests':>6} {'seconds':>8} {'processor':>10}")
        for part, tests in sorted(parts.items(), key=lambda each: -self._sum(self._wall, each[1])):
            terminal.write_line(self._row(part, tests))
        terminal.write_line(self._row("all", list(self._wall)))
        for test, seconds in Counter(self._wall).most_common(SLOWEST):
            terminal.write_line(f"{seconds:8.2f} s  {test}")

    def _row(self, name: str, tests: list[str]) -> str:
        wall, processor = self._sum(self._wall, tests), self._sum(self._processor, tests)
        return f"{name:12} {len(tests):6} {wall:8.1f} {processor:10.1f}"

    @staticmethod
    def _sum(seconds: Mapping[str, float], tests: list[str]) -> float:
        return sum(seconds[test] for test in tests)


class HeldUp(logging.Handler):
    """Delays of the event loops of hubs in this process, by test; no test fails by them.

    Only that counts for which the loop's own thread worked: on a busy machine every loop is late.
    """

    def __init__(self) -> None:
        super().__init__()
        self._stack = ""
        self._during: list[tuple[int, str]] = []
        self._worst: list[tuple[int, str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.msg == HELD_UP:
            self._stack = vars(record)["stack"]
        elif record.msg == GOES_ON and (worked := vars(record)["worked_ms"]) >= WATCH_LOOP:
            self._during.append((worked, _place(self._stack)))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        report.user_properties.append((HELD, self._during))
        self._during = []
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        during = dict(report.user_properties).get(HELD, [])  # none where the worker died during the test
        assert isinstance(during, list)
        self._worst = sorted([*self._worst, *((*each, report.nodeid) for each in during)], reverse=True)[
            :SLOWEST
        ]

    def tell(self, terminal: pytest.TerminalReporter) -> None:
        for worked, where, test in self._worst:
            terminal.write_line(f"{worked:8} ms of an event loop, at {where}, in {test}")


def _place(stack: str) -> str:
    """Return the last place in the hub's own code on a stack."""
    places = OURS.findall(stack)
    return "{}:{} {}".format(*places[-1]) if places else "no place of the hub's own"


class Ending:
    """The last lines of a run; in CI, what was not run and what is not proven makes it fail."""

    def __init__(self, times: Times, held_up: HeldUp, sentences: Sentences) -> None:
        self._times, self._held_up, self._sentences = times, held_up, sentences
        self._skipped: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and isinstance(report.longrepr, tuple):
            self._skipped[report.longrepr[2].removeprefix("Skipped: ")] += 1

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        self._times.tell(terminalreporter)
        self._held_up.tell(terminalreporter)
        for reason, count in self._skipped.items():
            terminalreporter.write_line(f"{count} tests were not run: {reason}")
        unproven = self._sentences.unproven
        if unproven:
            terminalreporter.write_line(
                f"{len(unproven)} documented sentences are not proven by this run: no test of theirs ran and passed"
            )
        if IN_CI or terminalreporter.config.get_verbosity() > 0:
            for sentence, test in unproven.items():
                terminalreporter.write_line(f"  {sentence}: {test}")

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        yield
        if IN_CI and not session.exitstatus and (self._skipped or self._sentences.unproven):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_configure(config: pytest.Config) -> None:
    times, held_up, sentences = Times(), HeldUp(), Sentences()
    logging.getLogger(loop_watch.__name__).addHandler(held_up)
    for plugin in (times, held_up, sentences, Ending(times, held_up, sentences)):
        config.pluginmanager.register(plugin)
