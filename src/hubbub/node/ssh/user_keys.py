"""The user's keys, in the order in which OpenSSH offers them: those of an agent, and those in files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from asyncssh import (
    KeyImportError,
    SSHAgentClient,
    SSHCertificate,
    SSHKeyPair,
    load_keypairs,
    read_certificate,
    read_public_key,
)

from hubbub.node.ssh.host_config import SshHost


@dataclass(frozen=True, slots=True)
class UserKeys:
    """The keys that are offered to a host."""

    offered: Sequence[SSHKeyPair]
    is_one_locked: bool  # by a passphrase, which nobody is asked for


@dataclass(frozen=True, slots=True)
class _File:
    """A file in the configuration: its keys, or the public part of a key that the agent holds."""

    pairs: Sequence[SSHKeyPair]
    public: frozenset[bytes]
    is_locked: bool


async def of_agent(agent: SSHAgentClient) -> Sequence[SSHKeyPair]:
    """Return the keys of an agent; none without an agent that answers."""
    try:
        return await agent.get_keys()
    except (OSError, ValueError):
        return ()


def chosen(host: SshHost, held: Sequence[SSHKeyPair]) -> UserKeys:
    """Choose the keys for the host, from those of its agent and those in files."""
    certificates = [each for path in host.certificates if (each := _certificate(path)) is not None]
    files = [_file(each, certificates) for each in host.keys]
    named = {data for each in files for data in each.public}
    if host.has_no_others:
        held = [each for each in held if each.public_data in named]
    first = [each for each in held if each.public_data in named] if host.are_keys_named else []
    rest = [each for each in held if each not in first]
    in_files = [pair for each in files for pair in each.pairs]
    ordered = [*first, *in_files, *rest] if host.are_keys_named else [*rest, *in_files]
    unlocked = {each.public_data for each in ordered}
    offered = list({(each.public_data, each.algorithm): each for each in reversed(ordered)}.values())[::-1]
    return UserKeys(offered, any(each.is_locked and not each.public & unlocked for each in files))


def _file(path: Path, certificates: Sequence[SSHCertificate]) -> _File:
    pairs: Sequence[SSHKeyPair] = ()
    is_locked = False
    try:
        pairs = load_keypairs(str(path), certlist=certificates, ignore_encrypted=True)
        is_locked = not pairs
    except (OSError, ValueError):  # missing, not readable, or unusable
        pass
    public = (
        {each.public_data for each in pairs} | _public(path) | _public(path.with_name(f"{path.name}.pub"))
    )
    return _File(pairs, frozenset(public), is_locked)


def _public(path: Path) -> set[bytes]:
    try:
        return {read_public_key(str(path)).public_data}
    except (OSError, KeyImportError):
        return set()


def _certificate(path: Path) -> SSHCertificate | None:
    try:
        return read_certificate(str(path))
    except (OSError, KeyImportError):
        return None
