"""The node as a service of the system: a systemd unit on Linux, a launchd agent on macOS. No secrets are in it.

What the machine needs to know is in its data folder once it has joined, so that the service only says where that is.
"""

import os
import plistlib
import pwd
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from hubbub.model.errors import Invalid
from hubbub.settings import variable

UNIT = "hubbub-node"
LABEL = "io.hubbub.node"
PROGRAM = (sys.executable, "-m", "hubbub")
RESTART_SECONDS = 10
STOP_SECONDS = 30
NOT_JOINED = 2  # the exit code after which a person has to do something first

TEMPLATE = """\
[Unit]
Description=hubbub node: agents of the hub may use this machine, as far as its policy goes
{after}StartLimitIntervalSec=0

[Service]
ExecStart={command}
Environment={environment}
WorkingDirectory={cwd}
Restart=on-failure
RestartSec={restart}
RestartPreventExitStatus={not_joined}
TimeoutStopSec={stop}
KillMode=mixed
UMask=0077
{user}
[Install]
WantedBy={target}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What is installed, where, and by what command a person starts it."""

    file: Path
    content: str
    start: tuple[str, ...]

    @property
    def starting(self) -> str:
        """The command as it is typed."""
        return shlex.join(self.start)

    def write(self) -> None:
        """Put it where the system looks for it. Raises `OSError`."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(self.content, "utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """The node that is run: with which folders, in which working folder, and by which policy if not the folder's."""

    data: Path
    config: Path
    cwd: Path
    policy: Path | None = None

    @property
    def command(self) -> tuple[str, ...]:
        policy = () if self.policy is None else ("--config", str(self.policy.absolute()))
        return (*PROGRAM, "node", "run", "--data", str(self.data), *policy)

    @property
    def environment(self) -> dict[str, str]:
        return {variable("config"): str(self.config)}


def service(node: Node, *, whole_system: bool, system: str = sys.platform) -> Service:
    """The service for this system: of its user, or of the whole system, as which it starts with the machine.

    Raises `Invalid` where the system has neither systemd nor launchd, and for a path with line breaks in it.
    """
    if any(not each.isprintable() for each in (*node.command, str(node.config), str(node.cwd))):
        raise Invalid("the data folder, the policy file and the working folder must have printable names")
    match system:
        case "linux":
            return _systemd(node, whole_system=whole_system)
        case "darwin":
            return _launchd(node, whole_system=whole_system)
    raise Invalid(
        "services are installed for systemd, on Linux, and launchd, on macOS; start hubbub node run"
    )


def _systemd(node: Node, *, whole_system: bool) -> Service:
    content = TEMPLATE.format(
        command=" ".join(_quoted(word).replace("$", "$$") for word in node.command),
        environment=" ".join(_quoted(f"{name}={value}") for name, value in node.environment.items()),
        cwd=_escaped(str(node.cwd)),
        restart=RESTART_SECONDS,
        not_joined=NOT_JOINED,
        stop=STOP_SECONDS,
        after="After=network-online.target\nWants=network-online.target\n" if whole_system else "",
        user=f"User={_user()}\n" if whole_system else "",
        target="multi-user.target" if whole_system else "default.target",
    )
    folder = Path("/etc/systemd/system") if whole_system else _config_home() / "systemd" / "user"
    scope = ("sudo", "systemctl") if whole_system else ("systemctl", "--user")
    return Service(file=folder / f"{UNIT}.service", content=content, start=(*scope, "enable", "--now", UNIT))


def _launchd(node: Node, *, whole_system: bool) -> Service:
    facts = {
        "Label": LABEL,
        "ProgramArguments": list(node.command),
        "EnvironmentVariables": node.environment,
        "WorkingDirectory": str(node.cwd),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": RESTART_SECONDS,
        "ExitTimeOut": STOP_SECONDS,
        "Umask": 0o077,
        "StandardOutPath": "/dev/null",
        "StandardErrorPath": str(node.data / "logs" / "node.stderr"),
        **({"UserName": _user()} if whole_system else {}),
    }
    top = Path("/Library/LaunchDaemons") if whole_system else Path.home() / "Library" / "LaunchAgents"
    file = top / f"{LABEL}.plist"
    command = ("launchctl", "bootstrap", f"gui/{os.getuid()}", str(file))
    return Service(
        file=file,
        content=plistlib.dumps(facts).decode(),
        start=("sudo", "launchctl", "bootstrap", "system", str(file)) if whole_system else command,
    )


def _quoted(word: str) -> str:
    """A word of a command line, as systemd reads it."""
    text = _escaped(word).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def _escaped(text: str) -> str:
    """Text in which systemd finds nothing to put in."""
    return text.replace("%", "%%")


def _config_home() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def _user() -> str:
    """As whom the service works: whoever asked an administrator's rights for installing it, else this user."""
    return os.environ.get("SUDO_USER") or pwd.getpwuid(os.geteuid()).pw_name
