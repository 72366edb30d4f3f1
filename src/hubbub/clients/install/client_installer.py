"""The parts of an installer: its client's facts, and the request with the place and the hub."""

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hubbub.clients.install.install_plan import InstallStep

USER, PROJECT = "user", "project"
SERVER = "hubbub"  # the name of our entry, nearly everywhere
VARIABLE = "HUBBUB_TOKEN"
OWN_VARIABLE = "HUBBUB_TOKEN_OF_"  # followed by the agent, for a client that acts as several
BRACED = r"\$\{(?P<variable>\w+)\}"  # how some clients name a variable in a header
NAMED = r"\$\{env:(?P<variable>\w+)\}"  # and others

# The hub's tools that an agent may use without a person: a woken agent has to read its mail, and answer. Only
# `ask` is left out: it has other machines do something.
UNATTENDED = ("join", "inbox", "send", "task", "board", "files", "share")


@dataclass(frozen=True, slots=True)
class UserFolders:
    """The places of a person's files on this machine."""

    home: Path
    environment: Mapping[str, str]
    platform: str  # as `sys.platform`

    @staticmethod
    def this() -> "UserFolders":
        """Return the folders of the present user."""
        return UserFolders(Path.home(), os.environ, sys.platform)

    @property
    def applications(self) -> Path:
        """Return the folder of programs' own files: XDG's, macOS's or Windows'."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return self.path("APPDATA", self.home / "AppData" / "Roaming")
        return self.xdg

    @property
    def xdg(self) -> Path:
        """Return the folder of configuration of programs that follow XDG on every platform but Windows."""
        return self.path("XDG_CONFIG_HOME", self.home / ".config")

    def path(self, variable: str, usual: Path) -> Path:
        """Return the absolute path that a variable names, else the usual one: an uninstall may start anywhere."""
        return Path(self.environment.get(variable) or usual).expanduser().absolute()


@dataclass(frozen=True, slots=True)
class InstallRequest:
    """A request to install: the scope, the place and the hub. `folder` is the project's, in that scope.

    `config` is hubbub's own folder of configuration, `data` that of a hub on this machine, else None. `token` is the
    agent's, which must not be in a project's file.
    """

    scope: str
    folder: Path
    agent: str
    url: str
    project: str
    token: str
    token_file: Path
    config: Path
    data: Path | None
    machine: UserFolders

    @property
    def mcp(self) -> str:
        """Return the address of the hub's MCP endpoint with its own tools."""
        return f"{self.url.rstrip('/')}/mcp"

    @property
    def is_user(self) -> bool:
        return self.scope == USER

    @property
    def variable(self) -> str:
        """Return the variable of the token in the client's environment.

        A project's agent has one of its own: `VARIABLE` in the user's own files comes before an exported one.
        """
        return VARIABLE if self.is_user else own_variable(self.agent)


@dataclass(frozen=True, slots=True)
class ClientInstaller:
    """One client: `changes` makes its plan, `notes` lists the person's remaining steps, `restart` the last of them.

    `words` are those that it replaces in a header: a pattern with a group `variable`, `file` or `secret`; None if it
    replaces none. `no_project` is the sentence that refuses the project scope, for clients without it. `is_bridged`
    says that it starts `hubbub mcp` instead of connecting to an address.
    """

    name: str
    title: str
    changes: Callable[[InstallRequest], Sequence[InstallStep]]
    notes: Callable[[InstallRequest], Sequence[str]]
    words: str | None = None
    no_project: str | None = None
    is_bridged: bool = False
    restart: Sequence[str] = ()


def own_variable(agent: str) -> str:
    """Return the variable of one agent's token: two agents never share one, and every shell takes the name."""
    return OWN_VARIABLE + "".join(_in_variable(each) for each in agent)


def _in_variable(letter: str) -> str:
    """Return a letter's part of a variable; small letters occur only in what stands for other letters."""
    if letter == "-":
        return "_"
    if letter.isascii() and (letter.islower() or letter.isdigit()):
        return letter.upper()
    return "".join(f"x{byte:02x}" for byte in letter.encode())


def grant_note(client: str) -> str:
    """Return a note on the tools that the client may use without asking the person."""
    tools = f"{', '.join(UNATTENDED[:-1])} and {UNATTENDED[-1]}"
    return f"{client} may use {len(UNATTENDED)} tools of the hub without asking you: {tools}; not ask"


def prompts_note(client: str) -> str:
    """Return a note on the client's permission prompts, which its hooks bring to the hub, too."""
    return f"{client}'s permission prompts also come to the hub, where you may answer them: hubbub approve"


def bearer(token: str) -> str:
    """Return the value of the Authorization header; `token` may be the client's word for a variable."""
    return f"Bearer {token}"


def export_note(request: InstallRequest) -> str:
    """Return a note on how the person puts the token into the client's environment."""
    return f'start the client with its token: export {request.variable}="$(cat {shlex.quote(str(request.token_file))})"'


def export_notes(request: InstallRequest) -> Sequence[str]:
    """List the one remaining step of a client that reads its token from its environment."""
    return (export_note(request),)


def export_notes_in_project(request: InstallRequest) -> Sequence[str]:
    """List the same step for a client that does so in a project only."""
    return () if request.is_user else export_notes(request)
