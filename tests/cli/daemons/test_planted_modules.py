"""Nothing that hubbub starts takes modules or programs from the folder it is started in, whatever is put there."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from pathlib import Path

import click
import pytest

from hubbub.cli import hubbub as whole
from hubbub.clients.install.hook_command import hook_command
from hubbub.clients.install.known_clients import CLIENTS
from hubbub.daemons.hub_starter import running_address
from hubbub.model.programs.launching import program
from tests.cli.processes import RunningHub, plain_environment
from tests.cli.stdio_peers import LEGACY, StdioPeer
from tests.support.waiting import until

OF_PYTHON = {*sys.stdlib_module_names, "sitecustomize", "usercustomize", "__main__"}
INSTALLED = {name for name in packages_distributions() if name.isidentifier()}
CONSOLE = [str(Path(sys.executable).with_name("hubbub"))]
HOOK = [str(Path(sys.executable).with_name("hubbub-hook"))]
EVERYWHERE = ":."  # a PYTHONPATH, or the beginning of a PATH, that means wherever one is, twice
PROGRAMS = (
    "bash",
    "bwrap",
    "cat",
    "claude",
    "codex",
    "git",
    "ps",
    "python",
    "python3",
    "rg",
    "sh",
    "systemctl",
)
STAY = {
    ("serve",),
    ("up",),
    ("down",),
    ("work",),
    ("chat",),
    ("watch",),
    ("ring",),
    ("node", "run"),
    ("mcp",),
    ("prove",),
    ("wait",),
}

MARKS = "import posix\nposix.close(posix.open({marker!r}, posix.O_WRONLY | posix.O_CREAT))\n"  # there is no `open` yet

MADE = "#!/bin/sh\n: >{marker}\n"

WALK = """
import json, os, sys
from click.testing import CliRunner
from hubbub.cli import hubbub
from hubbub.model.programs.launching import ignore_current_folder
ignore_current_folder(os.environ)
for words in json.loads(sys.argv[1]):
    for more in ([], ["--help"], ["--json"]):
        CliRunner().invoke(hubbub, [*words, *more])
"""


@dataclass
class Planted:
    """A folder of modules and programs that make a marker when they are imported or run, and a machine around it."""

    top: Path

    def __post_init__(self) -> None:
        self.folder, self.data, self.home = self.top / "work", self.top / "data", self.top / "home"
        self._markers = self.top / "markers"
        for each in (self.folder, self.data, self.home, self._markers):
            each.mkdir(mode=0o700)
        for folder in (self.folder, self.data):
            for name in (OF_PYTHON | INSTALLED) - {"posix"}:
                self._plant(folder / f"{name}.py", name)
            for name in ("__init__", "__main__"):
                self._plant(folder / "hubbub" / f"{name}.py", f"hubbub.{name}")
        for name in PROGRAMS:
            program_here = self.folder / name
            program_here.write_text(MADE.format(marker=shlex.quote(str(self._markers / f"{name} was run"))))
            program_here.chmod(0o700)

    def _plant(self, file: Path, name: str) -> None:
        file.parent.mkdir(exist_ok=True)
        file.write_text(MARKS.format(marker=str(self._markers / name)))

    @property
    def imported(self) -> list[str]:
        return sorted(each.name for each in self._markers.iterdir())

    def environment(self, **more: str) -> dict[str, str]:
        own = {
            "HUBBUB_CONFIG": str(self.top / "config"),
            "HOME": str(self.home),
            "BROWSER": "true",
            "PATH": f"{EVERYWHERE}:{os.environ['PATH']}",
        }
        return plain_environment(self.data, **own, **more)

    def run(
        self, words: Sequence[str], *, given: str = "", **more: str
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end in the folder."""
        return subprocess.run(
            words,
            cwd=self.folder,
            env=self.environment(**more),
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )

    def hub(self) -> RunningHub:
        """The hub that runs over the data folder."""
        url = running_address(self.data)
        assert url is not None
        return RunningHub(self.data, int(url.rpartition(":")[2]))


@pytest.fixture
def planted(tmp_path: Path) -> Iterator[Planted]:
    place = Planted(tmp_path)
    yield place
    if running_address(place.data):
        place.run([*program(), "down"])
    assert place.imported == []


def allow_all(planted: Planted) -> None:
    """Let agents do in the folder what they like."""
    config = planted.top / "config"
    config.mkdir(mode=0o700)
    file = config / "node.toml"
    file.write_text(f'mode = "bypass"\n[files]\nroots = ["{planted.folder}"]\n')
    file.chmod(0o600)


