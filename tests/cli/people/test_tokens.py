"""`hubbub token`: what programs identify themselves by."""

from tests.cli.processes import RunningHub
from tests.cli.screens import at_terminal


def test_tokens(hub: RunningHub) -> None:
    """Making a token prints it and nothing else; it works until it is revoked, and its secret is never listed."""
    secret = hub.secret("token", "create", "--agent", "ada", "--expires", "30d")
    assert secret.startswith("ntok_")
    assert hub.run("agents", "--token", secret).returncode == 0
    (listed,) = [each for each in hub.json("token", "list") if each["agent"] == "ada"]
    assert listed["expires_at"] - listed["created_at"] == 30 * 86_400_000
    assert secret not in hub.run("token", "list", "--json").stdout
    assert hub.run("token", "revoke", listed["id"]).returncode == 0
    assert hub.run("agents", "--token", secret).returncode == 1


def test_a_token_says_whose_it_is(hub: RunningHub) -> None:
    """The list shows for whom each token is, in which project, and who made it, so that the right one is revoked."""
    name = f"eve-{hub.project}"
    hub.secret("user", "create", name)
    hub.secret("token", "create", "--agent", "ada")
    rows = [line.split("\t")[1:5] for line in hub.run("token", "list").stdout.splitlines()]
    assert [name, "all of theirs", "", ""] in rows
    assert ["ada", hub.project, "member", "owner"] in rows


def test_what_to_do_with_a_secret(hub: RunningHub) -> None:
    """On a terminal it is told what a secret is for; to programs only the secret is printed."""
    secret, *advice = at_terminal(hub, "token", "create").splitlines()
    assert secret.startswith("ntok_")
    assert hub.url in "".join(advice)
    assert secret not in "".join(advice)
    assert hub.run("token", "create").stderr == ""
