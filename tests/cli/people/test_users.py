"""`hubbub user`: the people of the hub."""

import json

import httpx2

from tests.cli.processes import RunningHub
from tests.cli.screens import at_terminal
from tests.support.waiting import patience


def test_users(hub: RunningHub) -> None:
    """Making a person prints their token and nothing else, and the token is theirs; an invitation is a code."""
    name = f"ada-{hub.project}"
    secret = hub.secret("user", "create", name)
    assert secret.startswith("utok_")
    assert [
        each["slug"] for each in json.loads(hub.run("project", "list", "--json", "--token", secret).stdout)
    ] == [hub.project]
    assert name in [each["name"] for each in hub.json("user", "list")]
    assert hub.secret("user", "invite").startswith("inv_")


def test_an_address_that_others_do_not_reach(hub: RunningHub) -> None:
    """Who lets somebody in at a hub on loopback is told that only this machine reaches it, and where to read on."""
    for deed in (("user", "create", f"eva-{hub.project}"), ("node", "invite")):
        assert at_terminal(hub, *deed).endswith(
            f"\nOnly this machine reaches {hub.url}; others need the address of hubbub serve --public-url, see "
            f"{hub.url}/docs/how-to/a-team-on-one-hub\n"
        )


def test_others_are_told_the_public_address(own_hub: RunningHub) -> None:
    """What is passed on with a new token names the hub as others reach it: by its public address."""
    own_hub.stop()
    own_hub.settings = {"HUBBUB_PUBLIC_URL": "https://hub.example.org"}
    own_hub.start()
    person = at_terminal(own_hub, "user", "create", "eva", "--project", "default")
    program = at_terminal(own_hub, "token", "create", "--agent", "ada")
    assert "On their machine: hubbub login https://hub.example.org --token-stdin\n" in person
    assert "Only this machine reaches" not in person
    assert "export HUBBUB_URL=https://hub.example.org HUBBUB_TOKEN=…" in program
    assert "For a client of MCP: https://hub.example.org/mcp with the header" in program


def test_an_invitation_at_a_terminal_is_a_link(hub: RunningHub) -> None:
    """At a terminal the whole link is printed, with what to do with it; it leads to a page that asks for a name."""
    link, advice, then, others = at_terminal(hub, "user", "invite").splitlines()
    assert link.startswith(f"{hub.url}/register/inv_")
    assert "Send it to one person" in advice
    assert then.endswith(f"hubbub login {hub.url}")
    assert others.startswith(f"Only this machine reaches {hub.url}; ")
    page = httpx2.get(link, trust_env=False, timeout=patience())
    assert (page.status_code, 'name="name"' in page.text) == (200, True)
    told = hub.json("user", "invite", "--role", "viewer")
    assert told["url"] == f"{hub.url}/register/{told['code']}"


def test_a_password_is_not_asked_for_nobody(hub: RunningHub) -> None:
    """Before a password is asked for or read, it is said that there is no such person."""
    refused = hub.run("user", "password", "zed", given="\n")
    assert (refused.returncode, refused.stderr) == (1, "Error: user 'zed' not found\n")
    assert "a password has 8" in hub.run("user", "password", given="\n").stderr


def test_an_invitation_is_listed_and_revoked(hub: RunningHub) -> None:
    """Open invitations are listed without their codes; one that is revoked leads to no page any more."""
    made = hub.json("user", "invite", "--role", "viewer")
    [listed] = hub.json("user", "invitations")
    assert (listed["role"], made["code"] in json.dumps(listed)) == ("viewer", False)
    assert listed["id"] in hub.run("user", "invitations").stdout
    done = hub.run("user", "uninvite", listed["id"][:4])
    assert (done.returncode, done.stdout) == (0, f"revoked the invitation {listed['id']}\n")
    assert hub.json("user", "invitations") == []
    assert httpx2.get(made["url"], trust_env=False, timeout=patience()).status_code == 403
    again = hub.run("user", "uninvite", listed["id"])
    assert (again.returncode, again.stderr) == (1, f"Error: invitation '{listed['id']}' not found\n")


def test_a_person_is_removed(hub: RunningHub) -> None:
    """A removed person has no access any more; it is said which agents lose theirs, and a program has to mean it."""
    name = f"ben-{hub.project}"
    secret = hub.secret("user", "create", name)
    agent = hub.secret("token", "create", "--agent", "coder", "--token", secret)
    assert hub.run("user", "remove", name).returncode == 2
    done = hub.run("user", "remove", name, "--yes")
    assert (done.returncode, done.stdout) == (
        0,
        (
            f"removed {name}; 2 of their tokens ended\n"
            f"These agents need new tokens, as {name} made theirs: coder\n"
        ),
    )
    for token in (secret, agent):
        assert hub.run("agents", "--token", token).returncode == 1
    assert name not in [each["name"] for each in hub.json("user", "list")]
