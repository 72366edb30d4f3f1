"""Programs of a run, each a process that can be killed, stopped, continued and restarted."""

import http.client
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

from hubbub.model.programs.launching import program

READY = 300.0  # seconds for a hub to answer, on a machine that has much else to do
LOOK = 0.05  # seconds between two checks
SERVED = range(20_000, 32_000)  # ports below those that systems choose from for outgoing connections


class Program:
    """One of the programs; its output goes into a file."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self.words, self._log = words, log
        usual = {name: value for name, value in os.environ.items() if not name.startswith("HUBBUB_")}
        self._environment = {**usual, **environment}
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                self.words,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # like a service; an interrupt at the terminal is for us alone
            )

    def send(self, what: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(what)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def again(self) -> None:
        """Kill it, like `kill -9`, and start it again."""
        self.kill()
        self.start()

    def end(self, seconds: float) -> bool:
        """Ask it to end, and wait for that; return whether it did."""
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        assert self.process is not None
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
            return True
        self.kill()
        return False


class HubProgram(Program):
    """A hub at a fixed port."""

    def __init__(self, data: Path, log: Path, **settings: str) -> None:
        self.data, self.port = data, free_port()
        own = {"HUBBUB_DATA": str(data), "HUBBUB_NO_NODE": "1", "HUBBUB_LOG_LEVEL": "warning", **UNLIMITED}
        super().__init__([*program(), "serve", "--port", str(self.port)], {**own, **settings}, log)
        self._has_come = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._has_come = False
        super().start()

    def has_come(self) -> bool:
        """Tell whether it has been ready since its start; a busy hub is not asked again."""
        self._has_come = self._has_come or self.is_ready()
        return self._has_come

    def is_ready(self, patience: float = 2.0) -> bool:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=patience)
        with suppress(OSError, http.client.HTTPException), closing(line):
            line.request("GET", "/ready")
            return line.getresponse().status == http.client.OK
        return False

    def wait(self) -> None:
        """Wait until it is ready. Raises `TimeoutError` if that takes too long."""
        until = time.monotonic() + READY
        while not self.is_ready(READY / 10):
            if time.monotonic() > until:
                raise TimeoutError(f"the hub is not ready after {READY:g} seconds; see {self._log}")
            time.sleep(LOOK)


UNLIMITED = {
    f"HUBBUB_TOKEN_{name}": "999999999" for name in ("RATE", "BURST", "STREAMS", "MEGABYTES")
}  # or agents would be refused for calling too fast


def free_port() -> int:
    """Return a port that is free now, and that the system does not give to the outgoing connections of others.

    A killed server needs its port again, and thousands of connections come and go meanwhile.
    """
    while True:
        port = random.SystemRandom().choice(SERVED)
        with closing(socket.socket()) as listening, suppress(OSError):
            listening.bind(("127.0.0.1", port))
            return port
