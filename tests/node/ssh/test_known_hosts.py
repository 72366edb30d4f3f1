"""A host is who it says it is, or nothing is opened there: known, unknown, changed, revoked and vouched-for keys."""

import base64
import hashlib
import hmac
import os

import asyncssh
import pytest

from tests.node.ssh.conftest import Desk
from tests.node.ssh.ssh_server import ADDRESS, Server, key, served

pytestmark = pytest.mark.anyio


@pytest.fixture
def guest(stranger: Desk, server: Server) -> Desk:
    """A machine whose user is let in, and does not know the server yet."""
    made = key()
    stranger.user.has_key(made)
    stranger.user.is_let_in(server, made)
    return stranger


def fingerprint(server: Server) -> str:
    return asyncssh.import_public_key(server.public).get_fingerprint()


def hashed(name: str) -> str:
    """A name as files of known hosts hide it."""
    salt = os.urandom(20)
    digest = hmac.new(salt, name.encode(), hashlib.sha1).digest()
    return f"|1|{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"


async def test_an_unknown_host_is_refused(guest: Desk, server: Server) -> None:
    """The sentence has the key and says what a person does, and nothing is kept of it."""
    code, sentence = await guest.wrong("open", hostname=server.hostname)
    assert code == "failed"
    assert f"the host key of {server.hostname} is not known: ssh-ed25519 {fingerprint(server)}" in sentence
    assert "by hand" in sentence
    assert (await guest.wrong("open", hostname=server.hostname))[1] == sentence
    assert not (guest.user.folder / "known_hosts").exists()


async def test_a_host_whose_key_has_changed_is_refused(guest: Desk, server: Server) -> None:
    """The sentence has the key that it shows now."""
    guest.user.knows(server, f"{server.named} {key().export_public_key().decode()}")

    code, sentence = await guest.wrong("open", hostname=server.hostname)
    assert code == "failed"
    assert f"is not the one that it is known by, but ssh-ed25519 {fingerprint(server)}" in sentence


async def test_a_host_that_shows_a_key_of_another_kind_is_refused(guest: Desk, server: Server) -> None:
    """A key that is known is not set aside by one of a kind that is not."""
    other = asyncssh.generate_private_key("ecdsa-sha2-nistp256").export_public_key().decode()
    guest.user.knows(server, f"{server.named} {other}")

    code, sentence = await guest.wrong("open", hostname=server.hostname)
    assert code == "failed"
    assert f"is not the one that it is known by, but ssh-ed25519 {fingerprint(server)}" in sentence


async def test_a_host_shows_the_key_that_is_known(guest: Desk) -> None:
    """One of a host's several keys is enough."""
    second = asyncssh.generate_private_key("ecdsa-sha2-nistp256")
    folder = guest.user.home / "several"
    with served(folder, more=f"HostKey {folder}/second\n", second=second) as server:
        guest.user.is_let_in(server, guest.user.key)
        guest.user.knows(server, f"{server.named} {second.export_public_key().decode()}")
        assert await guest.open(server.hostname)


@pytest.mark.parametrize("marked", ["{named}", "*", "{address}"])
async def test_a_revoked_key_is_refused(guest: Desk, server: Server, marked: str) -> None:
    """Also where the same key is known, and whichever of its names it is revoked under."""
    guest.user.knows(server)
    guest.user.knows(server, f"{ADDRESS} {server.public}")
    names = marked.format(named=server.named, address=ADDRESS)
    guest.user.knows(server, f"@revoked {names} {server.public}")

    code, sentence = await guest.wrong("open", hostname=server.hostname)
    assert code == "failed"
    assert "not trusted any more" in sentence


async def test_a_list_of_revoked_keys_counts(guest: Desk, server: Server) -> None:
    """`RevokedHostKeys` holds, and where it cannot be read nothing is trusted."""
    guest.user.knows(server)
    listed = guest.user.folder / "revoked"
    guest.user.configures("RevokedHostKeys ~/.ssh/revoked\n")
    assert (await guest.wrong("open", hostname=server.hostname))[0] == "failed"
    listed.write_text(f"{server.public}\n")
    assert "not trusted any more" in (await guest.wrong("open", hostname=server.hostname))[1]
    listed.write_bytes(b"SSHKRL\n\0")
    assert "form that is not read" in (await guest.wrong("open", hostname=server.hostname))[1]
    listed.write_text(f"{key().export_public_key().decode()}\n")
    assert await guest.open(server.hostname)


