"""`hubbub open`: the dashboard, signed in."""

import sys
import webbrowser
from urllib.parse import urlencode

import click

from hubbub.client import Hub
from hubbub.terminal import display
from hubbub.terminal.command import command, uses_hub


@command(
    "open",
    short_help="Open the dashboard in your browser.",
    example="hubbub open\nhubbub open --user ada --print",
)
@click.option("--print", "only_print", is_flag=True, help="Print the link instead of opening a browser.")
@click.option(
    "--user", metavar="NAME", help="Person to sign in. [default: you] Only the hub's owner may choose."
)
@uses_hub
def open_(*, hub: Hub, only_print: bool, user: str | None, as_json: bool) -> None:
    """Open the dashboard in your browser with a link that signs you in, once, within ten minutes.

    With --project, open that project. The variable BROWSER names the program to open it with.
    """
    made = link(hub, user)
    if as_json:
        display.show_json(made)
        return
    if only_print or not sys.stdout.isatty():
        display.show(made["url"])
    else:
        display.show(f"the dashboard  {made['url']}")
        display.show("               signs in once, within ten minutes")
    if not only_print and not webbrowser.open(made["url"]):
        raise click.ClickException("no browser can be opened here; open the link in your own")


def link(hub: Hub, user: str | None = None) -> dict[str, str]:
    """Make a link to the project's dashboard that signs a person in, once; return it with its facts."""
    made: dict[str, str] = hub.post("/logins/links", {"user": user})
    if hub.project is not None:
        shown = urlencode({"project": hub.project})
        made["url"] += f"?{urlencode({'next': f'/?{shown}'})}"
    return made
