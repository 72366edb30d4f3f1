"""`hubbub login` and `logout`: who one is at a hub, kept on one's machine."""

import json
import socket
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hubbub.model.data_folder import LOGINS_FILE
from tests.cli.processes import RunningHub, hubbub
from tests.cli.screens import on_screen

PASSWORD = "correct horse"


@dataclass
class Desk:
    """The machine of a person whose hub is elsewhere."""

    data: Path
    hub: RunningHub
    name: str
    token: str

    def run(self, *arguments: str, given: str = "", **environment: str) -> tuple[int, str, str]:
        done = hubbub(*arguments, data=self.data, given=given, environment=environment)
        return done.returncode, done.stdout, done.stderr

    def login(self, *more: str) -> None:
        code, _, told = self.run(
            "login", self.hub.url, "--user", self.name, "--password-stdin", *more, given=PASSWORD + "\n"
        )
        assert code == 0, told

    def kept(self) -> Sequence[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads((self.data / LOGINS_FILE).read_text())
        return found

    def tokens(self) -> list[tuple[str, bool]]:
        """What her tokens at the hub are for, and whether they still work."""
        found = self.hub.json("token", "list", "--token", self.token)
        return [(each["label"], each["revoked_at"] is None) for each in found]


@pytest.fixture
def desk(hub: RunningHub, tmp_path: Path) -> Desk:
    name = f"bea-{hub.project[-6:]}"
    token = hub.secret("user", "create", name, "--project", hub.project)
    assert hub.run("user", "password", "--token", token, given=PASSWORD).returncode == 0
    return Desk(tmp_path / "desk", hub, name, token)


LABEL = f"login on {socket.gethostname()}"


def test_commands_are_ones_own_after_a_login(desk: Desk) -> None:
    """After a login commands need neither address nor token, until the logout, which revokes it at the hub."""
    assert desk.run("agents")[0] == 3

    desk.login()

    code, told, _ = desk.run("status", "--json")
    assert (code, json.loads(told)["user"], json.loads(told)["url"]) == (0, desk.name, desk.hub.url)
    assert desk.tokens() == [(None, True), (LABEL, True)]
    assert desk.run("logout") == (0, f"logged out at {desk.hub.url}\n", "")
    assert desk.tokens() == [(None, True), (LABEL, False)]
    assert desk.run("agents")[0] == 3
    assert desk.run("logout")[2] == "Error: you are not logged in\n"


def test_only_its_user_can_read_it(desk: Desk) -> None:
    """The token is kept in a file that nobody else may read; at the hub it is a person's own, with a name."""
    desk.login()
    assert stat.S_IMODE((desk.data / LOGINS_FILE).stat().st_mode) == 0o600
    assert desk.kept()[0]["token"] != desk.token
    assert PASSWORD not in (desk.data / LOGINS_FILE).read_text()


def test_a_terminal_asks_for_what_is_missing(desk: Desk) -> None:
    """At a terminal the name is asked for, and the password, which is not shown as it is typed."""
    with on_screen(desk.hub, "login", desk.hub.url, HUBBUB_DATA=str(desk.data), HUBBUB_PROJECT="") as screen:
        screen.until(f"User name at {desk.hub.url}: ")
        screen.type(f"{desk.name}\n")
        screen.until("Password: ")
        screen.type(f"{PASSWORD}\n")
        shown = screen.rest()
    assert f"logged in at {desk.hub.url} as {desk.name}\n" in shown
    assert PASSWORD not in shown


def test_a_login_by_token(desk: Desk) -> None:
    """A person's token makes another for the login, so that a logout does not end the first; others stay."""
    assert desk.run("login", desk.hub.url, "--token-stdin", given=desk.token)[0] == 0
    assert desk.kept()[0]["token"] != desk.token
    assert desk.run("logout")[0] == 0
    assert desk.tokens() == [(None, True), (LABEL, False)]

    agents = desk.hub.secret("token", "create", "--agent", "ada")
    assert desk.run("login", desk.hub.url, "--token-stdin", given=agents)[0] == 0
    assert desk.kept()[0] == {
        "url": desk.hub.url, "token": agents, "user": "ada", "project": None, "token_id": None,
    }  # fmt: skip
    code, _, told = desk.run("logout")
    assert (code, "may still be valid there" in told) == (0, True)
    assert desk.hub.run("agents", "--token", agents).returncode == 0


def test_what_is_said_otherwise_comes_first(desk: Desk) -> None:
    """A login is used neither where a token is given, nor by a program that works for another agent."""
    desk.login()
    other = desk.hub.secret("token", "create", "--agent", "ada")
    code, told, _ = desk.run("status", "--json", "--url", desk.hub.url, "--token", other)
    assert (code, json.loads(told)["agent"]) == (0, "ada")
    code, _, told = desk.run("agents", "--url", desk.hub.url, HUBBUB_CHAIN="[]")
    assert (code, "no token: HUBBUB_CHAIN says" in told) == (2, True)


def test_a_revoked_login_says_what_to_do(desk: Desk) -> None:
    """A login that was revoked is one sentence with the command that makes another, which asks anew."""
    desk.login()
    code, _, told = desk.run("token", "revoke", desk.kept()[0]["token_id"], "--yes")
    assert code == 0, told
    expected = (
        f"your login at {desk.hub.url} was revoked or has expired; sign in again: hubbub login {desk.hub.url}"
    )
    assert desk.run("agents") == (1, "", f"Error: {expected}\n")
    desk.login()
    assert desk.run("agents")[0] == 0


def test_several_hubs(desk: Desk) -> None:
    """The hub of the last login is used; naming another known one needs no password, and its project is kept."""
    other = desk.hub.url.replace("127.0.0.1", "localhost")
    desk.login("--project", desk.hub.project)
    assert desk.run("login", other, "--token-stdin", given=desk.token)[0] == 0
    assert [each["url"] for each in desk.kept()] == [other, desk.hub.url]

    assert desk.run("login", desk.hub.url) == (
        0,
        f"logged in at {desk.hub.url} as {desk.name}, project {desk.hub.project}\n",
        "",
    )
    _, told, _ = desk.run("login", "--list", "--json")
    assert [(each["url"], each["used"]) for each in json.loads(told)] == [
        (desk.hub.url, True),
        (other, False),
    ]
    assert desk.run("logout", other)[0] == 0
    assert desk.run("agents")[0] == 0


def test_with_and_doctor_use_the_login(desk: Desk) -> None:
    """Commands that connect in another way than most know the login, too."""
    desk.login("--project", desk.hub.project)
    assert desk.run("with", "port:1", "--", "true") == (0, "", "")
    assert f"valid, as {desk.name}\n" in desk.run("doctor")[1]


@pytest.mark.parametrize(
    ("arguments", "given", "sentence"),
    [
        (("--user", "nobody", "--password-stdin"), PASSWORD, "the username or the password is wrong"),
        (
            ("--token-stdin",),
            "utok_none",
            "the hub does not know this token, or it was revoked or has expired",
        ),
        (("--token-stdin",), "", "no token came on standard input"),
        (("--password-stdin",), PASSWORD, "--password-stdin needs --user NAME"),
        (("--token-stdin", "--password-stdin"), "x", "either --password-stdin or --token-stdin"),
        ((), "", "there is no terminal to ask at: give --user NAME --password-stdin, or --token-stdin"),
        (("--project", "nowhere", "--token-stdin"), "TOKEN", "'nowhere' is not among your projects there: "),
    ],
)
def test_what_is_no_login(desk: Desk, arguments: tuple[str, ...], given: str, sentence: str) -> None:
    """What lets nobody in is one sentence, and nothing is kept."""
    code, _, told = desk.run("login", desk.hub.url, *arguments, given=given.replace("TOKEN", desk.token))
    assert (code in (1, 2), told.startswith(f"Error: {sentence}")) == (True, True), told
    assert not (desk.data / LOGINS_FILE).exists()


def test_a_refused_login_leaves_no_token(desk: Desk) -> None:
    """The token that a login makes is revoked if the login is then refused."""
    for given, how in (
        (desk.token, ("--token-stdin",)),
        (PASSWORD, ("--user", desk.name, "--password-stdin")),
    ):
        assert desk.run("login", desk.hub.url, "--project", "nowhere", *how, given=given)[0] == 2
    assert desk.tokens() == [(None, True), (LABEL, False), (LABEL, False)]


def test_no_hub_at_all(tmp_path: Path) -> None:
    """Without an address there has to be a hub on this machine; one that is away is exit code 3."""
    assert (
        hubbub("login", data=tmp_path).stderr
        == "Error: say at which hub: hubbub login https://hub.example.com\n"
    )
    away = hubbub("login", "http://127.0.0.1:1", data=tmp_path)
    assert (away.returncode, away.stderr.endswith("; check the address, and that the hub there runs\n")) == (
        3,
        True,
    )


def test_the_address_of_a_page_is_that_of_its_hub(desk: Desk) -> None:
    """Whoever pastes the address of a page, or a sign-in link, logs in at its hub, and means the same hub later."""
    for page in ("/needs", "/login/0123abcd?next=/t/4", "/"):
        given = ("--user", desk.name, "--password-stdin")
        assert desk.run("login", f"{desk.hub.url}{page}", *given, given=PASSWORD)[0] == 0
    assert [each["url"] for each in desk.kept()] == [desk.hub.url]
    assert desk.run("tasks", "--url", f"{desk.hub.url}/needs")[0] == 0


def test_an_address_without_its_beginning(tmp_path: Path) -> None:
    """An address that only lacks its beginning is refused with the whole one; a name without a port is one with TLS."""
    for given, meant in (
        ("localhost:8611", "http://localhost:8611"),
        ("127.0.0.1:8611", "http://127.0.0.1:8611"),
        ("hub.example.com", "https://hub.example.com"),
    ):
        refused = hubbub("login", given, data=tmp_path)
        assert (refused.returncode, refused.stderr.endswith(f", not '{given}'; did you mean {meant}?\n")) == (
            2,
            True,
        )
    assert "did you mean" not in hubbub("login", "nonsense", data=tmp_path).stderr


def test_the_owner_learns_how_to_set_a_password(desk: Desk) -> None:
    """Only who has the owner's token at hand is told, after a wrong password, how to set one, whoever is named."""
    wrong = ("login", desk.hub.url, "--user", "nobody", "--password-stdin")
    sentence = "Error: the username or the password is wrong"
    assert desk.run(*wrong, given=PASSWORD)[2] == f"{sentence}\n"
    assert desk.hub.run(*wrong, given=PASSWORD).stderr == (
        f"{sentence}; set one with: hubbub user password nobody\n"
    )
