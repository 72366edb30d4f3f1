"""Reaching a host: over the hosts on the way, each with a proved identity, to a shell with a terminal."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncssh
from asyncssh import SSHAgentClient, SSHClient, SSHClientConnection, SSHKey

from hubbub.model.fleet.calls import RefusalCode
from hubbub.node.ssh import host_config, user_keys
from hubbub.node.ssh.destination import Destination
from hubbub.node.ssh.host_config import SshHost
from hubbub.node.ssh.known_hosts import KnownHosts
from hubbub.node.ssh.not_connected import NotConnected
from hubbub.node.ssh.ssh_channel import SshChannel
from hubbub.node.ssh.user_keys import UserKeys

TIMEOUT = timedelta(seconds=15)  # until there is a shell, with all hosts on the way
STILL_THERE = timedelta(seconds=30)  # after which a silent host is asked
MOST_ON_THE_WAY = 8
TERMINAL, SIZE = "xterm", (80, 24)
# No password, no question, no forwarding, nothing of our environment, no file but those we read.
NOTHING_ELSE: Mapping[str, Any] = {
    "config": None,
    "password_auth": False,
    "kbdint_auth": False,
    "host_based_auth": False,
    "gss_host": None,
    "agent_path": None,
    "agent_forwarding": False,
    "pkcs11_provider": None,
    "x11_forwarding": False,
    "x509_trusted_certs": [],
    "x509_trusted_cert_paths": [],
    "canonicalize_hostname": False,
    "proxy_command": None,
    "send_env": None,
    "env": None,
}

# Otherwise the hosts and the way to them are in a log that agents may read.
asyncssh.set_log_level(logging.WARNING)


async def open_shell(wanted: Destination, home: Path, agent: str | None) -> SshChannel:
    """Open a shell on the wanted host, with the configuration and the keys of this home.

    `agent` is the socket of the user's agent. Raises `NotConnected`.
    """
    try:
        async with asyncio.timeout(TIMEOUT.total_seconds()):
            return await _dialled(await asyncio.to_thread(_way, wanted, home, agent))
    except TimeoutError:
        sentence = f"{wanted} did not answer within {TIMEOUT.total_seconds():g} seconds"
        raise NotConnected(RefusalCode.OFFLINE, sentence) from None


def _way(wanted: Destination, home: Path, agent: str | None) -> list[SshHost]:
    """Return the hosts on the way to the wanted one, and that one."""
    found = host_config.find(wanted, home, agent)
    way, nearest = [found], found
    while nearest.jumps:
        before = [host_config.find(each, home, agent) for each in nearest.jumps]
        way, nearest = [*before, *way], before[0]
        if len(way) > MOST_ON_THE_WAY:
            raise NotConnected(
                RefusalCode.FAILED, f"there are more than {MOST_ON_THE_WAY} hosts on the way to {wanted}"
            )
    return way


async def _dialled(way: Sequence[SshHost]) -> SshChannel:
    with ExitStack() as stack:
        connections: list[SSHClientConnection] = []
        line = SshChannel()
        for each in way:
            over = connections[-1] if connections else None
            connections.append(await _connected(each, _Caller(each, way[-1].destination), over))
            stack.callback(connections[-1].abort)
        try:
            await connections[-1].create_session(
                lambda: line,
                command=None,
                request_pty="force",
                term_type=TERMINAL,
                term_size=SIZE,
                encoding=None,
            )
        except asyncssh.Error:
            raise NotConnected(RefusalCode.FAILED, f"{way[-1].destination} gives us no shell") from None
        stack.pop_all()
        return line.over(connections)


async def _connected(
    found: SshHost, caller: "_Caller", over: SSHClientConnection | None
) -> SSHClientConnection:
    agent = SSHAgentClient(found.agent) if found.agent is not None else None
    try:
        held = await user_keys.of_agent(agent) if agent is not None else ()
        offered = await asyncio.to_thread(user_keys.chosen, found, held)
        return await caller.call(offered, over)
    finally:
        if agent is not None:
            agent.close()


class _Caller(SSHClient):
    """The connection to one host, on the way to the wanted one."""

    def __init__(self, found: SshHost, wanted: Destination) -> None:
        self._host = found
        self._named = str(wanted) if found.destination == wanted else f"a host on the way to {wanted}"
        self._refused: SSHKey | None = None  # the host's key, if it is not a known one

    async def call(self, offered: UserKeys, over: SSHClientConnection | None) -> SSHClientConnection:
        """Connect. Raises `NotConnected`."""
        self._known = await asyncio.to_thread(KnownHosts, self._host)
        try:
            return await asyncssh.connect(
                self._host.address,
                self._host.port,
                username=self._host.user,
                client_factory=lambda: self,
                client_keys=list(offered.offered) or None,
                known_hosts=self._known,
                host_key_alias=self._host.alias,
                family=self._host.family,
                tunnel=over,
                keepalive_interval=STILL_THERE.total_seconds(),
                **{"server_host_key_algs": self._known.algorithms, **self._host.algorithms},
                **NOTHING_ELSE,
            )
        except asyncssh.HostKeyNotVerifiable:
            raise NotConnected(RefusalCode.FAILED, self._why_not_trusted()) from None
        except asyncssh.PermissionDenied:
            raise NotConnected(RefusalCode.FAILED, self._why_not_let_in(offered)) from None
        except (OSError, asyncssh.ConnectionLost, asyncssh.ChannelOpenError):
            raise NotConnected(RefusalCode.OFFLINE, f"{self._named} cannot be reached") from None
        except asyncssh.Error:
            raise NotConnected(RefusalCode.FAILED, f"{self._named} and we agree on no way to speak") from None
        except ValueError:
            sentence = f"the SSH configuration of this machine does not fit {self._named}"
            raise NotConnected(RefusalCode.FAILED, sentence) from None

    def _why_not_trusted(self) -> str:
        if self._refused is None:
            return f"the host key of {self._named} is not trusted any more, or its authority is not"
        key = f"{self._refused.get_algorithm()} {self._refused.get_fingerprint()}"
        if self._known.is_any_known:
            return (
                f"the host key of {self._named} is not the one that it is known by, but {key}: it has changed, or"
                " somebody is in between; who knows which takes the old one out of known_hosts by hand"
            )
        return (
            f"the host key of {self._named} is not known: {key}; if it is the right one, a person connects to the"
            " host by ssh once, by hand, and it is known from then on"
        )

    def _why_not_let_in(self, offered: UserKeys) -> str:
        if not offered.is_one_locked:
            return f"{self._named} does not let us in with the keys that there are"
        return (
            f"{self._named} does not let us in, and a key is locked by a passphrase, which nobody is asked for here:"
            " give it to an agent by ssh-add"
        )

    def validate_host_public_key(self, host: str, addr: str, port: int, key: SSHKey) -> bool:
        self._refused = key
        return False
