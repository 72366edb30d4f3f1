"""Real SSH servers on loopback, and the home of somebody who has keys for them."""

import grp
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import asyncssh
from asyncssh import SSHCertificate, SSHKey

from hubbub.prove.processes import free_port
from tests.support.tools import needed

SBIN = f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin"  # not on the path of most users
ADDRESS = "127.0.0.1"
SHELL = "PS1='$ ' exec /bin/bash --norc --noprofile -i"
# No file of the user who runs the tests is read: a bash that is called from afar has no start-up files from level 2 on.
SETTINGS = """
ListenAddress {address}
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/authorized
PidFile none
ForceCommand {shell}
SetEnv SHLVL=2 HISTFILE=/dev/null
StrictModes no
UsePAM no
PrintMotd no
PrintLastLog no
PermitRootLogin yes
MaxStartups 100
"""


@dataclass(frozen=True, slots=True)
class Server:
    """One that runs."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes]

    @property
    def public(self) -> str:
        """The server's public key."""
        return (self.folder / "host.pub").read_text().strip()

    @property
    def named(self) -> str:
        """Its name in files of known hosts."""
        return f"[{ADDRESS}]:{self.port}"

    @property
    def hostname(self) -> str:
        """Its name for callers."""
        return f"{ADDRESS}:{self.port}"

    def kill(self) -> None:
        """Kill it at once, with all processes that serve somebody."""
        self._signal(signal.SIGKILL)

    @contextmanager
    def mute(self) -> Iterator[None]:
        """Let it take connections meanwhile, and say nothing."""
        self._signal(signal.SIGSTOP)
        yield
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        for each in (*_below(self.process.pid), self.process.pid):
            with suppress(ProcessLookupError):
                os.kill(each, number)


@contextmanager
def served(
    folder: Path,
    *,
    by: SSHKey | None = None,
    second: SSHKey | None = None,
    certificate: SSHCertificate | None = None,
    more: str = "",
) -> Iterator[Server]:
    """A server. Its own key may be one that there is already; `more` may name a `second`, and a certificate."""
    sshd = needed(shutil.which("sshd", path=SBIN), "openssh-server")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where it goes when it has no rights left
    folder.mkdir()
    host = by or key()
    host.write_public_key(str(folder / "host.pub"))
    for name, each in (("host", host), ("second", second or key())):
        each.write_private_key(str(folder / name))
        (folder / name).chmod(0o600)
    if certificate is not None:
        certificate.write_certificate(str(folder / "host-cert.pub"))
    (folder / "authorized").touch()
    port = free_port()
    written = SETTINGS.format(address=ADDRESS, port=port, folder=folder, shell=SHELL)
    (folder / "config").write_text(written + more)
    command = [*_with_terminals(folder), sshd, "-D", "-e", "-f", str(folder / "config")]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        assert process.stderr is not None
        said = b""
        while b"Server listening" not in said:
            line = process.stderr.readline()
            assert line, said.decode()
            said += line
        yield Server(folder, port, process)
    finally:
        Server(folder, port, process).kill()
        process.communicate()


@dataclass(frozen=True, slots=True)
class User:
    """Somebody with a home of their own, and their SSH files in it."""

    home: Path

    @property
    def folder(self) -> Path:
        return self.home / ".ssh"

    @property
    def key(self) -> SSHKey:
        return asyncssh.read_private_key(self.folder / "id_ed25519")

    def has_key(self, made: SSHKey, name: str = "id_ed25519", passphrase: str | None = None) -> None:
        """Put the key into a file of theirs."""
        file = self.folder / name
        made.write_private_key(str(file))
        file.chmod(0o600)
        if passphrase is not None:
            subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", passphrase, "-f", file], check=True)
        made.write_public_key(str(self.folder / f"{name}.pub"))

    def is_let_in(self, server: Server, by: SSHKey) -> None:
        """Let the server accept the key for them."""
        with (server.folder / "authorized").open("a") as authorized:
            authorized.write(by.export_public_key().decode())

    def knows(self, server: Server, line: str | None = None) -> None:
        """Add the server's key, or the line, to their known hosts."""
        with (self.folder / "known_hosts").open("a") as known:
            known.write(f"{line or f'{server.named} {server.public}'}\n")

    def configures(self, text: str) -> None:
        (self.folder / "config").write_text(text)


def key() -> SSHKey:
    """A new pair of keys."""
    return asyncssh.generate_private_key("ssh-ed25519")


def _with_terminals(folder: Path) -> list[str]:
    """Return the wrapper that an sshd needs to hand out terminals.

    It gives each terminal to the group `tty`. That is so from the beginning on most machines, and else takes the
    rights of the superuser. Where there is no such group, it is content with that of the user.
    """
    ours, theirs = os.openpty()
    group = grp.getgrgid(os.fstat(theirs).st_gid).gr_name
    os.close(ours)
    os.close(theirs)
    if os.geteuid() == 0 or group == "tty":
        return []
    lines = Path("/etc/group").read_text().splitlines(keepends=True)
    groups = folder / "group"
    groups.write_text("".join(line for line in lines if not line.startswith("tty:")))
    bwrap = needed(shutil.which("bwrap"), "bubblewrap")
    return [bwrap, "--dev-bind", "/", "/", "--ro-bind", str(groups), "/etc/group"]


def _below(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [each for child in children for each in (*_below(int(child)), int(child))]
