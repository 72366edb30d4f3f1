"""`hubbub login` and `logout`: who one is at a hub, kept on this machine."""

import json
import socket
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from shlex import quote
from typing import Any
from urllib.parse import urlsplit

import click

from hubbub import settings
from hubbub.client import Hub, HubRefused, HubUnreachable, owner_token, running_hub, segment
from hubbub.model.data_folder import LOGINS_FILE, KeptLogin, login, logins
from hubbub.model.errors import Unauthorized
from hubbub.processes import durable_files
from hubbub.terminal import display, questions
from hubbub.terminal.command import PERSON, Unreachable, command, data_option
from hubbub.terminal.hub_remedies import LOOK_THERE
from hubbub.terminal.loopback import is_here

IN_CLEAR = (
    "Without TLS (http:) whoever reads along on the network gets the password and the token; "
    "https: is better, or a tunnel"
)


@command(
    "login",
    short_help="Log in at a hub, for all commands on this machine.",
    example="hubbub login https://hub.example.com\nhubbub login --list",
    names="url",
)
@click.argument("url", required=False, envvar="HUBBUB_URL")
@click.option("--user", metavar="NAME", help="Your name there. [default: a terminal asks]")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@click.option("--token-stdin", is_flag=True, help="Read a token from standard input instead of a password.")
@click.option("--project", metavar="SLUG", envvar="HUBBUB_PROJECT", help="Project to work in there.")
@click.option("--list", "only_list", is_flag=True, help="List the hubs where you are logged in.")
@data_option
def login_(
    *,
    url: str | None,
    user: str | None,
    password_stdin: bool,
    token_stdin: bool,
    project: str | None,
    only_list: bool,
    data: str | None,
    as_json: bool,
) -> None:
    """Log in at the hub URL, by name and password or by a token. Commands then use that hub, as you.

    The token for that is kept in the data folder, for you alone to read, until hubbub logout; --token and HUBBUB_TOKEN
    come before it. Where you are logged in already, this only makes commands use that hub again.
    """
    folder = settings.read(data=data).data
    if only_list:
        _show_list(logins(folder), as_json=as_json)
        return
    url = url or running_hub(folder) or next((each.url for each in logins(folder)), None)
    if url is None:
        raise click.UsageError("say at which hub: hubbub login https://hub.example.com")
    with closing(Hub(url, "")) as hub:
        _require_reached(hub, folder)
        before = login(folder, hub.url)
        is_asked = bool(user or password_stdin or token_stdin)
        found = None if is_asked or before is None else _again(hub, before, project)
        if found is None:
            found = _new(hub, folder, user, project, password_stdin=password_stdin, token_stdin=token_stdin)
            _end(hub, before)
    _keep(folder, [found, *(each for each in logins(folder) if each.url != found.url)])
    _tell(found, running_hub(folder), as_json=as_json)


@command(
    "logout", short_help="Log out at a hub.", example="hubbub logout\nhubbub logout https://hub.example.com"
)
@click.argument("url", required=False)
@data_option
def logout(*, url: str | None, data: str | None, as_json: bool) -> None:
    """Revoke and forget your login at the hub URL, else at the one that commands use."""
    folder = settings.read(data=data).data
    found = login(folder, url)
    if found is None:
        raise click.ClickException(
            f"you are not logged in at {display.clean(url)}" if url else "you are not logged in"
        )
    with closing(Hub(found.url, found.token)) as hub:
        is_ended = _end(hub, found)
    _keep(folder, [each for each in logins(folder) if each.url != found.url])
    told = {"url": found.url, "revoked": is_ended}
    display.show_result(told, f"logged out at {found.url}", as_json=as_json)
    if not is_ended:
        click.echo(
            "the token is forgotten here and may still be valid there; see hubbub token list", err=True
        )


def _require_reached(hub: Hub, folder: Path) -> None:
    """Raise `Unreachable` if no hub answers. `hubbub up` is the remedy only for the one of the data folder."""
    try:
        hub.health()
    except HubUnreachable as error:
        if hub.url == running_hub(folder):
            raise
        raise Unreachable(display.clean(f"{error}; {LOOK_THERE}")) from None


def _again(hub: Hub, kept: KeptLogin, project: str | None) -> KeptLogin | None:
    """Return a login that is kept, if it is still valid; perhaps with another project."""
    try:
        me = hub.acting_with(kept.token).get("/me")
    except HubRefused as error:
        if error.code != Unauthorized.code:
            raise
        return None
    return kept._replace(project=_project(me, project) or kept.project)


