"""Several processes for one run, forked when all tests are collected: nothing is imported or collected twice.

Those marked `long` are begun first, or the last of them would run alone in the end. Then each has a stretch of the
others, in their order, as neighbours share what is set up for a module. Who is through with it takes half of what is
left of the longest. One that dies has failed the test that it was at, and another goes on in its place.
"""

import atexit
import multiprocessing
import os
import signal
import traceback
import warnings
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NoReturn, TypeAlias

import pytest

from tests.support.waiting import patience

MOST = 8
AHEAD = 2  # tests that a worker knows of: as one ends it has to know whether the next needs what was set up
LONGEST = 60  # seconds, to take back what is set up when a run is broken off
TERMINAL = "terminalreporter"
Line: TypeAlias = "Connection[Any, Any]"
Plain = dict[str, Any]


def count(text: str) -> int:
    """The number that `text` names; for more than half of its time a test waits, for a disk or another process."""
    return min(MOST, 2 * (os.cpu_count() or 1) + 1) if text == "auto" else int(text)


def pytest_addoption(parser: pytest.Parser) -> None:
    told = f"run the tests in so many processes; 'auto': two for each processor and one more, at most {MOST}"
    parser.addoption("--workers", type=count, default=1, metavar="N", help=told)


def pytest_report_header(config: pytest.Config) -> str | None:
    workers = config.getoption("workers")
    return f"{workers} workers" if workers > 1 else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests side by side; what is asked for otherwise, or could not be collected, is left to pytest itself."""
    workers = min(session.config.getoption("workers"), len(session.items))
    if workers < 2 or session.config.option.collectonly or session.testsfailed:
        return None
    Run(session, workers).to_end()
    return True


@dataclass(eq=False)
class Worker:
    """A process that runs tests, seen from the one that collected them."""

    number: int
    process: BaseProcess
    line: Line
    given: deque[int] = field(default_factory=deque)  # and not reported yet: it is at the first
    is_last: bool = False  # it was told that nothing comes after these

    def give(self, index: int | None) -> None:
        """Have it run this test too, or tell it that there is none."""
        if index is None:
            self.is_last = True
        else:
            self.given.append(index)
        with suppress(BrokenPipeError):  # it has died, as its line is about to tell
            self.line.send(index)

    def interrupt(self) -> None:
        """Have it leave the test that it is at, and take back what that test has set up."""
        if self.process.pid and self.process.is_alive():
            os.kill(self.process.pid, signal.SIGINT)


class Run:
    """All tests of a session, in several processes."""

    def __init__(self, session: pytest.Session, workers: int) -> None:
        self._session, self._hook = session, session.config.hook
        self._terminal = session.config.pluginmanager.get_plugin(TERMINAL)
        is_long = [item.get_closest_marker("long") is not None for item in session.items]
        self._long = deque(place for place, each in enumerate(is_long) if each)
        others = [place for place, each in enumerate(is_long) if not each]
        bounds = [len(others) * number // workers for number in range(workers + 1)]
        self._left = [deque(others[slice(*each)]) for each in pairwise(bounds)]  # to be given, by worker
        self._workers: dict[Line, Worker] = {}
        folder = session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        self._folders = [folder / f"w{number}" for number in range(workers)]
        for each in self._folders:
            each.mkdir(mode=0o700)

    def to_end(self) -> None:
        """Run them and report what came of each, until none is left or a failure is to stop the run."""
        if self._terminal:
            self._terminal.showfspath = False  # neighbours are of different modules
            self._terminal.flush()  # or each process would say again what is not yet said
        try:
            for number in range(len(self._left)):
                self._begin(number)
            while self._workers:
                for line in wait([*self._workers]):
                    assert isinstance(line, Connection)
                    self._hear(self._workers[line])
        except KeyboardInterrupt:
            self._break_off()
            raise
        finally:
            for worker in self._workers.values():
                worker.line.close()
                worker.process.join(patience(LONGEST))
                worker.process.kill()
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)

    def _break_off(self) -> None:
        """Have all leave the tests that they are at, and say which these are."""
        for worker in self._workers.values():
            worker.interrupt()
            if self._terminal and worker.given:
                self._terminal.write_line(f"\nit was at {self._session.items[worker.given[0]].nodeid}")

    def _begin(self, number: int, given: Sequence[int] = ()) -> None:
        ours, theirs = multiprocessing.Pipe()
        others = [ours, *self._workers]
        fork = multiprocessing.get_context("fork")
        process = fork.Process(target=work, args=(self._session, self._folders[number], theirs, others))
        process.start()
        theirs.close()
        worker = self._workers[ours] = Worker(number, process, ours)
        for index in given:
            worker.give(index)
        while len(worker.given) < AHEAD and not worker.is_last:
            worker.give(self._next(number))

    def _next(self, number: int) -> int | None:
        """The test that this worker is to run next; None if none is left."""
        if self._session.shouldfail or self._session.shouldstop:
            return None
        if self._long:
            return self._long.popleft()
        if not self._left[number]:
            longest = max(range(len(self._left)), key=lambda each: len(self._left[each]))
            left = [*self._left[longest]]
            half = len(left) // 2
            self._left[longest], self._left[number] = deque(left[:half]), deque(left[half:])
        return self._left[number].popleft() if self._left[number] else None

    def _hear(self, worker: Worker) -> None:
        try:
            told = worker.line.recv()
        except (EOFError, ConnectionError):
            self._end(worker)
            return
        if isinstance(told, str):
            raise RuntimeError(told)  # how it went wrong outside of all tests
        self._report(worker.given.popleft(), *told)
        if not worker.is_last:
            worker.give(self._next(worker.number))

    def _report(self, index: int, reports: Sequence[Plain], warned: Sequence[Plain]) -> None:
        item = self._session.items[index]
        for each in warned:
            self._hook.pytest_warning_recorded.call_historic(kwargs=each)
        self._hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for data in reports:
            report = self._hook.pytest_report_from_serializable(config=self._session.config, data=data)
            self._hook.pytest_runtest_logreport(report=report)
        self._hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _end(self, worker: Worker) -> None:
        """Let one go that has ended; if it has died, another runs what it has left."""
        del self._workers[worker.line]
        worker.line.close()
        worker.process.join()
        if worker.given:
            died = self._session.items[worker.given.popleft()]
            sentence = f"the process that ran it has died, with {worker.process.exitcode}"
            report = pytest.TestReport(died.nodeid, died.location, {}, "failed", sentence, "call")
            self._hook.pytest_runtest_logreport(report=report)
            self._begin(worker.number, worker.given)


# ---- in the process itself -----------------------------------------------------------------------------------------


class Told:
    """Pass the events of a test to the process that collected it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._reports: list[Plain] = []
        self._warned: list[Plain] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        plain = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._reports.append(plain)

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: object
    ) -> None:
        if when == "runtest":
            said, category = str(warning_message.message), warning_message.category
            plain = warnings.WarningMessage(said, category, warning_message.filename, warning_message.lineno)
            self._warned.append(
                {"warning_message": plain, "when": when, "nodeid": nodeid, "location": location}
            )

    def all(self) -> tuple[list[Plain], list[Plain]]:
        """Return that, and begin anew."""
        told = self._reports, self._warned
        self._reports, self._warned = [], []
        return told


