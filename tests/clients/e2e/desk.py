"""A person's desk: a fresh home, a folder to work in, and a hub; commands are typed and clients started there."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from hubbub.clients.install.hook_command import program
from tests.cli.processes import PROGRAM, RunningHub
from tests.support import process_table

# Of the machine that runs the tests: its own hub, its own clients, and where they keep what.
NOT_OURS = ("HUBBUB_", "CLAUDE", "ANTHROPIC_", "CODEX_", "OPENAI_", "XDG_")


@dataclass
class Desk:
    """A place where somebody works."""

    home: Path
    work: Path
    hub: RunningHub

    @property
    def environment(self) -> dict[str, str]:
        """The environment that a shell here passes on."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(NOT_OURS)}
        return {**kept, "HOME": str(self.home), "HUBBUB_DATA": str(self.hub.data)}

    def hubbub(self, *arguments: str) -> str:
        """Return the output of a command, which must succeed."""
        done = subprocess.run(
            [*PROGRAM, *arguments],
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def holds(self, agent: str, file: Path, *, project: str) -> None:
        """Have another agent edit a file, as reported by its client's hook."""
        token = self.hubbub("token", "create", "--project", project, "--agent", agent).strip()
        told = {"instance": agent, "cwd": str(file.parent), "tool": "edit", "path": str(file)}
        hub = {"HUBBUB_URL": self.hub.url, "HUBBUB_TOKEN": token, "HUBBUB_AGENT": agent}
        subprocess.run(
            [*program(), "opencode", "before"],
            env={**self.environment, **hub},
            input=json.dumps(told),
            text=True,
            check=True,
        )

    def files(self) -> dict[str, bytes | None]:
        """All there is in home and work, with its bytes; a folder has none."""
        every = (path for top in (self.home, self.work) for path in top.rglob("*"))
        return {str(path): path.read_bytes() if path.is_file() else None for path in every}


@contextmanager
def desk_in(folder: Path, hub: RunningHub) -> Iterator[Desk]:
    """A desk with an empty home beside this hub, which is started; at the end, nothing that runs from there is left.

    Codex leaves its server and that one's updater running.
    """
    home, work = folder / "home", folder / "work"
    home.mkdir()
    work.mkdir()
    hub.start()
    yield Desk(home, work, hub)
    hub.close()
    for pid, command in process_table.commands():
        if command.startswith(bytes(folder)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
