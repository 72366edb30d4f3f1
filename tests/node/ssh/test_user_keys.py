"""The keys for a login at a host: those in files and those of an agent, and never a password."""

import os
import pwd
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from asyncssh import SSHKey

from tests.node.ssh.conftest import Desk
from tests.node.ssh.ssh_server import Server, key, served

pytestmark = pytest.mark.anyio


@contextmanager
def agent(folder: Path, *held: SSHKey, options: Sequence[str] = ()) -> Iterator[str]:
    """An agent that holds these keys: its socket."""
    socket, files = folder / "agent", folder / "held"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()  # it listens from then on
    environment = {**os.environ, "SSH_AUTH_SOCK": str(socket)}
    for each in held:
        each.write_private_key(str(files))
        files.chmod(0o600)
        subprocess.run(
            ["ssh-add", "-q", *options, files], env=environment, check=True, stdin=subprocess.DEVNULL
        )
        files.unlink()
    try:
        yield str(socket)
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def visitor(stranger: Desk, server: Server) -> Desk:
    """A machine whose user knows the server, and has no key."""
    stranger.user.knows(server)
    return stranger


async def test_without_a_key_nobody_is_let_in(visitor: Desk, server: Server) -> None:
    """The sentence says so, and names no key and no file."""
    visitor.user.has_key(key())

    code, sentence = await visitor.wrong("open", hostname=server.hostname)
    assert (code, sentence) == (
        "failed",
        f"{server.hostname} does not let us in with the keys that there are",
    )


async def test_no_password_is_ever_asked_for(visitor: Desk) -> None:
    """Where a host would take one, it is told that there is none."""
    folder = visitor.user.home / "passwords"
    with served(folder, more="PasswordAuthentication yes\nKbdInteractiveAuthentication yes\n") as server:
        visitor.user.knows(server)
        assert (await visitor.wrong("open", hostname=server.hostname))[0] == "failed"


async def test_a_key_that_is_locked_says_so(visitor: Desk, server: Server) -> None:
    """Nobody is asked for its passphrase; an agent may hold it, and then the file does no harm."""
    locked = key()
    visitor.user.has_key(locked, passphrase="open sesame")
    visitor.user.is_let_in(server, locked)

    code, sentence = await visitor.wrong("open", hostname=server.hostname)
    assert code == "failed"
    assert "locked by a passphrase" in sentence
    assert "ssh-add" in sentence
    assert str(visitor.user.folder) not in sentence
    with agent(visitor.user.home, locked) as socket:
        visitor.user.configures(f"IdentityAgent {socket}\n")
        assert await visitor.open(server.hostname)


async def test_an_agents_keys_are_offered(
    visitor: Desk, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the agent that the environment names, unless the configuration says that there is none."""
    held = key()
    visitor.user.is_let_in(server, held)
    with agent(visitor.user.home, key(), held) as socket:
        monkeypatch.setenv("SSH_AUTH_SOCK", socket)
        assert await visitor.open(server.hostname)
        visitor.user.configures("IdentityAgent none\n")
        assert (await visitor.wrong("open", hostname=server.hostname))[0] == "failed"


async def test_an_agent_that_is_gone_is_none(
    visitor: Desk, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The keys in files are offered all the same."""
    made = key()
    visitor.user.has_key(made)
    visitor.user.is_let_in(server, made)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(visitor.user.home / "gone"))

    assert await visitor.open(server.hostname)


async def test_an_agent_that_does_not_sign_is_no_way_in(
    visitor: Desk, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that wants a person's word for each use, where there is nobody, is as good as without the key."""
    held, made = key(), key()
    visitor.user.is_let_in(server, held)
    visitor.user.is_let_in(server, made)
    with agent(visitor.user.home, held, options=["-c"]) as socket:
        monkeypatch.setenv("SSH_AUTH_SOCK", socket)
        code, sentence = await visitor.wrong("open", hostname=server.hostname)
        assert (code, sentence) == (
            "failed",
            f"{server.hostname} does not let us in with the keys that there are",
        )
        visitor.user.has_key(made)
        assert await visitor.open(server.hostname)


async def test_a_key_that_is_named_comes_first(
    visitor: Desk, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that takes few attempts is not worn out by an agent with many keys; or by none with `IdentitiesOnly`."""
    mine, others = key(), [key() for _ in range(7)]
    visitor.user.is_let_in(server, mine)
    with agent(visitor.user.home, *others, mine) as socket:
        monkeypatch.setenv("SSH_AUTH_SOCK", socket)
        assert (await visitor.wrong("open", hostname=server.hostname))[0] == "failed"
        mine.write_public_key(str(visitor.user.folder / "mine.pub"))
        for setting in ("", "IdentitiesOnly yes\n"):
            visitor.user.configures(f"IdentityFile ~/.ssh/mine.pub\n{setting}")
            assert await visitor.open(server.hostname)
        others[0].write_public_key(str(visitor.user.folder / "mine.pub"))
        assert (await visitor.wrong("open", hostname=server.hostname))[0] == "failed"


async def test_a_file_that_is_no_key_does_no_harm(visitor: Desk, server: Server) -> None:
    """It is passed over, like one that is not there."""
    made = key()
    visitor.user.has_key(made, "work")
    visitor.user.is_let_in(server, made)
    (visitor.user.folder / "broken").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\nx\n")
    visitor.user.configures(
        "IdentityFile ~/.ssh/none-such\nIdentityFile ~/.ssh/broken\nIdentityFile ~/.ssh/work\n"
    )

    assert await visitor.open(server.hostname)


async def test_a_certificate_beside_a_key_is_shown(visitor: Desk) -> None:
    """A host that trusts an authority takes a key that it has signed."""
    authority, made = key(), key()
    visitor.user.has_key(made)
    folder = visitor.user.home / "trusting"
    with served(folder, more=f"TrustedUserCAKeys {folder}/authority\n") as server:
        authority.write_public_key(str(folder / "authority"))
        visitor.user.knows(server)
        assert (await visitor.wrong("open", hostname=server.hostname))[0] == "failed"
        certificate = authority.generate_user_certificate(
            made, "me", principals=[pwd.getpwuid(os.geteuid()).pw_name]
        )
        certificate.write_certificate(str(visitor.user.folder / "id_ed25519-cert.pub"))
        assert await visitor.open(server.hostname)
