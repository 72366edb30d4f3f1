"""`hubbub user`: the people of the hub."""

import shlex
import sys

import click

from hubbub.cli import Group
from hubbub.client import Hub, segment
from hubbub.terminal import display, questions, short_ids
from hubbub.terminal.command import command, uses_hub, uses_project, without_project
from hubbub.terminal.loopback import advise_for_others
from hubbub.terminal.wrong_words import OneOf

ROLES = OneOf(["owner", "admin", "member", "viewer"])


@click.group("user", cls=Group, short_help="Create, list, invite and remove people, and set passwords.")
def user() -> None:
    """Create, list, invite and remove people, and set passwords."""


@command("create", example="hubbub user create ada --project shop")
@click.argument("name")
@click.option("--role", type=ROLES, default="member", show_default=True, help="Role in the project.")
@uses_hub
def create(*, hub: Hub, name: str, role: str, as_json: bool) -> None:
    """Create the person NAME, as a member of --project if given, and print their token."""
    made = hub.post("/users", {"name": name, "project": hub.project, "role": role})
    if as_json:
        display.show_json(made)
    else:
        display.show(made["token"])
        url = made.get("hub", hub.url)  # a hub of an earlier version does not say it
        display.advise(
            f"The token of {name}, shown only now. On their machine: hubbub login {url} --token-stdin"
        )
        display.advise(f"A link to the dashboard for them: hubbub open --user {shlex.quote(name)} --print")
        advise_for_others(url)


@command("list", example="hubbub user list", names="name")
@uses_hub
def list_(*, hub: Hub, as_json: bool) -> None:
    """List all people."""
    found = hub.get("/users")["users"]
    if as_json:
        display.show_json(found)
    else:
        rows: list[tuple[object, ...]] = [
            (
                each["name"],
                "owner of the hub" if each["owns_hub"] else "",
                display.brief(each["created_at"]),
            )
            for each in found
        ]
        roles = _roles(hub) if sys.stdout.isatty() else {}
        if roles:
            rows = [(*row, ", ".join(roles.get(str(row[0]), ()))) for row in rows]
        display.show_table(("name", "rights", "created", "roles")[: 4 if roles else 3], rows)


def _roles(hub: Hub) -> dict[str, list[str]]:
    """Return each person's roles in the caller's projects, such as `member of shop`."""
    roles: dict[str, list[str]] = {}
    for slug in (each["slug"] for each in hub.get("/projects")["projects"]):
        for member in hub.get(f"/projects/{segment('project', slug)}/members")["members"]:
            roles.setdefault(member["name"], []).append(f"{member['role']} of {slug}")
    return roles


@command("invite", example="hubbub user invite --project shop")
@click.option("--role", type=ROLES, default="member", show_default=True, help="Role in the project.")
@uses_project
def invite(*, hub: Hub, role: str, as_json: bool) -> None:
    """Print a link with which one person can register; for a program, only its code."""
    made = hub.post("/users/invites", {"role": role})
    if as_json:
        display.show_json(made)
    else:
        display.show(made["url"] if sys.stdout.isatty() else made["code"])
        display.advise("Shown only now. Send it to one person, who can register with it within a week.")
        url = made["url"].removesuffix(f"/register/{made['code']}")
        display.advise(f"Then, on that person's machine: hubbub login {url}")
        advise_for_others(url)


@command("invitations", example="hubbub user invitations --project shop", names="id")
@uses_project
def invitations(*, hub: Hub, as_json: bool) -> None:
    """List the invitations to the project that can still be followed. Their links are not kept."""
    found = hub.get("/users/invites")["invitations"]
    if as_json:
        display.show_json(found)
        return
    rows = [
        (each["id"], each["role"], display.brief(each["created_at"]), display.brief(each["expires_at"]))
        for each in found
    ]
    display.show_table(
        ("id", "role", "created", "expires"), rows, empty="No open invitations. Make one: hubbub user invite"
    )


@command("uninvite", example="hubbub user uninvite 4f1c2a9b07de")
@click.argument("invitation", metavar="ID")
@uses_project
def uninvite(*, hub: Hub, invitation: str, as_json: bool) -> None:
    """Revoke the invitation ID of hubbub user invitations: its link leads nowhere any more."""
    whole = short_ids.whole(invitation, [hub.get("/users/invites")["invitations"]])
    done = hub.delete(f"/users/invites/{segment('invitation', whole)}")
    display.show_result(done, f"revoked the invitation {whole}", as_json=as_json)


@command("remove", example="hubbub user remove ada")
@click.argument("name")
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask.")
@uses_hub
def remove(*, hub: Hub, name: str, is_sure: bool, as_json: bool) -> None:
    """Remove the person NAME from the hub: logins, memberships and all tokens that they have or made end at once.

    What they did stays, and their name stays taken. A terminal asks first; a program needs --yes.
    """
    if not is_sure:
        _require_yes(name)
    gone = hub.delete(f"/users/{segment('user', name)}")
    agents = sorted({each["agent"] for each in gone["tokens"] if each["agent"]})
    told = f"removed {name}; {len(gone['tokens'])} of their tokens ended"
    display.show_result(gone, told, as_json=as_json)
    if as_json:
        return
    if agents:
        display.show(f"These agents need new tokens, as {name} made theirs: {', '.join(agents)}")
    for slug in gone["inherited"]:
        display.show(f"You own the project {slug} now, as nobody else does")


def _require_yes(name: str) -> None:
    """Have the person agree. Raises `click.UsageError` where nobody can be asked."""
    about = f"{name} loses all access, and the agents that {name} made tokens for lose theirs"
    if not sys.stdin.isatty():
        raise click.UsageError(f"{about}; if you want that, add --yes")
    questions.require_yes(f"{about}. Remove {name}?")


@command("password", example="hubbub user password\nhubbub user password ada")
@click.argument("name", required=False)
@uses_hub
def password(*, hub: Hub, name: str | None, as_json: bool) -> None:
    """Set your dashboard password, or as the hub's owner that of NAME.

    A terminal asks for it; a program writes it to standard input. All logins of that person end.
    """
    name = name or hub.get("/me")["user"]
    if name is None:
        raise click.UsageError("say whose password it is: this token does not belong to a person")
    hub.get(
        "/logins", user=name
    )  # refused for an unknown or foreign person, before the password is asked for
    chosen = (
        questions.asked_unseen("Password", twice=True)
        if sys.stdin.isatty()
        else sys.stdin.readline().rstrip("\r\n")
    )
    changed = hub.put(f"/users/{segment('user', name)}/password", {"password": chosen})["user"]
    display.show_result(changed, f"{changed['name']} can sign in by name and password", as_json=as_json)


user.add_command(create)
user.add_command(without_project(list_))
user.add_command(invite)
user.add_command(invitations)
user.add_command(uninvite)
user.add_command(without_project(remove))
user.add_command(without_project(password))