def _new(
    hub: Hub, folder: Path, user: str | None, project: str | None, *, password_stdin: bool, token_stdin: bool
) -> KeptLogin:
    """Log in by what is on standard input, or else by what a person at the terminal types."""
    if password_stdin and token_stdin:
        raise click.UsageError("either --password-stdin or --token-stdin")
    if password_stdin and not user:
        raise click.UsageError("--password-stdin needs --user NAME")
    if not (password_stdin or token_stdin or sys.stdin.isatty()):
        raise click.UsageError(
            "there is no terminal to ask at: give --user NAME --password-stdin, or --token-stdin"
        )
    if urlsplit(hub.url).scheme == "http" and not is_here(hub.url):
        click.echo(IN_CLEAR, err=True)
    label = f"login on {socket.gethostname()}"[:100]
    if token_stdin:
        given = sys.stdin.readline().strip()
        if not given:
            raise click.UsageError("no token came on standard input")
        return _by_token(hub, given, project, label)
    name = user or questions.asked(f"User name at {hub.url}")
    password = sys.stdin.readline().rstrip("\r\n") if password_stdin else questions.asked_unseen("Password")
    try:
        token = hub.sign_in(name, password, label)
    except HubRefused as error:
        remedy = _remedy(hub.url, folder, name) if error.code == Unauthorized.code else ""
        raise click.ClickException(display.clean(f"{error}{remedy}")) from None
    return _ours(hub.acting_with(token), project)


def _remedy(url: str, folder: Path, name: str) -> str:
    """Return what the owner can do, on the hub's own machine, about a password that was never set or is forgotten."""
    own = running_hub(folder)
    is_own = own is not None and is_here(url) and urlsplit(url).port == urlsplit(own).port
    return f"; set one with: hubbub user password {quote(name)}" if is_own and owner_token(folder) else ""


def _by_token(hub: Hub, given: str, project: str | None, label: str) -> KeptLogin:
    """Log in by a token: a person's makes one for this login, as long as it does not end by itself."""
    by_given = hub.acting_with(given)
    try:
        me = by_given.get("/me")
    except HubRefused as error:
        raise click.ClickException(
            "the hub does not know this token, or it was revoked or has expired"
        ) from error
    if not given.startswith(PERSON) or me["expires_at"]:
        return _login(by_given, project, is_ours=False)
    made = by_given.post("/tokens", {"user": me["user"], "label": label})
    return _ours(hub.acting_with(made["secret"]), project)


def _ours(hub: Hub, project: str | None) -> KeptLogin:
    """Describe the login by a token that was made for it; revoke that if the login is refused."""
    found = _login(hub, None, is_ours=True)
    try:
        return found._replace(project=_project(hub.get("/me"), project))
    except click.UsageError:
        _end(hub, found)
        raise


def _login(hub: Hub, project: str | None, *, is_ours: bool) -> KeptLogin:
    """Describe the login by the token of `hub`, which `is_ours` if it was made for it."""
    me = hub.get("/me")
    own = [each["id"] for each in hub.get("/tokens")["tokens"] if each["current"]] if is_ours else []
    return KeptLogin(hub.url, hub.token, me["user"] or me["agent"], _project(me, project), *(own or [None]))


def _project(me: dict[str, Any], wanted: str | None) -> str | None:
    """Return the project to work in. Raises `click.UsageError` for one that is not among the person's."""
    known = [each["slug"] for each in me["projects"]]
    if wanted is not None and wanted not in known:
        raise click.UsageError(f"{wanted!r} is not among your projects there: {', '.join(known) or 'none'}")
    return wanted


def _end(hub: Hub, old: KeptLogin | None) -> bool:
    """Revoke the token that was made for a login; tell whether it is known not to be valid any more."""
    if old is None or old.token_id is None:
        return False
    try:
        hub.acting_with(old.token).delete(f"/tokens/{segment('token', old.token_id)}")
    except HubRefused as error:
        return error.code == Unauthorized.code
    except HubUnreachable:
        return False
    return True


def _keep(folder: Path, kept: Sequence[KeptLogin]) -> None:
    durable_files.make_folder(folder, 0o700)
    durable_files.write(folder / LOGINS_FILE, json.dumps([each._asdict() for each in kept], indent=1))


def _tell(found: KeptLogin, local: str | None, *, as_json: bool) -> None:
    place = f", project {found.project}" if found.project else ""
    display.show_result(
        {"url": found.url, "user": found.user, "project": found.project},
        f"logged in at {found.url} as {display.clean(found.user or 'a program')}{place}",
        as_json=as_json,
    )
    if local is not None and local.rstrip("/") != found.url:
        display.advise(
            f"Commands use that hub now, and not the one on this machine, until: hubbub logout {found.url}"
        )
    display.advise("See how things stand there: hubbub status")


def _show_list(known: Sequence[KeptLogin], *, as_json: bool) -> None:
    rows = [(each.url, each.user, each.project, "" if at else "yes") for at, each in enumerate(known)]
    if as_json:
        display.show_json(
            [
                {"url": at, "user": user, "project": place, "used": bool(used)}
                for at, user, place, used in rows
            ]
        )
    else:
        display.show_table(("hub", "as", "project", "used"), rows, empty="You are not logged in at any hub.")
