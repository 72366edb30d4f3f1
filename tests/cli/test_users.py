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
