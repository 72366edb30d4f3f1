"""A host by the SSH configuration: its address, the user, the keys, and the way there."""

import asyncio
import os
import pwd
import re
import socket
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from hubbub.model.errors import Invalid
from hubbub.model.fleet.calls import RefusalCode
from hubbub.node.ssh import destination, ssh_config
from hubbub.node.ssh.destination import Destination
from hubbub.node.ssh.not_connected import NotConnected, not_followed
from hubbub.node.ssh.ssh_config import SYSTEMS, USERS, HostOptions

PORT = 22
LOOKUP = timedelta(seconds=5)  # for looking up a name
KEYS = ("id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk")
KNOWN = ("known_hosts", "known_hosts2")
ALGORITHMS = {  # our library's name for each
    "kexalgorithms": "kex_algs",
    "ciphers": "encryption_algs",
    "macs": "mac_algs",
    "hostkeyalgorithms": "server_host_key_algs",
    "casignaturealgorithms": "signature_algs",
}
_FAMILIES = {"inet": socket.AF_INET, "inet6": socket.AF_INET6}
_TOKEN = re.compile(r"%(.)|\$\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SshHost:
    """The way to reach one host. Paths may lead to nothing."""

    destination: Destination
    address: str  # a name, or a number
    port: int
    user: str
    alias: str | None  # under which its key is known, if that is not its address
    keys: tuple[Path, ...]
    are_keys_named: bool  # by the configuration: other keys of the agent come after them
    has_no_others: bool  # no others of the agent
    certificates: tuple[Path, ...]
    agent: str | None  # the socket of the agent that holds keys
    known: tuple[Path, ...]  # the files with the keys of hosts
    revoked: Path | None
    jumps: tuple[Destination, ...]  # hosts on the way, the nearest first
    family: int
    algorithms: dict[str, str]


def find(wanted: Destination, home: Path, agent: str | None) -> SshHost:
    """Find the host in the configuration in the home. `agent` is the socket of the user's agent.

    Raises `NotConnected`.
    """
    local_user = _local_user()
    values = ssh_config.read(wanted, home, local_user)
    if values.one("proxycommand") is not None:
        raise NotConnected(
            RefusalCode.FAILED,
            f"{wanted} is reached by a program (ProxyCommand), which is not run for agents; ProxyJump would do",
        )
    meant = _Meaning(wanted, home, local_user, values)
    return SshHost(
        destination=wanted,
        address=meant.address,
        port=meant.port,
        user=meant.user,
        alias=values.one("hostkeyalias"),
        keys=meant.paths("identityfile") or tuple(home / USERS / each for each in KEYS),
        are_keys_named=bool(values.every("identityfile")),
        has_no_others=values.is_on("identitiesonly"),
        certificates=meant.paths("certificatefile"),
        agent=meant.agent(agent),
        known=meant.known(),
        revoked=next(iter(meant.paths("revokedhostkeys")), None),
        jumps=meant.jumps(),
        family=_FAMILIES.get((values.one("addressfamily") or "").casefold(), socket.AF_UNSPEC),
        algorithms={
            name: said for each, name in ALGORITHMS.items() if (said := values.one(each)) is not None
        },
    )


async def look_for(wanted: Destination, home: Path) -> None:
    """Raise `NotConnected` if there is no such host, or no allowed way to it, if that can be told here."""
    found = await asyncio.to_thread(find, wanted, home, None)
    if found.jumps:
        return
    with suppress(TimeoutError):
        async with asyncio.timeout(LOOKUP.total_seconds()):
            try:
                await asyncio.get_running_loop().getaddrinfo(
                    found.address, found.port, type=socket.SOCK_STREAM
                )
            except (socket.gaierror, UnicodeError):
                raise NotConnected(RefusalCode.OFFLINE, f"{wanted} cannot be found") from None


class _Meaning:
    """The meaning of the configuration's words for one host."""

    def __init__(self, wanted: Destination, home: Path, local_user: str, values: HostOptions) -> None:
        self._wanted, self._home, self._values = wanted, home, values
        port = values.one("port") or str(PORT)
        if not port.isdecimal() or not 0 < int(port) < 2**16:
            raise not_followed("it names a port that does not exist")
        self.port = wanted.port or int(port)
        self.user = wanted.user or values.one("user") or local_user
        if not self.user:
            raise not_followed(f"it names no user for {wanted}, and neither does the system")
        self._signs = {"%": "%", "h": wanted.host}
        self.address = self._expanded(values.one("hostname") or wanted.host)
        name = socket.gethostname()
        self._signs |= {
            "h": self.address,
            "n": wanted.host,
            "k": values.one("hostkeyalias") or wanted.host,
            "p": str(self.port),
            "r": self.user,
            "u": local_user,
            "d": str(home),
            "i": str(os.geteuid()),
            "l": name,
            "L": name.partition(".")[0],
        }

    def paths(self, keyword: str) -> tuple[Path, ...]:
        return tuple(self._path(each) for each in self._values.every(keyword) or ())

    def known(self) -> tuple[Path, ...]:
        """Return the files with the keys of hosts: the user's, then the system's."""
        users = tuple(self._home / USERS / each for each in KNOWN)
        systems = tuple(SYSTEMS / f"ssh_{each}" for each in KNOWN)
        if self._values.every("userknownhostsfile") is not None:
            users = self.paths("userknownhostsfile")
        if self._values.every("globalknownhostsfile") is not None:
            systems = self.paths("globalknownhostsfile")
        return users + systems

    def agent(self, users: str | None) -> str | None:
        """Return the socket of the agent."""
        if self._values.every("identityagent") is None:
            return users
        said = self._values.one("identityagent")
        if said is None or said == "SSH_AUTH_SOCK":
            return said and users
        return (
            os.environ.get(said[1:]) if said.startswith("$") and said[1:2] != "{" else str(self._path(said))
        )

    def jumps(self) -> tuple[Destination, ...]:
        """Return the hosts on the way, except one that would be on the way to itself."""
        said = self._values.one("proxyjump")
        try:
            found = (
                tuple(destination.parse(each.removeprefix("ssh://")) for each in said.split(","))
                if said
                else ()
            )
        except Invalid:
            raise not_followed("it names a jump host that is not a host") from None
        return () if any(each.host == self._wanted.host for each in found) else found

    def _path(self, written: str) -> Path:
        text = self._expanded(written)
        return self._home / (text[2:] if text.startswith("~/") else text)

    def _expanded(self, written: str) -> str:
        def stands_for(found: re.Match[str]) -> str:
            value = self._signs.get(found[1]) if found[1] else os.environ.get(found[2])
            if value is None:
                raise not_followed(f"{found[0]} stands for nothing")
            return value

        return _TOKEN.sub(stands_for, written)


def _local_user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # as in a container, where nobody has a name
        return ""
