"""`hubbub token`: what programs identify themselves by."""

from tests.cli.processes import RunningHub


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
