"""This machine: its name, and the facts about it that its gate knows."""

import hashlib
import os
import platform
import pwd
import socket
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import hubbub
from hubbub.model.fleet.calls import NodeInfo
from hubbub.node.commands.environment import passed_on
from hubbub.node.policy.node_policy import APPROVED, Policy
from hubbub.node.sandbox import choose
from hubbub.processes import durable_files
from shellgate.filesystem import Disk
from shellgate.protected_names import OWN_FOLDERS
from shellgate.world import World

NAME = "machine"  # of a machine without a name
SYSTEM_IDS = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
ID_FILE = "machine-id"  # in the machine's own folder, if the system gives it none
FIRST_USER, NOBODY = (501 if platform.system() == "Darwin" else 1000), 65534


def describe(data: Path, *, name: str | None = None) -> NodeInfo:
    """Describe this machine; `data` is its own folder."""
    return NodeInfo(
        name=name or host_name(),
        machine_id=_machine_id(data),
        platform=f"{platform.system()} {platform.machine()}",
        version=hubbub.__version__,
        sandbox=choose().name,
    )


def host_name() -> str:
    """Return the machine's default name."""
    return socket.gethostname().strip() or NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """Facts that stay the same while this process runs. `own` are the product's folders, beside the usual ones."""

    home: Path
    cwd: Path
    own: Sequence[Path]
    environment: Mapping[str, str]

    def world(self, policy: Policy) -> World:
        """Return the gate's view of the machine under this policy. Relative paths begin in a folder of its roots."""
        homes = _homes()
        roots = tuple(map(str, policy.roots))
        cwd = str(self.cwd)
        return World(
            home=str(self.home),
            cwd=cwd if not roots or any(self.cwd.is_relative_to(each) for each in roots) else roots[0],
            roots=roots,
            own=self._own((str(self.home), *homes), policy),
            homes=homes,
            variables=passed_on(self.environment, str(self.home)),
            files=Disk(),
            user=_user(),
            lookup=_home_of,
        )

    def _own(self, homes: Sequence[str], policy: Policy) -> tuple[str, ...]:
        named = [str(form) for folder in self.own for form in (folder.absolute(), folder.resolve())]
        usual = [f"{home}/{folder}" for home in homes for folder in OWN_FOLDERS]
        files = [str(policy.file), str(policy.file.with_name(APPROVED))] if policy.file is not None else []
        return tuple(dict.fromkeys([*named, *usual, *files]))


def _machine_id(data: Path) -> str:
    """Return an id of this machine that does not reveal the system's own, which is private."""
    for file in (*SYSTEM_IDS, data / ID_FILE):
        try:
            known = file.read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            continue
        if known:
            break
    else:
        known = uuid.uuid4().hex
        durable_files.make_folder(data, 0o700)
        durable_files.write(data / ID_FILE, known)
    return hashlib.sha256(f"hubbub {known}".encode()).hexdigest()[:32]


@cache
def _homes() -> tuple[str, ...]:
    """Return the homes of the people of this machine, and of its administrator."""
    people = (user for user in pwd.getpwall() if user.pw_uid == 0 or FIRST_USER <= user.pw_uid != NOBODY)
    return tuple(dict.fromkeys(user.pw_dir for user in people if user.pw_dir not in ("", "/")))


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return ""


def _home_of(user: str) -> str | None:
    try:
        return pwd.getpwnam(user).pw_dir
    except (KeyError, ValueError):  # nobody has that name, or nobody can
        return None