@pytest.mark.parametrize(
    "named", ["{named}", "other.example,{named}", "[127.0.*]:{port}", "hashed", "{address}"]
)
async def test_a_known_host_is_known_in_every_way_to_write_it(
    guest: Desk, server: Server, named: str
) -> None:
    """A host is known by its name with the port, among others, by a pattern, hashed, and by the name alone."""
    written = hashed(server.named) if named == "hashed" else named
    written = written.format(named=server.named, address=ADDRESS, port=server.port)
    guest.user.knows(server, f"{written} {server.public} somebody's comment")

    assert await guest.open(server.hostname)


async def test_a_pattern_that_excludes_a_host_does_not_name_it(guest: Desk, server: Server) -> None:
    """`!` takes it out again."""
    guest.user.knows(server, f"[*]:{server.port},!{server.named} {server.public}")

    assert (await guest.wrong("open", hostname=server.hostname))[0] == "failed"


async def test_lines_that_say_nothing_are_left_out(guest: Desk, server: Server) -> None:
    """Lines that say nothing are left out, as OpenSSH leaves them out."""
    (guest.user.folder / "known_hosts").write_text(
        f"# a comment\n\nnonsense\n|1|x {server.public}\n@what {server.named} x\n"
    )
    guest.user.knows(server)

    assert await guest.open(server.hostname)


async def test_a_name_is_not_trusted_for_where_it_leads(guest: Desk, server: Server) -> None:
    """A known address makes no name known that leads there: else names would choose among known hosts."""
    guest.user.knows(server, f"{server.named} {server.public}")
    guest.user.knows(server, f"{ADDRESS} {server.public}")

    code, sentence = await guest.wrong("open", hostname=f"localhost:{server.port}")
    assert code == "failed"
    assert f"the host key of localhost:{server.port} is not known" in sentence


@pytest.mark.parametrize(
    "setting", ["UserKnownHostsFile none", "StrictHostKeyChecking no", "UserKnownHostsFile /dev/null"]
)
async def test_no_setting_switches_the_check_off(guest: Desk, server: Server, setting: str) -> None:
    """Not even the user's own: agents accept no key that nobody has seen."""
    guest.user.configures(f"{setting}\nGlobalKnownHostsFile none\n")

    assert "is not known" in (await guest.wrong("open", hostname=server.hostname))[1]


@pytest.mark.parametrize("keyword", ["UserKnownHostsFile", "GlobalKnownHostsFile"])
async def test_known_hosts_may_stand_elsewhere(guest: Desk, server: Server, keyword: str) -> None:
    """The configuration says in which files, for the user and for the system."""
    (guest.user.folder / "mine").write_text(f"{server.named} {server.public}\n")
    guest.user.configures(f'{keyword} ~/.ssh/none-such "%d/.ssh/mine"\n')

    assert await guest.open(server.hostname)


async def test_a_host_is_known_by_its_alias(guest: Desk, server: Server) -> None:
    """`HostKeyAlias` is the name under which its key stands, without a port."""
    guest.user.knows(server, f"web {server.public}")
    guest.user.configures(f"Host w\n HostName {ADDRESS}\n Port {server.port}\n HostKeyAlias web\n")

    assert await guest.open("w")


async def test_an_authority_may_vouch_for_a_host(guest: Desk) -> None:
    """A certificate is taken if its authority is known for the name, and refused if that is revoked."""
    authority, host = key(), key()
    named = authority.export_public_key().decode().strip()
    certificate = authority.generate_host_certificate(host, "host", principals=[ADDRESS])
    folder = guest.user.home / "certified"
    with served(
        folder, by=host, more=f"HostCertificate {folder}/host-cert.pub", certificate=certificate
    ) as server:
        guest.user.is_let_in(server, guest.user.key)
        assert (await guest.wrong("open", hostname=server.hostname))[0] == "failed"
        guest.user.knows(server, f"@cert-authority *.example {named}")
        assert (await guest.wrong("open", hostname=server.hostname))[0] == "failed"
        guest.user.knows(server, f"@cert-authority {server.named} {named}")
        assert await guest.open(server.hostname)
        guest.user.knows(server, f"@revoked * {named}")
        assert (
            "is not trusted any more, or its authority is not"
            in (await guest.wrong("open", hostname=server.hostname))[1]
        )
