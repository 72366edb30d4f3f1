"""`hubbub token`: what programs identify themselves by."""

from tests.cli.processes import RunningHub
from tests.cli.screens import at_terminal, on_screen


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


def test_each_option_of_a_new_token(hub: RunningHub) -> None:
    """A token is made for one agent, with a role, an end, a rate and a label, as far as these are said."""
    plain = hub.json("token", "create")["token"]
    assert [plain[each] for each in ("agent", "role", "expires_at", "rate", "label")] == [
        None, "member", None, None, None,
    ]  # fmt: skip
    options = ("--agent", "ada", "--role", "viewer", "--expires", "1h", "--rate", "5", "--label", "nightly")
    made = hub.json("token", "create", *options)["token"]
    assert [made[each] for each in ("agent", "role", "rate", "label")] == ["ada", "viewer", 5, "nightly"]
    assert made["expires_at"] - made["created_at"] == 3_600_000
    assert hub.json("token", "create", "--user", "owner", "--label", "desk")["token"]["label"] == "desk"
    for ends, sentence in (("0s", "too short; 1 second at least"), ("400d", "too long; 366 days at most")):
        refused = hub.run("token", "create", "--expires", ends)
        assert (refused.returncode, sentence in refused.stderr) == (2, True)


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
    assert advice[0] == f"A token for any agent, member of {hub.project}; it never ends."
    assert hub.url in "".join(advice)
    assert secret not in "".join(advice)
    assert hub.run("token", "create").stderr == ""


def test_a_person_changes_their_own_token(hub: RunningHub) -> None:
    """A person makes another token for themselves, sees both, and revokes the old one; for others the owner does."""
    name = f"mia-{hub.project}"
    old = hub.secret("user", "create", name)
    new = hub.secret("token", "create", "--user", name, "--token", old)
    assert new.startswith("utok_")
    listed = hub.json("token", "list", "--token", new)
    assert [each["user"] for each in listed] == [name, name]
    assert hub.run("token", "revoke", listed[0]["id"], "--token", new).returncode == 0
    assert hub.run("project", "list", "--token", old).returncode == 1
    assert hub.secret("token", "create", "--user", name).startswith("utok_")
    refused = hub.run("token", "create", "--user", "owner", "--token", new)
    assert (refused.returncode, "only the owner of the hub" in refused.stderr) == (1, True)
    assert hub.run("token", "create", "--user", name, "--agent", "ada").returncode == 2


def test_a_persons_token_does_not_outlive_the_one_that_made_it(hub: RunningHub) -> None:
    """With a token that ends, a person makes only tokens that end no later."""
    short = hub.secret("token", "create", "--user", "owner", "--expires", "1d")
    refused = hub.run("token", "create", "--user", "owner", "--token", short)
    assert "a token cannot outlive the one that makes it" in refused.stderr
    assert hub.run("token", "create", "--user", "owner", "--expires", "1h", "--token", short).returncode == 0


def test_a_token_is_named_by_its_beginning(hub: RunningHub) -> None:
    """A terminal lists what still works by the beginnings of ids, which `revoke` takes; a second time it says so."""
    hub.secret("token", "create", "--agent", "ada")
    hub.secret("token", "create", "--agent", "bob")
    (bobs,) = [each["id"] for each in hub.json("token", "list") if each["agent"] == "bob"]
    (shown,) = [line for line in at_terminal(hub, "token", "list").splitlines() if "bob" in line]
    beginning = shown.split()[0]
    assert bobs.startswith(beginning)
    assert len(beginning) < len(bobs)
    assert hub.run("token", "revoke", beginning).stdout == f"revoked {bobs}\n"
    assert hub.run("token", "revoke", bobs).stdout.startswith(f"{bobs} was already revoked ")
    brief, whole = at_terminal(hub, "token", "list"), at_terminal(hub, "token", "list", "--all")
    assert ("bob" in brief, "bob" in whole, "hubbub token list --all" in brief) == (False, True, True)
    assert "give more of the id" in hub.run("token", "revoke", bobs[0]).stderr


def test_the_token_in_use_is_not_revoked_by_mistake(hub: RunningHub) -> None:
    """The token that one uses is only revoked after a yes at the terminal, or with --yes."""
    name = f"kim-{hub.project}"
    secret = hub.secret("user", "create", name)
    (listed,) = hub.json("token", "list", "--token", secret)
    assert listed["current"] is True
    refused = hub.run("token", "revoke", listed["id"], "--token", secret)
    assert (refused.returncode, "add --yes" in refused.stderr) == (2, True)
    with on_screen(hub, "token", "revoke", listed["id"], "--token", secret) as screen:
        screen.until("Revoke it? [y/N]: ")
        screen.type("n\n")
        screen.rest()
    assert hub.run("project", "list", "--token", secret).returncode == 0
    assert hub.run("token", "revoke", listed["id"], "--token", secret, "--yes").returncode == 0
    assert hub.run("project", "list", "--token", secret).returncode == 1
