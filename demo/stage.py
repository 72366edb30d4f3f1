"""The stage: a data folder, a hub, agents, a commander, teams: processes, all gone after the play."""

import os
import shutil
import sys
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path
from types import TracebackType

from demo import gate
from demo.chronicle import Chronicle
from demo.clock import now
from demo.jobs import desk
from demo.orders import Orders, Refused
from demo.planner import NAME as PLANNER
from demo.planner import Planner
from demo.player import Player
from demo.processes import Process
from hubbub.client import Hub, owner_token

COMMAND = "python -m demo.jobs"
COMMANDER = "commander"
PROJECT = "default"


class Stage:
    """The stage of the scenes. A context: in the end all processes are ended and the folder is removed."""

    def __init__(self) -> None:
        self.notes: list[tuple[int, str]] = []  # what happens to processes, which the hub does not know
        self.promised: list[str] = []  # the tasks of others than the commander and the planner
        self.complaints: list[str] = []  # what went wrong on the way
        self.agents: dict[str, Process] = {}
        self.team: dict[str, Process] = {}
        self.at_work: list[gate.Halt] = []  # who stands halfway when a scene ends
        self.troupe: list[Process] = []
        self._closing = ExitStack()

    def __enter__(self) -> "Stage":
        self.folder = Path(tempfile.mkdtemp(prefix="hubbub-demo-"))
        self._closing.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.gate = gate.Gate()
        self._closing.callback(self.gate.close)
        for name in ("home", "hub", "desk", "team", "workshop"):
            (self.folder / name).mkdir()
        self.data = self.folder / "hub"
        self.desk = desk.Desk(self.folder / "desk")
        self.workshop = self.folder / "workshop"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self.troupe):
            process.destroy()
        self._closing.close()

    def note(self, sentence: str) -> None:
        """Keep for the story something that only the stage knows."""
        self.notes.append((now(), sentence))

    def complain(self, sentence: str) -> None:
        """Keep for the verdict something that a scene saw go wrong."""
        self.complaints.append(sentence)

    # ---- the hub -----------------------------------------------------------------------------------------------

    def open_hub(self) -> None:
        """Start a hub on a free port, and follow what happens there."""
        self._serve(port=0)
        token = owner_token(self.data)
        assert token is not None
        self.as_owner = Hub(self.url, token, project=PROJECT)
        self._closing.callback(self.as_owner.close)
        self.chronicle = Chronicle(self.as_owner)
        self.note("the hub is ready, on a free port and with an empty data folder")

    def kill_hub(self) -> None:
        """Kill the hub by SIGKILL, in the middle of its work."""
        self.hub.kill()
        self.note("the hub is killed with SIGKILL")

    def reopen_hub(self) -> None:
        """Start the hub again, at the same address and on the same data."""
        self._serve(port=int(self.url.rpartition(":")[2]))
        self.chronicle.follow()
        self.note("the hub is started again, on the same data")

    def _serve(self, *, port: int) -> None:
        self.hub = self._start("hub", "hubbub", "serve", "--port", str(port), "--data", str(self.data))
        self.url = self.hub.line()

    # ---- agents ------------------------------------------------------------------------------------------------

    def start_agent(self, name: str) -> None:
        """Start a `hubbub work` of that name. It may take a moment until it is there."""
        self.agents[name] = self._start(name, "hubbub", "work", name, "--run", COMMAND)

    def kill_agent(self, name: str) -> None:
        """Send SIGKILL to the agent itself, not to its command."""
        self.agents[name].kill()
        self.note(f"{name} is killed with SIGKILL, in the middle of its task")

    def start_commander(self) -> None:
        """Start the commander with a token of its own. It may take a moment until it is there."""
        secret = self._secret(COMMANDER)
        process = self._start(
            COMMANDER, "python", "-m", "demo.commander", HUBBUB_URL=self.url, HUBBUB_TOKEN=secret
        )
        self.commander = Orders(process)

    def start_planner(self, run: str) -> None:
        """Start the planner's Relay server, and the run."""
        self.planner = Planner(self._start(PLANNER, "hubbub", "mcp", "relay", **self._as_relay(PLANNER)))
        self.note(f"{PLANNER} starts its Relay server, which is `hubbub mcp relay`")
        self.planner.call("start_session", session_id=run)

    def start_teammate(self, name: str, run: str) -> None:
        """Start an agent of the Relay team, which starts its server. It may take a moment to arrive."""
        self.team[name] = self._start(
            name, "python", "-m", "demo.teammate", name, RELAY_SESSION_ID=run, **self._as_relay(name)
        )

    def start_editor(self, name: str, project: str) -> Player:
        """Start the GolemXV server of an agent that works in a project."""
        found = {
            "HUBBUB_URL": self.url,
            "GXV_API_KEY": self._secret(name, project),
            "GXV_PROJECT_SLUG": project,
        }
        return Player(name, self._start(name, "hubbub", "mcp", "golemxv", **found))

    def start_craftsman(self, name: str) -> Player:
        """Start the cmdop server of an agent, on this machine, with the workshop as its folder."""
        found = {"HUBBUB_URL": self.url, "HUBBUB_TOKEN": self._secret(name)}
        return Player(name, self._start_in(self.workshop, name, "hubbub", "mcp", "cmdop", **found))

    def start_machine(self, name: str, policy: str, *options: str) -> Process:
        """Start a `hubbub node run` of that name, with folders of its own; it may take a moment until it is linked."""
        config = self.folder / name / "config"
        config.mkdir(parents=True, exist_ok=True)
        (config / "node.toml").write_text(policy, "utf-8")
        self.work_of(name).mkdir(exist_ok=True)
        found = {"HUBBUB_CONFIG": str(config), "HUBBUB_DATA": str(self.folder / name / "data")}
        options = ("--name", name, *options)
        return self._start_in(self.work_of(name), name, "hubbub", "node", "run", *options, **found)

    def work_of(self, machine: str) -> Path:
        """The folder in which agents work on a machine."""
        return self.folder / machine / "work"

    # ---- people ------------------------------------------------------------------------------------------------

    def command(self, *words: str) -> str:
        """Return the output of `hubbub` for the person who owns this data. Raises `Refused`."""
        process = self._start("person", "hubbub", *words)
        printed = process.rest()
        if process.end():
            raise Refused(" ".join(process.said))
        return printed

    def _as_relay(self, name: str) -> dict[str, str]:
        """Return the environment of an agent's Relay server: a token of its own, and the team's common folder."""
        return {"HUBBUB_TOKEN": self._secret(name), "RELAY_PROJECT_ROOT": str(self.folder / "team")}

    def _secret(self, name: str, project: str = PROJECT) -> str:
        """A new token of a project that is bound to the agent of that name."""
        with closing(Hub(self.url, self.as_owner.token, project=project)) as hub:
            secret: str = hub.post("/tokens", {"agent": name, "role": "member"})["secret"]
        return secret

    def number(self, task: str) -> int:
        """Return the number of a task, its name among people."""
        return self.as_owner.task(task)["number"]

    def _start(self, name: str, program: str, *arguments: str, **variables: str) -> Process:
        return self._start_in(desk.ROOT, name, program, *arguments, **variables)

    def _start_in(self, cwd: Path, name: str, program: str, *arguments: str, **variables: str) -> Process:
        beside_this = Path(sys.executable).with_name(program)  # a clone may be anywhere
        environment = {**self._environment(), **variables}
        process = Process(name, [str(beside_this), *arguments], environment, cwd)
        self.troupe.append(process)
        return process

    def _environment(self) -> dict[str, str]:
        """Return the environment of every process: nothing of the user's but the search path, and an empty home."""
        kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "TMPDIR") if name in os.environ}
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        return {
            **kept,
            "PATH": programs,
            "HOME": str(self.folder / "home"),
            "PYTHONUNBUFFERED": "1",
            "HUBBUB_DATA": str(self.data),
            desk.VARIABLE: str(self.desk.folder),
            gate.VARIABLE: self.gate.address,
        }
