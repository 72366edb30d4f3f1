"""`hubbub project`: the tenants of the hub."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from hubbub.cli import Group
from hubbub.cli.people.members import member
from hubbub.client import Hub, segment
from hubbub.terminal import display
from hubbub.terminal.command import command, uses_hub, without_project
from hubbub.terminal.wrong_words import OneOf

CONFLICTS = {  # by `--conflict-mode`
    "off": "two agents may touch one",
    "warn": "two agents that touch one are warned",
    "block": "a file that one agent has claimed is closed to others",
}


@click.group("project", cls=Group, short_help="Create, list, change and archive projects.")
def project() -> None:
    """Create, list, change and archive projects."""


@command("create", example="hubbub project create shop --name 'The shop'")
@click.argument("slug")
@click.option("--name", metavar="N", help="Name to show. [default: the slug]")
@click.option("--description", metavar="D", help="Description to show.")
@click.option(
    "--conflict-mode",
    type=OneOf(["off", "warn", "block"]),
    help="Treatment of two agents that touch one file.",
)
@click.option("--repo-url", metavar="URL", help="Address or folder of its source.")
@click.option("--heartbeat-interval", type=int, metavar="S", help="Seconds between signs of life.")
@click.option(
    "--heartbeat-ttl", type=int, metavar="S", help="Seconds of silence after which an agent is gone."
)
@uses_hub
def create(*, hub: Hub, as_json: bool, **facts: object) -> None:
    """Create the project SLUG. You become its owner."""
    made = hub.post("/projects", facts)["project"]
    display.show_result(made, made["slug"], as_json=as_json)


@command("change", example="hubbub project change shop --conflict-mode block")
@click.argument("slug")
@click.option("--name", metavar="N", help="Name to show.")
@click.option("--description", metavar="D", help="Description to show.")
@click.option(
    "--conflict-mode",
    type=OneOf(["off", "warn", "block"]),
    help="Treatment of two agents that touch one file.",
)
@click.option("--repo-url", metavar="URL", help="Address or folder of its source.")
@click.option(
    "--hand-over-after",
    type=click.IntRange(min=0),
    metavar="MIN",
    help="Minutes that an account must be paused before its tasks go to other agents; 0: never.",
)
@uses_hub
def change(*, hub: Hub, slug: str, as_json: bool, **facts: object) -> None:
    """Change the project SLUG. Options that you leave out stay as they are."""
    made = hub.patch(_path(slug), facts)["project"]
    display.show_result(made, made["slug"], as_json=as_json)


@command("archive", example="hubbub project archive shop")
@click.argument("slug")
@uses_hub
def archive(*, hub: Hub, slug: str, as_json: bool) -> None:
    """Archive the project SLUG: it becomes read-only and leaves the lists."""
    _show_archived(hub.patch(_path(slug), {"archived": True})["project"], as_json=as_json)


@command("restore", example="hubbub project restore shop")
@click.argument("slug")
@uses_hub
def restore(*, hub: Hub, slug: str, as_json: bool) -> None:
    """Restore the archived project SLUG."""
    _show_archived(hub.patch(_path(slug), {"archived": False})["project"], as_json=as_json)


def _show_archived(changed: dict[str, Any], *, as_json: bool) -> None:
    display.show_result(
        changed, f"{'archived' if changed['archived_at'] else 'restored'} {changed['slug']}", as_json=as_json
    )


@command("list", example="hubbub project list\nhubbub project list --archived", names="slug")
@click.option("--archived", is_flag=True, help="Include archived projects.")
@uses_hub
def list_(*, hub: Hub, archived: bool, as_json: bool) -> None:
    """List your projects."""
    found = hub.get("/projects", archived="true" if archived else None)["projects"]
    columns: dict[str, Any] = {
        "slug": "slug",
        "name": "name",
        "role": "role",
        "created": lambda each: display.brief(each["created_at"]),
    }
    if archived:
        columns["archived"] = lambda each: display.brief(each["archived_at"])
    display.show_list(found, columns, as_json=as_json)


@command("show", example="hubbub project show default")
@click.argument("slug")
@uses_hub
def show(*, hub: Hub, slug: str, as_json: bool) -> None:
    """Show the project SLUG, its areas and its latest events."""
    hub.project = slug
    facts: dict[str, Any] = hub.get(_path(slug))["project"]
    counts = hub.get("/status")
    areas = hub.get(f"{_path(slug)}/areas")["areas"]
    if as_json:
        display.show_json({**facts, **counts, "areas": areas})
        return
    if sys.stdout.isatty():
        facts = _in_words(facts, hub.get(f"{_path(slug)}/members")["members"])
    for name, value in facts.items():
        if value is not None:
            display.show(f"{name:20}{display.moment(value) if name.endswith('_at') else value}")
    for noun, tally in counts.items():
        display.show(
            f"{noun:20}{', '.join(f'{count} {name}' for name, count in tally.items() if count) or 'none'}"
        )
    for area in areas:
        display.show(f"area {area['slug']:15}{area['name']}: {' '.join(area['patterns'])}")


def _in_words(facts: dict[str, Any], members: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Return a project's facts and its people as words for a person."""
    minutes = facts["hand_over_after"]
    return {
        "project": facts["slug"] if facts["name"] == facts["slug"] else f"{facts['slug']}, {facts['name']}",
        "description": facts.get("description"),
        "people": ", ".join(f"{each['name']} ({each['role']})" for each in members) or "nobody",
        "source": facts.get("repo_url"),
        "same files": CONFLICTS[facts["conflict_mode"]],
        "signs of life": f"every {facts['heartbeat_interval']} s; an agent is gone after {facts['heartbeat_ttl']} s",
        "paused tasks": f"handed over after {minutes} min" if minutes else "stay with their agents",
        "created": display.stamp(facts["created_at"]),
        "archived": display.stamp(facts["archived_at"]) if facts.get("archived_at") else None,
    }


