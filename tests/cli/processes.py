"""The programs as processes: a hub that can be killed and comes back at its address, workers, and commands."""

import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2

from hubbub.client import Hub, HubUnreachable, TaskReply, owner_token
from hubbub.model.programs.proxy_trust import authorities
from tests.cli import in_process
from tests.support.migrated_database import migrated
from tests.support.waiting import patience, until

PROGRAM = (sys.executable, "-m", "hubbub")


def plain_environment(data: Path, **more: str) -> dict[str, str]:
    """The environment without any setting of this machine's own hub."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HUBBUB_")}
    return {**kept, "HUBBUB_DATA": str(data), **more}


def hubbub(
    *arguments: str, data: Path, given: str = "", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, in a process only where that makes a difference."""
    if in_process.can_run(arguments, environment or {}):
        return in_process.run(arguments, plain_environment(data, **(environment or {})), given)
    return run_process(*arguments, data=data, given=given, environment=environment)


def run_process(
    *arguments: str, data: Path, given: str = "", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in a process of its own."""
    return subprocess.run(
        [*PROGRAM, *arguments],
        env=plain_environment(data, **(environment or {})),
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )


def spawn(*arguments: str, environment: Mapping[str, str], out: int) -> subprocess.Popen[bytes]:
    """Start a command that writes to the open file `out`."""
    return subprocess.Popen(
        [*PROGRAM, *arguments], env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out
    )


def is_alive(pid: int) -> bool:
    """Tell whether the process runs, rather than being a zombie."""
    if Path("/proc/self").exists():
        stat = Path(f"/proc/{pid}/stat")
        status = stat.read_text().rpartition(")")[2].split()[0] if stat.exists() else ""
    else:
        asked = subprocess.run(
            ["/bin/ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
        )
        status = asked.stdout.strip()
    return status[:1] not in ("", "Z", "X")


def ends(pid: int) -> bool:
    """Tell whether the process has ended, or does within seconds: a kill takes effect a moment after it was sent."""
    if not hasattr(os, "pidfd_open"):
        return until(lambda: not is_alive(pid), f"the end of process {pid}")
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    with os.fdopen(descriptor) as process:
        end = select.poll()  # unlike select, it takes the number of any open file
        end.register(process, select.POLLIN)
        return bool(end.poll(patience() * 1000))


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    """Run a few lines of Python in a fresh interpreter."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@contextmanager
def stranger(*, speaks: Collection[str] | None = None) -> Iterator[str]:
    """The address of a web server that is no hub, or no more of one than that it has these dialects."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>hello</html>")

        def do_POST(self) -> None:
            self.do_GET()

        def do_OPTIONS(self) -> None:
            is_spoken = speaks is None or self.path.removeprefix("/mcp/") in speaks
            self.send_response(204 if is_spoken else 404)
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@dataclass
class RunningHub:
    """A hub in a process of its own."""

    data: Path
    port: int = 0
    project: str = "default"
    process: subprocess.Popen[str] | None = None
    workers: list["RunningWorker"] = field(default_factory=list)
    settings: Mapping[str, str] = field(default_factory=dict)
    program: Sequence[str] = PROGRAM
    _client: Hub | None = None

    def start(self) -> None:
        """Start it, or start it again at the same address, and wait until it says that it is ready."""
        if "HUBBUB_DATABASE" not in self.settings:
            migrated(self.data)
        self.process = subprocess.Popen(
            [*self.program, "serve", "--port", str(self.port)],
            env=plain_environment(self.data, **self.settings),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("http"):
                self.port = int(line.rpartition(":")[2])
                return
        raise AssertionError("the hub did not start")

    def new_project(self) -> "RunningHub":
        """The same hub, with an empty project to work in."""
        slug = f"project-{uuid4().hex[:12]}"
        self.client().post("/projects", {"slug": slug})
        return RunningHub(self.data, self.port, slug)

    def stop(self, signal_number: int = signal.SIGTERM) -> None:
        if self.process is not None:
            self.process.send_signal(signal_number)
            self.process.communicate()
            self.process = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self) -> Hub:
        """The hub as its owner sees it."""
        if self._client is None:
            token = owner_token(self.data)
            assert token is not None
            self._client = Hub(self.url, token, project=self.project)
        return self._client

    def close(self) -> None:
        """Stop everything that runs."""
        for worker in self.workers:
            if worker.process is not None and worker.process.poll() is None:
                worker.kill()
        if self._client is not None:
            self._client.close()
        self.stop()

    def run(self, *arguments: str, given: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        environment = {"HUBBUB_PROJECT": self.project, **environment}
        return hubbub(*arguments, data=self.data, given=given, environment=environment)

    def json(self, *arguments: str) -> Any:
        """Return the output of a command with `--json`; it must succeed."""
        done = self.run(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def secret(self, *arguments: str) -> str:
        """The one word that a command prints; it must succeed."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.split()) == 1
        return done.stdout.strip()

    def meet(self, *names: str) -> None:
        """Make agents known to the project."""
        client = self.client()
        for name in names:
            client.post("/tokens", {"agent": name})

    def send(self, to: str, text: str, **more: str) -> TaskReply:
        """Send a task as the owner."""
        task: TaskReply = self.client().post("/tasks", {"to": to, "text": text, **more})["task"]
        return task

    def work(self, name: str, command: str, *options: str, **environment: str) -> "RunningWorker":
        return self.work_as(name, "--run", command, *options, **environment)

    def work_as(self, name: str, *options: str, **environment: str) -> "RunningWorker":
        """Start a worker by its whole command line."""
        worker = RunningWorker(self, name, options, environment)
        self.workers.append(worker)
        worker.start()
        return worker

    def until(
        self, kind: str, wanted: Callable[[dict[str, Any]], bool] = lambda _: True, times: int = 1
    ) -> dict[str, Any]:
        """The activity of this kind, the last of so many, that has happened or happens; survives a restart."""
        after, seen = "0", 0

        def told() -> dict[str, Any] | None:
            nonlocal after, seen
            with suppress(HubUnreachable), closing(self.client().follow(after=after)) as frames:
                for frame in frames:
                    after = frame.id
                    seen += frame.data["kind"] == kind and wanted(frame.data)
                    if seen == times:
                        return frame.data
            return None

        found = until(told, f"{kind}, {times} times", seen=lambda: f"{seen} by activity {after}")
        assert found is not None
        return found

    def until_followed(self) -> None:
        """Wait until somebody follows the hub, or waits for something to come."""
        told = {"Authorization": f"Bearer {self.client().token}"}
        with httpx2.Client(
            base_url=self.url, headers=told, verify=authorities(self.url), timeout=patience()
        ) as http:
            until(
                lambda: "hubbub_open_streams 0.0" not in http.get("/metrics").text,
                "somebody who follows the hub",
            )

    def task(self, number: int) -> Any:
        return self.client().task(str(number))


class RunningWorker:
    """A `hubbub work` in a process of its own; what it says is kept line by line."""

    def __init__(
        self,
        hub: RunningHub,
        name: str,
        options: tuple[str, ...],
        environment: Mapping[str, str],
    ) -> None:
        self.hub, self.name, self.options, self.environment = hub, name, options, environment
        self.said: list[str] = []
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(
            [*PROGRAM, "work", self.name, *self.options],
            env=plain_environment(self.hub.data, HUBBUB_PROJECT=self.hub.project, **self.environment),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def says(self, words: str) -> str:
        """Wait until it says a line with these words; gives the line."""
        assert self.process is not None
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)
            if words in line:
                return line
        raise AssertionError(f"it never said {words!r}, but: {''.join(self.said)}")

    def signal(self, signal_number: int) -> None:
        assert self.process is not None
        self.process.send_signal(signal_number)

    def ended(self) -> int:
        """Wait until it has ended; gives its exit code."""
        assert self.process is not None
        _out, rest = self.process.communicate()
        self.said.append(rest or "")
        return self.process.returncode

    def kill(self) -> None:
        """Kill the worker as `kill -9` does."""
        self.signal(signal.SIGKILL)
        self.ended()
