"""`hubbub user`: the people of the hub."""

import json

from tests.cli.processes import RunningHub


def test_users(hub: RunningHub) -> None:
    """Making a person prints their token and nothing else, and the token is theirs; an invitation is a code."""
    name = f"ada-{hub.project}"
    secret = hub.secret("user", "create", name)
    assert secret.startswith("utok_")
    assert [
        each["slug"] for each in json.loads(hub.run("project", "list", "--json", "--token", secret).stdout)
    ] == [hub.project]
    assert name in [each["name"] for each in hub.json("user", "list")]
    assert len(hub.secret("user", "invite")) > 20


def test_a_password_is_not_asked_for_nobody(hub: RunningHub) -> None:
    """Before a password is asked for or read, it is said that there is no such person."""
    refused = hub.run("user", "password", "zed", given="\n")
    assert (refused.returncode, refused.stderr) == (1, "Error: user 'zed' not found\n")
    assert "a password has 8" in hub.run("user", "password", given="\n").stderr
