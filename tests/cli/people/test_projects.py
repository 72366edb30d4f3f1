"""`hubbub project`: the tenants of the hub."""

import re

from tests.cli.processes import RunningHub
from tests.cli.screens import at_terminal


def test_projects(hub: RunningHub) -> None:
    """A project is made by its slug, listed with the caller's role, and shown with its counts."""
    slug = f"{hub.project}-shop"
    made = hub.json(
        "project", "create", slug, "--name", "The shop", "--heartbeat-ttl", "90", "--description", "Sells"
    )
    assert (made["slug"], made["name"], made["heartbeat_ttl"], made["description"]) == (
        slug,
        "The shop",
        90,
        "Sells",
    )
    assert hub.run("project", "create", slug).returncode == 1
    assert [each["role"] for each in hub.json("project", "list") if each["slug"] == slug] == ["owner"]
    assert hub.json("project", "show", slug)["tasks"]["queued"] == 0
    assert "The shop" in hub.run("project", "show", slug).stdout


def test_an_archived_project_is_only_read(hub: RunningHub) -> None:
    """Archived, a project is refused for work and listed only where that is asked for, until it is restored."""
    slug = f"{hub.project}-old"
    hub.run("project", "create", slug)
    there = {"HUBBUB_PROJECT": slug}
    hub.run("task", "add", "what was", **there)
    assert hub.run("project", "archive", slug).stdout == f"archived {slug}\n"

    refused = hub.run("task", "add", "more", **there)
    assert (refused.returncode, f"project '{slug}' is archived" in refused.stderr) == (1, True)
    assert "what was" in hub.run("tasks", **there).stdout
    assert slug not in hub.run("project", "list").stdout
    assert slug in hub.run("project", "list", "--archived").stdout
    assert hub.client().get(f"/projects/{slug}")["project"]["archived_at"] is not None

    assert hub.run("project", "restore", slug).stdout == f"restored {slug}\n"
    assert hub.run("task", "add", "more", **there).returncode == 0
    assert hub.run("project", "archive", "default").returncode == 1


def test_areas(hub: RunningHub) -> None:
    """An area is given to a project by its slug, replaced by the same command, and shown with the project."""
    put = ("project", "area", hub.project, "backend", "--name", "Backend")
    made = hub.json(*put, "--pattern", "app/**", "--pattern", "db/", "--description", "PHP")
    assert made == {
        "slug": "backend", "number": 1, "name": "Backend", "description": "PHP", "patterns": ["app/**", "db/"],
    }  # fmt: skip
    assert hub.run(*put, "--pattern", "./src/*").stdout == "backend\n"
    (area,) = hub.json("project", "show", hub.project)["areas"]
    assert (area["number"], area["patterns"], area["description"]) == (1, ["src/*"], None)
    assert "backend" in hub.run("project", "show", hub.project).stdout
    assert hub.json("project", "area", hub.project, "docs", "--pattern", "docs/")["name"] == "docs"


def test_areas_that_cannot_be(hub: RunningHub) -> None:
    """Without a pattern an area is wrong usage; what the hub refuses is said, and no area is made."""
    put = ("project", "area", hub.project, "backend")
    assert hub.run(*put, "--name", "N").returncode == 2
    outside = hub.run(*put, "--name", "N", "--pattern", "../x")
    assert outside.returncode == 2
    assert "repository" in outside.stderr
    elsewhere = hub.run("project", "area", "nowhere", "backend", "--name", "N", "--pattern", "x")
    assert elsewhere.returncode == 1
    assert hub.json("project", "show", hub.project)["areas"] == []


def test_changing_a_project(hub: RunningHub) -> None:
    """Only the named settings are changed; an unknown mode is refused with the list of modes."""
    assert hub.run("project", "change", hub.project, "--conflict-mode", "block").returncode == 0
    changed = hub.json("project", "change", hub.project, "--name", "Shop")

    assert (changed["name"], changed["conflict_mode"]) == ("Shop", "block")
    refused = hub.run("project", "change", hub.project, "--conflict-mode", "loud")
    assert (refused.returncode, "warn" in refused.stderr) == (2, True)


def test_the_people_of_a_project(hub: RunningHub) -> None:
    """A person is added, listed with their role, given another one, and removed; a machine's role nobody gives."""
    slug, name = f"{hub.project}-team", f"ben-{hub.project}"
    hub.run("project", "create", slug)
    secret = hub.secret("user", "create", name)
    assert hub.run("project", "member", "add", slug, name).stdout == f"{name} is member of {slug}\n"
    assert hub.run("project", "member", "add", slug, name, "--role", "viewer").returncode == 0
    assert [name, "viewer"] in [
        line.split("\t") for line in hub.run("project", "member", "list", slug).stdout.splitlines()
    ]
    assert hub.run("project", "show", slug, "--token", secret).returncode == 0
    assert hub.run("project", "member", "remove", slug, name).stdout == f"removed {name} from {slug}\n"
    assert hub.run("project", "show", slug, "--token", secret).returncode == 1
    assert hub.run("project", "member", "add", slug, "nobody-at-all").returncode == 1


def test_a_project_is_shown_in_words(own_hub: RunningHub) -> None:
    """At a terminal `project show` and `user list` say in words what is set, and who has which role."""
    own_hub.secret("user", "create", "eve", "--project", "default", "--role", "viewer")
    shown = at_terminal(own_hub, "project", "show", "default")
    for words in ("owner (owner)", "eve (viewer)", "two agents that touch one are warned", " ago)"):
        assert words in shown
    assert re.search(r"^eve .* viewer of default$", at_terminal(own_hub, "user", "list"), re.MULTILINE)
    assert own_hub.run("user", "list").stdout.splitlines()[-1].count("\t") == 2
