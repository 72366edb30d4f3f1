"""A repository, agents that edit it under a real client's hooks, and the hub that they share."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hubbub.clients import hook
from hubbub.clients.install.hook_command import program
from hubbub.core.agents import file_claims
from hubbub.core.people import projects
from tests.serve.served_hub import Hub
from tests.support.tools import needed

Json = dict[str, Any]

GIT = {
    "GIT_AUTHOR_NAME": "ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


@dataclass(frozen=True)
class Answer:
    """The output of a hook's process."""

    code: int
    stdout: str
    stderr: str

    @property
    def is_silent(self) -> bool:
        return (self.code, self.stdout, self.stderr) == (0, "", "")

    @property
    def specific(self) -> Json:
        """The part of the answer for the hook that asked, in Claude Code's form."""
        told: Json = json.loads(self.stdout)["hookSpecificOutput"]
        return told


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder and return its output."""
    command = [needed(shutil.which("git"), "git"), "-C", str(folder), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **GIT})
    return done.stdout.strip()


def repository(folder: Path, remote: str | None = "https://github.com/acme/shop.git") -> Path:
    """A repository with one commit, of two files."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text("one\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "begin")
    return folder


def patient(*, hub: float, git: float) -> tuple[str, ...]:
    """The same program with other deadlines, in seconds: for an answer of the hub, and where git is asked as well."""
    code = (
        f"import sys; sys.path.append({str(Path(hook.__file__).parents[3])!r})\n"
        "from hubbub.clients.hook import main\n"
        f"main.DEADLINE = main.PATIENCE = {hub}\n"
        f"main.COMMIT = {git}\n"
        "main.main()"
    )
    return (*program()[:-1], "-c", code)


LONGEST = 120  # seconds; a hook that takes more waits for something that does not come
# What it says must not depend on how busy the machine is that tests run on.
PATIENT = patient(hub=60, git=60)


def run(
    arguments: list[str], told: bytes, environment: Mapping[str, str], *, by: Sequence[str] = PATIENT
) -> Answer:
    """Call the hook as a client does."""
    done = subprocess.run(
        [*by, *arguments], input=told, capture_output=True, env=environment, check=False, timeout=LONGEST
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


@dataclass
class Editor:
    """An agent under Claude Code, in one folder: what its client tells the hooks, and hears from them."""

    name: str
    folder: Path
    environment: dict[str, str]
    instance: str = "run-1"
    calls: int = field(default=0)

    def hook(self, event: str, **told: object) -> Answer:
        """One call of a hook."""
        content = {"session_id": f"{self.name}-{self.instance}", "cwd": str(self.folder), **told}
        return run(["claude-code", event], json.dumps(content).encode(), self.environment)

    def tool(self, event: str, name: str, **given: object) -> Answer:
        """The hook before or after a tool."""
        return self.hook(event, tool_name=name, tool_input=given)

    def before_edit(self, path: Path | str) -> Answer:
        return self.tool("PreToolUse", "Edit", file_path=str(path))

    def edit(self, path: Path, text: str) -> Answer:
        """Edit a file as a client does: ask, write, tell. What was heard before."""
        heard = self.before_edit(path)
        path.write_text(text)
        assert self.tool("PostToolUse", "Edit", file_path=str(path)).is_silent
        return heard

    def read(self, path: Path) -> None:
        assert self.tool("PostToolUse", "Read", file_path=str(path)).is_silent

    def shell(self, command: str) -> Answer:
        """Run a command in the shell as a client does, and tell."""
        subprocess.run(
            command, shell=True, cwd=self.folder, check=True, env={**os.environ, **GIT}, capture_output=True
        )
        return self.tool("PostToolUse", "Bash", command=command)


@dataclass
class Workbench:
    """Repositories and editors for the tests."""

    hub: Hub
    folder: Path

    def editor(self, name: str, at: Path, **more: Any) -> Editor:
        """An agent with a token of its own, that works in `at`."""
        return Editor(name, at, self.environment(name), **more)

    def environment(self, name: str) -> dict[str, str]:
        return {
            **bare_environment(self.folder),
            "HUBBUB_URL": self.hub.url,
            "HUBBUB_TOKEN": self.hub.token(name),
            "HUBBUB_AGENT": name,
        }

    def held(self, name: str | None = None) -> list[str]:
        """Return the claims in the project."""
        held = self.hub.do(lambda tx: file_claims.held(tx, self.hub.project.id, name))
        return [each.entry for each in held]

    def mode(self, mode: str) -> None:
        """Set the project's mode for conflicts."""
        slug = self.hub.project.slug
        self.hub.do(lambda tx: projects.change(tx, projects.find(tx, slug), {"conflict_mode": mode}))


def bare_environment(home: Path) -> dict[str, str]:
    """Return the environment of a process on a machine where nothing was ever installed."""
    return {
        "HOME": str(home / "home"),
        "PATH": os.environ["PATH"],
        "HUBBUB_CONFIG": str(home / "config"),
        "HUBBUB_DATA": str(home / "data-of-hooks"),
        **GIT,
    }
