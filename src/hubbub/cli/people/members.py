"""`hubbub project member`: the people of a project."""

import click

from hubbub.cli import Group
from hubbub.cli.people.users import ROLES
from hubbub.client import Hub, segment
from hubbub.terminal import display
from hubbub.terminal.command import command, uses_hub


@click.group("member", cls=Group, short_help="List, add and remove the people of a project.")
def member() -> None:
    """List, add and remove the people of a project, and change their roles."""


@command("list", example="hubbub project member list shop", names="name")
@click.argument("slug")
@uses_hub
def list_(*, hub: Hub, slug: str, as_json: bool) -> None:
    """List the people of the project SLUG, with their roles."""
    display.show_list(hub.get(_path(slug))["members"], {"name": "name", "role": "role"}, as_json=as_json)


@command("add", example="hubbub project member add shop ada\nhubbub project member add shop ada --role admin")
@click.argument("slug")
@click.argument("name")
@click.option("--role", type=ROLES, default="member", show_default=True, help="Role in the project.")
@uses_hub
def add(*, hub: Hub, slug: str, name: str, role: str, as_json: bool) -> None:
    """Make the person NAME a member of the project SLUG, or give a member another role."""
    made = hub.put(f"{_path(slug)}/{segment('person', name)}", {"role": role})["member"]
    display.show_result(made, f"{made['name']} is {made['role']} of {slug}", as_json=as_json)


@command("remove", example="hubbub project member remove shop ada")
@click.argument("slug")
@click.argument("name")
@uses_hub
def remove(*, hub: Hub, slug: str, name: str, as_json: bool) -> None:
    """Remove the person NAME from the project SLUG. Tokens that they made for programs stay valid: see token list."""
    removed = hub.delete(f"{_path(slug)}/{segment('person', name)}")["member"]
    display.show_result(removed, f"removed {removed['name']} from {slug}", as_json=as_json)
    if not as_json:
        display.advise(
            "Tokens that they made for programs stay valid: hubbub token list, hubbub token revoke ID"
        )


def _path(slug: str) -> str:
    return f"/projects/{segment('project', slug)}/members"


for each in (list_, add, remove):
    member.add_command(each)