def test_a_command_and_a_hook_import_nothing(planted: Planted) -> None:
    """Commands that a person types, and that a client runs at each step, look for no module where they are called."""
    told = planted.run([*CONSOLE, "agents"])
    assert (told.returncode, "no hub is running" in told.stderr) == (3, True)
    assert planted.run(shlex.split(hook_command("codex", "SessionStart")), given="{}").returncode == 0


@pytest.mark.long
@pytest.mark.system
def test_a_hub_in_the_background_and_its_agents_import_nothing(planted: Planted) -> None:
    """`hubbub up` starts a hub, that an agent, and that its commands, of the modules that are installed alone."""
    allow_all(planted)
    up = planted.run([*program(), "up", "--port", "0"], PYTHONPATH=EVERYWHERE)
    assert up.returncode == 0, up.stderr

    with closing(planted.hub()) as hub:
        machine = str(hub.client().get("/nodes")["nodes"][0]["name"])
        start = ("agent", "start", "coder", "--node", machine, "--run", "cat")
        begun = planted.run([*CONSOLE, *start])
        assert begun.returncode == 0, begun.stderr
        hub.until("agent.checkin", lambda each: each["agent"] == "coder")
        hub.send("coder", "hello")
        hub.until("task.completed")


@pytest.mark.system
def test_a_bridge_and_what_it_starts_import_nothing(planted: Planted) -> None:
    """`hubbub mcp` starts a hub where none runs, and what it runs commands with, of what is installed alone."""
    allow_all(planted)
    first = planted.run([*program(), "mcp"], PYTHONPATH=EVERYWHERE)
    assert first.returncode == 0, first.stderr

    class Peer(StdioPeer):
        program = CONSOLE
        cwd = planted.folder

    with closing(planted.hub()) as hub:
        secret = hub.client().post("/tokens", {"agent": "ada", "role": "admin"})["secret"]
        with closing(Peer(hub, LEGACY, "cmdop", **planted.environment(HUBBUB_TOKEN=secret))) as peer:
            assert peer.connect().call("execute_command", command="echo here")["stdout"] == "here\n"


@pytest.mark.system
@pytest.mark.parametrize(
    "kept", [("install-service", "--port", "0"), ("node", "install-service")], ids=" ".join
)
def test_a_unit_starts_what_is_installed(planted: Planted, kept: tuple[str, ...]) -> None:
    """The line that systemd would run, in the folder that it would run it in, imports nothing from there."""
    unit = planted.run([*CONSOLE, *kept, "--print"]).stdout.splitlines()
    facts = dict(line.split("=", 1) for line in unit if "=" in line)
    assert Path(facts["WorkingDirectory"]) == planted.folder

    process = subprocess.Popen(
        shlex.split(facts["ExecStart"]),
        cwd=facts["WorkingDirectory"],
        env=planted.environment(PYTHONPATH=EVERYWHERE),
    )
    try:
        until(  # a node that has joined no hub ends by itself
            lambda: process.poll() is not None or running_address(planted.data), "a hub that answers"
        )
    finally:
        process.terminate()
        process.wait()


@pytest.mark.system
def test_every_other_command_imports_nothing(planted: Planted) -> None:
    """No command of the whole tree looks for modules where it is called, nor what it installs for clients."""
    up = planted.run([*program(), "up", "--port", "0"], PYTHONPATH=EVERYWHERE)
    assert up.returncode == 0, up.stderr
    words = [each for each in _leaves(whole) if not any(each[: len(one)] == one for one in STAY)]
    assert len(words) > 40

    installs = [("install", name) for name in CLIENTS]
    walker = planted.top / "walker.py"
    walker.write_text(WALK)
    walked = planted.run(
        [*program()[:-2], str(walker), json.dumps([*words, *installs])], PYTHONPATH=EVERYWHERE
    )
    assert (walked.returncode, walked.stderr) == (0, "")

    desktop = json.loads((planted.home / ".config/Claude/claude_desktop_config.json").read_text())
    entry = desktop["mcpServers"]["hubbub"]
    bridge = planted.run([entry["command"], *entry["args"]], PYTHONPATH=EVERYWHERE)
    assert bridge.returncode == 0, bridge.stderr
    for client in ("claude-code", "codex", "cursor", "gemini", "opencode"):
        hook = shlex.split(hook_command(client, "SessionStart"))
        assert planted.run(hook, given="{}", PYTHONPATH=EVERYWHERE).returncode == 0
        assert planted.run([*HOOK, client, "SessionStart"], given="{}").returncode == 0


def _leaves(command: click.Command, *above: str) -> Iterator[tuple[str, ...]]:
    """The words of every command that is no group."""
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            if (found := command.get_command(click.Context(command), name)) is not None:
                yield from _leaves(found, *above, name)
    else:
        yield above
