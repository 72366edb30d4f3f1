"""The hub or the node as a service of the system: a systemd unit on Linux, a launchd agent on macOS; without secrets.

Their configuration is in their data folder, so the service only names that folder.
"""

import os
import plistlib
import pwd
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from hubbub.daemons.hub_starter import LOG_FILE
from hubbub.model.errors import Invalid
from hubbub.model.programs.launching import program
from hubbub.processes import durable_files
from hubbub.settings import variable

ASKED_BY = "SUDO_USER"  # sudo's variable with the user who called it
RESTART_SECONDS = 10
STOP_SECONDS = 30
NEEDS_A_PERSON = 2  # the exit code after which a restart is useless
STREAMS = 65536  # each reader of a hub's live events is an open file

TEMPLATE = """\
[Unit]
Description={about}
{after}StartLimitIntervalSec=0

[Service]
ExecStart={command}
Environment={environment}
WorkingDirectory={cwd}
Restart=on-failure
RestartSec={restart}
RestartPreventExitStatus={needs_a_person}
TimeoutStopSec={stop}
KillMode=mixed
UMask=0077
{files}{user}
[Install]
WantedBy={target}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemService:
    """A service to be installed: its file, the file's content, and the command by which a person starts it."""

    file: Path
    content: str
    start: tuple[str, ...]

    @property
    def starting(self) -> str:
        """Return the command as it is typed."""
        return shlex.join(self.start)

    def write(self) -> None:
        """Write the file where the system looks for it. Raises `OSError`."""
        durable_files.make_folder(self.file.parent)
        durable_files.write(self.file, self.content, 0o666)


class ServiceProgram(Protocol):
    """A program of ours that the system keeps running."""

    @property
    def unit(self) -> str:
        """Return the unit's name for systemd."""

    @property
    def label(self) -> str:
        """Return the job's label for launchd."""

    @property
    def about(self) -> str: ...

    @property
    def by_hand(self) -> str:
        """Return the command by which a person starts it."""

    @property
    def files(self) -> int | None:
        """Return the most files it has open, if that is more than the system allows by default."""

    @property
    def command(self) -> tuple[str, ...]: ...

    @property
    def errors(self) -> Path:
        """Return the file for standard error on systems without a journal."""

    @property
    def data(self) -> Path: ...

    @property
    def config(self) -> Path: ...

    @property
    def cwd(self) -> Path:
        """Return the folder where agents work, unless the machine's policy names another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeProgram:
    """The node as a service: its folders, its working folder, and its policy if that is not the folder's."""

    unit: ClassVar = "hubbub-node"
    label: ClassVar = "io.hubbub.node"
    about: ClassVar = "hubbub node: agents of the hub may use this machine, as far as its policy goes"
    by_hand: ClassVar = "hubbub node run"
    files: ClassVar[int | None] = None

    data: Path
    config: Path
    cwd: Path
    policy: Path | None = None

    @property
    def command(self) -> tuple[str, ...]:
        policy = () if self.policy is None else ("--config", str(self.policy.absolute()))
        return (*program(), "node", "run", "--data", str(self.data), *policy)

    @property
    def errors(self) -> Path:
        return self.data / "logs" / "node.stderr"


@dataclass(frozen=True, slots=True, kw_only=True)
class HubProgram:
    """The hub as a service: its data folder and further options. It prints no link, which a journal would keep."""

    unit: ClassVar = "hubbub"
    label: ClassVar = "io.hubbub"
    about: ClassVar = "hubbub: the hub where agents find each other"
    by_hand: ClassVar = "hubbub serve"
    files: ClassVar[int | None] = STREAMS

    data: Path
    config: Path
    cwd: Path
    options: tuple[str, ...] = ()
    environment: Path | None = None  # the file with further settings

    @property
    def command(self) -> tuple[str, ...]:
        settings = () if self.environment is None else ("--environment", str(self.environment))
        return (*program(), "serve", "--quiet", "--data", str(self.data), *settings, *self.options)

    @property
    def errors(self) -> Path:
        return self.data / LOG_FILE


def service_for(kept: ServiceProgram, *, whole_system: bool, system: str = sys.platform) -> SystemService:
    """Return the service for this system, for its user or for the whole system, where it starts with the machine.

    Raises `Invalid` on systems with neither systemd nor launchd, and for paths with line breaks in them.
    """
    if any(not each.isprintable() for each in (*kept.command, str(kept.config), str(kept.cwd))):
        raise Invalid("the data folder, the policy file and the working folder must have printable names")
    match system:
        case "linux":
            return _systemd(kept, whole_system=whole_system)
        case "darwin":
            return _launchd(kept, whole_system=whole_system)
    raise Invalid(
        f"services are installed for systemd, on Linux, and launchd, on macOS; start {kept.by_hand}"
    )


def _systemd(kept: ServiceProgram, *, whole_system: bool) -> SystemService:
    content = TEMPLATE.format(
        about=kept.about,
        command=" ".join(_quoted(word).replace("$", "$$") for word in kept.command),
        environment=_quoted(f"{variable('config')}={kept.config}"),
        cwd=_escaped(str(kept.cwd)),
        restart=RESTART_SECONDS,
        needs_a_person=NEEDS_A_PERSON,
        stop=STOP_SECONDS,
        after="After=network-online.target\nWants=network-online.target\n" if whole_system else "",
        files=f"LimitNOFILE={kept.files}\n" if kept.files else "",
        user=f"User={_user()}\n" if whole_system else "",
        target="multi-user.target" if whole_system else "default.target",
    )
    folder = Path("/etc/systemd/system") if whole_system else _config_home() / "systemd" / "user"
    scope = ("sudo", "systemctl") if whole_system else ("systemctl", "--user")
    return SystemService(
        file=folder / f"{kept.unit}.service",
        content=content,
        start=(*scope, "enable", "--now", kept.unit),
    )


def _launchd(kept: ServiceProgram, *, whole_system: bool) -> SystemService:
    facts = {
        "Label": kept.label,
        "ProgramArguments": list(kept.command),
        "EnvironmentVariables": {variable("config"): str(kept.config)},
        "WorkingDirectory": str(kept.cwd),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": RESTART_SECONDS,
        "ExitTimeOut": STOP_SECONDS,
        "Umask": 0o077,
        "StandardOutPath": "/dev/null",
        "StandardErrorPath": str(kept.errors),
        **({"SoftResourceLimits": {"NumberOfFiles": kept.files}} if kept.files else {}),
        **({"UserName": _user()} if whole_system else {}),
    }
    top = Path("/Library/LaunchDaemons") if whole_system else Path.home() / "Library" / "LaunchAgents"
    file = top / f"{kept.label}.plist"
    command = ("launchctl", "bootstrap", f"gui/{os.getuid()}", str(file))
    return SystemService(
        file=file,
        content=plistlib.dumps(facts).decode(),
        start=("sudo", "launchctl", "bootstrap", "system", str(file)) if whole_system else command,
    )


def _quoted(word: str) -> str:
    """Quote a word of a command line for systemd."""
    text = _escaped(word).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def _escaped(text: str) -> str:
    """Escape the text so that systemd expands nothing in it."""
    return text.replace("%", "%%")


def _config_home() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def _user() -> str:
    """Return the user for whom the service works: the caller of sudo, else this user."""
    return os.environ.get(ASKED_BY) or pwd.getpwuid(os.geteuid()).pw_name
