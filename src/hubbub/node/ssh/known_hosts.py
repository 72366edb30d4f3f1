"""Known keys of hosts. A host is genuine if its key is listed under its own name."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from asyncssh import SSHKey, import_known_hosts, import_public_key
from asyncssh.public_key import get_default_certificate_algs, get_default_public_key_algs

from hubbub.model.fleet.calls import RefusalCode
from hubbub.node.ssh.host_config import PORT, SshHost
from hubbub.node.ssh.not_connected import NotConnected

_LIST_OF_REVOKED = b"SSHKRL\n\0"  # the beginning of OpenSSH's own form of a list of them
Keys = Sequence[SSHKey]


class KnownHosts:
    """The files' entries for one host.

    Only its name counts for trust: nobody who controls the name's address may choose among all known hosts.
    """

    def __init__(self, host: SshHost) -> None:
        """Read the host's files. Raises `NotConnected` if one is there and cannot be read."""
        self._lines = import_known_hosts("")
        for file in host.known:
            for line in _text(file).decode("utf-8", "replace").splitlines():
                with suppress(ValueError):  # a malformed one, which OpenSSH skips too
                    self._lines.load(line)
        self._port = host.port
        self._names = _names(host)
        found = [self._find(each) for each in self._names]
        self._trusted, self._vouching, _ = next((each for each in found if each[0] or each[1]), found[0])
        self._revoked = [key for each in found for key in each[2]]
        if host.revoked is not None:
            self._revoked.extend(_keys(_text(host.revoked, must_be=True)))

    @property
    def is_any_known(self) -> bool:
        """Tell whether there is a key under the name of the host."""
        return bool(self._trusted or self._vouching)

    @property
    def algorithms(self) -> list[str]:
        """Return the algorithms to ask for, known ones first: the host shows another key only if it lacks that one."""
        kinds = [kind for key in self._trusted for kind in key.sig_algorithms]
        vouched = get_default_certificate_algs()
        ordered = [*(vouched if self._vouching else ()), *kinds, *get_default_public_key_algs(), *vouched]
        return [each.decode() for each in dict.fromkeys(ordered)]

    def __call__(self, _name: str, number: str, _port: int | None) -> tuple[Keys, Keys, Keys]:
        """Return the trusted keys, those of its authorities, and the revoked ones."""
        numbers = (number, f"[{number}]:{self._port}") if number else ()  # none behind another host
        revoked = [key for each in numbers for key in self._find(each)[2]]
        return self._trusted, self._vouching, [*self._revoked, *revoked]

    def _find(self, name: str) -> tuple[Keys, Keys, Keys]:
        trusted, vouching, revoked, *_ = self._lines.match(name, "", None)
        return trusted, vouching, revoked


def _names(host: SshHost) -> Sequence[str]:
    """Return the host's names in the files; the name alone is used if there is none with the port."""
    name = (host.alias or host.address).casefold()
    return (name,) if host.alias is not None or host.port == PORT else (f"[{name}]:{host.port}", name)


def _keys(content: bytes) -> Iterable[SSHKey]:
    if content.startswith(_LIST_OF_REVOKED):
        raise NotConnected(
            RefusalCode.FAILED,
            "the SSH configuration has a list of revoked keys in a form that is not read here",
        )
    for line in content.splitlines():
        with suppress(ValueError):
            yield import_public_key(line)


def _text(file: Path, *, must_be: bool = False) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        if not must_be:
            return b""
    except OSError:
        pass
    raise NotConnected(RefusalCode.FAILED, "a file with the keys of hosts cannot be read on this machine")