def work(session: pytest.Session, folder: Path, line: Line, others: Sequence[Line]) -> None:
    """Run the tests that come over `line`, and send back what came of each, until there are no more."""
    signal.signal(signal.SIGINT, _leave)
    for each in others:
        each.close()
    try:
        _be_one_of_several(session.config, folder)
        _run(session, line)
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        pass  # nobody wants to know any more
    except BaseException:  # noqa: BLE001  # it is told, and ends the run
        line.send(traceback.format_exc())
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        session._setupstate.teardown_exact(None)
        atexit._run_exitfuncs()


def _leave(*_signal: object) -> NoReturn:
    """Leave the test once: a terminal interrupts all processes, and so does the one that collected the tests.

    A second interrupt would break off the taking back of what the test has set up, and leave servers running.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _run(session: pytest.Session, line: Line) -> None:
    told = Told(session.config)
    session.config.pluginmanager.register(told)
    index = line.recv()
    while index is not None:
        following = line.recv()
        item, nextitem = session.items[index], None if following is None else session.items[following]
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=nextitem)
        line.send(told.all())
        index = following


def _be_one_of_several(config: pytest.Config, folder: Path) -> None:
    """Have a folder and captured files of its own, and leave the terminal to the process that collected."""
    config.pluginmanager.unregister(name=TERMINAL)
    config._tmp_path_factory._basetemp = folder  # type: ignore[attr-defined]
    if (capturing := config.pluginmanager.get_plugin("capturemanager")) and capturing._method == "fd":
        for each in (capturing._global_capturing.out, capturing._global_capturing.err):
            with (
                TemporaryFile() as file
            ):  # under the number of the other: there are modules that have kept that
                os.dup2(file.fileno(), each.tmpfile.fileno())
