"""The folders of commands in the background, which any process of their user can read.

While the command runs, its keeper answers at the socket in it; once it has ended, the folder has the result. A
command that has neither was killed together with its keeper.
"""

import json
import os
import re
import signal
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Any

from hubbub.processes import file_locks

COMMANDS = "commands"  # the folder of them all, in the machine's own
RECORD, ENDING, SOCKET = "record.json", "ending.json", "keeper"
ID = re.compile(r"[0-9a-f]{16}")

LOOK = b"\0"  # a question to a keeper: this, or the number of a signal to end its command

KEPT = 100  # number of ended commands that are remembered
PATIENCE = 10.0  # seconds with a keeper's answer: it may have to end its command first


class JobStatus(StrEnum):
    """The status of a command."""

    RUNNING = "running"
    EXITED = "exited"
    KILLED = "killed"  # ended on request, or its waiting caller has gone
    TIMEOUT = "timeout"


class NoRoom(Exception):
    """As many commands run in the background of the machine as may."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"{most} commands run in the background of this machine; end one by shell_kill first"
        )


def new_id() -> str:
    """Return the id of a new command, which nobody can guess."""
    return os.urandom(8).hex()


class JobFolder:
    """The folder of one command."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def task_id(self) -> str:
        return self.path.name

    def listen(self) -> socket.socket:
        """Make the folder, and its keeper's socket. The process moves into the folder for it."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.mkdir(mode=0o700)
        os.chdir(self.path)  # the address of a socket must be short
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(SOCKET)
        listener.listen()
        return listener

    def write(self, name: str, facts: Mapping[str, object]) -> None:
        """Write facts there, all at once."""
        beside = self.path / f".{name}"
        beside.touch(mode=0o600)
        beside.write_text(json.dumps(facts), "utf-8")
        beside.rename(self.path / name)

    def read(self, name: str) -> dict[str, Any] | None:
        """Read facts; None if there are none, or a power cut has destroyed them."""
        try:
            return dict(json.loads((self.path / name).read_text("utf-8")))
        except (FileNotFoundError, ValueError):
            return None

    def look(self) -> dict[str, Any]:
        """Return the command's `status`, `output_tail` and, once it has ended, `exit_code` if that is known.

        A command killed with its keeper is recorded as such; a keeper that does not answer still has its command.
        """
        try:
            seen = self._ask(LOOK) or self.read(ENDING)
        except TimeoutError:
            return {"status": JobStatus.RUNNING, "output_tail": ""}
        if seen is None:
            seen = {"status": JobStatus.KILLED, "exit_code": None, "output_tail": ""}
            with suppress(OSError):  # the next look will find it again
                self.write(ENDING, seen)
        return seen

    def end(self, number: int) -> bool:
        """End the command by a signal, and by force if that fails; tell whether this ended it.

        Raises `TimeoutError` if it does not end.
        """
        answer = self._ask(bytes([number]))
        return answer is not None and bool(answer["killed"])

    def _ask(self, question: bytes) -> dict[str, Any] | None:
        """Return the keeper's answer; None if it is gone: before that, it stores how the command ended."""
        try:
            with self._address() as address, socket.socket(socket.AF_UNIX) as line:
                line.settimeout(PATIENCE)
                line.connect(address)
                line.sendall(question)
                answer = b"".join(iter(lambda: line.recv(65_536), b""))
        except TimeoutError:
            raise
        except OSError:
            return None
        return dict(json.loads(answer)) if answer else None

    @contextmanager
    def _address(self) -> Iterator[str]:
        """Yield a short address of the socket, which only this process knows."""
        here = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            ways = Path("/proc/self/fd")
            yield f"{ways}/{here}/{SOCKET}" if ways.is_dir() else str(self.path / SOCKET)
        finally:
            os.close(here)


def of(data: Path, task_id: str) -> JobFolder:
    """Return the folder of a command, whether or not it exists yet."""
    return JobFolder(data / COMMANDS / task_id)


def find(data: Path, task_id: str) -> tuple[JobFolder, dict[str, Any]] | None:
    """Return the folder of a command and its record, if there is such a command."""
    folder = of(data, task_id)
    record = folder.read(RECORD) if ID.fullmatch(task_id) else None
    return None if record is None else (folder, record)


def every(data: Path) -> list[tuple[JobFolder, dict[str, Any]]]:
    """Return all commands with their records, in the order of their start."""
    where = data / COMMANDS
    folders = (
        [JobFolder(path) for path in where.iterdir() if ID.fullmatch(path.name)] if where.is_dir() else []
    )
    found = [(folder, record) for folder in folders if (record := folder.read(RECORD)) is not None]
    return sorted(found, key=lambda each: str(each[1]["started_at"]))


def remove(path: Path | str) -> None:
    """Remove a folder with its content, as far as possible."""
    import shutil  # seldom needed, and a keeper's memory is copied for each command

    shutil.rmtree(path, ignore_errors=True)


@contextmanager
def room(data: Path, most: int) -> Iterator[None]:
    """Hold the list of commands while one is added, so that no two get the last room. Raises `NoRoom`."""
    where = data / COMMANDS
    where.mkdir(mode=0o700, parents=True, exist_ok=True)
    held = os.open(where, os.O_RDONLY | os.O_DIRECTORY)
    try:
        file_locks.wait(held)
        open_ones = [folder for folder, _ in every(data) if folder.read(ENDING) is None]
        if len(open_ones) >= most and sum(_runs(folder) for folder in open_ones) >= most:
            raise NoRoom(most)
        yield
    finally:
        os.close(held)


def _runs(folder: JobFolder) -> bool:
    return bool(folder.look()["status"] == JobStatus.RUNNING)


def forget_oldest(data: Path) -> None:
    """Remove the folders of ended commands, except for the last ones."""
    ended = [folder for folder, _ in every(data) if folder.read(ENDING) is not None]
    for folder in ended[:-KEPT]:
        remove(folder.path)


def end_all(data: Path) -> None:
    """End every command in the background of this machine, as its hub does when it ends itself."""
    from concurrent.futures import ThreadPoolExecutor  # keepers do not need it, and should be small

    def end(folder: JobFolder) -> None:
        with suppress(TimeoutError):
            folder.end(signal.SIGTERM)

    running = [folder for folder, _ in every(data) if folder.read(ENDING) is None]
    with ThreadPoolExecutor(max(1, len(running))) as threads:  # in parallel, each takes a moment
        list(threads.map(end, running))
