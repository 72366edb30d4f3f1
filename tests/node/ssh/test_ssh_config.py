"""The user's SSH configuration for a host, read as OpenSSH reads it, and the parts that are not followed."""

from pathlib import Path

import pytest

from hubbub.node.ssh import host_config
from hubbub.node.ssh.destination import parse
from hubbub.node.ssh.host_config import SshHost
from hubbub.node.ssh.not_connected import NotConnected
from tests.node.ssh.conftest import Desk
from tests.node.ssh.ssh_server import ADDRESS, Server, User, key, served
from tests.support.each_row import each_row


@pytest.fixture
def user(tmp_path: Path) -> User:
    found = User(tmp_path)
    found.folder.mkdir(mode=0o700)
    return found


def described(user: User, wanted: str = "web", text: str | None = None) -> SshHost:
    """Return the host as the configuration of the user describes it."""
    if text is not None:
        user.configures(text)
    return host_config.find(parse(wanted), user.home, None)


def refused(user: User, text: str, wanted: str = "web") -> str:
    """Why a host is not gone to."""
    user.configures(text)
    with pytest.raises(NotConnected) as error:
        described(user, wanted)
    return str(error.value)


def test_the_first_value_holds(user: User) -> None:
    """A later section, also one for all hosts, fills in what is not said yet."""
    found = described(
        user,
        text="Host web\n Port 2201\n User ada\nHost w*\n Port 2202\n HostName %h.example\nHost *\n User eve\n",
    )
    assert (found.address, found.port, found.user) == ("web.example", 2201, "ada")


def test_what_the_caller_names_comes_before(user: User) -> None:
    """A user or a port that is written with the host."""
    found = described(user, "bob@web:2203", "Host web\n Port 2201\n User ada\n")
    assert (found.port, found.user) == (2203, "bob")


@each_row(
    ("line", "is_meant"),
    [
        ("Host web", True),
        ("Host WEB", True),
        ("Host other web", True),
        ("Host w?b", True),
        ("Host * !web", False),
        ("Host !web *", False),
        ("Host other", False),
        ("host=web", True),
        ('Host "web"', True),
        ("Host other # web", False),
        ("Match all", True),
        ("Match host web", True),
        ("Match host other,web", True),
        ("Match !host web", False),
        ("Match originalhost web user ada", False),
        ("Match user bob", True),
        ("Match final all", True),
        ("Match host other exec /bin/true", False),
    ],
)
def test_for_which_hosts_a_block_is(user: User, line: str, is_meant: bool) -> None:
    """Patterns, exceptions, and criteria of which all must hold."""
    found = described(user, "bob@web", f"{line}\n  Port 2201\n")
    assert (found.port == 2201) is is_meant


def test_a_block_for_the_end_comes_after_all_others(user: User) -> None:
    """`Match final` counts once everything else is known."""
    found = described(user, text="Match final\n Port 1\n User end\nHost web\n Port 2\n")
    assert (found.port, found.user) == (2, "end")


def test_files_are_included_where_they_are_named(user: User) -> None:
    """Settings apply by patterns, beside the configuration, and only for the hosts of their block."""
    (user.folder / "conf.d").mkdir()
    (user.folder / "conf.d" / "a").write_text("Host web\n Port 2201\n")
    (user.folder / "b").write_text("User ada\n")
    text = f"Include conf.d/* none-such\nHost web\n Include {user.folder}/b\nHost other\n Include ~/.ssh/c\n"
    (user.folder / "c").write_text("not read\n")
    found = described(user, text=text)
    assert (found.port, found.user) == (2201, "ada")


def test_without_files_there_are_defaults(user: User) -> None:
    """The name itself, port 22, the usual files."""
    found = described(user)
    assert (found.address, found.port, found.alias, found.jumps) == ("web", 22, None, ())
    assert user.folder / "id_ed25519" in found.keys
    assert user.folder / "known_hosts" in found.known
    assert Path("/etc/ssh/ssh_known_hosts") in found.known


