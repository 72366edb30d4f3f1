"""`hubbub project`: the tenants of the hub."""

from tests.cli.processes import RunningHub


def test_projects(hub: RunningHub) -> None:
    """A project is made by its slug, listed with the caller's role, and shown with its counts."""
    slug = f"{hub.project}-shop"
    made = hub.json("project", "create", slug, "--name", "The shop", "--heartbeat-ttl", "90")
    assert (made["slug"], made["name"], made["heartbeat_ttl"]) == (slug, "The shop", 90)
    assert hub.run("project", "create", slug).returncode == 1
    assert [each["role"] for each in hub.json("project", "list") if each["slug"] == slug] == ["owner"]
    assert hub.json("project", "show", slug)["tasks"]["queued"] == 0
    assert "The shop" in hub.run("project", "show", slug).stdout