@command("join", short_help="Join any project, as the hub's owner.", example="hubbub project join shop")
@click.argument("slug")
@uses_hub
def join(*, hub: Hub, slug: str, as_json: bool) -> None:
    """Join the project SLUG as an admin. Only for the hub's owner, whose machine then serves it."""
    joined = hub.post(f"{_path(slug)}/join", {})["project"]
    display.show_result(joined, f"joined {joined['slug']}; the hub's machine serves it", as_json=as_json)


@command("area", example="hubbub project area shop backend --name Backend --pattern 'app/**' --pattern db/")
@click.argument("slug")
@click.argument("area")
@click.option("--name", metavar="N", help="Name to show. [default: AREA]")
@click.option(
    "--pattern",
    "patterns",
    required=True,
    multiple=True,
    metavar="GLOB",
    help="Files in it: a path, or a pattern with *, ? and **; may be repeated.",
)
@click.option("--description", metavar="D", help="Description to show.")
@uses_hub
def put_area(*, hub: Hub, slug: str, area: str, name: str | None, as_json: bool, **facts: object) -> None:
    """Add the area AREA to the project SLUG, or replace it."""
    facts["name"] = area if name is None else name
    made = hub.put(f"{_path(slug)}/areas/{segment('area', area)}", facts)["area"]
    display.show_result(made, made["slug"], as_json=as_json)


@command("coordinator", example="hubbub project coordinator shop lead", names="agent")
@click.argument("slug")
@click.argument("agent", required=False)
@click.option("--remove", is_flag=True, help="Take the right back.")
@uses_hub
def coordinator(*, hub: Hub, slug: str, agent: str | None, remove: bool, as_json: bool) -> None:
    """Let AGENT steer every task of the project SLUG. Without AGENT, list who may."""
    path = f"{_path(slug)}/coordinators"
    if agent is not None:
        one = f"{path}/{segment('agent', agent)}"
        hub.delete(one) if remove else hub.put(one, {})
    elif remove:
        raise click.UsageError("say which agent: hubbub project coordinator SLUG AGENT --remove")
    columns: display.Columns = {
        "agent": "agent",
        "made so by": "granted_by",
        "since": lambda each: display.brief(each["granted_at"]),
    }
    empty = "None: each agent steers its own tasks."
    display.show_list(hub.get(path)["coordinators"], columns, as_json=as_json, empty=empty)


@command(
    "proof",
    short_help="Set the evidence that tasks need to be completed.",
    example="hubbub project proof shop --done-when commit --done-when tests --tests 'make test'",
)
@click.argument("slug")
@click.option("--done-when", metavar="D", multiple=True, help="Evidence to ask for; may be repeated.")
@click.option("--nothing", is_flag=True, help="Ask for nothing.")
@click.option("--tests", metavar="COMMAND", help="Command that runs the tests.")
@click.option(
    "--test-file",
    "test_files",
    metavar="GLOB",
    multiple=True,
    help="Files of the tests; may be repeated.",
)
@click.option(
    "--unproven",
    type=click.Choice(["refuse", "review"]),
    help="Treatment of work without the evidence.",
)
@uses_hub
def proof(*, hub: Hub, slug: str, nothing: bool, as_json: bool, **facts: Any) -> None:
    """Set the evidence that tasks of the project SLUG need to be completed. Without options, show it.

    D is clean, commit, pushed, tests, tests-kept, artifact, review, 'pushed BRANCH', 'ran COMMAND' or
    'within PATH …'.
    """
    if nothing and facts["done_when"]:
        raise click.UsageError("say either what tasks ask for, or --nothing")
    path = f"{_path(slug)}/proof"
    rules: dict[str, Any] = hub.get(path)["rules"]
    told = {name: value for name, value in facts.items() if value} | ({"done_when": ()} if nothing else {})
    if told:
        rules = hub.put(path, {**rules, **told})["rules"]
    if as_json:
        display.show_json(rules)
        return
    for name, value in rules.items():
        shown = ", ".join(value) if isinstance(value, list) else value
        display.show(f"{name:20}{shown or 'none'}")


def _path(slug: str) -> str:
    """Return the path of the project."""
    return f"/projects/{segment('project', slug)}"


for each in (create, change, archive, restore, list_, show, join, put_area, coordinator, proof, member):
    project.add_command(without_project(each))