def test_names_of_files_are_written_in_full(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """`~`, signs with `%` and variables."""
    monkeypatch.setenv("KEYS", "mine")
    text = 'HostName real\nUser ada\nIdentityFile ~/%r@%h:%p\nIdentityFile "%d/${KEYS}/%n %%"\nCertificateFile none\n'
    found = described(user, text=text)
    assert found.keys == (user.home / "ada@real:22", user.home / "mine" / "web %")
    assert found.certificates == ()


def test_the_way_leads_over_the_hosts_that_are_named(user: User) -> None:
    """`ProxyJump` with several, and with `none`; one that is on the way to itself is not."""
    text = "Host direct\n ProxyJump none\nHost *\n ProxyJump ada@gate:2222,inner\n"
    assert [str(each) for each in described(user, text=text).jumps] == ["ada@gate:2222", "inner"]
    assert described(user, "direct").jumps == ()
    assert described(user, "gate").jumps == ()


@pytest.mark.parametrize(
    "text",
    [
        "ProxyCommand nc %h %p\n",
        "Match exec /bin/true\n Port 1\n",
        'Match host web exec "touch x"\n Port 1\n',
    ],
)
def test_no_program_is_run(user: User, text: str) -> None:
    """Where the configuration would have one run, the host is not gone to."""
    assert "not run" in refused(user, text)


def test_a_program_that_is_not_meant_is_no_matter(user: User) -> None:
    """`ProxyCommand none`, one after a `ProxyJump`, and one for another host."""
    text = "Host other\n ProxyCommand nc\nHost web\n ProxyCommand none\nHost *\n ProxyCommand nc\n"
    assert described(user, text=text).jumps == ()
    assert described(user, text="ProxyJump gate\nProxyCommand nc %h\n").jumps == (parse("gate"),)


@each_row(
    "text",
    [
        'Host "web\n',
        "Port\n",
        "???\n",
        "Port many\n",
        "Port 70000\n",
        "HostName %Z\n",
        "IdentityFile ${NO_SUCH_VARIABLE}\n",
        "ProxyJump -x\n",
        "Match phase moon\n Port 1\n",
        "Include ~/.ssh/config\n",
    ],
)
def test_what_cannot_be_followed_is_said(user: User, text: str) -> None:
    """One sentence, without what is in the file or where it is."""
    said = refused(user, text)
    assert said.startswith("the SSH configuration of this machine cannot be followed: ")
    assert str(user.home) not in said


def test_a_file_that_others_may_write_is_not_followed(user: User) -> None:
    """They could lead agents anywhere."""
    user.configures("Port 1\n")
    (user.folder / "config").chmod(0o666)
    with pytest.raises(NotConnected, match="others may write it"):
        described(user)


@pytest.mark.anyio
async def test_a_host_is_gone_to_by_its_alias(stranger: Desk, server: Server) -> None:
    """With the address, the port and the key that the configuration has for it."""
    made = key()
    stranger.user.has_key(made, "work")
    stranger.user.is_let_in(server, made)
    stranger.user.knows(server)
    stranger.user.configures(
        f"Host web\n HostName {ADDRESS}\n Port {server.port}\n IdentityFile ~/.ssh/work\n"
    )

    shell = await stranger.open("WEB")
    assert shell.startswith("web/")
    assert "on1" in await stranger.printed(shell, "echo on$((1))", "on1\r\n")


@pytest.mark.anyio
async def test_a_host_behind_another(desk: Desk, server: Server) -> None:
    """It is reached over that, each is known by its own key, and both ends close together."""
    with served(desk.user.home / "inner") as inner:
        desk.user.is_let_in(inner, desk.user.key)
        desk.user.configures(
            f"Host inner\n HostName {ADDRESS}\n Port {inner.port}\n ProxyJump gate\n"
            f"Host gate\n HostName {ADDRESS}\n Port {server.port}\n"
        )
        assert "the host key of inner is not known" in (await desk.wrong("open", hostname="inner"))[1]
        desk.user.knows(inner)
        shell = await desk.open("inner")
        seen = await desk.printed(shell, "echo ${SSH_CONNECTION##* }", f"{inner.port}\r\n")
        assert f"\r{inner.port}\r\n" in seen
        assert await desk.ask("close", session_id=shell) == {"closed": True}


@pytest.mark.anyio
async def test_a_host_on_the_way_that_is_not_known(stranger: Desk, server: Server) -> None:
    """It is not passed, and the answer does not tell which it is."""
    stranger.user.configures(
        f"Host inner\n ProxyJump gate\nHost gate\n HostName {ADDRESS}\n Port {server.port}\n"
    )

    code, sentence = await stranger.wrong("open", hostname="inner")
    assert code == "failed"
    assert sentence.startswith("the host key of a host on the way to inner is not known")
    assert "gate" not in sentence


@pytest.mark.anyio
async def test_a_host_that_cannot_be_reached_over_another(desk: Desk, server: Server) -> None:
    """It is offline, like one that is next door."""
    desk.user.configures(
        f"Host inner\n HostName {ADDRESS}\n Port 1\n ProxyJump gate\n"
        f"Host gate\n HostName {ADDRESS}\n Port {server.port}\n"
    )

    assert await desk.wrong("open", hostname="inner") == ("offline", "inner cannot be reached")


@pytest.mark.anyio
async def test_a_way_without_end_is_not_gone(stranger: Desk) -> None:
    """Hosts that are on the way to each other."""
    stranger.user.configures("Host a\n ProxyJump b\nHost b\n ProxyJump a\n")

    code, sentence = await stranger.wrong("open", hostname="a")
    assert code == "failed"
    assert "more than 8 hosts" in sentence


@pytest.mark.anyio
async def test_algorithms_may_be_named(desk: Desk, server: Server) -> None:
    """Those that hold are used, and where none is left that is said."""
    desk.user.configures("Ciphers aes128-ctr\nKexAlgorithms +diffie-hellman-group14-sha256\n")
    assert await desk.open(server.hostname)
    desk.user.configures("Ciphers no-such-cipher\n")
    assert (await desk.wrong("open", hostname=server.hostname))[0] == "failed"
