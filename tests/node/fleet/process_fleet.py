"""A fleet of real processes: a hub, machines that have joined it, and clients, each at its own place on one network."""

import itertools
import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
from watchfiles import watch

from tests.cli.processes import PROGRAM, RunningHub, plain_environment
from tests.cli.stdio_peers import MODERN, StdioPeer
from tests.node.fleet.network import Network, Place
from tests.support.waiting import patience

Json = dict[str, Any]

PACED = Path(__file__).with_name("paced.py")
LOOK = 500  # milliseconds at most until we look again
BYPASS = 'mode = "bypass"'


def paced(pace: float) -> tuple[str, ...]:
    """Return `hubbub` with links that are so many times as fast as usual."""
    return (sys.executable, str(PACED), str(pace))


class FleetHub(RunningHub):
    """The hub of a fleet, on its network, without a machine of its own; it can be killed and comes back."""

    host: str

    @classmethod
    def on(cls, network: Network, folder: Path, *, pace: float = 1.0) -> "FleetHub":
        made = cls(
            folder / "hub",
            settings={"HUBBUB_HOST": network.host, "HUBBUB_NO_NODE": "1"},
            program=paced(pace),
        )
        made.host = network.host
        return made

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def asked(self, machine: "Machine") -> str:
        """Wait until a machine has had people asked; the id of the question."""
        line = self.until("approval.asked", lambda line: line["detail"]["node"] == machine.name)
        approval_id: str = line["detail"]["approval_id"]
        return approval_id

    def is_away(self, machine: "Machine") -> None:
        """Wait until the hub has noticed that a machine is away."""
        self.until("node.offline", lambda line: line["detail"]["node"] == machine.name)

    def post(
        self, tool: str, arguments: Json, *, token: str, node: str | None = None, key: str | None = None
    ) -> Json:
        """Return the hub's answer to one call of an agent: the result of the protocol."""
        params = {
            "name": tool,
            "arguments": arguments,
            "_meta": {"hubbub/idempotency-key": key} if key else {},
        }
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        response = httpx2.post(
            f"{self.url}/mcp/cmdop",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
            headers=headers | ({"X-Hubbub-Node": node} if node else {}),
            timeout=patience(60),
            trust_env=False,
        )
        result: Json = response.json()["result"]
        return result


class Machine:
    """A machine of the fleet: folders of its own, a place on the network, and `hubbub node run` as a process."""

    def __init__(self, hub: RunningHub, place: Place, folder: Path, name: str, *, pace: float = 1.0) -> None:
        self.hub, self.place, self.name, self.pace = hub, place, name, pace
        self.data, self.config, self.work = folder / "data", folder / "config", folder / "work"
        self.home = folder / "home"
        for each in (self.config, self.work, self.home):
            each.mkdir(parents=True)
        self.clock = 0  # seconds that it is wrong by
        self.said: list[str] = []
        self.process: subprocess.Popen[str] | None = None
        self.policy(BYPASS)

    def policy(self, text: str) -> None:
        """Write its operator's policy; the working folder is the only root."""
        file = self.config / "node.toml"
        file.write_text(f'{text}\n[files]\nroots = ["{self.work}"]\n')
        file.chmod(0o600)

    @property
    def url(self) -> str:
        """The hub's address as seen from here."""
        return self.place.url(self.hub.port)

    def environment(self, **more: str) -> dict[str, str]:
        own = {"HOME": str(self.home), "HUBBUB_CONFIG": str(self.config), "FLEET_CLOCK": str(self.clock)}
        return plain_environment(self.data, **own, **more)

    def begin(self, *options: str, **environment: str) -> None:
        """Start the node and wait for nothing."""
        self.process = subprocess.Popen(
            self.place.command([*paced(self.pace), "node", "run", *options]),
            env=self.environment(**environment),
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def join(self, *options: str) -> None:
        """Join by a code, under this machine's own name, and wait until it is linked."""
        code = self.hub.client().post("/nodes/invites", {})["code"]
        self.begin("--name", self.name, "--join", code, "--url", self.url, *options)
        self.linked()

    def start(self) -> None:
        """Start again with the existing membership, and wait until it is linked."""
        self.begin()
        self.linked()

    def linked(self) -> str:
        """Wait until it says that it is linked; gives the line."""
        return self.says(f"{self.name} is linked to ")

    def says(self, words: str) -> str:
        """Wait until it says a line with these words."""
        assert self.process is not None
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line)
            if words in line:
                return line
        raise AssertionError(f"it never said {words!r}, but: {''.join(self.said)}")

    def heard(self, words: str) -> None:
        """Wait until its audit log has a line with these words."""
        file = self.data / "audit.jsonl"
        for _changes in watch(self.data, rust_timeout=LOOK, yield_on_timeout=True):
            if file.exists() and words in file.read_text():
                return

    def stop(self, signal_number: int = signal.SIGTERM) -> int:
        """End it; its exit code."""
        assert self.process is not None
        self.process.send_signal(signal_number)
        return self.ended()

    def ended(self) -> int:
        """Wait until it has ended by itself; its exit code."""
        assert self.process is not None
        rest, _ = self.process.communicate()
        self.said.append(rest or "")
        return self.process.returncode

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def close(self) -> None:
        self.place.mend()
        if self.is_running:
            self.stop(signal.SIGKILL)

    def pipe(self, name: str = "pipe") -> Path:
        """A named pipe in its working folder: whoever opens one end waits for the other."""
        path = self.work / name
        os.mkfifo(path)
        return path


class FleetClient(StdioPeer):
    """A client on a machine of the fleet, which starts `hubbub mcp cmdop` there."""

    def __init__(self, machine: Machine, token: str) -> None:
        self.program = machine.place.command(PROGRAM)
        self.cwd = machine.work
        own = {"HOME": str(machine.home), "HUBBUB_CONFIG": str(machine.config)}
        super().__init__(
            machine.hub,
            MODERN,
            "cmdop",
            **own,
            HUBBUB_DATA=str(machine.data),
            HUBBUB_URL=machine.url,
            HUBBUB_TOKEN=token,
        )
        self.connect()


class Fleet:
    """A hub on a network, and the machines of one test."""

    def __init__(self, network: Network, folder: Path, *, pace: float = 1.0) -> None:
        self.network, self.folder, self.pace = network, folder, pace
        self.machines: list[Machine] = []
        self._numbers = itertools.count(1)
        self._token: str | None = None
        self._closing = ExitStack()
        self.hub = FleetHub.on(network, folder, pace=pace)
        self._closing.callback(self.hub.close)
        self.hub.start()

    def machine(self, name: str, *, place: Place | None = None) -> Machine:
        """Make a machine that has joined nothing yet, at a place of its own by default."""
        folder = self.folder / f"{name}-{next(self._numbers)}"
        made = Machine(self.hub, place or self.network.place(), folder, name, pace=self.pace)
        self.machines.append(made)
        self._closing.callback(made.close)
        return made

    def call(self, node: str, tool: str, **arguments: object) -> Json:
        """Return a machine's answer to an agent."""
        if self._token is None:
            self._token = self.agent()
        answer: Json = self.hub.post(tool, arguments, token=self._token, node=node)["structuredContent"]
        return answer

    def agent(self, name: str = "ada") -> str:
        """The token of an agent of the project."""
        secret: str = self.hub.client().post("/tokens", {"agent": name, "role": "member"})["secret"]
        return secret

    def client(self, machine: Machine, token: str) -> FleetClient:
        """Start a client on a machine, which ends with the test."""
        made = FleetClient(machine, token)
        self._closing.callback(made.close)
        return made

    def close(self) -> None:
        self._closing.close()
